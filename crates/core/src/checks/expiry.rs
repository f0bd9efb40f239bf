//! How soon a worker counts as gone: heartbeats, the session, and what the group waits for.

use super::inputs::{
    BROKER_SESSION_MAX, BROKER_SESSION_MIN, FILE, HEARTBEAT, OTHERS, REBALANCE, RELEASE, SESSION,
    TOLD,
};
use super::look::{Verdict, each_worker, fires_if, group, passes, same, span};
use super::releases::{Whose, tables};
use super::source::{Source, Value};
use super::{Check, Harm, Judgement, Known, Severity};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "heartbeat_reaches_session",
        severity: Severity::Error,
        harm: Harm::KeptOut,
        title: "`heartbeat.interval.ms` is not below `session.timeout.ms`",
        inputs: &[HEARTBEAT, SESSION],
        consequence: "The worker refuses these settings and does not start.",
        advice: "Set heartbeat.interval.ms to a third of session.timeout.ms or less.",
        decide: heartbeat_reaches_session,
    },
    Check {
        id: "session_outside_broker_limits",
        severity: Severity::Error,
        harm: Harm::KeptOut,
        title: "`session.timeout.ms` is outside of what the brokers allow",
        inputs: &[SESSION, BROKER_SESSION_MIN, BROKER_SESSION_MAX],
        consequence: "The broker refuses the worker each time that it tries to join; it never appears in the group.",
        advice: "Bring session.timeout.ms between the brokers' group.min.session.timeout.ms and group.max.session.timeout.ms, or change those: they hold for all groups of the cluster.",
        decide: session_outside_broker_limits,
    },
    Check {
        id: "session_outside_default_limits",
        severity: Severity::Warning,
        harm: Harm::KeptOut,
        title: "`session.timeout.ms` is outside of what brokers with default limits allow",
        inputs: &[SESSION, BROKER_SESSION_MIN, BROKER_SESSION_MAX, RELEASE],
        consequence: "Brokers whose limits nobody changed refuse the worker each time that it tries to join; it never appears in the group.",
        advice: "Bring session.timeout.ms between the limits, or make sure that the brokers have others.",
        decide: session_outside_default_limits,
    },
    Check {
        id: "heartbeats_sparse",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "`heartbeat.interval.ms` is more than a third of `session.timeout.ms`",
        inputs: &[HEARTBEAT, SESSION],
        consequence: "Two heartbeats that come late are enough for the broker to drop a healthy worker, and the group rebalances for nothing: once without it, once when it is back.",
        advice: "Set heartbeat.interval.ms to a third of session.timeout.ms or less. More heartbeats cost the broker little; a longer session instead means that a dead worker is missed later.",
        decide: heartbeats_sparse,
    },
    Check {
        id: "session_reaches_rebalance",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "`session.timeout.ms` is not below `rebalance.timeout.ms`",
        inputs: &[SESSION, REBALANCE],
        consequence: "A worker that dies during a rebalance is removed by the timer of the join and not by its own session, so the whole group stands in the join for all of rebalance.timeout.ms.",
        advice: "Keep session.timeout.ms well below rebalance.timeout.ms. A shorter session drops workers sooner that only pause (garbage collection, a slow network); a longer rebalance timeout lets one stuck worker hold up the group for longer.",
        decide: session_reaches_rebalance,
    },
    Check {
        id: "timeouts_differ",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "workers of one group have different `session.timeout.ms` or `rebalance.timeout.ms`",
        inputs: &[SESSION, REBALANCE, OTHERS],
        consequence: "How soon a dead worker is missed depends on which one died, and every rebalance waits as long as the largest rebalance.timeout.ms of all members says.",
        advice: "Give all workers the same values. During a rolling change they differ until the last worker is restarted.",
        decide: timeouts_differ,
    },
    Check {
        id: "file_not_in_force",
        severity: Severity::Warning,
        harm: Harm::Inert,
        title: "a worker's file says another timeout than the worker told when it joined",
        inputs: &[SESSION, REBALANCE, TOLD, FILE],
        consequence: "What the file says does not hold yet: a worker reads it when it starts.",
        advice: "Restart the worker, or look for a variable or another file that goes over this one.",
        decide: file_not_in_force,
    },
];

fn heartbeat_reaches_session(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let [heartbeat, session] = look.clocks([HEARTBEAT, SESSION])?;
        fires_if(heartbeat >= session, || {
            format!(
                "a heartbeat every {} cannot keep a session of {} alive",
                span(heartbeat),
                span(session)
            )
        })
    })
}

fn session_outside_broker_limits(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        if let Some(told) = look.worker.told.get(SESSION) {
            // It is in the group: the broker took it.
            look.show(SESSION, told);
            return passes();
        }
        let broker = &look.known.broker;
        let session = look.clock(SESSION);
        let least = look.value(BROKER_SESSION_MIN, broker.session_min_ms.as_ref());
        let most = look.value(BROKER_SESSION_MAX, broker.session_max_ms.as_ref());
        outside(session?, least?, most?)
    })
}

fn session_outside_default_limits(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        if let Some(told) = look.worker.told.get(SESSION) {
            look.show(SESSION, told);
            return passes();
        }
        let session = look.clock(SESSION);
        let release = look.release();
        let broker = &look.known.broker;
        if broker.session_min_ms.is_some() && broker.session_max_ms.is_some() {
            // The limits themselves are known: the other check decides.
            return passes();
        }
        let release = release?;
        let mut limit = |name| {
            let setting = tables().setting(Whose::Broker, name, release)?;
            let limit = setting.default?.parse().ok()?;
            let value = Value::new(limit, Source::Default { release });
            look.value(name, Some(&value))
        };
        let (least, most) = (limit(BROKER_SESSION_MIN), limit(BROKER_SESSION_MAX));
        match (session, least, most) {
            (Some(session), Some(least), Some(most)) => outside(session, least, most),
            (None, ..) => None,
            _ => {
                look.misses(BROKER_SESSION_MIN);
                None
            }
        }
    })
}

fn outside(session: i64, least: i64, most: i64) -> Option<Verdict> {
    fires_if(session < least || session > most, || {
        format!(
            "a session of {} where {} to {} are allowed",
            span(session),
            span(least),
            span(most)
        )
    })
}

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
                "a silent worker is given {}, a whole rebalance {}",
                span(session),
                span(rebalance)
            )
        })
    })
}

fn timeouts_differ(known: &Known) -> Vec<Judgement> {
    let one = |name: &'static str| {
        group(known, move |look| {
            let values = look.of_all(name, |worker| worker.number(name))?;
            fires_if(!same(&values), || {
                format!("{name} differs from worker to worker")
            })
        })
    };
    [one(SESSION), one(REBALANCE)].concat()
}

fn file_not_in_force(known: &Known) -> Vec<Judgement> {
    let one = |name: &'static str| {
        each_worker(known, move |look| {
            let worker = look.worker;
            // A file that does not say it means Kafka's default: that is not in force either.
            let filed = worker.filed(name);
            let filed = look.value(if filed.is_some() { name } else { FILE }, filed.as_ref());
            let told = worker.told.get(name);
            let told = look.value(if told.is_some() { name } else { TOLD }, told);
            let (filed, told) = (filed?, told?);
            fires_if(filed != told, || {
                format!(
                    "{name} is {} in the file, and {} in force",
                    span(filed),
                    span(told)
                )
            })
        })
    };
    [one(SESSION), one(REBALANCE)].concat()
}
