//! Rights given and taken at run time, and SCRAM users, by Kafka's own admin client.

use std::fmt;
use std::io::Write as _;
use std::process::Stdio;
use std::str::FromStr;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::User;
use crate::broker::jvm;
use crate::fixtures;
use crate::group::Group;
use crate::jars::{Artifact, JarCache};
use crate::process;
use crate::version::Version;

/// The topics that connectors of a secured cluster may read, write and create.
pub const DATA_TOPICS: &str = "data-*";

/// A right: who may do what to which resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Right {
    /// For example `User:evenkeel`.
    pub principal: String,
    /// Kafka's name of the operation, for example `READ` or `DESCRIBE_CONFIGS`.
    pub operation: String,
    pub resource: Resource,
}

/// A resource, written `topic:NAME`, `group:NAME` or `cluster`; a name that ends in `*` stands
/// for all that begin so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Resource {
    Topic(String),
    Group(String),
    Cluster,
}

impl Right {
    /// A right of a user.
    #[must_use]
    pub fn of(user: &str, operation: &str, resource: Resource) -> Right {
        Right {
            principal: format!("User:{user}"),
            operation: operation.to_owned(),
            resource,
        }
    }

    /// All that a worker of `group` asks for: its group and topics, the topics of its
    /// connectors, which begin with [`DATA_TOPICS`], and the groups of its sinks.
    #[must_use]
    pub fn of_worker(user: &str, group: &Group) -> Vec<Right> {
        let mut rights = vec![
            Right::of(user, "READ", Resource::Group(group.group_id.clone())),
            Right::of(user, "READ", Resource::Group("connect-*".to_owned())),
        ];
        for topic in [
            &group.config_topic,
            &group.offset_topic,
            &group.status_topic,
        ] {
            // DESCRIBE_CONFIGS lets it check that the topic is compacted.
            for operation in ["READ", "WRITE", "CREATE", "DESCRIBE_CONFIGS"] {
                rights.push(Right::of(user, operation, Resource::Topic(topic.clone())));
            }
        }
        for operation in ["READ", "WRITE", "CREATE"] {
            let topics = Resource::Topic(DATA_TOPICS.to_owned());
            rights.push(Right::of(user, operation, topics));
        }
        rights
    }

    /// All that evenkeel asks for: three topics and the group, none of them changed.
    #[must_use]
    pub fn of_observer(user: &str, group: &Group) -> Vec<Right> {
        let topics = [
            "__consumer_offsets",
            &group.config_topic,
            &group.status_topic,
        ];
        let mut rights: Vec<Right> = topics
            .into_iter()
            .flat_map(|topic| {
                ["READ", "DESCRIBE"]
                    .map(|operation| Right::of(user, operation, Resource::Topic(topic.to_owned())))
            })
            .collect();
        let group = Resource::Group(group.group_id.clone());
        rights.push(Right::of(user, "DESCRIBE", group));
        rights
    }

    fn line(&self, verb: &str) -> String {
        let (kind, name) = match &self.resource {
            Resource::Topic(name) => ("TOPIC", name.as_str()),
            Resource::Group(name) => ("GROUP", name.as_str()),
            // The one name that Kafka gives the cluster as a resource.
            Resource::Cluster => ("CLUSTER", "kafka-cluster"),
        };
        let (pattern, name) = match name.strip_suffix('*') {
            Some("") | None => ("LITERAL", name),
            Some(start) => ("PREFIXED", start),
        };
        let Right {
            principal,
            operation,
            ..
        } = self;
        format!("{verb}\t{principal}\t{operation}\t{kind}\t{pattern}\t{name}\n")
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Topic(name) => write!(f, "topic:{name}"),
            Resource::Group(name) => write!(f, "group:{name}"),
            Resource::Cluster => f.write_str("cluster"),
        }
    }
}

impl FromStr for Resource {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Resource> {
        match text.split_once(':') {
            Some(("topic", name)) if !name.is_empty() => Ok(Resource::Topic(name.to_owned())),
            Some(("group", name)) if !name.is_empty() => Ok(Resource::Group(name.to_owned())),
            None if text == "cluster" => Ok(Resource::Cluster),
            _ => bail!("{text:?} is not of the form topic:NAME, group:NAME or cluster"),
        }
    }
}

impl TryFrom<String> for Resource {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Resource> {
        text.parse()
    }
}

impl From<Resource> for String {
    fn from(resource: Resource) -> String {
        resource.to_string()
    }
}

/// What is asked of the brokers, in one go.
#[derive(Debug)]
pub(crate) enum Change<'a> {
    Users(&'a [User]),
    Grant(&'a [Right]),
    Revoke(&'a [Right]),
}

/// Makes a change and waits until the broker that answers acts on it.
pub(crate) fn change(
    cache: &JarCache,
    version: Version,
    bootstrap: &str,
    change: &Change<'_>,
) -> anyhow::Result<()> {
    let lines: String = match change {
        Change::Users(users) => users
            .iter()
            .map(|user| format!("user\t{}\t{}\n", user.name, user.password))
            .collect(),
        Change::Grant(rights) => rights.iter().map(|right| right.line("grant")).collect(),
        Change::Revoke(rights) => rights.iter().map(|right| right.line("revoke")).collect(),
    };
    let broker = Artifact::Broker(version);
    let classes = fixtures::admin(cache, broker)?;
    let class_path = format!("{}:{}", classes.display(), cache.class_path(broker)?);
    let mut command = jvm(cache.tools(), 64);
    command
        .args(["-cp", &class_path, "evenkeel.testbed.Rights", bootstrap])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = process::spawn(command)?;
    // Passwords must not stand in a command line, which everybody can read.
    let mut stdin = child.stdin.take().context("the rights tool has no input")?;
    stdin.write_all(lines.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output().context("run the rights tool")?;
    if !output.status.success() {
        bail!(
            "change rights or users: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_at_the_end_is_a_prefix_and_alone_is_everything() {
        let line = |name: &str| {
            let resource: Resource = name.parse().unwrap();
            Right::of("me", "READ", resource).line("grant")
        };
        assert_eq!(
            line("topic:a-*"),
            "grant\tUser:me\tREAD\tTOPIC\tPREFIXED\ta-\n"
        );
        assert_eq!(line("group:*"), "grant\tUser:me\tREAD\tGROUP\tLITERAL\t*\n");
        assert_eq!(
            line("cluster"),
            "grant\tUser:me\tREAD\tCLUSTER\tLITERAL\tkafka-cluster\n"
        );
        for text in ["", "topic", "topic:", "table:a", "cluster:"] {
            assert!(text.parse::<Resource>().is_err(), "{text}");
        }
    }
}
