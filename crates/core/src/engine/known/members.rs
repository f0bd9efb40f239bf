//! What each member of the newest record told when it joined, and whom it stands for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::held::{Held, held};
use super::records::{all_stayed, own_rounds};
use super::{REBALANCE, SESSION};
use crate::answers::DisagreementType;
use crate::checks::known::Worker;
use crate::checks::source::{Source, Value};
use crate::engine::State;
use crate::engine::publish::{shared_workers, worker_label};
use crate::facts::ids::{CONNECTOR_TASK, WorkItem};
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::facts::time::EventTime;
use crate::limits::{CHECK_WORKERS_ALIKE_MAX, CHECK_WORKERS_MAX};
use crate::story::config_log::What;
use crate::story::disagreements::Open;
use crate::story::rounds::Round;

/// A worker counts from when it got its assignment, the record from when it was made.
const OUT_EARLY_MS: i64 = 500;

/// The members of the newest record.
pub(super) struct Members<'a> {
    newest: &'a GroupSnapshot,
    pub(super) shared: BTreeSet<&'a str>,
    /// Of members that share an address: since when each has been in the group.
    since: BTreeMap<&'a str, EventTime>,
    /// How many stops each gave up, as far as is remembered.
    given_up: BTreeMap<&'a str, i64>,
    /// After how long each was out of the group while it stopped what was revoked, and in
    /// which generation: by the worker's address, since who was out comes back as another
    /// member.
    out_after: BTreeMap<&'a str, (i64, i32)>,
    /// Who was held up by what it started, by the worker's address.
    held: BTreeMap<&'a str, Held>,
    /// Generations that are remembered.
    generations: u64,
    now: Option<EventTime>,
}

impl<'a> Members<'a> {
    pub(super) fn of(state: &'a State, newest: &'a GroupSnapshot) -> Self {
        let shared = shared_workers(newest);
        let sharing = newest.members.iter();
        let sharing = sharing.filter(|member| shared.contains(&*member.worker));
        let since = sharing
            .map(|member| (&*member.id, since(state, newest, member)))
            .collect();
        let generations = state.rounds.shown().count();
        Self {
            newest,
            shared,
            since,
            given_up: given_up(state),
            out_after: out_after(state),
            held: held(state),
            generations: u64::try_from(generations).unwrap_or(u64::MAX),
            now: state.clock.now(),
        }
    }

    /// Members with the same clocks up to a bound, and how many others there are.
    pub(super) fn chosen(&self, worker: impl Fn(&Member) -> Worker) -> (Vec<Worker>, u64) {
        let mut members: Vec<&Arc<Member>> = self.newest.members.iter().collect();
        // The leader, those that share an address and those that gave up a stop say
        // something of their own.
        let is_special = |member: &Member| {
            self.newest.leader.as_deref() == Some(&*member.id)
                || self.shared.contains(&*member.worker)
                || self.given_up.contains_key(&*member.id)
                || self.out_after.contains_key(&*member.worker)
                || self.held.contains_key(&*member.worker)
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

    pub(super) fn worker(&self, member: &Member) -> Worker {
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
        // Whoever was restarted may have been given more time.
        let given_up = self.given_up.get(&*member.id).copied().unwrap_or(0);
        let source = Source::Counted {
            generations: self.generations,
        };
        let out_after = self.out_after.get(&*member.worker);
        let out_after = out_after.filter(|_| !self.shared.contains(&*member.worker));
        let out_after_ms = out_after.map(|(ms, generation)| {
            let source = Source::Record {
                worker: name.clone(),
                generation: *generation,
            };
            Value::new(*ms, source)
        });
        let held_up_ms = self.held.get(&*member.worker).map(|held| {
            let source = Source::Measured { count: held.times };
            Value::new(held.at_least_ms, source)
        });
        Worker {
            out_after_ms,
            held_up_ms,
            given_up: Some(Value::new(given_up, source)),
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

fn given_up(state: &State) -> BTreeMap<&str, i64> {
    let told = &state.story.disagreements;
    let open = told.open(&state.configured);
    let all = open.chain(told.over().map(|over| (over.item, &over.was)));
    // Old workers stop nothing of a deleted connector, however much time they have: who gives
    // a task up sees it handed to another.
    let records = state
        .rounds
        .shown()
        .filter_map(|round| round.record.as_deref());
    let records: Vec<&GroupSnapshot> = records.collect();
    let is_handed_on = |item: &WorkItem, open: &Open| {
        let mut records = records.iter().rev();
        let then = records.find(|record| record.recorded == open.since);
        then.is_some_and(|record| {
            let mut members = record.members.iter();
            members.any(|member| member.assigned.binary_search(item).is_ok())
        })
    };
    let given_up = all.filter(|(item, open)| {
        open.kind == DisagreementType::AbandonedStop && is_handed_on(item, open)
    });
    let mut count: BTreeMap<&str, i64> = BTreeMap::new();
    for (_, stop) in given_up {
        let of_member = count.entry(stop.member()).or_default();
        *of_member = of_member.saturating_add(1);
    }
    count
}

/// Who had work to stop, was out of the group after its own rebalance timeout, and came back
/// with a claim: it had not died, it was still stopping.
fn out_after(state: &State) -> BTreeMap<&str, (i64, i32)> {
    let rounds: Vec<(&Round, &GroupSnapshot)> = own_rounds(state).collect();
    let mut out = BTreeMap::new();
    for (place, pair) in rounds.windows(2).enumerate() {
        let [(round, before), (_, now)] = pair else {
            continue;
        };
        if all_stayed(round) {
            continue;
        }
        for member in &before.members {
            if now.member(&member.id).is_some() {
                continue;
            }
            let Some(since) = stops_since(state, before, now, member) else {
                continue;
            };
            let took_ms = now.recorded.since_ms(since);
            let waited_ms = i64::from(member.rebalance_timeout_ms);
            let is_over = took_ms >= waited_ms.saturating_sub(OUT_EARLY_MS);
            let mut later = rounds.iter().skip(place.saturating_add(1));
            let back = later.find_map(|(_, record)| {
                let mut members = record.members.iter();
                members.find(|back| back.worker == member.worker)
            });
            let has_claim = back.is_some_and(|back| matches!(back.claim, Claim::Items(_)));
            if is_over && has_claim {
                out.insert(&*member.worker, (waited_ms, before.generation));
            }
        }
    }
    out
}

/// Since when a member had work to stop: the record that told it to, else the commit of other
/// tasks of a connector, which makes it stop the old ones before it joins
/// (`DistributedHerder.processTaskConfigUpdatesWithIncrementalCooperative`).
pub(super) fn stops_since(
    state: &State,
    before: &GroupSnapshot,
    now: &GroupSnapshot,
    member: &Member,
) -> Option<EventTime> {
    if !member.revoked.is_empty() {
        return Some(before.recorded);
    }
    let changes = &state.story.config;
    let mut changes = changes.between(before.config_offset, now.config_offset);
    changes.find_map(|change| {
        let is_commit = matches!(change.what, What::Committed { changed: true, .. });
        let mut told = member.told.iter();
        let has_tasks =
            told.any(|item| item.connector == change.connector && item.task != CONNECTOR_TASK);
        change.recorded.filter(|_| is_commit && has_tasks)
    })
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
