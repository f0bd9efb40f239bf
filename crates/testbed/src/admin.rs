//! Topics and groups changed from outside, by Kafka's own admin client in a short JVM.

use std::process::Command;

use anyhow::{Context, bail};

use crate::broker::jvm;
use crate::fixtures;
use crate::jars::{Artifact, JarCache};
use crate::version::Version;

/// A topic to create.
#[derive(Clone, Debug)]
pub struct TopicSpec {
    pub name: String,
    pub partitions: u32,
    pub replicas: u16,
    /// Topic settings such as `cleanup.policy`.
    pub settings: Vec<(String, String)>,
}

impl TopicSpec {
    /// A compacted topic with one replica, as the topics of Connect are.
    pub fn compacted(name: &str, partitions: u32) -> TopicSpec {
        TopicSpec {
            name: name.to_owned(),
            partitions,
            replicas: 1,
            settings: vec![("cleanup.policy".to_owned(), "compact".to_owned())],
        }
    }
}

/// What to do to a topic or group.
#[derive(Clone, Debug)]
pub enum TopicVerb {
    Create(TopicSpec),
    Delete(String),
    DeleteGroup(String),
}

pub(crate) fn run(
    cache: &JarCache,
    version: Version,
    bootstrap: &str,
    verb: &TopicVerb,
) -> anyhow::Result<()> {
    let args: Vec<String> = match verb {
        TopicVerb::Create(topic) => ["create", bootstrap, &topic.name]
            .into_iter()
            .map(str::to_owned)
            .chain([topic.partitions.to_string(), topic.replicas.to_string()])
            .chain(
                topic
                    .settings
                    .iter()
                    .map(|(name, value)| format!("{name}={value}")),
            )
            .collect(),
        TopicVerb::Delete(topic) => vec!["delete".into(), bootstrap.into(), topic.clone()],
        TopicVerb::DeleteGroup(group) => {
            vec!["delete-group".into(), bootstrap.into(), group.clone()]
        }
    };
    ask(cache, version, &args).map(|_| ())
}

/// `node.id` of the broker that coordinates a group.
pub(crate) fn coordinator(
    cache: &JarCache,
    version: Version,
    bootstrap: &str,
    group_id: &str,
) -> anyhow::Result<u16> {
    let args = ["coordinator", bootstrap, group_id].map(str::to_owned);
    let answer = ask(cache, version, &args)?;
    answer
        .trim()
        .parse()
        .with_context(|| format!("no broker coordinates {group_id}: {answer:?}"))
}

/// What the tool prints.
fn ask(cache: &JarCache, version: Version, args: &[String]) -> anyhow::Result<String> {
    let broker = Artifact::Broker(version);
    let classes = fixtures::admin(cache, broker)?;
    let class_path = format!("{}:{}", classes.display(), cache.class_path(broker)?);
    let mut command: Command = jvm(cache.tools(), 64);
    let output = command
        .args(["-cp", &class_path, "evenkeel.testbed.Admin"])
        .args(args)
        .output()
        .context("run the topic tool")?;
    if !output.status.success() {
        bail!(
            "{}: {}",
            args.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
