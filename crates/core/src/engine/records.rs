//! Takes the records of the three topics into the state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::State;
use crate::facts::group::{self, GroupFact};
use crate::facts::ids::Protocol;
use crate::facts::input::{Record, Topic};
use crate::facts::observation::{ConfigFact, StatusFact, TargetState};
use crate::facts::time::{ArrivalTime, EventTime};
use crate::facts::{config, status};
use crate::limits::UNKNOWN_LABELS_MAX;
use crate::story::findings::Kind;
use crate::view::configured::Origin;

/// What was read of each topic, and what could not be.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Tallies {
    offsets: Tally,
    config: Tally,
    status: Tally,
}

/// What was read of one topic.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Records taken.
    pub(super) records: u64,
    /// Records that could not be decoded, by kind of error.
    pub(super) decode_errors: BTreeMap<String, u64>,
    /// Records of an unknown type or version, by what they said.
    pub(super) unknown: BTreeMap<String, u64>,
}

// === impl Tallies ===

impl Tallies {
    pub(super) fn of(&self, topic: Topic) -> &Tally {
        match topic {
            Topic::Offsets => &self.offsets,
            Topic::Config => &self.config,
            Topic::Status => &self.status,
        }
    }

    fn of_mut(&mut self, topic: Topic) -> &mut Tally {
        match topic {
            Topic::Offsets => &mut self.offsets,
            Topic::Config => &mut self.config,
            Topic::Status => &mut self.status,
        }
    }
}

// === impl Tally ===

impl Tally {
    fn undecodable(&mut self, label: &str) {
        bump(&mut self.decode_errors, label);
    }

    fn unknown(&mut self, label: &str) {
        bump(&mut self.unknown, label);
    }
}

fn bump(counts: &mut BTreeMap<String, u64>, label: &str) {
    let full = counts.len() >= UNKNOWN_LABELS_MAX && !counts.contains_key(label);
    let count = counts
        .entry(if full { "other" } else { label }.to_owned())
        .or_default();
    *count = count.saturating_add(1);
}

// === impl State ===

impl State {
    pub(super) fn take_record(&mut self, record: &Record, at: ArrivalTime) {
        let tally = self.tallies.of_mut(record.topic);
        tally.records = tally.records.saturating_add(1);
        let progress = self.progress.of(record.topic);
        if !progress.is_live(record.partition, record.offset)
            && let Some(recorded) = record.timestamp
        {
            self.clock.read_history(recorded);
        }
        match record.topic {
            Topic::Offsets => self.take_offsets_record(record, at),
            Topic::Config => self.take_config_record(record),
            Topic::Status => self.take_status_record(record, at),
        }
    }

    fn take_config_record(&mut self, record: &Record) {
        let tally = &mut self.tallies.config;
        match config::decode(
            record.key.as_deref(),
            record.value.as_deref(),
            &mut self.names,
        ) {
            Ok(fact) => {
                if fact == ConfigFact::Unknown {
                    tally.unknown("key");
                    if config::is_status_key(record.key.as_deref()) {
                        self.topic_swapped(Topic::Config, record.timestamp);
                    }
                }
                let progress = self.progress.of(Topic::Config);
                let live = progress.is_live(record.partition, record.offset);
                let is_key = fact == ConfigFact::SessionKey;
                let origin = Origin {
                    offset: record.offset,
                    // The age of a key is held against minutes: a leader's clock may be off by
                    // as much.
                    recorded: match self.clock.now() {
                        Some(now) if live && is_key => Some(now),
                        _ => record.timestamp,
                    },
                };
                self.configured.apply(&fact, origin);
                let story = &mut self.story;
                if story.config.apply(&fact, record.offset, record.timestamp) {
                    story.patterns.wrote(record.offset);
                }
                if let (ConfigFact::Connector(connector, ..), Some(at)) = (&fact, record.timestamp)
                {
                    story.downtimes.configured(*connector, at);
                }
                if let (ConfigFact::Target(connector, TargetState::Paused), Some(at)) =
                    (&fact, record.timestamp)
                {
                    let switches = self.story.switches;
                    let downtimes = &mut self.story.downtimes;
                    let costs = downtimes.paused(*connector, (at, live), switches);
                    self.count_costs(&costs);
                }
                if let ConfigFact::Target(connector, TargetState::Started | TargetState::Stopped) =
                    &fact
                {
                    self.story.downtimes.not_paused(*connector);
                }
                if is_key {
                    self.protocol.prove(Protocol::Sessioned);
                }
                self.ownership.bound(&self.configured);
            }
            Err(error) => {
                tally.undecodable(error.label());
                let origin = Origin {
                    offset: record.offset,
                    recorded: record.timestamp,
                };
                self.configured.apply(&ConfigFact::Unknown, origin);
            }
        }
    }

    fn take_status_record(&mut self, record: &Record, at: ArrivalTime) {
        let tally = &mut self.tallies.status;
        match status::decode(
            record.key.as_deref(),
            record.value.as_deref(),
            &mut self.names,
        ) {
            Ok(fact) => {
                if fact == StatusFact::Unknown {
                    tally.unknown("key");
                    if status::is_config_key(record.key.as_deref()) {
                        self.topic_swapped(Topic::Status, record.timestamp);
                    }
                }
                if let StatusFact::State(status) = &fact
                    && self.rounds.waits_for(status.generation)
                {
                    self.due.generation(status.generation);
                }
                self.statuses.apply(&fact, record.timestamp);
                let live = self
                    .progress
                    .of(Topic::Status)
                    .is_live(record.partition, record.offset);
                self.note_status(&fact, record.timestamp, at, live);
            }
            Err(error) => tally.undecodable(error.label()),
        }
    }

    /// A record or description of a Connect group was read, its members wholly or in part.
    pub(super) fn note_members(&mut self, whole: bool, recorded: Option<EventTime>) {
        self.findings.clear(Kind::ForeignGroup);
        if whole {
            self.findings.clear(Kind::MemberUndecodable);
        } else {
            let group = self.settings.group.clone();
            self.findings
                .raise(Kind::MemberUndecodable, group, recorded, || {
                    "part of a member's entry in the group could not be read".to_owned()
                });
        }
    }

    fn topic_swapped(&mut self, topic: Topic, recorded: Option<EventTime>) {
        let (name, holds) = match topic {
            Topic::Status => (&self.settings.status_topic, "the config topic"),
            Topic::Config | Topic::Offsets => (&self.settings.config_topic, "the status topic"),
        };
        self.findings
            .raise(Kind::TopicSwapped, name.clone(), recorded, || {
                format!("holds records of {holds}: were config_topic and status_topic swapped?")
            });
    }

    fn take_offsets_record(&mut self, record: &Record, at: ArrivalTime) {
        match group::is_group_key(record.key.as_deref()) {
            Ok(true) => {}
            // The reader passes on only the group's own metadata records.
            Ok(false) => return self.tallies.offsets.unknown("key"),
            Err(error) => {
                self.group.hole = true;
                return self.tallies.offsets.undecodable(error.label());
            }
        }
        let live = self
            .progress
            .of(Topic::Offsets)
            .is_live(record.partition, record.offset);
        let recorded = record
            .timestamp
            .or(self.clock.event)
            .unwrap_or(EventTime(at.0));
        self.clock.saw(record.leader_epoch, recorded, at, live);
        self.due.newest();
        self.group.history_from = self.group.history_from.or(Some(recorded));
        let before = self.group.newest.clone();
        let value = record.value.as_deref();
        match group::decode(
            value,
            record.offset,
            recorded,
            before.as_deref(),
            &mut self.names,
        ) {
            Ok(GroupFact::Snapshot(snapshot, problems)) => {
                for problem in &problems {
                    self.tallies.offsets.undecodable(problem.label());
                }
                self.note_members(problems.is_empty(), Some(recorded));
                self.take_snapshot(*snapshot, at, live);
            }
            Ok(GroupFact::Tombstone) => {
                self.findings.clear(Kind::ForeignGroup);
                self.take_tombstone(recorded, at, live);
            }
            Ok(GroupFact::ForeignType(name)) => {
                // Only an empty group changes its type: Connect's is over.
                if self.group.newest.is_some() {
                    self.take_tombstone(recorded, at, live);
                }
                self.findings.raise(
                    Kind::ForeignGroup,
                    self.settings.group.clone(),
                    Some(recorded),
                    || format!("a group of type {name} has this id; it is no Connect group"),
                );
            }
            Ok(GroupFact::Unknown(unknown)) => {
                self.group.hole = true;
                self.tallies
                    .offsets
                    .unknown(&format!("group_metadata_v{}", unknown.version));
            }
            Err(error) => {
                self.group.hole = true;
                self.tallies.offsets.undecodable(error.label());
            }
        }
    }
}
