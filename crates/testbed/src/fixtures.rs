//! The Java of the testbed, compiled at first use against the jars it will run with.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::jars::{Artifact, JarCache};

type Source = (&'static str, &'static str);

macro_rules! sources {
    ($folder:literal: $($name:literal),+) => {
        [$(($name, include_str!(concat!("../java/", $folder, "/", $name)))),+]
    };
}

const FIXTURES: [Source; 6] = sources!("fixtures":
    "FixtureSink.java", "FixtureSinkTask.java", "FixtureSource.java", "FixtureSourceTask.java",
    "Settings.java", "Watch.java");
const ADMIN: [Source; 2] = sources!("admin": "Admin.java", "Rights.java");

/// ServiceLoader manifests, by which `plugin.discovery=service_load` (3.6+, KIP-898) finds
/// the connectors; older workers scan the class path.
const MANIFESTS: [Source; 2] = [
    (
        "org.apache.kafka.connect.source.SourceConnector",
        "evenkeel.testbed.FixtureSource\n",
    ),
    (
        "org.apache.kafka.connect.sink.SinkConnector",
        "evenkeel.testbed.FixtureSink\n",
    ),
];

/// Every Java that runs a supported release reads classes of Java 11; the connect-api of 4.x
/// cannot be compiled against for less.
const CLASS_RELEASE: &str = "11";

/// The jar of the fixture connectors for one release of the worker.
pub(crate) fn connectors(cache: &JarCache, worker: Artifact) -> anyhow::Result<PathBuf> {
    compile(cache, "fixtures", &FIXTURES, &MANIFESTS, worker)
}

/// The jar of the topic tool for one release of the broker.
pub(crate) fn admin(cache: &JarCache, broker: Artifact) -> anyhow::Result<PathBuf> {
    compile(cache, "admin", &ADMIN, &[], broker)
}

fn compile(
    cache: &JarCache,
    name: &str,
    sources: &[Source],
    manifests: &[Source],
    against: Artifact,
) -> anyhow::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (sources, manifests, CLASS_RELEASE).hash(&mut hasher);
    let entry = format!(
        "compiled/{name}-{}-{:016x}",
        against.folder_name(),
        hasher.finish()
    );
    let class_path = cache.class_path(against)?;
    let jar = format!("{name}.jar");
    let folder = cache
        .once(&entry, |folder| {
            let source_folder = folder.join("src");
            let classes = folder.join("classes");
            write_all(&source_folder, sources)?;
            write_all(&classes.join("META-INF/services"), manifests)?;
            run(Command::new(&cache.tools().javac)
                .args(["--release", CLASS_RELEASE, "-proc:none", "-nowarn"])
                .args(["-cp", &class_path, "-d"])
                .arg(&classes)
                .args(sources.iter().map(|(file, _)| source_folder.join(file))))?;
            // A jar and not a folder: class data sharing refuses class paths with folders.
            run(Command::new(&cache.tools().jar)
                .args(["--create", "--file"])
                .arg(folder.join(&jar))
                .arg("-C")
                .arg(&classes)
                .arg("."))
        })
        .with_context(|| format!("compile {name} against {}", against.folder_name()))?;
    Ok(folder.join(jar))
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("run {program}"))?;
    if !output.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

fn write_all(folder: &Path, files: &[Source]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    for (name, text) in files {
        fs::write(folder.join(name), text).with_context(|| format!("write {name}"))?;
    }
    Ok(())
}
