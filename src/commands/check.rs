//! `evenkeel check FILE…`: do the settings of these workers agree with each other.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use evenkeel_core::checks::releases::{Release, tables};
use evenkeel_core::checks::{self, Finding, Outcome, Severity};

use crate::commands::exit::Exit;
use crate::config::ConfigFlags;
use crate::config::deploy::{self, Deployed, Format};
use crate::show::checks as show;
use live::Watched;

mod gather;
mod live;
mod merge;

/// Check the settings of Connect workers against each other
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel check worker-1.properties worker-2.properties --kafka-release 3.9.1
  evenkeel check --live /etc/kafka/connect-distributed.properties
  evenkeel check --live --config /etc/evenkeel/evenkeel.yaml --fail-on warning")]
pub struct CheckArgs {
    /// Files with the settings of workers
    #[arg(required_unless_present = "live", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Read the running group, too: from the brokers that --bootstrap or a configuration names,
    /// else from those of the first worker's properties file
    #[arg(long)]
    pub live: bool,
    /// How many seconds to read it at most
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "live",
          value_parser = clap::value_parser!(u64).range(1..=600))]
    pub wait: u64,
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
    /// How the running group is reached
    #[command(flatten)]
    pub config: ConfigFlags,
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

/// Checks the files, and the running groups where they are wanted.
///
/// # Errors
/// What `out` says when it cannot be written to.
pub fn run(args: &CheckArgs, out: &mut impl Write) -> io::Result<Exit> {
    if !args.live && (args.config.config.is_some() || !args.config.overrides().is_empty()) {
        eprintln!("error: settings of a connection, without --live");
        eprintln!("  hint: evenkeel check --live FILE");
        return Ok(Exit::Usage);
    }
    let Some(read) = files(args) else {
        return Ok(Exit::Config);
    };
    let live = if args.live {
        let Some(flags) = connecting(args, &read) else {
            eprintln!("error: nothing says where the group runs");
            eprintln!(
                "  hint: name a worker's properties file, --config FILE, or --bootstrap with \
                 --group and its topics"
            );
            return Ok(Exit::Usage);
        };
        match live::read(&flags, Duration::from_secs(args.wait)) {
            Ok(live) => live,
            Err(exit) => return Ok(exit),
        }
    } else {
        Vec::new()
    };
    let mut live = live;
    merge::beside_each_other(&mut live);
    let is_reached = live.iter().all(|watched| watched.is_reached);
    let report = report(read, live, args.kafka_release);
    let text = match args.format {
        CheckFormat::Text => show::text(&report),
        CheckFormat::Json => show::json(&report),
        CheckFormat::Sarif => show::sarif(&report),
        CheckFormat::Github => show::github(&report),
    };
    out.write_all(text.as_bytes())?;
    let is_refused = report.live.iter().any(|live| !live.troubles.is_empty());
    Ok(if !is_reached {
        Exit::Unreachable
    } else if is_refused || fails(&report.findings, args.fail_on) {
        Exit::Failed
    } else {
        Exit::Ok
    })
}

/// What each file says; none where one cannot be read, which is said.
fn files(args: &CheckArgs) -> Option<Vec<Deployed>> {
    let mut read: Vec<Deployed> = Vec::new();
    let mut is_readable = true;
    // What was read of each file, if anything.
    let mut seen: BTreeMap<PathBuf, Option<usize>> = BTreeMap::new();
    let of_worker = args.config.worker_properties.as_ref().map(PathBuf::from);
    let named = args.files.iter().map(|file| (file, true));
    for (file, is_named) in named.chain(of_worker.iter().map(|file| (file, false))) {
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        if let Some(first) = seen.get(&real) {
            let first = first.and_then(|first| read.get_mut(first));
            if let Some(first) = first.filter(|_| is_named) {
                let told = format!("named again as {}: it is one worker", file.display());
                first.notes.push(told);
            }
            continue;
        }
        match deploy::read(file) {
            Ok(deployed) => {
                seen.insert(real, Some(read.len()));
                read.push(deployed);
            }
            Err(mistake) => {
                seen.insert(real, None);
                eprintln!("{mistake}");
                is_readable = false;
            }
        }
    }
    is_readable.then_some(read)
}

/// How the running group is reached: as a person says, else as the first properties file does.
fn connecting(args: &CheckArgs, read: &[Deployed]) -> Option<ConfigFlags> {
    let mut flags = args.config.clone();
    if flags.worker_release.is_none() {
        flags.worker_release = args.kafka_release.map(|release| release.to_string());
    }
    let is_said = flags.config.is_some()
        || flags.worker_properties.is_some()
        || flags.bootstrap.is_some()
        || !flags.set.is_empty()
        || std::env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with("EVENKEEL_"));
    if is_said {
        return Some(flags);
    }
    let mut properties = read.iter();
    let first = properties.find(|deployed| deployed.format == Format::Properties)?;
    flags.worker_properties = Some(first.file.clone());
    Some(flags)
}

fn report(read: Vec<Deployed>, live: Vec<Watched>, release: Option<Release>) -> show::Report {
    let is_named = read.iter().flat_map(|deployed| &deployed.workers);
    // A running group without files takes what it says as it is.
    let is_named = is_named.into_iter().all(|worker| worker.release.is_some());
    let release_taken = match release {
        Some(release) => show::Taken::Said {
            release,
            known: tables().stands_for(release),
        },
        None if is_named => show::Taken::OfFiles,
        None => show::Taken::Newest(tables().newest()),
    };
    let is_live = !live.is_empty();
    // The topic of a running group was said elsewhere.
    let is_worth = |note: &&String| !(is_live && *note == deploy::PERHAPS_A_PART);
    let files = read.iter().map(|deployed| show::FileRead {
        file: deployed.file.clone(),
        format: deployed.format.words(),
        notes: deployed.notes.iter().filter(is_worth).cloned().collect(),
    });
    let files = files.collect();
    let mut known = gather::groups(read, release);
    let in_files = merge::with_live(&mut known, &live);
    let groups = known.iter().map(|known| {
        let group = known.group.as_ref().map(|group| group.value.clone());
        (group, known.workers.len())
    });
    let groups = groups.collect();
    let mut findings: Vec<Finding> = known.iter().flat_map(checks::judge).collect();
    let mut reads = Vec::new();
    for (index, watched) in live.into_iter().enumerate() {
        if !in_files.contains(&index) {
            findings.extend(watched.findings);
        }
        reads.push(watched.read);
    }
    show::Report {
        files,
        groups,
        release: release_taken,
        live: reads,
        findings,
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
