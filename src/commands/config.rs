//! `evenkeel config`: prints the configuration as it is used, or checks it.

use std::io::{self, Write};

use clap::Args;

use crate::commands::exit::Exit;
use crate::commands::wiring;
use crate::config::ConfigFlags;

/// Print the resolved configuration, secrets hidden
#[derive(Debug, Args)]
#[command(after_help = "Example: evenkeel config --check --config /etc/evenkeel/evenkeel.yaml")]
pub struct ConfigArgs {
    /// Everything that can be configured
    #[command(flatten)]
    pub config: ConfigFlags,
    /// Only say whether it holds; exit code 78 if not
    #[arg(long)]
    pub check: bool,
}

/// Prints or checks.
///
/// # Errors
/// What `out` says when it cannot be written to.
pub fn run(args: &ConfigArgs, out: &mut impl Write) -> io::Result<Exit> {
    let loaded = match wiring::configuration(&args.config) {
        Ok(loaded) => loaded,
        Err(mistakes) => {
            eprintln!("{mistakes}");
            return Ok(Exit::Config);
        }
    };
    if let Err(mistakes) = wiring::web(&loaded.config.http) {
        eprintln!("{mistakes}");
        return Ok(Exit::Config);
    }
    if args.check {
        eprintln!("the configuration holds");
        return Ok(Exit::Ok);
    }
    let text = serde_yaml::to_string(&loaded.tree).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())?;
    Ok(Exit::Ok)
}
