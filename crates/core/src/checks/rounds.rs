//! Rounds that cost more than they must: the protocol, rounds that come to nothing, keys and
//! records.

use super::inputs::{
    GAPS, IN_FORCE, INITIAL_DELAY, KEY_AGE, KEY_TTL, OTHERS, PROTOCOL, PROVEN, REBALANCE,
    REBALANCES, RECORD_BYTES, RECORD_MAX, STARTS,
};
use super::look::{each_worker, fires_if, group, same, span};
use super::{Check, Harm, Judgement, Known, Severity};

/// Of a hundred generations: single ones come from departures within a round.
const GAPS_MAX: i64 = 10;

/// Of the largest record that is taken, in hundredths: one more connector may be a few.
const RECORD_SHARE_MAX: i64 = 80;

/// How much later than its end a session key may be renewed: the leader does so when it
/// next has something to do.
const KEY_LATE_MS: i64 = 60_000;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "record_near_limit",
        severity: Severity::Error,
        harm: Harm::GroupStalls,
        title: "the group's record is larger than four fifths of what the offsets topic takes",
        inputs: &[RECORD_BYTES, RECORD_MAX],
        consequence: "All assignments of the group stand in one record. When it grows over the limit no rebalance can end any more, and no work is assigned.",
        advice: "Split the group, or use fewer tasks and shorter names of connectors; or raise max.message.bytes of __consumer_offsets, which costs the brokers memory for each group of that size.",
        decide: record_near_limit,
    },
    Check {
        id: "protocol_below_proven",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "the group speaks an older protocol than its workers have proved to know",
        inputs: &[IN_FORCE, PROVEN],
        consequence: "One old or misconfigured worker makes all others speak as it does: with protocol default each rebalance stops everything, with compatible requests between workers are not signed.",
        advice: "Find the worker whose connect.protocol or release is older, and restart it with the same as the others.",
        decide: protocol_below_proven,
    },
    Check {
        id: "protocols_differ",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "workers of one group have different `connect.protocol`",
        inputs: &[PROTOCOL, OTHERS],
        consequence: "The whole group speaks the oldest of them.",
        advice: "Give all workers the same value; during a rolling change they differ until the last worker is restarted.",
        decide: protocols_differ,
    },
    Check {
        id: "protocol_eager",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "`connect.protocol` is `eager`",
        inputs: &[PROTOCOL],
        consequence: "Each rebalance stops all connectors and tasks of the group, and starts them again.",
        advice: "Use sessioned, Kafka's default since 2.4. The other side: lost work then waits for scheduled.rebalance.max.delay.ms.",
        decide: protocol_eager,
    },
    Check {
        id: "protocol_compatible",
        severity: Severity::Info,
        harm: Harm::Unreachable,
        title: "`connect.protocol` is `compatible`",
        inputs: &[PROTOCOL],
        consequence: "Requests between workers are not signed: whoever reaches a worker's port can hand it task configurations.",
        advice: "Use sessioned, Kafka's default since 2.4, unless workers before that are in the group.",
        decide: protocol_compatible,
    },
    Check {
        id: "generations_missing",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "more than a tenth of the last hundred generations have no record",
        inputs: &[GAPS],
        consequence: "Rounds begin and come to nothing: somebody leaves or joins before they end, or the leader never sends its assignment.",
        advice: "Look for a worker that comes and goes, and for a leader that is slow.",
        decide: generations_missing,
    },
    Check {
        id: "key_ttl_below_rebalance",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "`inter.worker.key.ttl.ms` is below `rebalance.timeout.ms`",
        inputs: &[KEY_TTL, REBALANCE],
        consequence: "The key that signs requests between workers may be over before a rebalance is: workers refuse each other, and task configurations are not published.",
        advice: "Keep inter.worker.key.ttl.ms at minutes or more; Kafka's default is an hour.",
        decide: key_ttl_below_rebalance,
    },
    Check {
        id: "key_ttl_below_measured",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "`inter.worker.key.ttl.ms` is shorter than rebalances have taken",
        inputs: &[KEY_TTL, REBALANCES],
        consequence: "The key that signs requests between workers is over before a rebalance is: workers refuse each other, and task configurations are not published.",
        advice: "Raise inter.worker.key.ttl.ms, and find out what makes rebalances long.",
        decide: key_ttl_below_measured,
    },
    Check {
        id: "key_not_renewed",
        severity: Severity::Warning,
        harm: Harm::Unreachable,
        title: "the session key is older than `inter.worker.key.ttl.ms`",
        inputs: &[KEY_AGE, KEY_TTL],
        consequence: "The leader does not renew the key: perhaps it cannot write to the config topic. Changes of connectors will not be published either.",
        advice: "Look at the leader's log and at its rights on the config topic.",
        decide: key_not_renewed,
    },
    Check {
        id: "initial_delay_below_starts",
        severity: Severity::Info,
        harm: Harm::GroupStalls,
        title: "workers start further apart than `group.initial.rebalance.delay.ms`, and that is not 0",
        inputs: &[INITIAL_DELAY, STARTS],
        consequence: "A start of the whole group takes several generations, and work moves with each.",
        advice: "Start workers closer together, or raise group.initial.rebalance.delay.ms of the brokers: it holds for all groups of the cluster, and each then waits that long when it starts.",
        decide: initial_delay_below_starts,
    },
];

fn record_near_limit(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let bytes = look.value(RECORD_BYTES, look.known.records.record_bytes.as_ref());
        let most = look.value(RECORD_MAX, look.known.broker.record_bytes_max.as_ref());
        let (bytes, most) = (bytes?, most?);
        let is_near = bytes.saturating_mul(100) > most.saturating_mul(RECORD_SHARE_MAX);
        fires_if(is_near, || format!("{bytes} bytes of at most {most}"))
    })
}

fn protocol_below_proven(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let records = &look.known.records;
        let now = look.value(IN_FORCE, records.protocol.as_ref());
        let best = look.value(PROVEN, records.protocol_best.as_ref());
        let (now, best) = (now?, best?);
        fires_if(now < best, || {
            format!(
                "protocol {} in force, {} proved",
                protocol(now),
                protocol(best)
            )
        })
    })
}

fn protocol(version: i64) -> &'static str {
    match version {
        0 => "default",
        1 => "compatible",
        _ => "sessioned",
    }
}

fn protocols_differ(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let words = look.of_all(PROTOCOL, |worker| worker.word(PROTOCOL))?;
        fires_if(!same(&words), || {
            "the oldest of these is what all speak".to_owned()
        })
    })
}

fn protocol_eager(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let word = look.word(PROTOCOL)?;
        fires_if(word == "eager", || {
            "every rebalance stops everything".to_owned()
        })
    })
}

fn protocol_compatible(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let word = look.word(PROTOCOL)?;
        fires_if(word == "compatible", || {
            "requests between workers are not signed".to_owned()
        })
    })
}

fn generations_missing(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let gaps = look.value(GAPS, look.known.records.missing_generations.as_ref())?;
        fires_if(gaps > GAPS_MAX, || {
            format!("{gaps} of a hundred generations came to nothing")
        })
    })
}

fn key_ttl_below_rebalance(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let [ttl, rebalance] = look.clocks([KEY_TTL, REBALANCE])?;
        fires_if(ttl < rebalance, || {
            format!(
                "a key holds for {}, a rebalance may take {}",
                span(ttl),
                span(rebalance)
            )
        })
    })
}

fn key_ttl_below_measured(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let rebalance = look.known.measured.rebalance_ms.as_ref();
        let (ttl, rebalance) = (look.clock(KEY_TTL), look.value(REBALANCES, rebalance));
        let (ttl, rebalance) = (ttl?, rebalance?);
        fires_if(ttl < rebalance, || {
            format!(
                "a key holds for {}, a rebalance took {}",
                span(ttl),
                span(rebalance)
            )
        })
    })
}

fn key_not_renewed(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let age = look.known.records.key_age_ms.as_ref();
        let (ttl, age) = (look.clock(KEY_TTL), look.value(KEY_AGE, age));
        let (ttl, age) = (ttl?, age?);
        fires_if(age > ttl.saturating_add(KEY_LATE_MS), || {
            format!("the key is {} old and holds for {}", span(age), span(ttl))
        })
    })
}

fn initial_delay_below_starts(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let delay = look.value(INITIAL_DELAY, look.known.broker.initial_delay_ms.as_ref());
        let spread = look.value(STARTS, look.known.measured.start_spread_ms.as_ref());
        let (delay, spread) = (delay?, spread?);
        // Where brokers wait for nobody, each worker is later than that.
        fires_if(delay > 0 && spread > delay, || {
            format!(
                "workers started {} apart, the broker waits for {}",
                span(spread),
                span(delay)
            )
        })
    })
}
