//! Clients of connectors: consumers of sinks and producers of sources, whose clocks are not
//! the worker's.

use super::inputs::{
    DELAY, DELIVERY, FILE, LINGER, PRODUCER_REQUEST, PRODUCERS, REBALANCE, SESSION, SINK_INSTANCE,
    SINK_PROTOCOL, SINK_SESSION, SINKS,
};
use super::known::Sink;
use super::look::{Look, Verdict, each_worker, fires_if, group, passes, span, subject};
use super::releases::Whose;
use super::{Check, Harm, Judgement, Known, Severity, producers};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "sink_instance_id_shared",
        severity: Severity::Error,
        harm: Harm::GroupStalls,
        title: "`consumer.group.instance.id` is set in a worker's file",
        inputs: &[SINK_INSTANCE, FILE],
        consequence: "All sink tasks of the worker get the same id, and each that joins its consumer group fences the one before: tasks fail, one after the other, as long as there is more than one.",
        advice: "Take it out. No value is right for more than one task.",
        decide: sink_instance_id_shared,
    },
    Check {
        id: "delivery_below_request",
        severity: Severity::Error,
        harm: Harm::KeptOut,
        title: "`producer.delivery.timeout.ms` is below `producer.linger.ms` and `producer.request.timeout.ms` together",
        inputs: &[DELIVERY, PRODUCER_REQUEST, LINGER, PRODUCERS, FILE],
        consequence: "Producers refuse these settings: no source task starts, and no sink task that has a dead letter queue. Of a connector that sets it with producer.override., its own.",
        advice: "Take producer.delivery.timeout.ms out, so that Connect's own value holds, which never gives up; or raise it above the two.",
        decide: delivery_below_request,
    },
    Check {
        id: "delivery_cuts_patience",
        severity: Severity::Warning,
        harm: Harm::DataAtRisk,
        title: "`delivery.timeout.ms` of producers is below `rebalance.timeout.ms`",
        inputs: &[DELIVERY, REBALANCE, PRODUCERS, FILE],
        consequence: "Connect's producers wait without end by default. With this they give up on a record while a broker restarts or a rebalance holds them up, and the task fails.",
        advice: "Take it out, or set it well above the time in which brokers restart. The other side: without it a task waits for a broker that never comes back instead of failing.",
        decide: delivery_cuts_patience,
    },
    Check {
        id: "sink_outlives_worker",
        severity: Severity::Warning,
        harm: Harm::StandsStill,
        title: "consumers of sinks are given longer than the worker's session and the delay together",
        inputs: &[SINK_SESSION, SESSION, DELAY, SINKS],
        consequence: "Connect starts the tasks of a dead worker elsewhere while their consumer group still waits for the dead consumers: tasks are RUNNING and read nothing until that session ends.",
        advice: "Lower the consumers' session.timeout.ms below the worker's session and the delay together, or raise the delay. A shorter session drops consumers that only pause.",
        decide: sink_outlives_worker,
    },
    Check {
        id: "poll_interval_below_gap",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "a sink task takes longer between two polls than its `max.poll.interval.ms`",
        inputs: &[SINKS],
        consequence: "Its consumer is thrown out of its group while the task still writes: the sink's group rebalances though Connect does not, and the records come again.",
        advice: "Lower consumer.override.max.poll.records so that a batch is written sooner, or raise consumer.override.max.poll.interval.ms. The other side: a task that hangs is then noticed later.",
        decide: poll_interval_below_gap,
    },
    Check {
        id: "session_above_sinks",
        severity: Severity::Info,
        harm: Harm::StandsStill,
        title: "the worker's `session.timeout.ms` is longer than that of its sink tasks' consumers",
        inputs: &[SESSION, SINK_SESSION],
        consequence: "This setting is the worker's alone. When the worker dies, the consumers of its sinks are missed long before the worker is: partitions go to the tasks that are left, while the lost tasks start only after the worker's session and the delay.",
        advice: "Keep the worker's session short. What is meant for sink tasks goes behind consumer. in this file, or behind consumer.override. in a connector.",
        decide: session_above_sinks,
    },
];

fn sink_instance_id_shared(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let Some(given) = look.worker.settings.get(SINK_INSTANCE) else {
            look.file()?;
            return passes();
        };
        look.mention(&given.called(SINK_INSTANCE), &given.source);
        fires_if(true, || "one id for all sink tasks".to_owned())
    })
}

fn delivery_below_request(known: &Known) -> Vec<Judgement> {
    let mut judgements = each_worker(known, |look| {
        if !look.worker.settings.contains_key(DELIVERY) {
            look.file()?;
            return passes();
        }
        let delivery = look.written(DELIVERY);
        let request = look.client(Whose::Producer, PRODUCER_REQUEST);
        let linger = look.client(Whose::Producer, LINGER);
        let (delivery, request, linger) = (delivery?, request?, linger?);
        below_request(delivery, request.saturating_add(linger))
    });
    judgements.extend(producers::below_request(known));
    judgements
}

/// Whether a delivery is given less than one request and what it lingers.
pub(super) fn below_request(delivery: i64, request: i64) -> Option<Verdict> {
    fires_if(delivery < request, || {
        format!(
            "delivery is given {}, a single request {}",
            span(delivery),
            span(request)
        )
    })
}

fn delivery_cuts_patience(known: &Known) -> Vec<Judgement> {
    let mut judgements = each_worker(known, |look| {
        if !look.worker.settings.contains_key(DELIVERY) {
            look.file()?;
            return passes();
        }
        let (delivery, rebalance) = (look.written(DELIVERY), look.clock(REBALANCE));
        cuts_patience(delivery?, rebalance?)
    });
    judgements.extend(producers::cuts_patience(known));
    judgements
}

/// Whether a delivery is given less than a rebalance may take.
pub(super) fn cuts_patience(delivery: i64, rebalance: i64) -> Option<Verdict> {
    fires_if(delivery < rebalance, || {
        format!(
            "delivery is given {}, a rebalance may take {}",
            span(delivery),
            span(rebalance)
        )
    })
}

fn each_sink(
    known: &Known,
    decide: impl Fn(&mut Look<'_>, &Sink) -> Option<Verdict>,
) -> Vec<Judgement> {
    let Some(sinks) = &known.sinks else {
        return group(known, |look| {
            look.misses(SINKS);
            None
        });
    };
    let judged = sinks
        .iter()
        .flat_map(|sink| subject(known, &sink.connector, |look| decide(look, sink)));
    judged.collect()
}

fn sink_outlives_worker(known: &Known) -> Vec<Judgement> {
    let outlives = |sink: i64, session: i64, delay: i64| {
        let covered = session.saturating_add(delay);
        fires_if(sink > covered, || {
            format!(
                "consumers are missed after {}, their tasks start elsewhere after {}",
                span(sink),
                span(covered)
            )
        })
    };
    if known.sinks.is_none() {
        // A file that says how long consumers are given says that there are sinks.
        return each_worker(known, |look| {
            if !look.worker.settings.contains_key(SINK_SESSION) {
                look.misses(SINKS);
                return None;
            }
            let (sink, clocks) = (look.written(SINK_SESSION), look.clocks([SESSION, DELAY]));
            let (sink, [session, delay]) = (sink?, clocks?);
            outlives(sink, session, delay)
        });
    }
    let soonest = known.workers.iter().filter_map(|worker| {
        let (session, delay) = (worker.number(SESSION)?, worker.number(DELAY)?);
        Some((session, delay))
    });
    let soonest = soonest.min_by_key(|(session, delay)| session.value.saturating_add(delay.value));
    each_sink(known, |look, sink| {
        let longest = look.value(SINK_SESSION, sink.session_ms.as_ref());
        let (session, delay) = match &soonest {
            Some((session, delay)) => (Some(session), Some(delay)),
            None => (None, None),
        };
        let (session, delay) = (look.value(SESSION, session), look.value(DELAY, delay));
        outlives(longest?, session?, delay?)
    })
}

fn poll_interval_below_gap(known: &Known) -> Vec<Judgement> {
    each_sink(known, |look, sink| {
        let interval = look.value("max.poll.interval.ms", sink.poll_interval_ms.as_ref());
        let gap = look.value(
            "the longest time between two polls, in ms",
            sink.poll_gap_ms.as_ref(),
        );
        let (interval, gap) = (interval?, gap?);
        fires_if(gap > interval, || {
            format!(
                "{} between two polls, {} are allowed",
                span(gap),
                span(interval)
            )
        })
    })
}

fn session_above_sinks(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        // With the protocol of KIP-848 the broker decides, and the consumer's value is not used.
        let protocol = look.worker.text(SINK_PROTOCOL);
        if protocol.is_some_and(|protocol| protocol.value.eq_ignore_ascii_case("consumer")) {
            return passes();
        }
        let session = look.clock(SESSION);
        let sink = look.client(Whose::Consumer, SINK_SESSION);
        let (session, sink) = (session?, sink?);
        fires_if(session > sink, || {
            format!(
                "a dead worker is missed after {}, its consumers after {}",
                span(session),
                span(sink)
            )
        })
    })
}
