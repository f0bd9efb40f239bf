//! What stands beside an engine's state: which topics its inputs came from, and whether what
//! comes first after a restart is of the cluster that the state is of.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_core::engine::{Engine, STATE_VERSION};
use evenkeel_core::facts::input::{Input, InputKind, Record, Start, Topic};

use super::form::{Header, Origin, Owner, Refused};
use crate::read::group::GroupReader;
use crate::read::kafka::{Identity, ReadTo};
use crate::run::clock;

/// Who knows which topics are read.
pub trait Source {
    /// Which topic is read.
    fn identity(&self, topic: Topic) -> Identity;

    /// The number that the next new content of a configuration gets.
    fn next_content(&self) -> u32;
}

/// What the inputs of an engine came from, as far as it took them.
#[derive(Debug, Default)]
pub(super) struct Track {
    topics: BTreeMap<Topic, Origin>,
    cluster_id: Option<String>,
    /// Where the engine stood that was restored, for partitions that were not begun since.
    inherited: BTreeMap<(Topic, i32), i64>,
    /// Whether an engine was restored and then refused; and what was begun since then.
    refused: Option<BTreeSet<(Topic, i32)>>,
}

// === impl Track ===

impl Track {
    /// Goes on from a state that is restored.
    pub(super) fn after(header: &Header, read_to: &ReadTo) -> Self {
        let positions = read_to.topics.iter().flat_map(|(topic, read_to)| {
            let positions = read_to.positions.iter();
            positions.map(|(partition, next)| ((*topic, *partition), *next))
        });
        Self {
            topics: header.topics.iter().cloned().collect(),
            cluster_id: header.cluster_id.clone(),
            inherited: positions.collect(),
            refused: None,
        }
    }

    /// Looks at an input before it is taken; says why the engine must forget what was restored.
    pub(super) fn meet(&mut self, input: &mut Input, group: &str) -> Option<Refused> {
        match &mut input.kind {
            InputKind::Settings(settings) => {
                let told = settings.cluster_id.clone()?;
                let before = self.cluster_id.replace(told.clone());
                let is_other = before.as_ref().is_some_and(|before| *before != told);
                if !is_other || self.inherited.is_empty() {
                    return None;
                }
                self.topics.clear();
                self.inherited.clear();
                self.refused = Some(BTreeSet::new());
                Some(Refused::Foreign {
                    what: "cluster",
                    found: before.unwrap_or_default(),
                    expected: told,
                })
            }
            InputKind::Start(start) => {
                let key = (start.topic, start.partition);
                if let Some(begun) = &mut self.refused {
                    // Another topic than the one that nothing is held of any more.
                    start.anew &= !begun.insert(key);
                }
                if let Some(next) = self.inherited.remove(&key) {
                    say_begun(start, next, group);
                }
                None
            }
            _ => None,
        }
    }

    /// An input was taken.
    pub(super) fn took(&mut self, input: &Input, source: &impl Source) {
        match &input.kind {
            InputKind::Start(start) => {
                let origin = self.topics.entry(start.topic).or_default();
                origin.identity = source.identity(start.topic);
                if start.anew {
                    origin.epochs.clear();
                }
            }
            InputKind::Record(Record {
                topic,
                partition,
                leader_epoch: Some(epoch),
                ..
            }) => {
                let origin = self.topics.entry(*topic).or_default();
                origin.epochs.insert(*partition, *epoch);
            }
            _ => {}
        }
    }

    pub(super) fn header(&self, owner: &Owner, engine: &Engine, source: &impl Source) -> Header {
        let settings = engine.state().settings();
        Header {
            evenkeel: env!("CARGO_PKG_VERSION").to_owned(),
            layout: STATE_VERSION,
            written_ms: clock::now().0,
            owner: owner.clone(),
            cluster_id: settings.cluster_id.clone().or(self.cluster_id.clone()),
            contents: source.next_content(),
            topics: self.topics.clone().into_iter().collect(),
        }
    }
}

/// Says how reading of a partition goes on that another process read up to `next`.
fn say_begun(start: &Start, next: i64, group: &str) {
    let (topic, partition) = (start.topic.label(), start.partition);
    let Start { offset, end, .. } = *start;
    if start.anew {
        let reason = match next > end {
            true => "its log ends before what was read of it",
            false => "it is not the topic that was read",
        };
        tracing::warn!(
            group,
            topic,
            partition,
            next,
            end,
            reason,
            "state of one topic not restored: it is derived anew"
        );
    } else if offset > next {
        tracing::warn!(
            group,
            topic,
            partition,
            next,
            offset,
            "records were deleted before they were read"
        );
    } else {
        let unwatched = end.saturating_sub(next).max(0);
        tracing::info!(group, topic, partition, next, unwatched, "reading goes on");
    }
}

impl Source for GroupReader {
    fn identity(&self, topic: Topic) -> Identity {
        Self::identity(self, topic)
    }

    fn next_content(&self) -> u32 {
        Self::next_content(self)
    }
}
