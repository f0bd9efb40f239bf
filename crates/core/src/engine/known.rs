//! From the engine's state to what the checks compare: what the group's records say, what
//! was measured in them, and the settings of the worker beside the agent.
//!
//! What is not certain stays unknown:
//! 1. A delay is the leader's own only where a member is missing that was in the generation
//!    before, the same member led both, and no delay was running: a new leader's first round
//!    has none, and a later one is what is left.
//! 2. That a leader has no delay shows only where, so, lost work was handed out at once.
//! 3. Two members share an address only once both were in the group for longer than a dead
//!    one could be.
//! 4. Restarts count once some were measured: the clock that one was measured with may have
//!    been wrong. One that is only known to be no shorter can be too long for a delay, and
//!    never too short.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::State;
use super::polls::Sight;
use super::publish::{shared_workers, worker_label};
use crate::answers::{GroupState, HabitAnswer, Outcome};
use crate::checks::known::{Broker, Given, Known, Measured, Records, Topic, Worker};
use crate::checks::releases::Release;
use crate::checks::source::{Source, Value};
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::facts::time::EventTime;
use crate::limits::{
    CHECK_MISMATCHES_MS, CHECK_RESTARTS_MIN, CHECK_WORKERS_ALIKE_MAX, CHECK_WORKERS_MAX,
};
use crate::story::rounds::Round;
use crate::view::own;

const SESSION: &str = "session.timeout.ms";
const REBALANCE: &str = "rebalance.timeout.ms";
const DELAY: &str = "scheduled.rebalance.max.delay.ms";
const CONFIG_TOPIC: &str = "config.storage.topic";

/// Generations that are looked at for those without a record; of fewer it is told only
/// where there are too many already.
const GENERATIONS: u64 = 100;
const GAPS_MAX: u64 = 10;

/// What is known of a running group.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Watched {
    /// What every agent of the group knows.
    pub(super) group: Known,
    /// The same of the worker beside this agent, with its own settings.
    pub(super) own: Option<Known>,
    /// Workers that are as many others that are there.
    pub(super) left_out: u64,
}

/// What is known by the group's records.
pub(super) fn watched(state: &State, sight: &Sight<'_>) -> Watched {
    let alive = sight.state == GroupState::Stable;
    let newest = sight.newest.filter(|_| alive).map(|newest| &**newest);
    let release = state.settings.worker_release.as_deref();
    let release = release.and_then(|release| release.parse::<Release>().ok());
    let release = release.map(|release| Value::new(release, Source::Said));
    let delays = leader_delays(state);
    let of_leader = newest.and_then(|newest| {
        let leader = newest.leader.as_deref()?;
        let led = delays.iter().rev().find(|led| &*led.member == leader)?;
        Some((leader, led.delay.clone()))
    });
    let mut group = Known {
        group: Some(Value::new(state.settings.group.clone(), Source::Said)),
        records: records(state, sight, newest, delays),
        broker: broker(state),
        ..Known::default()
    };
    let mut left_out = 0;
    let mut beside = None;
    if let Some(newest) = newest {
        let members = Members::of(state, newest);
        (group.workers, left_out) = members.chosen(|member| {
            let mut worker = members.worker(member);
            worker.release.clone_from(&release);
            if let Some((leader, delay)) = &of_leader
                && *leader == &*member.id
            {
                worker.told.insert(DELAY.to_owned(), delay.clone());
            }
            worker
        });
        group.worker_count = Some(worker_count(state));
        let mut hosts: Vec<&str> = newest.members.iter().map(|m| &*m.client_host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        group.hosts = Some(count(hosts.len(), 1));
        beside = own::member(&state.settings, newest)
            .map(|member| worker_label(&members.shared, member));
    }
    group.measured = measured(state, &group);
    let own = beside.and_then(|name| own_known(state, &group, &name));
    Watched {
        group,
        own,
        left_out,
    }
}

/// The worker beside the agent, with what its file says; of that the values alone are known
/// that are clocks.
fn own_known(state: &State, group: &Known, name: &str) -> Option<Known> {
    let settings = &state.settings.worker_settings;
    if settings.is_empty() {
        return None;
    }
    let mut worker = group
        .workers
        .iter()
        .find(|worker| worker.name == name)?
        .clone();
    for setting in settings {
        let given = Given::new(setting.value.clone(), place(&setting.source));
        worker.settings.insert(setting.name.clone(), given);
    }
    let mut own = Known {
        workers: vec![worker],
        ..group.clone()
    };
    own.measured = measured(state, &own);
    // Work is stopped eight pieces at a time: that one of them took longer than each is given
    // does not show that it was given up.
    own.measured.stop_ms = None;
    Some(own)
}

/// `file:line`, or a variable.
fn place(source: &str) -> Source {
    let line = source.rsplit_once(':').and_then(|(file, line)| {
        let line = line.parse().ok()?;
        Some((file.to_owned(), line))
    });
    match line {
        Some((file, line)) => Source::File {
            file,
            line: Some(line),
        },
        None => Source::Variable {
            name: source.to_owned(),
        },
    }
}

fn count(count: usize, generations: usize) -> Value<i64> {
    let generations = u64::try_from(generations).unwrap_or(u64::MAX);
    Value::new(
        i64::try_from(count).unwrap_or(i64::MAX),
        Source::Counted { generations },
    )
}

fn measured_ms(ms: i64, count: u64) -> Value<i64> {
    Value::new(ms, Source::Measured { count })
}

/// How many there were at once at most: one that is away is still one of them.
fn worker_count(state: &State) -> Value<i64> {
    let ours = |round: &&Round| round.incarnation == state.group.incarnation;
    let rounds = state.rounds.shown().filter(ours);
    let records: Vec<usize> = rounds
        .filter_map(|round| round.record.as_deref())
        .map(|record| record.members.len())
        .collect();
    count(records.iter().copied().max().unwrap_or(0), records.len())
}

// === Members ===

struct Members<'a> {
    newest: &'a GroupSnapshot,
    shared: std::collections::BTreeSet<&'a str>,
    /// Of members that share an address: since when each has been in the group.
    since: BTreeMap<&'a str, EventTime>,
    now: Option<EventTime>,
}

impl<'a> Members<'a> {
    fn of(state: &State, newest: &'a GroupSnapshot) -> Self {
        let shared = shared_workers(newest);
        let sharing = newest.members.iter();
        let sharing = sharing.filter(|member| shared.contains(&*member.worker));
        let since = sharing
            .map(|member| (&*member.id, since(state, newest, member)))
            .collect();
        Self {
            newest,
            shared,
            since,
            now: state.clock.now(),
        }
    }

    /// Members with the same clocks up to a bound, and how many others there are.
    fn chosen(&self, worker: impl Fn(&Member) -> Worker) -> (Vec<Worker>, u64) {
        let mut members: Vec<&Arc<Member>> = self.newest.members.iter().collect();
        // The leader, and those that share an address, say something of their own.
        let is_special = |member: &Member| {
            self.newest.leader.as_deref() == Some(&*member.id)
                || self.shared.contains(&*member.worker)
        };
        members.sort_by(|left, right| {
            (!is_special(left), &left.worker, &left.id).cmp(&(
                !is_special(right),
                &right.worker,
                &right.id,
            ))
        });
        let mut alike: BTreeMap<(i32, i32), usize> = BTreeMap::new();
        members.retain(|member| {
            let clocks = (member.session_timeout_ms, member.rebalance_timeout_ms);
            let same = alike.entry(clocks).or_default();
            *same = same.saturating_add(1);
            *same <= CHECK_WORKERS_ALIKE_MAX
        });
        members.truncate(CHECK_WORKERS_MAX);
        members.sort_by(|left, right| (&left.worker, &left.id).cmp(&(&right.worker, &right.id)));
        let left_out = self.newest.members.len().saturating_sub(members.len());
        let workers = members.into_iter().map(|member| worker(member));
        (
            workers.collect(),
            u64::try_from(left_out).unwrap_or(u64::MAX),
        )
    }

    fn worker(&self, member: &Member) -> Worker {
        let name = worker_label(&self.shared, member).to_string();
        let source = || Source::Record {
            worker: name.clone(),
            generation: self.newest.generation,
        };
        let told = [
            (SESSION, member.session_timeout_ms),
            (REBALANCE, member.rebalance_timeout_ms),
        ];
        let told = told.map(|(name, ms)| (name.to_owned(), Value::new(i64::from(ms), source())));
        let advertised = self
            .is_settled(member)
            .then(|| Value::new(member.worker.to_string(), source()));
        Worker {
            told: told.into_iter().collect(),
            advertised,
            name,
            ..Worker::default()
        }
    }

    /// Whether a member that shares its address is no dead one that was not missed yet.
    fn is_settled(&self, member: &Member) -> bool {
        let Some(since) = self.since.get(&*member.id) else {
            return true;
        };
        let sharing = self.newest.members.iter();
        let sharing = sharing.filter(|other| other.worker == member.worker);
        let longest = sharing.map(|other| {
            i64::from(other.session_timeout_ms)
                .saturating_add(i64::from(other.rebalance_timeout_ms))
        });
        let longest = longest.max().unwrap_or(i64::MAX);
        self.now.is_some_and(|now| now.since_ms(*since) > longest)
    }
}

/// Since when a member was in all generations.
fn since(state: &State, newest: &GroupSnapshot, member: &Member) -> EventTime {
    let rounds: Vec<&Round> = state.rounds.shown().collect();
    let records = rounds
        .iter()
        .rev()
        .filter_map(|round| round.record.as_deref());
    let with_it = records.take_while(|record| record.member(&member.id).is_some());
    with_it
        .last()
        .map_or(newest.recorded, |record| record.recorded)
}

// === Records ===

/// A leader's own delay, and where it was read.
struct Led {
    member: Arc<str>,
    delay: Value<i64>,
}

/// Rounds of the group's life, each with the one after, where both have records.
fn pairs(state: &State) -> impl Iterator<Item = (&Round, &GroupSnapshot, &GroupSnapshot)> {
    let ours = |round: &&Round| round.incarnation == state.group.incarnation;
    let before = state.rounds.shown().filter(ours);
    let now = state.rounds.shown().filter(ours).skip(1);
    before.zip(now).filter_map(|(before, now)| {
        let (first, second) = (before.record.as_deref()?, now.record.as_deref()?);
        let follows = first.generation.checked_add(1) == Some(second.generation);
        follows.then_some((before, first, second))
    })
}

/// Where the same member led a generation without a delay and the next, from which somebody
/// is missing: what the leader then schedules is its own delay.
fn own_delay(round: &Round, before: &GroupSnapshot, now: &GroupSnapshot) -> Option<i64> {
    let leader = before.leader.as_deref();
    let same_leader = leader.is_some() && leader == now.leader.as_deref();
    let quiet = before.delay_ms == 0 && before.error.is_none() && now.error.is_none();
    if !same_leader || !quiet || !round.stayed.contains(&false) {
        return None;
    }
    if now.delay_ms > 0 {
        return Some(i64::from(now.delay_ms));
    }
    let completed = matches!(round.outcome, Some((Outcome::Completed, _)));
    (completed && hands_out_lost(before, now)).then_some(0)
}

/// Whether work of a member that is gone, which nobody claims, is handed out.
fn hands_out_lost(before: &GroupSnapshot, now: &GroupSnapshot) -> bool {
    let claimed = |item| {
        let mut members = now.members.iter();
        members.any(|member| match &member.claim {
            Claim::Items(items) => items.binary_search(item).is_ok(),
            Claim::Nothing | Claim::Unsaid => false,
        })
    };
    // A leader remembers nothing of rounds under another protocol.
    let cooperative = [before, now].into_iter().all(|record| {
        let protocol = record.protocol;
        protocol.is_some_and(|protocol| protocol.is_cooperative())
    });
    let gone = before.members.iter();
    let gone = gone.filter(|member| now.member(&member.id).is_none());
    let mut lost = gone.flat_map(|member| &member.told);
    cooperative
        && lost.any(|item| {
            let mut given = now.members.iter();
            given.any(|member| member.assigned.binary_search(item).is_ok()) && !claimed(item)
        })
}

fn leader_delays(state: &State) -> Vec<Led> {
    let mut delays: Vec<Led> = Vec::new();
    for (round, before, now) in pairs(state) {
        let Some(delay) = own_delay(round, before, now) else {
            continue;
        };
        let Some(leader) = now.leader_member() else {
            continue;
        };
        if delays.last().is_some_and(|led| led.member == leader.id) {
            delays.pop();
        }
        delays.push(Led {
            member: Arc::clone(&leader.id),
            delay: Value::new(
                delay,
                Source::Record {
                    worker: leader.worker.to_string(),
                    generation: now.generation,
                },
            ),
        });
    }
    delays
}

fn records(
    state: &State,
    sight: &Sight<'_>,
    newest: Option<&GroupSnapshot>,
    delays: Vec<Led>,
) -> Records {
    let ours = |round: &&Round| round.incarnation == state.group.incarnation;
    let rounds: Vec<&Round> = state.rounds.shown().filter(ours).collect();
    let latest = delays.last().map(|led| led.delay.clone());
    let protocol = |version| Value::new(version, Source::Counted { generations: 1 });
    let best = sight.protocol.best();
    Records {
        leader_changed_at_loss: latest
            .as_ref()
            .map(|delay| Value::new(0, delay.source.clone())),
        delay_at_loss: latest,
        leader_delays: (!delays.is_empty())
            .then(|| delays.into_iter().map(|led| led.delay).collect()),
        revoked_at_once: revoked_at_once(&rounds),
        mismatches: mismatches(state, &rounds),
        behind_in_a_row: newest.map(|_| behind_in_a_row(&rounds)),
        missing_generations: missing_generations(&rounds),
        protocol: newest
            .and_then(|newest| newest.protocol)
            .map(|now| protocol(now as i64)),
        protocol_best: best.map(|best| protocol(best as i64)),
        record_bytes: newest.map(|newest| {
            let bytes = i64::try_from(newest.bytes).unwrap_or(i64::MAX);
            Value::new(bytes, Source::Counted { generations: 1 })
        }),
        ..Records::default()
    }
}

fn revoked_at_once(rounds: &[&Round]) -> Option<Value<i64>> {
    let records = rounds.iter().filter_map(|round| round.record.as_deref());
    let revoked = records.flat_map(|record| record.members.iter().map(|m| m.revoked.len()));
    let most = revoked.max()?;
    Some(count(most, rounds.len()))
}

fn mismatches(state: &State, rounds: &[&Round]) -> Option<Value<i64>> {
    let now = state.clock.now()?;
    let recent = rounds.iter().filter(|round| {
        let recorded = round.record.as_deref().map(|record| record.recorded);
        recorded.is_some_and(|recorded| now.since_ms(recorded) <= CHECK_MISMATCHES_MS)
    });
    let failed = recent.filter(|round| matches!(round.outcome, Some((Outcome::Mismatch, _))));
    Some(count(failed.count(), rounds.len()))
}

/// Generations up to the newest in which the same worker had not read what another had read
/// when it joined the one before.
fn behind_in_a_row(rounds: &[&Round]) -> Value<i64> {
    let records: Vec<&GroupSnapshot> = rounds
        .iter()
        .filter_map(|round| round.record.as_deref())
        .collect();
    let read = |record: &GroupSnapshot| record.members.iter().filter_map(|m| m.config_offset).max();
    let mut longest = 0;
    let members = records
        .last()
        .into_iter()
        .flat_map(|newest| &newest.members);
    for member in members {
        let pairs = records.windows(2).rev();
        let behind = pairs.take_while(|pair| {
            let offset = pair[1].member(&member.id).and_then(|m| m.config_offset);
            matches!((offset, read(pair[0])), (Some(offset), Some(read)) if offset < read)
        });
        longest = longest.max(behind.count());
    }
    count(longest, records.len())
}

/// Generations that came to nothing; of less than a hundred it is known only that there are
/// too many, or all there ever were.
fn missing_generations(rounds: &[&Round]) -> Option<Value<i64>> {
    let missing = rounds.iter().filter(|round| {
        round.record.is_none() && matches!(round.outcome, Some((Outcome::Aborted, _)))
    });
    let missing = u64::try_from(missing.count()).unwrap_or(u64::MAX);
    let seen = u64::try_from(rounds.len()).unwrap_or(u64::MAX);
    let from_first = rounds.first().is_some_and(|round| round.generation <= 1);
    let is_known = missing > GAPS_MAX || from_first || seen >= GENERATIONS;
    let source = Source::Counted { generations: seen };
    is_known.then(|| Value::new(i64::try_from(missing).unwrap_or(i64::MAX), source))
}

fn broker(state: &State) -> Broker {
    let partitions = i64::from(state.settings.config_partitions);
    let topic = Topic {
        setting: CONFIG_TOPIC,
        name: state.settings.config_topic.clone(),
        partitions: (partitions > 0).then(|| Value::new(partitions, Source::Broker)),
        compacted: None,
        replicas: None,
    };
    Broker {
        topics: Some(vec![topic]),
        ..Broker::default()
    }
}

// === Measured ===

fn measured(state: &State, known: &Known) -> Measured {
    let habits = state.story.habits.answer(&state.names);
    Measured {
        restart_ms: restart_ms(&habits.restarts, known),
        stop_ms: longest(&habits.stops),
        sync_ms: sync_ms(state),
        ..Measured::default()
    }
}

fn longest(habits: &[HabitAnswer]) -> Option<Value<i64>> {
    let most = habits.iter().map(|habit| habit.largest_ms).max()?;
    let count = habits.iter().map(|habit| habit.count).sum();
    Some(measured_ms(most, count))
}

fn restart_ms(restarts: &[HabitAnswer], known: &Known) -> Option<Value<i64>> {
    let longest = longest(restarts)?;
    let Source::Measured { count } = longest.source else {
        return None;
    };
    let at_least: u64 = restarts.iter().map(|habit| habit.at_least).sum();
    let delays = known
        .workers
        .iter()
        .filter_map(|worker| worker.number(DELAY));
    let is_too_long = delays
        .map(|delay| delay.value)
        .min()
        .is_some_and(|delay| longest.value > delay);
    let is_certain = is_too_long || at_least == 0;
    (is_certain && count >= CHECK_RESTARTS_MIN).then_some(longest)
}

/// From the end of a join until its assignment was there, where that was taken.
fn sync_ms(state: &State) -> Option<Value<i64>> {
    let completed = state
        .rounds
        .shown()
        .filter(|round| matches!(round.outcome, Some((Outcome::Completed, _))));
    let took = completed.filter_map(|round| {
        let record = round.record.as_deref()?;
        Some(record.recorded.since_ms(record.join_ended?))
    });
    let took: Vec<i64> = took.collect();
    let most = took.iter().copied().max()?;
    Some(measured_ms(
        most,
        u64::try_from(took.len()).unwrap_or(u64::MAX),
    ))
}
