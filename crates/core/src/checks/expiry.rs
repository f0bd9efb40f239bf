//! How soon a worker counts as gone: heartbeats, the session, and what the group waits for.

use super::look::{each_worker, fires_if, span};
use super::{Check, Harm, Judgement, Known, Severity};

const HEARTBEAT: &str = "heartbeat.interval.ms";
const SESSION: &str = "session.timeout.ms";
const REBALANCE: &str = "rebalance.timeout.ms";
const DELAY: &str = "scheduled.rebalance.max.delay.ms";

pub(super) const CHECKS: [Check; 3] = [
    Check {
        id: "heartbeats_sparse",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "`heartbeat.interval.ms` is more than a third of `session.timeout.ms`",
        inputs: &[HEARTBEAT, SESSION],
        consequence: "Two heartbeats that come late are enough for the broker to drop a healthy worker, and the group rebalances twice for nothing.",
        advice: "Set heartbeat.interval.ms to a third of session.timeout.ms or less. More heartbeats cost the broker little; a longer session means that a dead worker is noticed later.",
        decide: heartbeats_sparse,
    },
    Check {
        id: "session_reaches_rebalance",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "`session.timeout.ms` is not below `rebalance.timeout.ms`",
        inputs: &[SESSION, REBALANCE],
        consequence: "A worker that dies during a rebalance is removed by the join's own timer and not by its session, so the whole group stands in the join for all of rebalance.timeout.ms.",
        advice: "Keep session.timeout.ms well below rebalance.timeout.ms. A shorter session drops workers sooner that only pause (garbage collection, a slow network); a longer rebalance timeout lets one stuck worker hold up the group for longer.",
        decide: session_reaches_rebalance,
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
];

fn heartbeats_sparse(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let [heartbeat, session] = look.clocks([HEARTBEAT, SESSION])?;
        // Where it is not even below, the worker does not start: another check says so.
        let is_sparse = heartbeat > session / 3 && heartbeat < session;
        fires_if(is_sparse, || {
            format!(
                "a heartbeat every {} leaves less than three in a session of {}",
                span(heartbeat),
                span(session)
            )
        })
    })
}

fn session_reaches_rebalance(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let [session, rebalance] = look.clocks([SESSION, REBALANCE])?;
        fires_if(session >= rebalance, || {
            format!(
                "a silent worker is given {}, a rebalance only {}",
                span(session),
                span(rebalance)
            )
        })
    })
}

fn session_above_delay(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
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
