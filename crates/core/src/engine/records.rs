//! Takes the records of the three topics into the state.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::Outcome;
use crate::engine::{Change, State};
use crate::facts::group::{self, GroupFact};
use crate::facts::ids::Protocol;
use crate::facts::input::{Record, Topic};
use crate::facts::observation::{ConfigFact, GroupSnapshot, StatusFact};
use crate::facts::time::{ArrivalTime, EventTime};
use crate::facts::{config, status};
use crate::limits::{UNKNOWN_LABELS_MAX, WHOLE_GAP_MS_MAX};
use crate::story::findings::Kind;
use crate::story::rounds::{Next, Round};
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
        match record.topic {
            Topic::Offsets => self.take_offsets_record(record, at),
            Topic::Config => self.take_config_record(record),
            Topic::Status => self.take_status_record(record),
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
                let origin = Origin {
                    offset: record.offset,
                    recorded: record.timestamp,
                };
                self.configured.apply(&fact, origin);
                if fact == ConfigFact::SessionKey {
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

    fn take_status_record(&mut self, record: &Record) {
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
                self.unsettled |= matches!(&fact, StatusFact::State(status)
                    if self.rounds.waits_for(status.generation));
                self.statuses.apply(&fact, record.timestamp);
            }
            Err(error) => tally.undecodable(error.label()),
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
            Err(error) => return self.tallies.offsets.undecodable(error.label()),
        }
        let live = self
            .progress
            .of(Topic::Offsets)
            .is_live(record.partition, record.offset);
        let recorded = record
            .timestamp
            .or(self.clock.event)
            .unwrap_or(EventTime(at.0));
        self.clock.saw(record.leader_epoch, recorded, at);
        self.unsettled = true;
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
                self.findings.clear(Kind::ForeignGroup);
                if problems.is_empty() {
                    self.findings.clear(Kind::MemberUndecodable);
                } else {
                    self.findings.raise(
                        Kind::MemberUndecodable,
                        self.settings.group.clone(),
                        Some(recorded),
                        || "part of a member's entry in a group record could not be read".into(),
                    );
                }
                self.take_snapshot(*snapshot, at, live);
            }
            Ok(GroupFact::Tombstone) => self.take_tombstone(recorded, at, live),
            Ok(GroupFact::ForeignType(name)) => {
                self.findings.raise(
                    Kind::ForeignGroup,
                    self.settings.group.clone(),
                    Some(recorded),
                    || format!("a group of type {name} has this id; it is no Connect group"),
                );
            }
            Ok(GroupFact::Unknown(unknown)) => {
                self.tallies
                    .offsets
                    .unknown(&format!("group_metadata_v{}", unknown.version));
            }
            Err(error) => self.tallies.offsets.undecodable(error.label()),
        }
    }

    fn take_tombstone(&mut self, recorded: EventTime, at: ArrivalTime, live: bool) {
        if self.group.deleted.is_some() {
            return;
        }
        let next = Next {
            join_ended: recorded,
            recorded,
            arrived: at,
            live,
        };
        self.follow(None, next);
        if let Some(newest) = self.group.newest.clone() {
            self.ownership.group_gone(&newest, recorded);
        }
        self.group.deleted = Some(recorded);
        self.changes.push(Change::Deleted);
    }

    fn take_snapshot(&mut self, now: GroupSnapshot, at: ArrivalTime, live: bool) {
        let before = self
            .group
            .newest
            .clone()
            .filter(|_| self.group.deleted.is_none());
        let continues = before
            .as_deref()
            .is_some_and(|before| continues(before, &now));
        let same_number = continues
            && before
                .as_deref()
                .is_some_and(|before| before.generation == now.generation);
        if !same_number {
            let join_ended = now.join_ended.unwrap_or(now.recorded);
            let next = Next {
                join_ended,
                recorded: now.recorded,
                arrived: at,
                live,
            };
            self.follow(Some(&now).filter(|_| continues), next);
        }
        let took = self.rounds.newest_applied();
        if !continues {
            self.begin_incarnation(&now);
        } else if let Some(before) = before.as_deref() {
            self.note_oddities(before, &now);
        }
        let since_number = match before.as_deref().filter(|_| continues) {
            Some(before) => Some(before.generation),
            // A creation that was seen starts from nothing; the first record read does not.
            None if self.group.newest.is_some() => Some(0),
            None => None,
        };
        let template = Round::of(self.group.incarnation);
        self.take_missing(&template, since_number, &now, at, live);
        let now = Arc::new(now);
        if !same_number && now.generation > 0 {
            let generations = since_number.map_or(1, |since| {
                u64::try_from(now.generation.saturating_sub(since)).unwrap_or(0)
            });
            self.recent.add(now.recorded, generations);
            let mut round = template;
            round.generation = now.generation;
            round.record = Some(Arc::clone(&now));
            if let Some(settled) = self.rounds.open(round, live) {
                self.settled(settled);
            }
        }
        if live && !same_number {
            self.count_record(before.as_deref().filter(|_| continues), &now);
        }
        self.ownership.apply(before.as_deref(), &now, took);
        self.ownership.bound(&self.configured);
        self.protocol.apply(before.as_deref(), &now);
        self.group.seen_from = self.group.seen_from.or(now.config_offset);
        self.group.revoked_before = before.as_deref().is_some_and(|before| {
            before
                .members
                .iter()
                .any(|member| !member.revoked.is_empty())
        });
        self.group.newest = Some(now);
        self.group.newest_arrived = Some(at);
        self.group.deleted = None;
    }

    /// The newest round learns what followed it, and is settled if that is enough.
    fn follow(&mut self, now: Option<&GroupSnapshot>, next: Next) {
        if let Some(settled) = self.rounds.followed(now, next).cloned() {
            self.count_given_up(&settled);
        }
        self.settle_rounds();
    }

    /// D1: the group was created anew. Only generation numbers start over; work, owners
    /// and what was lost live on.
    fn begin_incarnation(&mut self, now: &GroupSnapshot) {
        self.group.incarnation = self.group.incarnation.saturating_add(1);
        self.changes.push(Change::Created {
            incarnation: self.group.incarnation,
            generation: now.generation,
        });
    }

    fn take_missing(
        &mut self,
        template: &Round,
        since: Option<i32>,
        now: &GroupSnapshot,
        at: ArrivalTime,
        live: bool,
    ) {
        let Some(first) = since.map(|since| since.saturating_add(1)) else {
            return;
        };
        let count = u64::try_from(now.generation.saturating_sub(first)).unwrap_or(0);
        if count == 0 {
            return;
        }
        let watched = self.progress.of(Topic::Offsets).confirmed();
        let whole = live && watched.is_some_and(|seen| at.since_ms(seen) <= WHOLE_GAP_MS_MAX);
        let outcome = if whole {
            Outcome::Aborted
        } else {
            Outcome::Unknown
        };
        self.rounds
            .missing(template, first..now.generation, outcome);
        if live {
            self.count_generations(outcome, count);
        }
        if outcome == Outcome::Unknown {
            // There is a hole: what is known is whole only from here on.
            self.group.history_from = Some(now.recorded);
        }
        self.changes.push(Change::Missing {
            first,
            count,
            outcome,
        });
    }

    fn note_oddities(&mut self, before: &GroupSnapshot, now: &GroupSnapshot) {
        let group = self.settings.group.clone();
        if now.generation < before.generation {
            self.findings.raise(
                Kind::GenerationWentBack,
                group.clone(),
                Some(now.recorded),
                || {
                    format!(
                        "generation {} follows {}",
                        now.generation, before.generation
                    )
                },
            );
        }
        let step_ms = before.recorded.since_ms(now.recorded);
        if step_ms > 0 {
            self.findings
                .raise(Kind::ClockStepBack, group, Some(now.recorded), || {
                    format!("the coordinator's clock stepped back by {step_ms} ms")
                });
        }
    }
}

/// D1: whether `now` belongs to the same creation of the group as `before`.
fn continues(before: &GroupSnapshot, now: &GroupSnapshot) -> bool {
    if now.generation == 0 && before.generation != 0 {
        return false;
    }
    if now.generation >= before.generation {
        return true;
    }
    let shares_a_member = now
        .members
        .iter()
        .any(|member| before.member(&member.id).is_some());
    now.generation > 1 && shares_a_member
}
