//! D16: how long things usually take.
//!
//! 1. *restart*, by successor chain: from the last stop that the departed worker wrote, else
//!    (at least) from the end of the join phase that misses it, to the end of the join phase
//!    that has its successor.
//! 2. *start*, by connector: from the record that tells a worker to start a piece of it to
//!    that worker's status that it runs.
//! 3. *stop*, by connector: from the record that tells a worker to stop a piece of it to that
//!    worker's status that it did.
//! 4. *catch-up*, by successor chain: from the record that first gives work to a fresh process
//!    to the status that the last of it runs.
//!
//! What is not done when the next join phase ends is not measured, nor is what a worker wrote
//! whose clock is known to be behind, and not by how much at most. Work is measured when it is
//! certain that nothing more of it is to come: at the next step, or when its episode settles.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::answers::{HabitAnswer, HabitsAnswer};
use crate::facts::ids::{ConnectorId, Names, WorkItem};
use crate::facts::observation::{Claim, GroupSnapshot, Member, RunState};
use crate::facts::time::EventTime;
use crate::limits::{HABIT_CHAINS_MAX, HABIT_CONNECTORS_MAX, HABIT_SAMPLES_MAX};
use crate::story::config_log::What;
use crate::story::departures::{Arrival, Departures, Moves};
use crate::story::skew::Skews;
use crate::story::status_log::{Life, StatusLog};
use crate::story::steps::Turn;
use crate::story::switches::{StoryRule, Switches};

/// The last of each, by subject.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Habits {
    /// Least recently used first.
    chains: Vec<Chain>,
    #[serde(with = "crate::facts::pairs")]
    connectors: BTreeMap<ConnectorId, Latencies>,
    /// Fresh processes that were given nothing so far.
    fresh: BTreeSet<Arc<str>>,
    /// The newest record that was judged, until its work is measured.
    open: Option<Open>,
    /// As they were shown last; nothing once something is added. A large group has thousands of
    /// subjects, and is shown twenty times a second.
    #[serde(skip)]
    shown: OnceLock<Arc<HabitsAnswer>>,
}

/// One worker and who came in its place.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Chain {
    /// The newest process of it.
    member: Arc<str>,
    worker: Arc<str>,
    restarts: Samples,
    catch_ups: Samples,
}

/// Of one connector.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Latencies {
    starts: Samples,
    stops: Samples,
}

/// The last durations, oldest first; of each whether it is only known to be no shorter.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Samples(VecDeque<(i64, bool)>);

/// A record whose work is to be measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Open {
    record: Arc<GroupSnapshot>,
    /// The generation that stops carry: the one before.
    stops_carry: i32,
    /// When this life of the group began, and its number.
    life: (EventTime, u32),
    /// When the next life began, if that was read by then.
    life_ended: Option<EventTime>,
    /// Members that were given work for the first time.
    first: BTreeSet<Arc<str>>,
}

// === impl Habits ===

impl Habits {
    /// Takes a step that was judged.
    pub fn judge(&mut self, turn: &Turn<'_>, moves: &Moves, departures: &Departures) {
        let until = turn.step.join_ended;
        self.measure(turn.statuses, turn.skews, turn.switches, until);
        // A name may come again, for another thing.
        let deleted = turn.changes().filter(|change| change.what == What::Deleted);
        for change in deleted {
            self.connectors.remove(&change.connector);
            self.shown.take();
        }
        self.take_restarts(turn, moves, departures);
        for (_, gone) in turn.leavers() {
            self.fresh.remove(&gone.id);
        }
        let Some(now) = &turn.step.now else {
            return;
        };
        let is_fresh = |new: &&Arc<Member>| !matches!(new.claim, Claim::Items(_));
        // Who was there before the history begins is not known to be fresh.
        if turn.step.before.is_some() || now.generation <= 1 {
            let fresh = turn.newcomers().filter(is_fresh);
            self.fresh.extend(fresh.map(|new| Arc::clone(&new.id)));
        }
        let given = now
            .members
            .iter()
            .filter(|member| !member.assigned.is_empty());
        let given = given.filter(|member| self.fresh.contains(&member.id));
        let first: BTreeSet<Arc<str>> = given.map(|member| Arc::clone(&member.id)).collect();
        self.fresh.retain(|member| !first.contains(member));
        if now.members.iter().any(|member| member.has_deltas()) {
            self.open = Some(Open {
                record: Arc::clone(now),
                stops_carry: turn.step.before.as_deref().map_or(0, |b| b.generation),
                life: (turn.step.began, turn.step.incarnation),
                life_ended: turn.step.ended,
                first,
            });
        }
    }

    fn take_restarts(&mut self, turn: &Turn<'_>, moves: &Moves, departures: &Departures) {
        if !turn.on(StoryRule::Habit(1)) {
            return;
        }
        for (member, arrival) in &moves.came {
            let Arrival::Successor(key) = arrival else {
                continue;
            };
            let Some(departed) = departures.get(*key) else {
                continue;
            };
            let from = departed.stopped.unwrap_or(departed.gone_by);
            let ms = turn.step.join_ended.since_ms(from).max(0);
            self.chain(&departed.member, &departed.worker, |chain| {
                chain.member = Arc::clone(&member.id);
                chain.worker = Arc::clone(&member.worker);
                chain.restarts.add(ms, departed.stopped.is_none());
            });
        }
    }

    /// Measures what the newest record told, by what was written up to an instant.
    pub fn measure(
        &mut self,
        statuses: &StatusLog,
        skews: &Skews,
        switches: Switches,
        until: EventTime,
    ) {
        let Some(open) = self.open.take() else {
            return;
        };
        let record = &open.record;
        let life = open.life(skews);
        let on = |rule| switches.on(StoryRule::Habit(rule));
        for member in &record.members {
            let worker = &member.worker;
            if record.shares_worker(worker) || is_behind(skews, worker) {
                continue;
            }
            let took = |at: Option<EventTime>| {
                let at = skews.corrected(worker, at?, record.recorded);
                (at <= until).then(|| at.since_ms(record.recorded))
            };
            let started = |item: WorkItem| took(started(statuses, item, member, record, &life));
            for item in &member.assigned {
                if let Some(ms) = started(*item).filter(|_| on(2)) {
                    self.connector(item.connector, |of| of.starts.add(ms, false));
                }
            }
            for item in &member.revoked {
                let at = statuses.stopped(*item, worker, open.stops_carry, &life);
                if let Some(ms) = took(at).filter(|_| on(3)) {
                    self.connector(item.connector, |of| of.stops.add(ms, false));
                }
            }
            if open.first.contains(&member.id) && on(4) {
                let all: Option<Vec<i64>> = member.assigned.iter().map(|i| started(*i)).collect();
                if let Some(ms) = all.and_then(|all| all.into_iter().max()) {
                    self.chain(&member.id, worker, |chain| chain.catch_ups.add(ms, false));
                }
            }
        }
    }

    /// The chain of a member, as the one used last; by its worker where its own is not known.
    fn chain(&mut self, member: &Arc<str>, worker: &Arc<str>, change: impl FnOnce(&mut Chain)) {
        self.shown.take();
        let by_member = self.chains.iter().position(|chain| chain.member == *member);
        let by_worker = || self.chains.iter().position(|chain| chain.worker == *worker);
        let mut chain = match by_member.or_else(by_worker) {
            Some(place) => self.chains.remove(place),
            None => Chain {
                member: Arc::clone(member),
                worker: Arc::clone(worker),
                restarts: Samples::default(),
                catch_ups: Samples::default(),
            },
        };
        chain.member = Arc::clone(member);
        change(&mut chain);
        if self.chains.len() >= HABIT_CHAINS_MAX {
            self.chains.remove(0);
        }
        self.chains.push(chain);
    }

    fn connector(&mut self, id: ConnectorId, add: impl FnOnce(&mut Latencies)) {
        self.shown.take();
        let full = self.connectors.len() >= HABIT_CONNECTORS_MAX;
        if !full || self.connectors.contains_key(&id) {
            add(self.connectors.entry(id).or_default());
        }
    }

    /// The log is another one: it is read again.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// As they are shown.
    #[must_use]
    pub fn answer(&self, names: &Names) -> Arc<HabitsAnswer> {
        let shown = self.shown.get_or_init(|| Arc::new(self.summed_up(names)));
        Arc::clone(shown)
    }

    fn summed_up(&self, names: &Names) -> HabitsAnswer {
        let workers = |of: fn(&Chain) -> &Samples| {
            let all = self.chains.iter();
            sorted(all.filter_map(|chain| of(chain).answer(Arc::clone(&chain.worker))))
        };
        let connectors = |of: fn(&Latencies) -> &Samples| {
            let all = self.connectors.iter();
            sorted(all.filter_map(|(id, latencies)| of(latencies).answer(names.name(*id))))
        };
        HabitsAnswer {
            restarts: workers(|chain| &chain.restarts),
            catch_ups: workers(|chain| &chain.catch_ups),
            starts: connectors(|latencies| &latencies.starts),
            stops: connectors(|latencies| &latencies.stops),
        }
    }
}

fn sorted(habits: impl Iterator<Item = HabitAnswer>) -> Vec<HabitAnswer> {
    let mut habits: Vec<HabitAnswer> = habits.collect();
    habits.sort_by(|left, right| left.subject.cmp(&right.subject));
    habits
}

/// Whether a worker's clock is behind by nobody knows how much: a status of it that looks as
/// old as the record before it may be minutes younger.
fn is_behind(skews: &Skews, worker: &str) -> bool {
    let skew = skews.of(worker);
    skew.ms() < 0 && skew.least_ms.is_none()
}

/// When a piece of work ran: what failed, or was found paused, says nothing of how long it
/// takes to start; nor does what ran only when its worker had completed another generation,
/// which may have told it to start anew.
fn started(
    statuses: &StatusLog,
    item: WorkItem,
    member: &Member,
    record: &GroupSnapshot,
    life: &Life<'_>,
) -> Option<EventTime> {
    let generation = record.generation;
    let mut written = statuses.by(item, &member.worker, generation..=generation, life);
    let first = written
        .find(|written| !matches!(written.state, RunState::Unassigned | RunState::Restarting))?;
    first.recorded.filter(|_| first.state == RunState::Running)
}

// === impl Open ===

impl Open {
    fn life<'a>(&self, skews: &'a Skews) -> Life<'a> {
        let (began, incarnation) = self.life;
        Life {
            began,
            ended: self.life_ended,
            incarnation,
            skews,
        }
    }
}

// === impl Samples ===

impl Samples {
    fn add(&mut self, ms: i64, at_least: bool) {
        if self.0.len() >= HABIT_SAMPLES_MAX {
            self.0.pop_front();
        }
        self.0.push_back((ms, at_least));
    }

    fn answer(&self, subject: Arc<str>) -> Option<HabitAnswer> {
        let mut all: Vec<i64> = self.0.iter().map(|(ms, _)| *ms).collect();
        all.sort_unstable();
        let upper = all.get(all.len() / 2)?;
        let lower = all.get(all.len().saturating_sub(1) / 2)?;
        let at_least = self.0.iter().filter(|(_, at_least)| *at_least).count();
        Some(HabitAnswer {
            subject,
            count: u64::try_from(all.len()).unwrap_or(u64::MAX),
            at_least: u64::try_from(at_least).unwrap_or(u64::MAX),
            median_ms: lower.saturating_add(*upper) / 2,
            largest_ms: *all.last()?,
        })
    }
}
