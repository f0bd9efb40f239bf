//! The published jars: resolved once by Maven, kept in a cache, read offline from then on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::cache;
use crate::tools::Tools;
use crate::version::Version;

/// What Kafka 4.x logs with (KIP-653) and what bridges slf4j 1.7 to it. One release for all
/// lines: the three must agree with each other, not with Kafka.
const LOG4J2: &str = "2.25.5";
const RELOAD4J: &str = "1.2.25";
const SLF4J: &str = "1.7.36";

/// A set of jars that the testbed runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Artifact {
    Broker(Version),
    Worker(Version),
    /// Kafka's own command line programs.
    Programs(Version),
    /// The Prometheus Java agent, which shows JMX over HTTP.
    JmxAgent,
}

/// The agent's release; 1.0.1 runs on Java 8 and later.
const JMX_AGENT: &str = "1.0.1";

impl Artifact {
    fn coordinates(self) -> (&'static str, &'static str, String) {
        match self {
            Artifact::Broker(version) => ("org.apache.kafka", "kafka_2.13", version.to_string()),
            Artifact::Worker(version) => {
                ("org.apache.kafka", "connect-runtime", version.to_string())
            }
            Artifact::Programs(version) => ("org.apache.kafka", "kafka-tools", version.to_string()),
            Artifact::JmxAgent => (
                "io.prometheus.jmx",
                "jmx_prometheus_javaagent",
                JMX_AGENT.to_owned(),
            ),
        }
    }

    /// The name of its folder in the cache, for example `connect-runtime-4.4.0`.
    pub fn folder_name(self) -> String {
        let (_, artifact, version) = self.coordinates();
        format!("{artifact}-{version}")
    }

    fn kafka(self) -> Option<Version> {
        match self {
            Artifact::Broker(version) | Artifact::Worker(version) | Artifact::Programs(version) => {
                Some(version)
            }
            Artifact::JmxAgent => None,
        }
    }

    /// A pom whose runtime dependencies are the artifact and a logging backend.
    fn pom(self) -> String {
        let (group, artifact, version) = self.coordinates();
        let mut dependencies = vec![(group, artifact, version)];
        match self.kafka() {
            Some(kafka) if kafka.at_least(4, 0) => {
                for name in ["log4j-api", "log4j-core", "log4j-slf4j-impl"] {
                    dependencies.push(("org.apache.logging.log4j", name, LOG4J2.to_owned()));
                }
            }
            Some(_) => {
                dependencies.push(("ch.qos.reload4j", "reload4j", RELOAD4J.to_owned()));
                dependencies.push(("org.slf4j", "slf4j-api", SLF4J.to_owned()));
                dependencies.push(("org.slf4j", "slf4j-reload4j", SLF4J.to_owned()));
            }
            None => {}
        }
        // Old releases bring log4j 1.2 itself, whose classes reload4j replaces.
        let exclusions = [("log4j", "log4j"), ("org.slf4j", "slf4j-log4j12")]
            .map(|(group, artifact)| {
                format!(
                    "<exclusion><groupId>{group}</groupId><artifactId>{artifact}</artifactId></exclusion>"
                )
            })
            .concat();
        let dependencies: String = dependencies
            .into_iter()
            .map(|(group, artifact, version)| {
                format!(
                    "<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>\
                     <version>{version}</version><exclusions>{exclusions}</exclusions></dependency>\n"
                )
            })
            .collect();
        format!(
            "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\
             <modelVersion>4.0.0</modelVersion><groupId>evenkeel</groupId>\
             <artifactId>testbed</artifactId><version>1</version>\n\
             <dependencies>\n{dependencies}</dependencies>\n</project>\n"
        )
    }
}

/// The cache folder with everything that outlives a cluster.
#[derive(Clone, Debug)]
pub struct JarCache {
    root: PathBuf,
    tools: Tools,
}

impl JarCache {
    /// The cache of this user, and the programs that fill it.
    ///
    /// # Errors
    /// When there is no home folder, or Java or Maven is missing.
    pub fn open() -> anyhow::Result<JarCache> {
        Ok(JarCache {
            root: cache::root()?,
            tools: Tools::find_or_install()?,
        })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// The folder with the jars of `artifact`, resolved by Maven if it is not there yet.
    ///
    /// # Errors
    /// When Maven cannot resolve it.
    pub fn jars(&self, artifact: Artifact) -> anyhow::Result<PathBuf> {
        let name = artifact.folder_name();
        self.once(&format!("jars/{name}"), |target| {
            eprintln!("resolving {name} by Maven");
            fs::write(target.join("pom.xml"), artifact.pom())?;
            let output = Command::new(&self.tools.mvn)
                .args(["--batch-mode", "--quiet", "dependency:copy-dependencies"])
                .args(["-DincludeScope=runtime", "-DoutputDirectory=."])
                .current_dir(target)
                .output()
                .context("run mvn")?;
            if !output.status.success() {
                bail!(
                    "mvn ended with {}: {}{}",
                    output.status,
                    String::from_utf8_lossy(&output.stdout),
                    String::from_utf8_lossy(&output.stderr)
                );
            }
            Ok(())
        })
        .with_context(|| format!("resolve {name}"))
    }

    /// The class path entry for all jars of `artifact`.
    pub(crate) fn class_path(&self, artifact: Artifact) -> anyhow::Result<String> {
        Ok(format!("{}/*", self.jars(artifact)?.display()))
    }

    /// As [`cache::once`].
    pub(crate) fn once(
        &self,
        relative: &str,
        make: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<PathBuf> {
        cache::once(&self.root, relative, make)
    }
}

#[cfg(test)]
mod tests;
