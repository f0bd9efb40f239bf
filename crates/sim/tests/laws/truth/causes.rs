//! Causes: all that set a round off is told, and nothing that did not happen.
//!
//! What no log shows, and is asked of no answer:
//! - that the group was formed, where the numbers up to its first record left none and the
//!   coordinator writes none with number 0: older records may be gone;
//! - a member that came and left again between two records;
//! - a delay that was over by a member's timer, where the coordinator's clock was set, or
//!   another coordinator stamped, between the two records, or where the record before it
//!   carries none;
//! - what a person configured while nobody led, which the first leader takes as given;
//! - a config record that one member followed late: it was told with the round that knew it
//!   first.

use evenkeel_core::answers::{Cause, CauseAnswer, DepartureHow};
use evenkeel_sim::protocol::Why;
use evenkeel_sim::truth::{ChangeWhat, How, Outcome, Trigger, TrueDeparture};

use super::departures::possible;
use super::matched::{Matched, Step};

/// What must be told: one of these causes, of that worker or connector.
struct Wanted {
    causes: Vec<Cause>,
    subject: Option<String>,
    /// Whether an earlier round may have told it.
    earlier: bool,
}

const GONE: [Cause; 4] = [
    Cause::WorkerLost,
    Cause::WorkerUnresponsive,
    Cause::WorkerLeft,
    Cause::WorkerGone,
];
const CAME: [Cause; 3] = [
    Cause::WorkerJoined,
    Cause::WorkerRestarted,
    Cause::WorkerUnresponsive,
];
/// Milliseconds by which a delay may be over early (members count it on their clocks).
const EARLY_MS: i64 = 500;

/// All that happened is told.
pub(super) fn all_are_told(matched: &Matched<'_>) -> Result<(), String> {
    for step in &matched.steps {
        let episode = matched.episode(step);
        if episode.causes_left_out > 0 {
            continue;
        }
        for wanted in wanted(matched, step) {
            let is_it = |cause: &CauseAnswer| {
                wanted.causes.contains(&cause.cause)
                    && wanted.subject.as_deref() == cause.subject.as_deref()
            };
            let in_time = |cause: &&CauseAnswer| cause.generation <= step.told.generation;
            let here = episode.contributing.iter().filter(in_time).any(is_it);
            let earlier = || {
                let older = &matched.episodes[..step.episode];
                older.iter().flat_map(|e| &e.contributing).any(is_it)
            };
            let told_before = wanted.earlier && earlier();
            if !here && !told_before {
                let told: Vec<_> = matched.found(step).map(|c| (c.cause, &c.subject)).collect();
                return Err(format!(
                    "{}: none of {:?} {:?} is told, but {told:?}",
                    step.name(),
                    wanted.causes,
                    wanted.subject
                ));
            }
        }
    }
    Ok(())
}

fn wanted(matched: &Matched<'_>, step: &Step<'_>) -> Vec<Wanted> {
    let mut out = Vec::new();
    let mut want = |causes: &[Cause], subject: Option<&str>, earlier: bool| {
        out.push(Wanted {
            causes: causes.to_vec(),
            subject: subject.map(str::to_owned),
            earlier,
        });
    };
    let real = step.real;
    let emptied = real.members.is_empty();
    let formed = step.triggers.contains(&&Trigger::GroupFormed) && !emptied;
    let unseen = step.before.is_none() && real.generation > 1;
    if formed && !unseen {
        want(&[Cause::GroupFormed], None, false);
    }
    if emptied && step.before.is_some_and(|before| !before.members.is_empty()) {
        want(&[Cause::GroupEmptied], None, false);
    }
    let speaks = |round: &evenkeel_sim::truth::TrueRound| {
        (!round.members.is_empty()).then_some(round.version)
    };
    if let (Some(was), Some(is)) = (step.before.and_then(speaks), speaks(real))
        && was != is
    {
        want(&[Cause::ProtocolChanged], None, false);
    }
    for (_, member) in step.leavers() {
        want(&GONE, Some(&member.worker), false);
    }
    if !formed {
        for (_, member) in step.newcomers() {
            want(&CAME, Some(&member.worker), false);
        }
    }
    for trigger in &step.triggers {
        let Trigger::Rejoined { member, why } = trigger else {
            continue;
        };
        let before = step.before.and_then(|before| before.members.get(member));
        let continues = step
            .before
            .is_some_and(|b| b.incarnation == real.incarnation);
        match why {
            Why::DelayExpired if continues && delay_is_over(matched, step) => {
                want(&[Cause::DelayExpired], None, false);
            }
            Why::FollowUp
                if before.is_some_and(|m| m.applied_ms.is_some() && !m.revoked.is_empty())
                    && real.members.contains_key(member) =>
            {
                want(&[Cause::RevocationFollowup], None, false);
            }
            Why::Mismatch if step.before.is_some_and(|b| b.outcome == Outcome::Mismatch) => {
                want(&[Cause::ConfigMismatch], None, false);
            }
            Why::ConnectorCreated(name) => want(&[Cause::ConnectorCreated], Some(name), true),
            Why::ConnectorDeleted(name) => want(&[Cause::ConnectorDeleted], Some(name), true),
            Why::TasksChanged(name) => want(&[Cause::TasksChanged], Some(name), true),
            _ => {}
        }
    }
    if let Some(subject) = coordinator_lost(step) {
        want(&[Cause::CoordinatorLost], subject.as_deref(), false);
    }
    out
}

/// Members that are proven to have had something are back without a claim; one alone is named.
fn coordinator_lost(step: &Step<'_>) -> Option<Option<String>> {
    let before = step.before.filter(|before| before.version > 0)?;
    if step.real.version == 0 {
        return None;
    }
    let stayed = before
        .members
        .keys()
        .filter(|id| step.real.members.contains_key(*id));
    let had = before.members.iter().filter(|(_, old)| old.claim.is_some());
    let dropped = had.filter(|(id, _)| {
        let back = step.real.members.get(*id);
        back.is_some_and(|back| back.claim.is_none())
    });
    let dropped: Vec<_> = dropped.collect();
    let (_, first) = dropped.first()?;
    // Who was fresh before may have had something, too: then it is several.
    let fresh = before.members.iter().filter(|(id, old)| {
        let back = step.real.members.get(*id);
        old.claim.is_none() && back.is_some_and(|back| back.claim.is_none())
    });
    if fresh.count() > 0 {
        return None;
    }
    let alone = dropped.len() == 1 && stayed.count() > 1;
    Some(alone.then(|| first.worker.clone()))
}

/// Whether the record before carries a delay that is over, and one clock says so.
fn delay_is_over(matched: &Matched<'_>, step: &Step<'_>) -> bool {
    let Some(before) = step.before.filter(|before| before.delay_ms > 0) else {
        return false;
    };
    let recorded_ms = before.recorded_ms.unwrap();
    let really_ms = step.real.join_ended_ms - recorded_ms;
    let truth = matched.truth;
    let shown_ms = truth.stamp(step.real.join_ended_ms) - truth.stamp(recorded_ms);
    really_ms == shown_ms && really_ms + EARLY_MS >= before.delay_ms
}

/// Nothing is told that did not happen: of no episode, and of no round.
pub(super) fn nothing_is_made_up(matched: &Matched<'_>) -> Result<(), String> {
    for step in &matched.steps {
        for cause in matched.found(step) {
            if !happened(matched, step, cause.cause, cause.subject.as_deref()) {
                // Numbers come again within one episode when the group is made anew.
                let mut twins = matched.steps.iter().filter(|other| {
                    other.episode == step.episode && other.told.generation == cause.generation
                });
                if twins.any(|twin| happened(matched, twin, cause.cause, cause.subject.as_deref()))
                {
                    continue;
                }
                return Err(format!("{}: {cause:?} did not happen", step.name()));
            }
        }
        if let Some(shown) = matched.shown(step)
            && !happened(matched, step, shown.cause, shown.subject.as_deref())
        {
            return Err(format!(
                "{}: {:?} of {:?} did not happen",
                step.name(),
                shown.cause,
                shown.subject
            ));
        }
    }
    Ok(())
}

fn happened(matched: &Matched<'_>, step: &Step<'_>, cause: Cause, subject: Option<&str>) -> bool {
    let (real, before) = (step.real, step.before);
    let changed = |what: ChangeWhat| {
        matched.truth.changes.iter().any(|change| {
            change.what == what
                && Some(change.connector.as_str()) == subject
                && change.at_ms <= real.recorded_ms.unwrap()
        })
    };
    let left = |hows: &[DepartureHow]| {
        step.leavers().any(|(id, member)| {
            let gone = departure(matched, id, step);
            let possible = gone.map(|gone| possible(matched, step, gone));
            Some(member.worker.as_str()) == subject
                && possible.is_some_and(|all| all.iter().any(|how| hows.contains(how)))
        })
    };
    let lived = || {
        step.leavers().any(|(id, member)| {
            let gone = departure(matched, id, step);
            Some(member.worker.as_str()) == subject
                && gone.is_some_and(|gone| gone.how == How::Unresponsive)
        })
    };
    let came = || {
        let mut newcomers = step.newcomers();
        newcomers.find(|(_, m)| Some(m.worker.as_str()) == subject)
    };
    match cause {
        Cause::GroupFormed => step.triggers.contains(&&Trigger::GroupFormed),
        Cause::GroupEmptied => real.members.is_empty(),
        Cause::ProtocolChanged => before.is_some_and(|before| before.version != real.version),
        Cause::CoordinatorLost => {
            let began_ms = before.map_or(0, |before| before.join_ended_ms);
            let drops = matched.truth.drops.iter();
            let mut drops = drops.filter(|d| (began_ms..=real.join_ended_ms).contains(&d.at_ms));
            drops.any(|drop| real.members.contains_key(&drop.member))
        }
        // Until it comes back, who is silent is taken for dead.
        Cause::WorkerLost => left(&[DepartureHow::Crashed, DepartureHow::CutShort]) || lived(),
        Cause::WorkerUnresponsive => lived() || came().is_some_and(|(_, m)| m.claim.is_some()),
        Cause::WorkerLeft => left(&[DepartureHow::Graceful]),
        Cause::WorkerGone => step
            .leavers()
            .any(|(_, m)| Some(m.worker.as_str()) == subject),
        Cause::WorkerRestarted | Cause::WorkerJoined => came().is_some(),
        Cause::DelayExpired => delay_is_over(matched, step) || is_clock_off(matched, step),
        Cause::ConfigMismatch => before.is_some_and(|before| before.outcome == Outcome::Mismatch),
        Cause::ConnectorCreated => changed(ChangeWhat::Created),
        Cause::ConnectorDeleted => changed(ChangeWhat::Deleted),
        Cause::TasksChanged => changed(ChangeWhat::Committed),
        Cause::RevocationFollowup => before.is_some_and(|before| {
            let mut stayed = before.members.iter();
            stayed.any(|(id, m)| !m.revoked.is_empty() && real.members.contains_key(id))
        }),
        Cause::ConfigAdvanced | Cause::CoordinatorMoved | Cause::Unknown => true,
    }
}

/// Whether the coordinator's clock was another one, or was set, between the two records.
pub(super) fn is_clock_off(matched: &Matched<'_>, step: &Step<'_>) -> bool {
    let recorded = |before: &evenkeel_sim::truth::TrueRound| before.recorded_ms;
    step.before.and_then(recorded).is_some_and(|recorded_ms| {
        let really_ms = step.real.join_ended_ms - recorded_ms;
        let truth = matched.truth;
        truth.stamp(step.real.join_ended_ms) - truth.stamp(recorded_ms) != really_ms
    })
}

/// How the member really left that is not in the record of a step any more.
pub(super) fn departure<'a>(
    matched: &Matched<'a>,
    id: &str,
    step: &Step<'_>,
) -> Option<&'a TrueDeparture> {
    let by_then =
        |gone: &&TrueDeparture| gone.member == id && gone.removed_ms <= step.real.join_ended_ms;
    matched.truth.departures.iter().rfind(by_then)
}
