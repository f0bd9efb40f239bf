//! Whether a run proves anything: an expiry that the script did not cause voids it.

use std::collections::BTreeMap;

use super::event::{TruthEvent, Verb, What};

/// `session.timeout.ms` of the workers (Kafka's default, which the testbed never changes) and
/// the lateness of a busy broker's timers.
const EXPIRY_AFTER_MS: i64 = 10_000 + 5_000;

/// Why the run is void, one reason a member.
pub(super) fn reasons(events: &[TruthEvent], workers: &BTreeMap<String, String>) -> Vec<String> {
    let mut reasons = Vec::new();
    for event in events {
        let What::MemberExpired { member_id } = &event.what else {
            continue;
        };
        let worker = workers.get(member_id).map(String::as_str);
        let caused = worker.is_some_and(|worker| {
            was_killed(worker, member_id, event.at_ms, events)
                || was_frozen(worker, event.at_ms, events)
        });
        if !caused {
            reasons.push(format!(
                "member {member_id} of {} expired at {} and the script did not cause it",
                worker.unwrap_or("an unknown worker"),
                event.at_ms
            ));
        }
    }
    reasons
}

/// A process killed after this member had joined cannot have renewed its session. It may
/// expire late: the session does not run while the member waits in JoinGroup.
fn was_killed(worker: &str, member_id: &str, expired_ms: i64, events: &[TruthEvent]) -> bool {
    let joined_ms = events
        .iter()
        .filter(|event| {
            event.at_ms <= expired_ms
                && matches!(&event.what, What::Joined { member_id: id, .. } if id == member_id)
        })
        .map(|event| event.at_ms)
        .next_back();
    let from_ms = joined_ms.unwrap_or(expired_ms - EXPIRY_AFTER_MS);
    verbs(worker, events)
        .any(|(verb, began_ms, _)| verb == Verb::Kill && (from_ms..=expired_ms).contains(&began_ms))
}

/// Frozen when it expired, or thawed so shortly before that its heartbeats were not in time.
fn was_frozen(worker: &str, expired_ms: i64, events: &[TruthEvent]) -> bool {
    let last = verbs(worker, events)
        .filter(|(verb, began_ms, _)| {
            matches!(verb, Verb::Freeze | Verb::Thaw) && *began_ms <= expired_ms
        })
        .last();
    match last {
        Some((Verb::Freeze, ..)) => true,
        Some((_, _, thawed_ms)) => expired_ms - thawed_ms <= EXPIRY_AFTER_MS,
        None => false,
    }
}

fn verbs<'a>(
    worker: &'a str,
    events: &'a [TruthEvent],
) -> impl Iterator<Item = (Verb, i64, i64)> + 'a {
    events
        .iter()
        .filter(move |event| event.process == worker)
        .filter_map(|event| match event.what {
            What::Script { verb, ended_ms } => Some((verb, event.at_ms, ended_ms)),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at_ms: i64, process: &str, what: What) -> TruthEvent {
        TruthEvent {
            at_ms,
            process: process.to_owned(),
            what,
        }
    }

    fn script(at_ms: i64, verb: Verb) -> TruthEvent {
        let ended_ms = at_ms + 10;
        event(at_ms, "w", What::Script { verb, ended_ms })
    }

    fn joined(at_ms: i64, id: &str) -> TruthEvent {
        let joined = What::Joined {
            generation: 1,
            member_id: id.to_owned(),
            leader: id.to_owned(),
            protocol: "sessioned".to_owned(),
            members: Vec::new(),
        };
        event(at_ms, "w", joined)
    }

    fn expired(at_ms: i64, id: &str) -> TruthEvent {
        let member_id = id.to_owned();
        event(at_ms, "b", What::MemberExpired { member_id })
    }

    #[track_caller]
    fn check(void: usize, events: &[TruthEvent]) {
        let workers = [("m".to_owned(), "w".to_owned())].into();
        assert_eq!(reasons(events, &workers).len(), void);
    }

    #[test]
    fn an_expiry_out_of_nowhere_voids() {
        check(0, &[joined(0, "m")]);
        check(1, &[joined(0, "m"), expired(50_000, "m")]);
        check(1, &[script(0, Verb::Kill), expired(9_000, "of nobody")]);
    }

    #[test]
    fn a_kill_explains_its_own_member_only() {
        check(
            0,
            &[joined(0, "m"), script(5, Verb::Kill), expired(10_000, "m")],
        );
        // The kill came before this member id was born.
        check(
            1,
            &[script(0, Verb::Kill), joined(5, "m"), expired(10_000, "m")],
        );
        // The kill came after.
        check(
            1,
            &[
                joined(0, "m"),
                expired(10_000, "m"),
                script(10_001, Verb::Kill),
            ],
        );
    }

    #[test]
    fn a_freeze_explains_until_shortly_after_the_thaw() {
        let frozen = [joined(0, "m"), script(5, Verb::Freeze)];
        let after = |more: &[TruthEvent]| [frozen.as_slice(), more].concat();
        check(0, &after(&[expired(90_000, "m")]));
        check(0, &after(&[script(9_000, Verb::Thaw), expired(9_100, "m")]));
        check(
            1,
            &after(&[script(9_000, Verb::Thaw), expired(99_000, "m")]),
        );
    }
}
