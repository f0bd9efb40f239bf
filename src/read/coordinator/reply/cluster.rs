//! `Metadata` and `DescribeConfigs`, for what is compared: how many brokers, the shapes of
//! topics, a few settings.

#[cfg(test)]
mod tests;

use evenkeel_core::facts::cluster::{COORDINATOR_SETTINGS, TOPIC_SETTINGS, Told};
use evenkeel_core::facts::input::Trouble;

use super::super::error::{AskError, code};
use super::Reader;

/// The longest value of a setting that is kept: those that are asked for are numbers and a
/// list of two words.
const VALUE_BYTES_MAX: usize = 64;

/// Topics or resources of one answer that are kept; fewer are asked for.
const KEPT_MAX: usize = 16;

/// The shape of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Shape {
    pub(in super::super) name: String,
    pub(in super::super) trouble: Option<Trouble>,
    pub(in super::super) partitions: Option<u32>,
    /// The least number that a partition has.
    pub(in super::super) replicas: Option<u32>,
}

/// The settings of a broker or a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Resource {
    pub(in super::super) kind: i8,
    pub(in super::super) name: String,
    pub(in super::super) told: Told,
}

/// `Metadata`, versions 4 to 12: how many brokers there are, and the topics.
pub(in super::super) fn shapes(body: &[u8], version: i16) -> Result<(u32, Vec<Shape>), AskError> {
    let mut reader = Reader::new(body, version >= 9);
    reader.i32("throttle time")?;
    let mut brokers = 0u32;
    for _ in 0..reader.count("brokers")? {
        reader.i32("node id")?;
        reader.text("host")?;
        reader.i32("port")?;
        reader.nullable_text("rack")?;
        reader.end_struct()?;
        brokers = brokers.saturating_add(1);
    }
    reader.nullable_text("cluster id")?;
    reader.i32("controller")?;
    let mut shapes = Vec::new();
    for _ in 0..reader.count("topics")? {
        let shape = shape(&mut reader, version)?;
        if shapes.len() < KEPT_MAX {
            shapes.push(shape);
        }
    }
    Ok((brokers, shapes))
}

fn shape(reader: &mut Reader<'_>, version: i16) -> Result<Shape, AskError> {
    let trouble = trouble(reader.i16("topic error")?);
    let name = reader.text("topic")?.to_owned();
    if version >= 10 {
        reader.take(16, "topic id")?;
    }
    reader.take(1, "is internal")?;
    let mut partitions = 0u32;
    let mut replicas = None;
    for _ in 0..reader.count("partitions")? {
        reader.i16("partition error")?;
        reader.i32("partition")?;
        reader.i32("leader")?;
        if version >= 7 {
            reader.i32("leader epoch")?;
        }
        let count = nodes(reader, "replicas")?;
        nodes(reader, "isr")?;
        if version >= 5 {
            nodes(reader, "offline replicas")?;
        }
        reader.end_struct()?;
        partitions = partitions.saturating_add(1);
        replicas = Some(replicas.map_or(count, |least: u32| least.min(count)));
    }
    if version >= 8 {
        reader.i32("authorized operations")?;
    }
    reader.end_struct()?;
    Ok(Shape {
        name,
        trouble,
        partitions: (partitions > 0).then_some(partitions),
        replicas,
    })
}

/// How many nodes a list has.
fn nodes(reader: &mut Reader<'_>, field: &'static str) -> Result<u32, AskError> {
    let count = reader.count(field)?;
    for _ in 0..count {
        reader.i32(field)?;
    }
    u32::try_from(count).map_err(|_| AskError::Nonsense(field))
}

/// `DescribeConfigs`, versions 1 to 4. What was not asked for is not kept, nor what is
/// sensitive.
pub(in super::super) fn settings(body: &[u8], version: i16) -> Result<Vec<Resource>, AskError> {
    let mut reader = Reader::new(body, version >= 4);
    reader.i32("throttle time")?;
    let mut resources = Vec::new();
    for _ in 0..reader.count("results")? {
        let trouble = trouble(reader.i16("result error")?);
        reader.nullable_text("message")?;
        let [kind] = reader.array("resource type")?;
        let name = reader.text("resource")?.to_owned();
        let mut told = Told {
            trouble,
            ..Told::default()
        };
        for _ in 0..reader.count("settings")? {
            if let Some((name, value)) = setting(&mut reader, version)? {
                told.values.insert(name.to_owned(), value.to_owned());
            }
        }
        reader.end_struct()?;
        if resources.len() < KEPT_MAX {
            resources.push(Resource {
                kind: i8::from_be_bytes([kind]),
                name,
                told,
            });
        }
    }
    Ok(resources)
}

fn setting<'a>(
    reader: &mut Reader<'a>,
    version: i16,
) -> Result<Option<(&'a str, &'a str)>, AskError> {
    let name = reader.text("setting")?;
    let value = reader.nullable_text("value")?;
    reader.take(1, "read only")?;
    reader.take(1, "source")?;
    let [is_sensitive] = reader.array("is sensitive")?;
    for _ in 0..reader.count("synonyms")? {
        reader.text("synonym")?;
        reader.nullable_text("synonym value")?;
        reader.take(1, "synonym source")?;
        reader.end_struct()?;
    }
    if version >= 3 {
        reader.take(1, "type")?;
        reader.nullable_text("documentation")?;
    }
    reader.end_struct()?;
    let is_asked = COORDINATOR_SETTINGS.contains(&name) || TOPIC_SETTINGS.contains(&name);
    let kept = value.filter(|value| value.len() <= VALUE_BYTES_MAX);
    let kept = kept.filter(|_| is_asked && is_sensitive == 0);
    Ok(kept.map(|value| (name, value)))
}

fn trouble(error: i16) -> Option<Trouble> {
    match error {
        code::NONE => None,
        code::TOPIC_AUTHORIZATION_FAILED | code::CLUSTER_AUTHORIZATION_FAILED => {
            Some(Trouble::Denied)
        }
        code::UNKNOWN_TOPIC_OR_PARTITION => Some(Trouble::Missing),
        // While an election goes on the shape is told all the same.
        code::LEADER_NOT_AVAILABLE => None,
        _ => Some(Trouble::Other),
    }
}
