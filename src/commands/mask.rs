//! `evenkeel mask NAME…`: which code stands for which connector, for those who have the key.

use std::io::{self, Write};

use clap::Args;

use crate::commands::exit::Exit;
use crate::commands::wiring;
use crate::config::ConfigFlags;

/// Print what stands for a connector's name while names are masked
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is the code, the group and the name, separated by tabs. The way back is to
look the code up among all names:
  curl -s worker:8083/connectors | jq -r '.[]' | xargs evenkeel mask --config evenkeel.yaml

Example: evenkeel mask orders payments --config evenkeel.yaml")]
pub struct MaskArgs {
    /// Names of connectors
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Everything that can be configured
    #[command(flatten)]
    pub config: ConfigFlags,
}

/// Prints the codes, whether names are masked now or not.
///
/// # Errors
/// What `out` says when it cannot be written to.
pub fn run(args: &MaskArgs, out: &mut impl Write) -> io::Result<Exit> {
    let configured = wiring::configuration(&args.config)
        .and_then(|loaded| Ok((wiring::mask_key(&loaded.config)?, loaded)));
    let (key, loaded) = match configured {
        Ok(configured) => configured,
        Err(mistakes) => {
            eprintln!("{mistakes}");
            return Ok(Exit::Config);
        }
    };
    for group in &loaded.config.groups {
        let mask = wiring::name_mask(key.as_ref(), group);
        for name in &args.names {
            writeln!(out, "{}\t{}\t{name}", mask.name(name), group.group)?;
        }
    }
    Ok(Exit::Ok)
}
