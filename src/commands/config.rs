//! `evenkeel config`: prints the configuration as it is used, or checks it.

use std::io::{self, Write};

use clap::Args;

use crate::commands::exit::Exit;
use crate::commands::wiring;
use crate::config::{ConfigFlags, Origin};

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
    let loaded = match wiring::whole(&args.config) {
        Ok(loaded) => loaded,
        Err(mistakes) => {
            eprintln!("{mistakes}");
            return Ok(Exit::Config);
        }
    };
    let web = match wiring::web(&loaded.config.http) {
        Ok(web) => web,
        Err(mistakes) => {
            eprintln!("{mistakes}");
            return Ok(Exit::Config);
        }
    };
    if let Err(mistakes) = wiring::state_folder(&loaded.config) {
        eprintln!("{mistakes}");
        return Ok(Exit::Config);
    }
    let unfit = match wiring::traces(&loaded.config) {
        Ok(traces) => traces.warnings,
        Err(mistakes) => {
            eprintln!("{mistakes}");
            return Ok(Exit::Config);
        }
    };
    let expired = wiring::expired(&loaded.config, web.as_ref());
    for warning in loaded.warnings.iter().chain(&expired).chain(&unfit) {
        eprintln!("warning: {warning}");
    }
    if args.check {
        eprintln!("the configuration holds");
        return Ok(Exit::Ok);
    }
    let text = serde_yaml::to_string(&loaded.tree).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())?;
    out.write_all(origins(&loaded.origins).as_bytes())?;
    Ok(Exit::Ok)
}

/// Where values come from, as comments: what is printed is still a configuration.
fn origins(origins: &[Origin]) -> String {
    let mut out = String::new();
    if !origins.is_empty() {
        out.push_str("\n# Not from the file:\n");
    }
    for Origin { key, value, source } in origins {
        let value = value.as_ref().map(|value| format!(" = {value}"));
        // A value of several lines would end the comment.
        let value = value.unwrap_or_default().replace(['\n', '\r'], " ");
        out.push_str(&format!("#   {key}{value}  ({source})\n"));
    }
    out
}
