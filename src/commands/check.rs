//! `evenkeel check FILE…`: do the settings of these workers agree with each other.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evenkeel_core::checks::releases::{Release, tables};
use evenkeel_core::checks::{self, Finding, Outcome, Severity};

use crate::commands::exit::Exit;
use crate::config::deploy::{self, Deployed};
use crate::show::checks as show;

mod gather;

/// Check the settings of Connect workers against each other
#[derive(Debug, Args)]
#[command(after_help = "\
Example: evenkeel check worker-1.properties worker-2.properties --kafka-release 3.9.1")]
pub struct CheckArgs {
    /// Files with the settings of workers
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// From which severity on the exit code is 1
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    pub fail_on: FailOn,
    /// The release that the workers run, for defaults and for what it fixed; without it what
    /// a file says, else the newest that is known
    #[arg(long, value_name = "RELEASE")]
    pub kafka_release: Option<Release>,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For people
    Text,
    /// For programs: everything, undecided and passed checks included
    Json,
    /// For code scanning
    Sarif,
    /// For GitHub workflows: annotations beside the lines
    Github,
}

/// What makes the exit code 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// What will break
    Error,
    /// That, and what breaks under load or at the next failure
    Warning,
}

/// Checks the files.
///
/// # Errors
/// What `out` says when it cannot be written to.
pub fn run(args: &CheckArgs, out: &mut impl Write) -> io::Result<Exit> {
    let mut read = Vec::new();
    let mut is_readable = true;
    let mut seen = BTreeSet::new();
    for file in &args.files {
        // A file that is named twice is still one worker.
        if let Ok(real) = file.canonicalize()
            && !seen.insert(real)
        {
            continue;
        }
        match deploy::read(file) {
            Ok(deployed) => read.push(deployed),
            Err(mistake) => {
                eprintln!("{mistake}");
                is_readable = false;
            }
        }
    }
    if !is_readable {
        return Ok(Exit::Config);
    }
    let report = report(read, args.kafka_release);
    let text = match args.format {
        CheckFormat::Text => show::text(&report),
        CheckFormat::Json => show::json(&report),
        CheckFormat::Sarif => show::sarif(&report),
        CheckFormat::Github => show::github(&report),
    };
    out.write_all(text.as_bytes())?;
    Ok(if fails(&report.findings, args.fail_on) {
        Exit::Failed
    } else {
        Exit::Ok
    })
}

fn report(read: Vec<Deployed>, release: Option<Release>) -> show::Report {
    let is_named = read.iter().flat_map(|deployed| &deployed.workers);
    let is_named = is_named.into_iter().all(|worker| worker.release.is_some());
    let release_taken = match release {
        Some(release) => show::Taken::Said {
            release,
            known: tables().stands_for(release),
        },
        None if is_named => show::Taken::OfFiles,
        None => show::Taken::Newest(tables().newest()),
    };
    let files = read.iter().map(|deployed| show::FileRead {
        file: deployed.file.clone(),
        format: deployed.format.words(),
        notes: deployed.notes.clone(),
    });
    let files = files.collect();
    let known = gather::groups(read, release);
    let groups = known.iter().map(|known| {
        let group = known.group.as_ref().map(|group| group.value.clone());
        (group, known.workers.len())
    });
    show::Report {
        files,
        groups: groups.collect(),
        release: release_taken,
        findings: known.iter().flat_map(checks::judge).collect(),
    }
}

fn fails(findings: &[Finding], on: FailOn) -> bool {
    let worst = match on {
        FailOn::Error => Severity::Error,
        FailOn::Warning => Severity::Warning,
    };
    findings.iter().any(|finding| {
        finding.judgement.outcome == Outcome::Fired && finding.check.severity <= worst
    })
}
