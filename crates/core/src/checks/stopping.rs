//! How long work may take to stop, and who does not wait for it.

use super::inputs::{
    ADMIN_CALL, CALLS, FILE, FLUSH, GIVEN_UP, GRACE, GRACEFUL, OUT_AFTER, REBALANCE, REVOKED, STOPS,
};
use super::look::{each_worker, fires_if, passes, span};
use super::{Check, Harm, Judgement, Known, Severity};

/// Threads that stop revoked work, each item with its own timeout
/// (`DistributedHerder.START_STOP_THREAD_POOL_SIZE`).
const STOP_THREADS: i64 = 8;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "stops_exceed_rebalance",
        severity: Severity::Warning,
        harm: Harm::RunsTwice,
        title: "what is revoked at once may take longer to stop than `rebalance.timeout.ms`",
        inputs: &[GRACEFUL, REBALANCE, REVOKED],
        consequence: "A worker stops eight pieces of work at a time and does nothing else meanwhile. If that takes longer than rebalance.timeout.ms it leaves the group by itself, while its tasks may still run and others start them, too.",
        advice: "Lower task.shutdown.graceful.timeout.ms, raise rebalance.timeout.ms, or spread the tasks over more workers. A shorter stop abandons slow tasks sooner; a longer rebalance timeout lets one stuck worker hold up the group for longer.",
        decide: stops_exceed_rebalance,
    },
    Check {
        id: "graceful_near_rebalance",
        severity: Severity::Warning,
        harm: Harm::RunsTwice,
        title: "`task.shutdown.graceful.timeout.ms` is more than half of `rebalance.timeout.ms`",
        inputs: &[GRACEFUL, REBALANCE],
        consequence: "A worker stops eight pieces of work at a time and does nothing else meanwhile. Where one slow stop, or with more than eight slow ones the second batch, outlives rebalance.timeout.ms, the worker leaves the group by itself, while its tasks may still run and others start them, too.",
        advice: "Lower task.shutdown.graceful.timeout.ms to what tasks need to stop, or raise rebalance.timeout.ms. A shorter stop abandons slow tasks sooner; a longer rebalance timeout lets one stuck worker hold up the group for longer.",
        decide: graceful_near_rebalance,
    },
    Check {
        id: "stop_exceeds_rebalance",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "tasks have taken longer to stop than `rebalance.timeout.ms`",
        inputs: &[STOPS, REBALANCE, OUT_AFTER],
        consequence: "When a connector gets other tasks, its old ones are stopped before the worker joins: the join lasts as long as the slowest stop, and the worker is thrown out at rebalance.timeout.ms.",
        advice: "Find out why the tasks stop slowly; lower task.shutdown.graceful.timeout.ms so that they are given up sooner, or raise rebalance.timeout.ms.",
        decide: stop_exceeds_rebalance,
    },
    Check {
        id: "graceful_below_stop",
        severity: Severity::Warning,
        harm: Harm::RunsTwice,
        title: "tasks take longer to stop than `task.shutdown.graceful.timeout.ms`",
        inputs: &[GRACEFUL, STOPS, GIVEN_UP],
        consequence: "Tasks are given up while they still work: another worker starts them, and for a while both do the same.",
        advice: "Raise task.shutdown.graceful.timeout.ms above the longest stop, but keep twice of it below rebalance.timeout.ms; or make the tasks stop sooner.",
        decide: graceful_below_stop,
    },
    Check {
        id: "killed_while_stopping",
        severity: Severity::Warning,
        harm: Harm::RunsTwice,
        title: "the process is killed before `task.shutdown.graceful.timeout.ms` is over",
        inputs: &[GRACEFUL, GRACE],
        consequence: "A worker with slow tasks is killed while it stops them: it never says goodbye, so the group misses it only when its session ends, and offsets of the last records are not committed.",
        advice: "Give the process more time to end than the worker may need: task.shutdown.graceful.timeout.ms, worker.sync.timeout.ms and 15 s more. The other side: a worker that hangs is killed later.",
        decide: killed_while_stopping,
    },
    Check {
        id: "graceful_below_flush",
        severity: Severity::Warning,
        harm: Harm::DataAtRisk,
        title: "`task.shutdown.graceful.timeout.ms` is below `offset.flush.timeout.ms`",
        inputs: &[GRACEFUL, FLUSH],
        consequence: "The last commit of offsets may take longer than a task is given to stop: the task is given up before it, and the records since the commit before come again.",
        advice: "Set task.shutdown.graceful.timeout.ms above offset.flush.timeout.ms. The other side: each stop of a slow task then holds up its worker for longer.",
        decide: graceful_below_flush,
    },
    Check {
        id: "graceful_equals_flush",
        severity: Severity::Info,
        harm: Harm::DataAtRisk,
        title: "`task.shutdown.graceful.timeout.ms` is no longer than `offset.flush.timeout.ms`, and somebody set one of them",
        inputs: &[GRACEFUL, FLUSH],
        consequence: "A commit of offsets that needs all of its time leaves a task none to stop in. Kafka's own defaults are equal, too.",
        advice: "Set task.shutdown.graceful.timeout.ms a few seconds above offset.flush.timeout.ms.",
        decide: graceful_equals_flush,
    },
    Check {
        id: "connector_call_exceeds_rebalance",
        severity: Severity::Error,
        harm: Harm::GroupStalls,
        title: "connectors have held up their worker for longer than `rebalance.timeout.ms`",
        inputs: &[CALLS, REBALANCE],
        consequence: "Starting, stopping and checking a connector happen in the thread that keeps the worker in its group. The blocking time in the connector exceeds rebalance.timeout.ms, so the worker leaves, comes back, blocks again: the group never settles.",
        advice: "Shorten the timeouts of the connector's own clients so that all its calls together stay below rebalance.timeout.ms, or raise that; and find out what the connector cannot reach.",
        decide: connector_call_exceeds_rebalance,
    },
    Check {
        id: "admin_call_reaches_rebalance",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "`admin.default.api.timeout.ms` is set, and not below `rebalance.timeout.ms`",
        inputs: &[ADMIN_CALL, REBALANCE, FILE],
        consequence: "One call that gets no answer may hold up the worker for as long as the group waits for it, and two in a row for longer: the worker leaves, comes back, and blocks again.",
        advice: "Keep admin.default.api.timeout.ms below half of rebalance.timeout.ms. The other side: calls to slow brokers fail sooner.",
        decide: admin_call_reaches_rebalance,
    },
];

fn stops_exceed_rebalance(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let revoked = look.known.records.revoked_at_once.as_ref();
        let revoked = look.value(REVOKED, revoked);
        let [graceful, rebalance] = look.clocks([GRACEFUL, REBALANCE])?;
        let revoked = revoked?;
        let batches = batches(revoked);
        let longest = batches.saturating_mul(graceful);
        fires_if(longest > rebalance, || {
            format!(
                "{revoked} at once may take {} to stop, {batches} batches of eight; the group waits for {}",
                span(longest),
                span(rebalance)
            )
        })
    })
}

fn batches(revoked: i64) -> i64 {
    revoked.saturating_add(STOP_THREADS - 1) / STOP_THREADS
}

fn graceful_near_rebalance(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let [graceful, rebalance] = look.clocks([GRACEFUL, REBALANCE])?;
        fires_if(graceful.saturating_mul(2) > rebalance, || {
            let (graceful_span, rebalance_span) = (span(graceful), span(rebalance));
            if graceful >= rebalance {
                format!(
                    "one slow task may take {graceful_span} to stop, the group waits for {rebalance_span}"
                )
            } else {
                format!(
                    "more than eight slow tasks may take {} to stop, twice {graceful_span}; the group waits for {rebalance_span}",
                    span(graceful.saturating_mul(2))
                )
            }
        })
    })
}

fn stop_exceeds_rebalance(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        // That a worker was out shows it, however long its stops went on.
        let out_after = look.worker.out_after_ms.clone();
        let rebalance_now = look.worker.number(REBALANCE);
        if let (Some(after), Some(rebalance)) = (out_after, rebalance_now)
            && after.value >= rebalance.value
        {
            look.show(OUT_AFTER, &after);
            look.show(REBALANCE, &rebalance);
            return fires_if(true, || {
                format!(
                    "it stopped tasks, and was out of the group after {}",
                    span(after.value)
                )
            });
        }
        let stop = look.known.measured.stop_ms.as_ref();
        let (stop, rebalance) = (look.value(STOPS, stop), look.clock(REBALANCE));
        let (stop, rebalance) = (stop?, rebalance?);
        fires_if(stop > rebalance, || {
            format!(
                "a stop took {}, the group waits for {}",
                span(stop),
                span(rebalance)
            )
        })
    })
}

fn graceful_below_stop(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        // That a worker gave up shows that its tasks need longer, whatever they are given.
        let given_up = look.worker.given_up.clone();
        if let Some(count) = given_up.filter(|count| count.value > 0) {
            look.show(GIVEN_UP, &count);
            let graceful = look.worker.number(GRACEFUL);
            if let Some(graceful) = &graceful {
                look.show(GRACEFUL, graceful);
            }
            return fires_if(true, || {
                let after = graceful.map(|graceful| format!(" after {}", span(graceful.value)));
                let stops = if count.value == 1 {
                    "stop was"
                } else {
                    "stops were"
                };
                format!(
                    "{} {stops} given up{}",
                    count.value,
                    after.unwrap_or_default()
                )
            });
        }
        let stop = look.known.measured.stop_ms.as_ref();
        let (stop, graceful) = (look.value(STOPS, stop), look.clock(GRACEFUL));
        let (stop, graceful) = (stop?, graceful?);
        // Each is given that long, and waits for those before it.
        let revoked = look.known.records.revoked_at_once.as_ref();
        let batches = batches(revoked.map_or(1, |revoked| revoked.value)).max(1);
        fires_if(stop > graceful.saturating_mul(batches), || {
            format!(
                "a stop took {}, tasks are given {}",
                span(stop),
                span(graceful)
            )
        })
    })
}

fn killed_while_stopping(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let grace = look.worker.grace_ms.as_ref();
        let (grace, graceful) = (look.value(GRACE, grace), look.clock(GRACEFUL));
        let (grace, graceful) = (grace?, graceful?);
        fires_if(grace < graceful, || {
            format!(
                "tasks are given {} to stop, the process is killed after {}",
                span(graceful),
                span(grace)
            )
        })
    })
}

fn graceful_below_flush(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let [graceful, flush] = look.clocks([GRACEFUL, FLUSH])?;
        fires_if(graceful < flush, || {
            format!(
                "a task is given {} to stop, and its last commit may take {}",
                span(graceful),
                span(flush)
            )
        })
    })
}

fn graceful_equals_flush(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let [graceful, flush] = look.clocks([GRACEFUL, FLUSH])?;
        let is_chosen = [GRACEFUL, FLUSH].iter().any(|name| {
            let value = look.worker.number(name);
            value.is_some_and(|value| value.source.is_set())
        });
        fires_if(is_chosen && graceful == flush, || {
            format!("both are {}", span(graceful))
        })
    })
}

fn connector_call_exceeds_rebalance(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let call = look.worker.held_up_ms.clone();
        let (call, rebalance) = (look.value(CALLS, call.as_ref()), look.clock(REBALANCE));
        let (call, rebalance) = (call?, rebalance?);
        fires_if(call > rebalance, || {
            format!(
                "a connector held up its worker, which was not back in the group {} after it was told what to run; the group waits for {}",
                span(call),
                span(rebalance)
            )
        })
    })
}

fn admin_call_reaches_rebalance(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        // Kafka's own default is 60 s, as that of rebalance.timeout.ms: only what somebody
        // chose is told.
        if !look.worker.settings.contains_key(ADMIN_CALL) {
            look.file()?;
            return passes();
        }
        let call = look.written(ADMIN_CALL);
        let rebalance = look.clock(REBALANCE);
        let (call, rebalance) = (call?, rebalance?);
        fires_if(call >= rebalance, || {
            format!(
                "one call may take {}, the group waits for {}",
                span(call),
                span(rebalance)
            )
        })
    })
}
