//! Takes what a group record says into the state: the group's life, its rounds, who owns
//! what.

use std::sync::Arc;

use crate::answers::Outcome;
use crate::engine::{Change, State};
use crate::facts::input::Topic;
use crate::facts::observation::GroupSnapshot;
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::WHOLE_GAP_MS_MAX;
use crate::story::findings::Kind;
use crate::story::rounds::{Next, Round};
use crate::story::steps::{Missing, Step};

// === impl State ===

impl State {
    pub(super) fn take_tombstone(&mut self, recorded: EventTime, at: ArrivalTime, live: bool) {
        if self.group.deleted.is_some() {
            return;
        }
        let next = Next {
            join_ended: recorded,
            recorded,
            arrived: at,
            step: self.story.steps.next_number(),
            live,
            same_clock: !self.clock.coordinator_moved,
        };
        self.follow(None, next);
        self.begin_step(Step {
            before: None,
            now: None,
            continues: true,
            incarnation: self.group.incarnation,
            began: self.group.began.unwrap_or(recorded),
            began_before: None,
            ended: None,
            config_from: None,
            recorded,
            join_ended: recorded,
            arrived: at,
            live,
            missing: None,
            coordinator_moved: false,
        });
        if let Some(newest) = self.group.newest.clone() {
            self.ownership.group_gone(&newest, recorded);
        }
        self.group.deleted = Some(recorded);
        self.changes.push(Change::Deleted);
    }

    pub(super) fn take_snapshot(&mut self, now: GroupSnapshot, at: ArrivalTime, live: bool) {
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
        // Others were left out between the one before and this one.
        let left_out = self.group.left_out
            && continues
            && before
                .as_deref()
                .is_some_and(|before| now.generation > before.generation.saturating_add(1));
        if !same_number {
            let join_ended = now.join_ended.unwrap_or(now.recorded);
            let next = Next {
                join_ended,
                recorded: now.recorded,
                arrived: at,
                step: self.story.steps.next_number(),
                live,
                same_clock: !self.clock.coordinator_moved && !left_out,
            };
            // Nobody's claims are of the round before where others lie between.
            self.follow(Some(&now).filter(|_| continues && !left_out), next);
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
        let missing = self.take_missing(&template, since_number, &now, at, live);
        let now = Arc::new(now);
        if !same_number {
            self.begin_step(Step {
                before: None,
                now: Some(Arc::clone(&now)),
                continues,
                incarnation: self.group.incarnation,
                began: self.group.began.unwrap_or(now.recorded),
                began_before: None,
                ended: None,
                config_from: None,
                recorded: now.recorded,
                join_ended: now.join_ended.unwrap_or(now.recorded),
                arrived: at,
                live,
                missing,
                coordinator_moved: self.clock.coordinator_moved,
            });
        }
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
        self.group.revoked_before = before
            .as_deref()
            .is_some_and(|before| before.revoked_from_those_in(&now));
        // Rounds that fail may follow each other faster than the end of the topic can be asked
        // for: the first that names the offset counts.
        let read = self.progress.of(Topic::Config).next_max();
        let named = now.config_offset.filter(|named| *named > read);
        self.group.config_ahead = named.map(|named| {
            let since = self.group.config_ahead;
            let since = since.filter(|(before, _)| *before > read && *before <= named);
            since.unwrap_or((named, at))
        });
        self.group.newest = Some(now);
        self.group.newest_live = live;
        self.group.deleted = None;
    }

    /// The newest round learns what followed it, and is settled if that is enough.
    fn follow(&mut self, now: Option<&GroupSnapshot>, next: Next) {
        self.rounds.followed(now, next);
        let due = self.due.clone();
        self.settle_rounds(&due);
    }

    /// D1: the group was created anew. Only generation numbers start over; work, owners
    /// and what was lost live on.
    fn begin_incarnation(&mut self, now: &GroupSnapshot) {
        self.group.incarnation = self.group.incarnation.saturating_add(1);
        // A life whose beginning was not seen may have begun at any time.
        let seen = self.group.newest.is_some() || now.generation <= 1;
        let began = now.join_ended.unwrap_or(now.recorded);
        self.group.began = Some(if seen { began } else { EventTime(i64::MIN / 2) });
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
    ) -> Option<Missing> {
        let hole = std::mem::take(&mut self.group.hole);
        let hole = std::mem::take(&mut self.group.left_out) || hole;
        let first = since?.saturating_add(1);
        let count = u64::try_from(now.generation.saturating_sub(first)).unwrap_or(0);
        if count == 0 {
            return None;
        }
        let watched = self.progress.of(Topic::Offsets).confirmed();
        let whole =
            live && !hole && watched.is_some_and(|seen| at.since_ms(seen) <= WHOLE_GAP_MS_MAX);
        let outcome = if whole {
            Outcome::Aborted
        } else {
            Outcome::Unknown
        };
        self.rounds
            .missing(template, first..now.generation, outcome);
        if outcome == Outcome::Unknown {
            // There is a hole: what is known is whole only from here on.
            self.group.history_from = Some(now.recorded);
        }
        self.changes.push(Change::Missing {
            first,
            count,
            outcome,
        });
        Some(Missing {
            count,
            outcome,
            // Between a record of the past and the first one watched nobody knows which of
            // them ended when.
            counts: live && self.group.newest_live,
        })
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
