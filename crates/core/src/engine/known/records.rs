//! What the records of the last generations say together: delays of leaders, rounds that came
//! to nothing, who does not follow the config topic.

use std::sync::Arc;

use super::count;
use crate::answers::{DisagreementType, Outcome};
use crate::checks::known::Records;
use crate::checks::source::{Source, Value};
use crate::engine::State;
use crate::engine::polls::Sight;
use crate::facts::ids::Protocol;
use crate::facts::input::Topic;
use crate::facts::observation::{Claim, GroupSnapshot};
use crate::facts::time::EventTime;
use crate::limits::CHECK_MISMATCHES_MS;
use crate::story::rounds::Round;

/// Generations that are looked at for those without a record; of fewer it is told only
/// where there are too many already.
const GENERATIONS: u64 = 100;
const GAPS_MAX: u64 = 10;

/// Ages are told in steps of this.
const AGE_STEP_MS: i64 = 10_000;

/// A leader looks at the session key each time that it does anything; one that has led for
/// so long has.
const LEADS_FOR_MS: i64 = 60_000;

/// A leader's own delay, and where it was read.
pub(super) struct Led {
    pub(super) member: Arc<str>,
    pub(super) delay: Value<i64>,
    /// The generation in which it showed first.
    since: i32,
}

/// The rounds of the group's life that have records.
pub(super) fn own_rounds(state: &State) -> impl Iterator<Item = (&Round, &GroupSnapshot)> {
    let ours = |round: &&Round| round.incarnation == state.group.incarnation;
    let rounds = state.rounds.shown().filter(ours);
    rounds.filter_map(|round| Some((round, round.record.as_deref()?)))
}

/// Their records.
pub(super) fn own_records(state: &State) -> impl Iterator<Item = &GroupSnapshot> {
    own_rounds(state).map(|(_, record)| record)
}

/// Whether all members of a round are in the next, as far as that was looked at.
pub(super) fn all_stayed(round: &Round) -> bool {
    !round.stayed.is_empty() && round.stayed.iter().all(|stayed| *stayed)
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

/// The own delay of each leader so far, as far as it showed, the newest last.
pub(super) fn leader_delays(state: &State) -> Vec<Led> {
    let mut delays: Vec<Led> = Vec::new();
    for (round, before, now) in pairs(state) {
        let Some(delay) = own_delay(round, before, now) else {
            continue;
        };
        let Some(leader) = now.leader_member() else {
            continue;
        };
        let mut since = now.generation;
        if let Some(last) = delays.pop_if(|led| led.member == leader.id)
            && last.delay.value == delay
        {
            since = last.since;
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
            since,
        });
    }
    delays
}

/// Without those that say nothing of the workers as they are: whoever was in the group when
/// such a delay showed first was restarted since, perhaps with another file.
fn still_said(state: &State, newest: Option<&GroupSnapshot>, delays: Vec<Led>) -> Vec<Led> {
    let records: Vec<&GroupSnapshot> = own_records(state).collect();
    let has_stayed = |led: &Led| {
        let mut records = records.iter();
        let then = records.find(|record| record.generation == led.since);
        newest.zip(then).is_none_or(|(newest, then)| {
            let mut members = newest.members.iter();
            members.any(|member| then.member(&member.id).is_some())
        })
    };
    let mut delays = delays;
    delays.retain(has_stayed);
    delays
}

/// What the records of the last generations say together.
pub(super) fn records(
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
        leader_delays: (!delays.is_empty()).then(|| {
            let said = still_said(state, newest, delays).into_iter();
            said.map(|led| led.delay).collect()
        }),
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
        key_age_ms: newest.and_then(|newest| key_age_ms(state, newest)),
        stray_running_ms: newest.and_then(|_| stray_running_ms(state, rounds.len())),
    }
}

/// Up to when all of a topic is read, on the clock of events, in whole steps: what is
/// compared is not to be another twenty times a second.
fn read_until(state: &State, topic: Topic) -> Option<EventTime> {
    let confirmed = state.progress.of(topic).confirmed()?;
    let delay_ms = state.clock.delay_live_ms_min.unwrap_or(0);
    let EventTime(ms) = confirmed.as_event(delay_ms);
    Some(EventTime(ms.saturating_sub(ms.rem_euclid(AGE_STEP_MS))))
}

/// How old the newest session key is, while the group signs its requests, and once its leader
/// has had time to renew it.
fn key_age_ms(state: &State, newest: &GroupSnapshot) -> Option<Value<i64>> {
    let until = read_until(state, Topic::Config)?;
    let signs = newest.protocol == Some(Protocol::Sessioned);
    if !signs || until.since_ms(newest.recorded) < LEADS_FOR_MS {
        return None;
    }
    let mut written = state.configured.session_key()?;
    // Of one that was there before anybody watched its time is told by the clock of whoever led
    // then: as far as clocks are known to be behind, it may be younger.
    if !state.clock.is_watched(written) {
        let behind_ms = behind_ms(state)?;
        written = written.plus_ms(behind_ms);
    }
    let source = Source::Topic {
        name: state.settings.config_topic.clone(),
    };
    Some(Value::new(until.since_ms(written).max(0), source))
}

/// How far the clock of a leader may be behind; nothing where none is known to be, and not known
/// where one is, by nobody knows how much.
fn behind_ms(state: &State) -> Option<i64> {
    let leaders = own_records(state).filter_map(GroupSnapshot::leader_member);
    let skews = leaders.map(|leader| state.story.skews.of(&leader.worker));
    let behind = skews.map(|skew| match (skew.ms() < 0, skew.least_ms) {
        (true, None) => None,
        (true, Some(least_ms)) => Some(least_ms.saturating_neg().max(0)),
        (false, _) => Some(0),
    });
    let behind: Option<Vec<i64>> = behind.collect();
    Some(behind?.into_iter().max().unwrap_or(0))
}

/// Since when the oldest status says `RUNNING` of a worker that is not there.
fn stray_running_ms(state: &State, generations: usize) -> Option<Value<i64>> {
    let until = read_until(state, Topic::Status)?;
    let open = state.story.disagreements.open(&state.configured);
    let strays = open.filter(|(item, open)| {
        let newest = state.statuses.get(*item);
        // Where somebody else has written since, it may run twice; the status is right.
        let says_so = newest.is_some_and(|newest| newest.worker == open.worker);
        says_so && open.kind == DisagreementType::RunningOnDepartedWorker
    });
    let since: Vec<EventTime> = strays.map(|(_, open)| open.since).collect();
    let Some(oldest) = since.iter().min() else {
        return Some(count(0, generations));
    };
    let source = Source::Measured {
        count: u64::try_from(since.len()).unwrap_or(u64::MAX),
    };
    Some(Value::new(until.since_ms(*oldest).max(0), source))
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

/// How many there were at once at most: one that is away is still one of them.
pub(super) fn worker_count(state: &State) -> Value<i64> {
    let ours = |round: &&Round| round.incarnation == state.group.incarnation;
    let rounds = state.rounds.shown().filter(ours);
    let records: Vec<usize> = rounds
        .filter_map(|round| round.record.as_deref())
        .map(|record| record.members.len())
        .collect();
    count(records.iter().copied().max().unwrap_or(0), records.len())
}
