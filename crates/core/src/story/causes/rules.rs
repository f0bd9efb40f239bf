//! The rules of causes, each alone.

use std::sync::Arc;

use super::Found;
use crate::answers::{Cause, TasksRoot};
use crate::facts::ids::ConnectorId;
use crate::facts::observation::{AssignmentError, GroupSnapshot, Member};
use crate::limits::{DELAY_EARLY_MS, TIMER_SLACK_MS};
use crate::story::config_log::What;
use crate::story::departures::{Arrival, Departure, Departures, Moves};
use crate::story::steps::Turn;
use crate::story::switches::StoryRule;

pub(super) fn all(turn: &Turn<'_>, moves: &Moves, departures: &Departures) -> Vec<Found> {
    let mut found = Vec::new();
    let formed = rule_1_formed(turn);
    let is_formed = formed.is_some();
    found.extend(formed);
    found.extend(rule_2_emptied(turn));
    found.extend(rule_3_protocol(turn));
    found.extend(rule_4_coordinator_lost(turn));
    found.extend(rules_5_to_8_gone(turn, moves, departures));
    // Without a record before, nobody knows who was there already.
    if !is_formed && turn.step.before.is_some() {
        found.extend(rules_9_and_10_came(turn, moves));
    }
    found.extend(rule_11_delay(turn));
    found.extend(rule_12_mismatch(turn));
    found.extend(rules_13_to_15_config(turn));
    found.extend(rule_16_followup(turn));
    if found.is_empty() {
        found.extend(rule_17_advanced(turn).or_else(|| rule_18_moved(turn)));
    }
    if found.is_empty() {
        let evidence = if turn.step.before.is_none() {
            "the history begins with this record"
        } else if turn.config_known {
            "nothing in the logs says why"
        } else {
            "nothing in the logs says why; the config topic is not read"
        };
        found.push(turn.found(Cause::Unknown, None, evidence));
    }
    found
}

fn rule_1_formed(turn: &Turn<'_>) -> Option<Found> {
    let now = turn.step.now.as_deref()?;
    let before = turn.step.before.as_deref();
    let from_nothing = match before {
        None => now.generation <= 1,
        Some(before) => before.members.is_empty() || !turn.step.continues,
    };
    let formed = from_nothing && !now.members.is_empty() && turn.on(StoryRule::Cause(1));
    let evidence = match before {
        Some(before) if turn.step.continues && before.generation > 0 => {
            "the group had no members before"
        }
        _ => "the group was created",
    };
    formed.then(|| turn.found(Cause::GroupFormed, None, evidence))
}

fn rule_2_emptied(turn: &Turn<'_>) -> Option<Found> {
    let now = turn.step.now.as_deref()?;
    let emptied = now.members.is_empty() && !turn.before().is_empty();
    (emptied && turn.on(StoryRule::Cause(2)))
        .then(|| turn.found(Cause::GroupEmptied, None, "the record has no members"))
}

fn rule_3_protocol(turn: &Turn<'_>) -> Option<Found> {
    let (before, now) = (turn.step.before.as_deref()?, turn.step.now.as_deref()?);
    let (was, is) = (before.protocol?, now.protocol?);
    if was == is || !turn.on(StoryRule::Cause(3)) {
        return None;
    }
    // A lesser protocol comes with a newcomer, a better one when somebody has left.
    let mut by: Vec<&Arc<Member>> = if is < was {
        turn.newcomers().collect()
    } else {
        turn.leavers().map(|(_, member)| member).collect()
    };
    by.sort_by(|left, right| left.worker.cmp(&right.worker));
    let subject = match by.as_slice() {
        [only] => Some(Arc::clone(&only.worker)),
        _ => None,
    };
    let evidence = format!("{} before, {} now", was.label(), is.label());
    Some(turn.found(Cause::ProtocolChanged, subject, &evidence))
}

fn rule_4_coordinator_lost(turn: &Turn<'_>) -> Option<Found> {
    if !turn.on(StoryRule::Cause(4)) {
        return None;
    }
    let before = turn.before();
    let stayed = before.iter().filter(|old| turn.present(&old.id).is_some());
    let stayed = stayed.count();
    let dropped: Vec<&Arc<Member>> = before
        .iter()
        .enumerate()
        .filter(|(place, old)| turn.dropped(*place, old))
        .map(|(_, old)| old)
        .collect();
    let first = dropped.first()?;
    let one = dropped.len() == 1 && stayed > 1;
    let evidence = format!(
        "{} of {stayed} members that stayed are back under their ids without a claim",
        dropped.len()
    );
    let subject = one.then(|| Arc::clone(&first.worker));
    Some(turn.found(Cause::CoordinatorLost, subject, &evidence))
}

fn rules_5_to_8_gone(turn: &Turn<'_>, moves: &Moves, departures: &Departures) -> Vec<Found> {
    let number = |cause: Cause| match cause {
        Cause::WorkerLost => 5,
        Cause::WorkerUnresponsive => 6,
        Cause::WorkerLeft => 7,
        _ => 8,
    };
    let left = moves.left.iter().filter_map(|key| departures.get(*key));
    let gone = left.map(|departed: &Departure| Found {
        departure: Some(departed.key),
        ..turn.found(
            departed.how.cause(),
            Some(Arc::clone(&departed.worker)),
            &departed.evidence,
        )
    });
    let returned = moves
        .came
        .iter()
        .filter_map(|(member, arrival)| match arrival {
            Arrival::Returned(_) => Some(turn.found(
                Cause::WorkerUnresponsive,
                Some(Arc::clone(&member.worker)),
                "it came back with its claim: the process had lived on",
            )),
            Arrival::New | Arrival::Successor(_) => None,
        });
    gone.chain(returned)
        .filter(|found| turn.on(StoryRule::Cause(number(found.cause))))
        .collect()
}

fn rules_9_and_10_came(turn: &Turn<'_>, moves: &Moves) -> Vec<Found> {
    let came = moves.came.iter().filter_map(|(member, arrival)| {
        let (cause, rule, evidence) = match arrival {
            Arrival::Successor(_) => (
                Cause::WorkerRestarted,
                9,
                "a fresh member in the place of one that had left",
            ),
            Arrival::New => (
                Cause::WorkerJoined,
                10,
                "a member that was not there before",
            ),
            Arrival::Returned(_) => return None,
        };
        turn.on(StoryRule::Cause(rule))
            .then(|| turn.found(cause, Some(Arc::clone(&member.worker)), evidence))
    });
    let mut came: Vec<Found> = came.collect();
    came.sort_by(|left, right| left.subject.cmp(&right.subject));
    came
}

fn rule_11_delay(turn: &Turn<'_>) -> Option<Found> {
    let before = turn.step.before.as_deref()?;
    let waited_ms = turn.step.join_ended.since_ms(before.recorded);
    let delay_ms = i64::from(before.delay_ms);
    let over = delay_ms > 0 && waited_ms.saturating_add(DELAY_EARLY_MS) >= delay_ms;
    (over && turn.step.continues && turn.on(StoryRule::Cause(11))).then(|| {
        let evidence =
            format!("the record before carried a delay of {delay_ms} ms, {waited_ms} ms earlier");
        turn.found(Cause::DelayExpired, None, &evidence)
    })
}

fn rule_12_mismatch(turn: &Turn<'_>) -> Option<Found> {
    let before = turn.step.before.as_deref()?;
    let mismatch = before.error == Some(AssignmentError::ConfigMismatch) && turn.step.continues;
    (mismatch && turn.on(StoryRule::Cause(12))).then(|| {
        let evidence = "the record before carried the error CONFIG_MISMATCH";
        turn.found(Cause::ConfigMismatch, None, evidence)
    })
}

fn rules_13_to_15_config(turn: &Turn<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for change in turn.changes() {
        let subject = Some(turn.names.name(change.connector));
        let at = change.offset;
        let one = match change.what {
            What::Created => (
                13,
                turn.found(
                    Cause::ConnectorCreated,
                    subject,
                    &format!("config record {at}"),
                ),
            ),
            What::Deleted => (
                14,
                turn.found(
                    Cause::ConnectorDeleted,
                    subject,
                    &format!("config record {at}"),
                ),
            ),
            What::Committed {
                root,
                changed,
                before,
                tasks,
            } => {
                let evidence = match (before == tasks, changed) {
                    (false, _) => {
                        let before = in_words(before);
                        format!("config record {at}: {before} before, {tasks} now")
                    }
                    (true, true) => {
                        format!("config record {at}: {} with other content", in_words(tasks))
                    }
                    (true, false) => format!("config record {at}: {} as before", in_words(tasks)),
                };
                let one = turn.found(Cause::TasksChanged, subject, &evidence);
                (
                    15,
                    Found {
                        root: Some(root),
                        changed: Some(changed),
                        ..one
                    },
                )
            }
        };
        if turn.on(StoryRule::Cause(one.0)) {
            let writer = turn.step.before.as_deref();
            let writer = writer.and_then(GroupSnapshot::leader_member);
            let writer = writer.map_or("", |leader| &*leader.worker);
            let dated = change.recorded.map(|at| turn.placed(writer, at));
            found.push(Found {
                offset: Some(at),
                at: dated,
                ..one.1
            });
        }
    }
    found
}

fn rule_16_followup(turn: &Turn<'_>) -> Option<Found> {
    let revoked = |(place, old): &(usize, &Arc<Member>)| {
        !old.revoked.is_empty() && turn.got(*place) && turn.present(&old.id).is_some()
    };
    let mut from = turn.before().iter().enumerate().filter(revoked);
    let (_, first) = from.next()?;
    let others = from.count();
    (turn.step.continues && turn.on(StoryRule::Cause(16))).then(|| {
        let evidence = format!(
            "the record before revoked {} from {}{}",
            first.revoked.len(),
            first.worker,
            if others > 0 { " and others" } else { "" }
        );
        turn.found(Cause::RevocationFollowup, None, &evidence)
    })
}

fn rule_17_advanced(turn: &Turn<'_>) -> Option<Found> {
    let (before, now) = (turn.step.before.as_deref()?, turn.step.now.as_deref()?);
    let (from, to) = (before.config_offset?, now.config_offset?);
    let timeout_ms = i64::from(before.rebalance_timeout_ms_max());
    let at_once =
        now.recorded.since_ms(before.recorded) <= timeout_ms.saturating_add(TIMER_SLACK_MS);
    if !at_once || !turn.on(StoryRule::Cause(17)) {
        return None;
    }
    if from < to {
        let evidence = format!("config offset {from} before, {to} now");
        return Some(turn.found(Cause::ConfigAdvanced, ahead(before, now), &evidence));
    }
    let was_behind = |new: &&Arc<Member>| {
        let old = before.member(&new.id);
        old.is_some_and(|old| old.config_offset < Some(from) && new.config_offset >= Some(from))
    };
    let mut late = now.members.iter().filter(was_behind);
    let (late, other) = (late.next()?, late.next());
    let old = before.member(&late.id).and_then(|old| old.config_offset)?;
    let evidence = format!(
        "{} had read the config topic to {old} when the record before was made from {from}, and \
         joined again when it had read on",
        if other.is_some() {
            "one of several"
        } else {
            "it"
        }
    );
    let subject = other.is_none().then(|| Arc::clone(&late.worker));
    Some(turn.found(Cause::ConfigAdvanced, subject, &evidence))
}

/// The one member that is ahead of what the record before was computed from.
fn ahead(before: &GroupSnapshot, now: &GroupSnapshot) -> Option<Arc<str>> {
    let is_ahead = |member: &&Arc<Member>| member.config_offset > before.config_offset;
    let mut ahead = now.members.iter().filter(is_ahead);
    let first = ahead.next()?;
    ahead.next().is_none().then(|| Arc::clone(&first.worker))
}

fn rule_18_moved(turn: &Turn<'_>) -> Option<Found> {
    (turn.step.coordinator_moved && turn.on(StoryRule::Cause(18))).then(|| {
        let evidence = "another leader epoch than the record before";
        turn.found(Cause::CoordinatorMoved, None, evidence)
    })
}

// === impl Turn ===

impl Turn<'_> {
    fn found(&self, cause: Cause, subject: Option<Arc<str>>, evidence: &str) -> Found {
        Found {
            cause,
            subject,
            generation: self.generation(),
            offset: None,
            evidence: evidence.to_owned(),
            departure: None,
            root: None::<TasksRoot>,
            changed: None,
            at: None,
        }
    }
}

/// The connectors whose tasks were written anew between the two records: workers stop these
/// before they join. A commit of no task (a connector that is stopped) names none to stop; the
/// next record revokes them (`KafkaConfigBackingStore.processTasksCommitRecord`).
#[must_use]
pub(crate) fn recommitted(turn: &Turn<'_>) -> Vec<ConnectorId> {
    let committed = turn.changes().filter_map(|change| match change.what {
        What::Committed { tasks, .. } if tasks > 0 => Some(change.connector),
        What::Committed { .. } | What::Created | What::Deleted => None,
    });
    let mut connectors: Vec<ConnectorId> = committed.collect();
    connectors.sort_unstable();
    connectors.dedup();
    connectors
}

/// How many tasks.
fn in_words(tasks: i32) -> String {
    match tasks {
        1 => "1 task".to_owned(),
        tasks => format!("{tasks} tasks"),
    }
}
