//! `cargo xtask scenarios`: runs scripts on real clusters and keeps what was recorded.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};
use clap::Args;
use evenkeel_testbed::Version;
use evenkeel_testbed::scenario::{self, Run};

/// Scripts on real clusters, recorded with their truth
#[derive(Args)]
pub(crate) struct Scenarios {
    /// Only these; without, all that are not recorded yet
    names: Vec<String>,
    /// Also those that are recorded already
    #[arg(long)]
    again: bool,
    /// Print their names and what they show
    #[arg(long)]
    list: bool,
    /// Where captures and truths go
    #[arg(long, default_value = "tests/captures")]
    keep: PathBuf,
    /// Runs of a scenario whose broker log shows an expiry that the script did not cause
    /// prove nothing; it is tried this often
    #[arg(long, default_value_t = 3)]
    tries: u32,
    /// Release of the broker and, after a colon, of the workers, as in 4.4.0:3.9.2
    #[arg(long, value_name = "BROKER[:WORKERS]")]
    releases: Option<String>,
    /// The evenkeel program; built when not given
    #[arg(long)]
    program: Option<PathBuf>,
}

pub(crate) fn run(args: &Scenarios) -> anyhow::Result<()> {
    if args.list {
        for scenario in scenario::all() {
            println!("{:18} {}", scenario.name, scenario.shows);
        }
        return Ok(());
    }
    for name in &args.names {
        if scenario::named(name).is_none() {
            bail!("no scenario {name}; see --list");
        }
    }
    let program = match &args.program {
        Some(program) => program.clone(),
        None => build()?,
    };
    let releases = args.releases.as_deref().map(releases).transpose()?;
    let mut run = Run {
        program,
        releases,
        keep: None,
        whole: true,
    };
    for scenario in scenario::all() {
        if !args.names.is_empty() && !args.names.iter().any(|name| name == scenario.name) {
            continue;
        }
        let files = scenario.files(&args.keep, releases);
        let recorded = scenario.recorded && files.iter().all(|file| file.exists());
        if recorded && !args.again && args.names.is_empty() {
            eprintln!(
                "{}: recorded already; --again records it anew",
                scenario.name
            );
            continue;
        }
        if let Some(obstacle) = scenario.obstacle()? {
            eprintln!("{}: skipped: {obstacle}", scenario.name);
            continue;
        }
        eprintln!("{}: {}", scenario.name, scenario.shows);
        run.keep = scenario.recorded.then(|| args.keep.clone());
        let mut tries_left = args.tries;
        loop {
            tries_left -= 1;
            match scenario.run(&run) {
                Ok(compared) => {
                    eprintln!("{}: {compared} compared, none differ", scenario.name);
                    break;
                }
                Err(error) if tries_left > 0 && error.to_string().contains("proves nothing") => {
                    eprintln!("{}: {error}; once more", scenario.name);
                }
                Err(error) => return Err(error.context(scenario.name)),
            }
        }
    }
    Ok(())
}

fn releases(text: &str) -> anyhow::Result<(Version, Version)> {
    let (broker, workers) = text.split_once(':').unwrap_or((text, text));
    Ok((broker.parse()?, workers.parse()?))
}

/// Builds the program and gives its path, as Cargo tells it.
fn build() -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "build",
            "--package",
            "evenkeel",
            "--bin",
            "evenkeel",
            "--message-format",
            "json",
        ])
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        bail!("evenkeel does not build");
    }
    let text = String::from_utf8(output.stdout)?;
    text.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .context("cargo named no program")
}
