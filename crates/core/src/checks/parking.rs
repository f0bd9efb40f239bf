//! How long lost work waits for its worker: the scheduled delay, and what it is up against.

use super::inputs::{
    DELAY, LEADER_CHANGED, LEADER_DELAYS, LOSS, OTHERS, RELEASE, RESTARTS, SESSION, WORKER_COUNT,
};
use super::look::{each_worker, fires_if, group, passes, same, span};
use super::releases::Release;
use super::source::{Source, Value};
use super::{Check, Harm, Judgement, Known, Severity};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "delay_zero_strands_work",
        severity: Severity::Error,
        harm: Harm::StandsStill,
        title: "`scheduled.rebalance.max.delay.ms` is 0 on a release before 3.5.2, 3.6.1 or 3.7.0",
        inputs: &[DELAY, RELEASE],
        consequence: "When a worker leaves, these releases hand out nothing of what it had and schedule nothing either (KAFKA-15693): its work has no owner until something else makes the group rebalance.",
        advice: "Set a delay that just covers a restart, or upgrade. The other side: work of a worker that never comes back waits for all of it.",
        decide: delay_zero_strands_work,
    },
    Check {
        id: "session_above_delay",
        severity: Severity::Warning,
        harm: Harm::StandsStill,
        title: "`session.timeout.ms` is above `scheduled.rebalance.max.delay.ms`",
        inputs: &[SESSION, DELAY],
        consequence: "That a worker died is noticed only after a silence longer than the time its work is meant to wait for it: its tasks stand still for both, one after the other.",
        advice: "Lower session.timeout.ms, or raise the delay. The delay should just cover a restart; a session below 10 s drops workers that only pause.",
        decide: session_above_delay,
    },
    Check {
        id: "delay_differs",
        severity: Severity::Warning,
        harm: Harm::StandsStill,
        title: "workers of one group have different `scheduled.rebalance.max.delay.ms`",
        inputs: &[DELAY, OTHERS],
        consequence: "Only the leader's value counts, and any worker may become leader: how long lost work waits changes with the next change of leader.",
        advice: "Give all workers the same value. During a rolling change it differs until the last worker is restarted.",
        decide: delay_differs,
    },
    Check {
        id: "delay_drifts",
        severity: Severity::Warning,
        harm: Harm::StandsStill,
        title: "the delay that the leader schedules is another than that of the leader before",
        inputs: &[LEADER_DELAYS],
        consequence: "How long lost work waits changed with the leader, although nobody meant it to.",
        advice: "Compare scheduled.rebalance.max.delay.ms of all workers: only the leader's counts.",
        decide: delay_drifts,
    },
    Check {
        id: "delay_below_restart",
        severity: Severity::Warning,
        harm: Harm::StandsStill,
        title: "`scheduled.rebalance.max.delay.ms` is shorter than restarts of workers take",
        inputs: &[DELAY, RESTARTS],
        consequence: "The work of a worker that restarts is handed to others before it is back, then balanced back to it: each task is stopped and started twice more than needed.",
        advice: "Set the delay just above the longest restart, and space restarts of a rollout by more than the delay, the leader last. The other side: work of a worker that never comes back waits all of it; the delay that runs when a second worker leaves is not begun anew, and a leader's own restart has none.",
        decide: delay_below_restart,
    },
    Check {
        id: "delay_without_loss",
        severity: Severity::Info,
        harm: Harm::StandsStill,
        title: "work was lost and the same leader scheduled no delay",
        inputs: &[LOSS, LEADER_CHANGED],
        consequence: "Lost work is handed out at once and balanced back when its worker returns.",
        advice: "Nothing, if scheduled.rebalance.max.delay.ms is meant to be 0; else look at the leader's file.",
        decide: delay_without_loss,
    },
    Check {
        id: "delay_zero",
        severity: Severity::Info,
        harm: Harm::StandsStill,
        title: "`scheduled.rebalance.max.delay.ms` is 0",
        inputs: &[DELAY, RELEASE],
        consequence: "Nothing waits for a worker that restarts: each restart moves its work away and back, and a worker that cannot read the config topic tries again without any pause.",
        advice: "Keep it where restarts are rare and every second without an owner counts; else set it just above the time that a restart takes.",
        decide: delay_zero,
    },
    Check {
        id: "delay_far_above_restart",
        severity: Severity::Info,
        harm: Harm::StandsStill,
        title: "`scheduled.rebalance.max.delay.ms` is more than three times as long as restarts take",
        inputs: &[DELAY, RESTARTS],
        consequence: "Work of a worker that restarted waits for the end of the delay although the worker has long been back.",
        advice: "Lower the delay to just above the longest restart. The other side: a restart that takes longer for once then moves its work away and back.",
        decide: delay_far_above_restart,
    },
    Check {
        id: "delay_of_one_worker",
        severity: Severity::Info,
        harm: Harm::Inert,
        title: "`scheduled.rebalance.max.delay.ms` is set in a group of one worker",
        inputs: &[DELAY, WORKER_COUNT],
        consequence: "The delay saves moves between workers, and here is nobody to move work to: it saves nothing.",
        advice: "Leave it out, or keep it for the day when a second worker comes.",
        decide: delay_of_one_worker,
    },
];

/// KAFKA-15693 came into three lines.
fn hands_out_at_zero(release: Release) -> bool {
    match (release.major, release.minor) {
        (3, 5) => release.patch >= 2,
        (3, 6) => release.patch >= 1,
        line => line >= (3, 7),
    }
}

fn delay_zero_strands_work(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        if look.is_eager() {
            return passes();
        }
        let (delay, release) = (look.clock(DELAY), look.release());
        let (delay, release) = (delay?, release?);
        fires_if(delay == 0 && !hands_out_at_zero(release), || {
            format!(
                "no delay on Kafka {release}: lost work is left without an owner, and nothing is scheduled"
            )
        })
    })
}

fn session_above_delay(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        if look.is_eager() {
            return passes();
        }
        let [session, delay] = look.clocks([SESSION, DELAY])?;
        // Without a delay nothing is meant to wait.
        fires_if(delay > 0 && session > delay, || {
            format!(
                "work of a worker that dies stands still for up to {}: {} until it is missed, then the delay of {}",
                span(session.saturating_add(delay)),
                span(session),
                span(delay)
            )
        })
    })
}

fn delay_differs(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let values = look.of_all(DELAY, |worker| worker.number(DELAY))?;
        let least = values.iter().min().copied().unwrap_or_default();
        let most = values.iter().max().copied().unwrap_or_default();
        fires_if(!same(&values), || {
            format!(
                "lost work waits for {} under one leader and for {} under another",
                span(least),
                span(most)
            )
        })
    })
}

fn delay_drifts(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let delays = look.known.records.leader_delays.as_deref();
        // One leader alone cannot differ from another.
        let Some([.., before, now]) = delays else {
            if delays.is_none() {
                look.misses(LEADER_DELAYS);
                return None;
            }
            return passes();
        };
        look.show(DELAY, before);
        look.show(DELAY, now);
        fires_if(before.value != now.value, || {
            let under = |delay: &Value<i64>| match &delay.source {
                Source::Record { worker, .. } => format!("{} under {worker}", span(delay.value)),
                _ => span(delay.value),
            };
            format!("{}, {} before", under(now), under(before))
        })
    })
}

fn delay_below_restart(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let restart = look.known.measured.restart_ms.as_ref();
        let (delay, restart) = (look.clock(DELAY), look.value(RESTARTS, restart));
        let (delay, restart) = (delay?, restart?);
        fires_if(delay > 0 && restart > delay, || {
            format!("a restart took {}, lost work waits for {}", span(restart), span(delay))
        })?
        .advise(|| {
            let delay = just_above(restart);
            format!(
                "Set scheduled.rebalance.max.delay.ms to {delay}, and in a rollout restart one worker every {} or more, the leader last. The other side: work of a worker that never comes back waits for {}; the window of a second departure is what is left of the running one, and a restart of the leader has none.",
                span(delay.saturating_mul(3) / 2),
                span(delay)
            )
        })
    })
}

/// A tenth more, in whole ten seconds.
fn just_above(restart_ms: i64) -> i64 {
    const STEP_MS: i64 = 10_000;
    let with_room = restart_ms.saturating_add(restart_ms / 10);
    (with_room / STEP_MS)
        .saturating_add(1)
        .saturating_mul(STEP_MS)
}

fn delay_without_loss(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let records = &look.known.records;
        let delay = look.value(LOSS, records.delay_at_loss.as_ref());
        let changed = look.value(LEADER_CHANGED, records.leader_changed_at_loss.as_ref());
        let (delay, changed) = (delay?, changed?);
        fires_if(delay == 0 && changed == 0, || {
            "work was lost, the leader stayed, and it scheduled no delay".to_owned()
        })
    })
}

fn delay_zero(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        if look.is_eager() {
            return passes();
        }
        let (delay, release) = (look.clock(DELAY), look.release());
        let (delay, release) = (delay?, release?);
        // On others it is worse: another check says so.
        fires_if(delay == 0 && hands_out_at_zero(release), || {
            "nothing waits for a worker that restarts".to_owned()
        })
    })
}

fn delay_far_above_restart(known: &Known) -> Vec<Judgement> {
    const TIMES: i64 = 3;
    each_worker(known, |look| {
        let restart = look.known.measured.restart_ms.as_ref();
        let (delay, restart) = (look.clock(DELAY), look.value(RESTARTS, restart));
        let (delay, restart) = (delay?, restart?);
        fires_if(delay > restart.saturating_mul(TIMES), || {
            format!("no restart took longer than {}, lost work waits for {}", span(restart), span(delay))
        })?
        .advise(|| {
            format!(
                "Set scheduled.rebalance.max.delay.ms to {}. The other side: a restart that takes longer for once then moves its work away and back.",
                just_above(restart)
            )
        })
    })
}

fn delay_of_one_worker(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let count = look.value(WORKER_COUNT, look.known.worker_count.as_ref());
        let set = look
            .worker
            .number(DELAY)
            .filter(|delay| delay.source.is_set());
        let Some(delay) = set else {
            // What nobody set misleads nobody.
            return count.and_then(|_| passes());
        };
        look.show(DELAY, &delay);
        let count = count?;
        fires_if(count == 1 && delay.value > 0, || {
            format!("a delay of {} in a group of one worker", span(delay.value))
        })
    })
}
