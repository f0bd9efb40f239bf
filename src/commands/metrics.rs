//! `evenkeel metrics`: prints the catalogue of metrics.

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use crate::show::catalog;

/// Print every metric that evenkeel exposes
#[derive(Debug, Clone, Copy, Args)]
#[command(after_help = "Example: evenkeel metrics --format json | jq '.metrics[].name'")]
pub struct MetricsArgs {
    /// How to print it; markdown is docs/metrics.md
    #[arg(long, value_enum, default_value_t = MetricsFormat::Text)]
    pub format: MetricsFormat,
}

/// How the catalogue is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetricsFormat {
    /// Two lines a metric
    Text,
    /// The document
    Markdown,
    /// For programs
    Json,
}

/// Writes the catalogue to `out`.
///
/// # Errors
///
/// What `out` says when it cannot be written to.
pub fn run(args: MetricsArgs, out: &mut impl Write) -> io::Result<()> {
    let text = match args.format {
        MetricsFormat::Text => catalog::text(),
        MetricsFormat::Markdown => catalog::markdown(),
        MetricsFormat::Json => catalog::json(),
    };
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests;
