//! How a member left: small functions of what its worker wrote.

use crate::answers::DepartureHow;
use crate::facts::ids::{Kind, WorkItem};
use crate::facts::observation::{Member, RunState};
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits;
use crate::story::config_log::What;
use crate::story::status_log::Written;
use crate::story::steps::Turn;
use crate::story::switches::StoryRule;

/// What is said of a departure at its barrier.
pub(super) struct Verdict {
    pub(super) how: DepartureHow,
    pub(super) evidence: String,
    /// The last stop that it wrote, on the coordinator's clock.
    pub(super) stopped: Option<EventTime>,
    /// Whether nothing that comes later can contradict it: it rests on a stop, or several
    /// members advertise the address, so that nothing is said.
    pub(super) settled: bool,
}

/// What the worker wrote of what it had.
#[derive(Default)]
struct WroteLast {
    /// Items whose stop it wrote.
    stopped: usize,
    /// Items that it left behind as running, or paused.
    running: usize,
    /// The last of the stops.
    last: Option<EventTime>,
}

pub(super) fn how(turn: &Turn<'_>, place: usize, member: &Member, held: &[WorkItem]) -> Verdict {
    let shared = turn
        .step
        .before
        .as_deref()
        .is_some_and(|before| before.shares_worker(&member.worker));
    if shared {
        return Verdict {
            how: DepartureHow::Unknown,
            evidence: "several members advertise its address".to_owned(),
            stopped: None,
            settled: true,
        };
    }
    let written = written(turn, place, member, held);
    let all = written.stopped.saturating_add(written.running);
    let (how, evidence) = rule_1_all(turn, &written)
        .or_else(|| rule_2_part_at_once(turn, member, &written, all))
        .or_else(|| rule_3_too_soon(turn, member))
        .or_else(|| rule_4_part_later(turn, member, &written, all))
        .or_else(|| rule_5_nothing(turn, &written))
        .unwrap_or_else(|| rule_7_no_evidence(turn, member, &written, all));
    Verdict {
        how,
        evidence,
        stopped: written.last,
        settled: written.stopped > 0
            && matches!(how, DepartureHow::Graceful | DepartureHow::CutShort),
    }
}

fn written(turn: &Turn<'_>, place: usize, member: &Member, held: &[WorkItem]) -> WroteLast {
    let mut written = WroteLast::default();
    let Some(before) = turn.step.before.as_deref() else {
        return written;
    };
    let from = if turn.got(place) {
        before.generation
    } else {
        i32::MIN
    };
    let explained =
        |item: WorkItem| is_explained(turn, item) || sets::contains(&member.revoked, item);
    for item in held.iter().filter(|item| !explained(**item)) {
        // What it wrote later is of a process that lived on: it says nothing of how it left.
        let in_time = |written: &&Written| {
            let at = written.recorded;
            at.is_none_or(|at| turn.is_in_time(&member.worker, at))
        };
        let last = turn
            .statuses
            .by(
                *item,
                &member.worker,
                i32::MIN..=before.generation,
                &turn.life_before(),
            )
            .rev()
            .find(in_time);
        match last.map(|last| (last.state, last)) {
            Some((RunState::Unassigned, last)) if last.generation >= from => {
                written.stopped = written.stopped.saturating_add(1);
                let at = last.recorded.map(|at| turn.placed(&member.worker, at));
                written.last = written.last.max(at);
            }
            Some((
                RunState::Running | RunState::Paused | RunState::Stopped | RunState::Restarting,
                _,
            )) => written.running = written.running.saturating_add(1),
            // What failed, or never started, writes nothing when it stops.
            _ => {}
        }
    }
    written
}

/// Whether the item was to stop whether or not its worker did.
fn is_explained(turn: &Turn<'_>, item: WorkItem) -> bool {
    turn.changes()
        .filter(|change| change.connector == item.connector)
        .any(|change| match change.what {
            What::Committed { .. } => item.kind() == Kind::Task,
            What::Deleted => true,
            What::Created => false,
        })
}

fn rule_1_all(turn: &Turn<'_>, written: &WroteLast) -> Option<(DepartureHow, String)> {
    let all = written.stopped > 0 && written.running == 0;
    (all && turn.on(StoryRule::Departure(1))).then(|| {
        let evidence = format!(
            "it wrote the stop of all {} it had running",
            written.stopped
        );
        (DepartureHow::Graceful, evidence)
    })
}

fn rule_2_part_at_once(
    turn: &Turn<'_>,
    member: &Member,
    written: &WroteLast,
    all: usize,
) -> Option<(DepartureHow, String)> {
    let silent_ms = turn.step.join_ended.since_ms(written.last?);
    (silent_ms < session_least_ms(member) && turn.on(StoryRule::Departure(2))).then(|| {
        let evidence = format!(
            "it wrote the stop of {} of {all}, and was gone {silent_ms} ms after the last",
            written.stopped
        );
        (DepartureHow::Graceful, evidence)
    })
}

/// The coordinator begins each member's session anew when a join phase ends
/// (`GroupCoordinator.onCompleteJoin`), and waits for who is to join again for as long as the
/// rebalance timeout: who is gone sooner said so itself.
fn rule_3_too_soon(turn: &Turn<'_>, member: &Member) -> Option<(DepartureHow, String)> {
    // Another coordinator's clock is another one.
    let before = turn
        .step
        .before
        .as_deref()
        .filter(|_| !turn.step.coordinator_moved)?;
    let since_ms = turn.step.join_ended.since_ms(before.join_ended?);
    let least_ms = member.session_timeout_ms.min(member.rebalance_timeout_ms);
    ((0..i64::from(least_ms)).contains(&since_ms) && turn.on(StoryRule::Departure(3))).then(|| {
        let evidence = format!(
            "it was gone {since_ms} ms after it last joined, sooner than its session of {} ms \
             can end: it left by itself",
            member.session_timeout_ms
        );
        (DepartureHow::Graceful, evidence)
    })
}

fn rule_4_part_later(
    turn: &Turn<'_>,
    member: &Member,
    written: &WroteLast,
    all: usize,
) -> Option<(DepartureHow, String)> {
    let silent_ms = turn.step.join_ended.since_ms(written.last?);
    (silent_ms >= left_most_ms(member) && turn.on(StoryRule::Departure(4))).then(|| {
        let evidence = format!(
            "it wrote the stop of {} of {all}, and was gone {silent_ms} ms after the last: \
             its session of {} ms ended, unless it waited so long for the rest",
            written.stopped, member.session_timeout_ms
        );
        (DepartureHow::CutShort, evidence)
    })
}

fn rule_5_nothing(turn: &Turn<'_>, written: &WroteLast) -> Option<(DepartureHow, String)> {
    let nothing = written.stopped == 0 && written.running > 0;
    (nothing && turn.on(StoryRule::Departure(5))).then(|| {
        let evidence = format!(
            "it wrote nothing, and left {} behind as running: it died, or nothing heeded its stop",
            written.running
        );
        (DepartureHow::Crashed, evidence)
    })
}

fn rule_7_no_evidence(
    turn: &Turn<'_>,
    member: &Member,
    written: &WroteLast,
    all: usize,
) -> (DepartureHow, String) {
    let evidence = if written.last.is_some() {
        format!(
            "it wrote the stop of {} of {all}, and was gone as long after the last as either \
             takes: that it waited for the rest and left, or that its session of {} ms ended",
            written.stopped, member.session_timeout_ms
        )
    } else if written.stopped > 0 {
        format!(
            "it wrote the stop of {} of {all}, without a time",
            written.stopped
        )
    } else if turn.statuses_known {
        "it had nothing that writes when it stops".to_owned()
    } else {
        "the status topic is not read".to_owned()
    };
    if turn.on(StoryRule::Departure(7)) {
        (DepartureHow::Unknown, evidence)
    } else {
        (DepartureHow::Crashed, evidence)
    }
}

/// The shortest time after its last sign of life in which a member's session can end: it
/// sends a heartbeat at least three times a session (`ConsumerConfig`'s advice, and the
/// ratio of the defaults).
fn session_least_ms(member: &Member) -> i64 {
    i64::from(member.session_timeout_ms).saturating_mul(2) / 3
}

/// The longest time after its last stop in which a worker that leaves by itself is usually
/// gone: it waits for the rest as long as `task.shutdown.graceful.timeout.ms` says, by
/// default, and the others hear of it with their next heartbeat. At least a session's least.
fn left_most_ms(member: &Member) -> i64 {
    let heartbeat_ms = i64::from(member.session_timeout_ms) / 3;
    limits::GRACEFUL_DEFAULT_MS
        .saturating_add(heartbeat_ms)
        .max(session_least_ms(member))
}
