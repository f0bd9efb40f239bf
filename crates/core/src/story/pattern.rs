//! D13: what the last half hour looks like, in one word: the first of these that applies.
//!
//! 1. *loop*: at least 5 rounds in 2 minutes that ended in an error or are proven to have
//!    reached nobody, and none since the first of them that was, or may have been, completed.
//! 2. *loop*: at least 5 follow-ups of revocations in 30 minutes that revoked again, with the
//!    same members and the same configuration, and no round since the first of them that
//!    left nothing to be done.
//! 3. *storm*: more than 20 generations in 10 minutes, with no configuration written by a
//!    person since the first of them.
//! 4. *flapping*: one worker, or who came in its place, left at least 3 times in 30 minutes,
//!    and not gracefully.
//! 5. *churn*: at least 3 generations in 15 minutes in which tasks of one connector were
//!    committed.
//! 6. *rollout*: at least 2 workers in 30 minutes that stopped, in good order, cut short or
//!    either of these, and in whose place somebody came.
//!
//! Everything is counted once it is settled, at the instant of the coordinator's clock at
//! which it happened, whether the agent was there or read it later. What is not known, an
//! outcome or how somebody left, counts for nothing but in rule 6.

mod failed;
mod rules;

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{Cause, DepartureHow, Outcome, PatternAnswer, TasksRoot};
use crate::facts::ids::{ConnectorId, Names};
use crate::facts::time::EventTime;
use crate::limits::{
    PATTERN_COMMITS_MAX, PATTERN_DEPARTURES_MAX, PATTERN_FOLLOWUPS_MAX, PATTERN_WRITES_MAX,
};
use crate::story::causes::Causes;
use crate::story::config_log::What;
use crate::story::departures::Departure;
use crate::story::steps::{Step, Turn};
use crate::story::switches::Switches;
use failed::Failed;

/// The longest time that any rule looks back.
const WINDOW_MS: i64 = 1_800_000;

/// What the rules need of the last half hour.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Patterns {
    failed: Failed,
    /// Follow-ups that revoked again since the last round that left nothing to be done.
    followups: VecDeque<EventTime>,
    /// Whether anything was revoked since then.
    revoked: bool,
    /// Generations by the second since a person wrote configuration.
    generations: VecDeque<(i64, u64)>,
    /// Offsets of configuration that persons wrote and that is in no group record yet.
    writes: VecDeque<i64>,
    commits: VecDeque<Commit>,
    /// Settled departures, by their time.
    left: VecDeque<Left>,
    /// When the newest step that was judged was recorded.
    newest: Option<EventTime>,
}

/// Tasks of a connector that were committed before a generation.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Commit {
    at: EventTime,
    connector: ConnectorId,
    root: TasksRoot,
    changed: bool,
}

/// A departure that is settled.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Left {
    key: u64,
    at: EventTime,
    member: Arc<str>,
    worker: Arc<str>,
    how: DepartureHow,
    /// Whether it stopped work before it was gone.
    in_order: bool,
    /// The member that came in its place.
    successor: Option<Arc<str>>,
    /// Whether that is the same process.
    returned: bool,
}

// === impl Patterns ===

impl Patterns {
    /// A record was read. Numbers before it that are proven to have reached nobody failed,
    /// and came to light with it.
    pub fn begin(&mut self, step: &Step) {
        let Some(now) = step.now.as_deref() else {
            return;
        };
        self.failed.read_to(step.recorded, WINDOW_MS);
        self.failed.begin((step.incarnation, now.generation));
        let last = now.generation.saturating_sub(1);
        match step.missing {
            Some(missing) if missing.outcome == Outcome::Aborted => {
                let (incarnation, at) = (step.incarnation, step.recorded);
                self.failed.add(incarnation, last, missing.count, at);
            }
            Some(_) => {
                let round = (step.incarnation, last);
                self.failed.may_be_completed(round, step.recorded);
            }
            None => {}
        }
    }

    /// A round is settled.
    pub fn settled(
        &mut self,
        incarnation: u32,
        generation: i32,
        recorded: EventTime,
        outcome: Outcome,
    ) {
        match outcome {
            Outcome::Aborted | Outcome::Mismatch => {
                self.failed.add(incarnation, generation, 1, recorded);
            }
            Outcome::Completed | Outcome::Unknown => {
                let round = (incarnation, generation);
                self.failed.may_be_completed(round, recorded);
            }
            Outcome::Emptied => {}
        }
    }

    /// A person wrote configuration.
    pub fn wrote(&mut self, offset: i64) {
        push(&mut self.writes, offset, PATTERN_WRITES_MAX);
    }

    /// The config topic is another one now.
    pub fn forget_writes(&mut self) {
        self.writes.clear();
    }

    /// Takes a step that was judged.
    pub fn judge(&mut self, turn: &Turn<'_>, causes: &Causes) {
        self.pass(turn.step.recorded);
        if turn
            .step
            .now
            .as_deref()
            .is_none_or(|now| now.generation <= 0)
        {
            return;
        }
        self.take_generations(turn);
        self.take_commits(turn);
        self.take_followup(turn, causes);
    }

    /// The same for what is judged; what is too old is forgotten.
    fn pass(&mut self, at: EventTime) {
        let second = at.0.div_euclid(1000);
        self.newest = Some(at);
        for (of_it, _) in later(&mut self.generations, |(of_it, _)| *of_it > second) {
            *of_it = second;
        }
        for followup in later(&mut self.followups, |followup| *followup > at) {
            *followup = at;
        }
        for commit in later(&mut self.commits, |commit| commit.at > at) {
            commit.at = at;
        }
        for left in later(&mut self.left, |left| left.at > at) {
            left.at = at;
        }
        let since = at.plus_ms(-WINDOW_MS);
        let since_second = since.0.div_euclid(1000);
        forget(&mut self.generations, |(of_it, _)| *of_it < since_second);
        forget(&mut self.followups, |followup| *followup < since);
        forget(&mut self.commits, |commit| commit.at < since);
        forget(&mut self.left, |left| left.at < since);
    }

    /// Generations count from the last one before which a person wrote configuration, or may
    /// have: nobody knows what was written before the first record, or to a topic that is not
    /// read.
    fn take_generations(&mut self, turn: &Turn<'_>) {
        let offset = |record: Option<&crate::facts::observation::GroupSnapshot>| {
            record.and_then(|record| record.config_offset)
        };
        let now = offset(turn.step.now.as_deref());
        let before = offset(turn.step.before.as_deref());
        let mut written = turn.step.before.is_none() || (!turn.config_known && before != now);
        while self.writes.front().is_some_and(|at| Some(*at) < now) {
            self.writes.pop_front();
            written = true;
        }
        if written {
            self.generations.clear();
            return;
        }
        let missing = turn.step.missing.filter(|m| m.outcome == Outcome::Aborted);
        let count = missing.map_or(0, |m| m.count).saturating_add(1);
        let second = turn.step.recorded.0.div_euclid(1000);
        match self.generations.back_mut() {
            Some((of_it, sum)) if *of_it == second => *sum = sum.saturating_add(count),
            _ => self.generations.push_back((second, count)),
        }
    }

    fn take_commits(&mut self, turn: &Turn<'_>) {
        let mut commits: Vec<Commit> = Vec::new();
        for change in turn.changes() {
            let What::Committed { root, changed, .. } = change.what else {
                continue;
            };
            // However often it was written before a generation, that changed once.
            let mut known = commits.iter_mut();
            match known.find(|commit| commit.connector == change.connector) {
                Some(commit) => {
                    commit.root = root;
                    commit.changed |= changed;
                }
                None => commits.push(Commit {
                    at: turn.step.recorded,
                    connector: change.connector,
                    root,
                    changed,
                }),
            }
        }
        for commit in commits {
            push(&mut self.commits, commit, PATTERN_COMMITS_MAX);
        }
    }

    fn take_followup(&mut self, turn: &Turn<'_>, causes: &Causes) {
        let Some(now) = turn.step.now.as_deref() else {
            return;
        };
        let revokes = now.members.iter().any(|member| !member.revoked.is_empty());
        let is_done = !revokes && now.delay_ms <= 0 && now.error.is_none();
        let is_other = turn.newcomers().next().is_some()
            || turn.leavers().next().is_some()
            || turn.changes().next().is_some();
        if is_done || is_other {
            self.followups.clear();
            self.revoked = false;
        }
        if revokes
            && self.revoked
            && matches!(
                causes.cause(),
                Cause::RevocationFollowup | Cause::DelayExpired
            )
        {
            push(
                &mut self.followups,
                turn.step.recorded,
                PATTERN_FOLLOWUPS_MAX,
            );
        }
        self.revoked |= revokes;
    }

    /// More is known of a departure.
    pub fn departed(&mut self, departure: &Departure) {
        if !departure.settled {
            return;
        }
        let successor = departure.successor.as_ref();
        let known = self.left.iter_mut().find(|left| left.key == departure.key);
        if let Some(known) = known {
            known.how = departure.how;
            known.in_order = departure.is_in_order();
            known.successor = successor.map(|successor| Arc::clone(&successor.member));
            known.returned = successor.is_some_and(|successor| successor.same);
            return;
        }
        let at = self
            .newest
            .map_or(departure.gone_by, |newest| newest.min(departure.gone_by));
        let left = Left {
            key: departure.key,
            at,
            member: Arc::clone(&departure.member),
            worker: Arc::clone(&departure.worker),
            how: departure.how,
            in_order: departure.is_in_order(),
            successor: successor.map(|successor| Arc::clone(&successor.member)),
            returned: successor.is_some_and(|successor| successor.same),
        };
        // Who wrote nothing is settled later than who left after it.
        let place = self
            .left
            .partition_point(|other| (other.at, other.key) <= (at, left.key));
        self.left.insert(place, left);
        if self.left.len() > PATTERN_DEPARTURES_MAX {
            self.left.pop_front();
        }
    }

    /// The log is another one: it is read again.
    pub fn clear(&mut self) {
        let writes = std::mem::take(&mut self.writes);
        *self = Self {
            writes,
            ..Self::default()
        };
    }

    /// The pattern at an instant of the coordinator's clock.
    #[must_use]
    pub fn at(&self, now: EventTime, names: &Names, switches: Switches) -> PatternAnswer {
        rules::pattern(self, now, names, switches)
    }
}

fn push<T>(list: &mut VecDeque<T>, value: T, max: usize) {
    if list.len() >= max {
        list.pop_front();
    }
    list.push_back(value);
}

/// The newest of a list for which something holds.
fn later<T>(list: &mut VecDeque<T>, holds: impl Fn(&T) -> bool) -> impl Iterator<Item = &mut T> {
    list.iter_mut().rev().take_while(move |value| holds(value))
}

/// Forgets the oldest of a list for which something holds.
fn forget<T>(list: &mut VecDeque<T>, holds: impl Fn(&T) -> bool) {
    while list.front().is_some_and(&holds) {
        list.pop_front();
    }
}
