//! Class data archives (AppCDS): a JVM that maps its classes starts for half the CPU.
//!
//! Measured with a 4.4.0 worker on JDK 17: 2.5 s of CPU until it has joined without an
//! archive, 1.4 s with one. An archive is made by a JVM that ran once and ended in order, so
//! `Cluster::warm` makes them and every later cluster finds them.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use serde_json::json;

use crate::cluster::Cluster;
use crate::jars::{Artifact, JarCache};
use crate::spec::ClusterSpec;
use crate::version::Version;

const RUN_MAX: Duration = Duration::from_secs(60);

/// The JVM option that uses the archive of `artifact`, or in a training run makes one.
pub(crate) fn option(
    cache: &JarCache,
    artifact: Artifact,
    training: Option<&Path>,
) -> anyhow::Result<Option<String>> {
    if let Some(folder) = training {
        let file = folder.join(artifact.folder_name()).with_extension("jsa");
        return Ok(Some(format!("-XX:ArchiveClassesAtExit={}", file.display())));
    }
    let file = file(cache, artifact)?;
    Ok(file
        .exists()
        .then(|| format!("-XX:SharedArchiveFile={}", file.display())))
}

/// Another Java needs another archive; it would refuse this one, and say so each time.
fn file(cache: &JarCache, artifact: Artifact) -> anyhow::Result<PathBuf> {
    let java = fs::canonicalize(&cache.tools().java).context("find java")?;
    let changed = fs::metadata(&java)?.modified()?;
    let mut hasher = DefaultHasher::new();
    (java, changed).hash(&mut hasher);
    if let Artifact::Worker(_) = artifact {
        // They stand on the worker's class path, which is part of the archive.
        crate::fixtures::connectors(cache, artifact)?.hash(&mut hasher);
    }
    let name = format!("{}-{:016x}.jsa", artifact.folder_name(), hasher.finish());
    Ok(cache.root().join("archives").join(name))
}

/// Runs one broker and one worker with both fixture connectors, ends them in order, and keeps
/// the archives they leave. Nothing to do if both are there.
pub(crate) fn make(cache: &JarCache, broker: Version, worker: Version) -> anyhow::Result<()> {
    let artifacts = [Artifact::Broker(broker), Artifact::Worker(worker)];
    let missing = artifacts
        .into_iter()
        .map(|artifact| Ok((artifact, file(cache, artifact)?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    if missing.iter().all(|(_, target)| target.exists()) {
        return Ok(());
    }
    let mut spec = ClusterSpec::of(1);
    spec.brokers.version = broker;
    spec.groups[0].workers[0].version = worker;
    let mut cluster = Cluster::train(&spec)?;
    let settings = [
        (
            "source",
            json!({"connector.class": "evenkeel.testbed.FixtureSource", "topic": "t"}),
        ),
        (
            "sink",
            json!({"connector.class": "evenkeel.testbed.FixtureSink", "topics": "t"}),
        ),
    ];
    for (name, config) in settings {
        let path = format!("/connectors/{name}/config");
        cluster
            .request("worker-1", "PUT", &path, Some(&config))?
            .ok()?;
        cluster.await_state("worker-1", (name, 1, "RUNNING"), RUN_MAX)?;
    }
    cluster.stop("worker-1")?;
    cluster.stop("broker-1")?;
    for (artifact, target) in missing {
        let made = cluster.folder().join(artifact.folder_name());
        let partial = target.with_extension(format!("{}.partial", std::process::id()));
        fs::create_dir_all(cache.root().join("archives"))?;
        // The cache may lie on another file system than the cluster.
        fs::copy(made.with_extension("jsa"), &partial)
            .with_context(|| format!("keep the archive of {}", artifact.folder_name()))?;
        fs::rename(&partial, &target)?;
    }
    Ok(())
}
