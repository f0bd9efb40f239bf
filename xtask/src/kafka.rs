//! `cargo xtask kafka`: which published Kafka releases this machine can run.

use clap::Subcommand;
use evenkeel_testbed::{Artifact, Cluster, JarCache, Version};

use crate::settings;

/// Releases the testbed is tried with: the newest of each line that behaves differently.
pub(crate) const RELEASES: [Version; 11] = [
    Version::new(4, 4, 0),
    Version::new(4, 3, 1),
    Version::new(4, 1, 1),
    Version::new(3, 9, 2),
    Version::new(3, 9, 1),
    Version::new(3, 7, 2),
    Version::new(3, 6, 2),
    Version::new(3, 4, 1),
    Version::new(3, 0, 2),
    Version::new(2, 8, 2),
    Version::new(2, 5, 1),
];

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Resolves broker, worker and agent jars into the cache and prints what came
    Jars {
        /// Releases to resolve, for example 4.4.0; without any, the list this testbed knows
        versions: Vec<Version>,
    },
    /// Writes the table of Kafka's settings from the jars of each release
    Settings {
        /// Writes nothing; fails if the table is not what the jars say
        #[arg(long)]
        check: bool,
    },
    /// Runs a broker and a worker once and keeps their classes, so that clusters start faster
    Warm {
        /// Releases to run, for example 4.4.0
        #[arg(default_values_t = [Version::DEFAULT])]
        versions: Vec<Version>,
    },
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Jars { versions } => jars(versions),
        Command::Settings { check } => settings::run(&RELEASES, *check),
        Command::Warm { versions } => {
            for version in versions {
                Cluster::warm(*version, *version)?;
                println!("{version} is warm");
            }
            Ok(())
        }
    }
}

fn jars(versions: &[Version]) -> anyhow::Result<()> {
    let cache = JarCache::open()?;
    let versions: &[Version] = if versions.is_empty() {
        &RELEASES
    } else {
        versions
    };
    let mut artifacts = vec![Artifact::JmxAgent, Artifact::Programs(Version::DEFAULT)];
    for version in versions {
        artifacts.push(Artifact::Broker(*version));
        artifacts.push(Artifact::Worker(*version));
    }
    let mut missing = 0;
    for artifact in artifacts {
        let name = artifact.folder_name();
        match cache.jars(artifact) {
            Ok(folder) => println!("{name:<34} {}", folder.display()),
            Err(error) => {
                missing += 1;
                println!("{name:<34} not resolved");
                eprintln!("{error:#}");
            }
        }
    }
    anyhow::ensure!(missing == 0, "{missing} not resolved");
    Ok(())
}
