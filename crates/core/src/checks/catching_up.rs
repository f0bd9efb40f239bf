//! Workers that are behind on the config topic: how long they try, and what runs meanwhile.

use super::inputs::{
    BEHIND, DELAY, MISMATCHES, REBALANCE, RELEASE, REQUEST, SYNC, SYNCS, UNSYNC, WORKER_COUNT,
};
use super::look::{each_worker, fires_if, group, passes, span};
use super::releases::Release;
use super::{Check, Harm, Judgement, Known, Severity};

/// The first release that gives up its work when it cannot catch up (KAFKA-9849), of those
/// whose code was read.
const GIVES_UP_WORK: Release = Release::new(2, 5, 1);

/// Generations in a row; one or two are a worker that is about to read on.
const BEHIND_MAX: i64 = 2;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "unsync_backoff_reaches_delay",
        severity: Severity::Error,
        harm: Harm::RunsTwice,
        title: "`worker.unsync.backoff.ms` is not below `scheduled.rebalance.max.delay.ms` on a release before 2.5.1",
        inputs: &[UNSYNC, DELAY, RELEASE],
        consequence: "A worker that cannot read to the end of the config topic goes on with its tasks for the whole backoff, and before it is over the leader has given the same tasks to others (KAFKA-9849): duplicates.",
        advice: "Set worker.unsync.backoff.ms well below the delay, or upgrade: later releases stop the tasks. The other side: a shorter backoff makes a worker that is behind rebalance the group more often.",
        decide: unsync_backoff_reaches_delay,
    },
    Check {
        id: "catch_up_outlives_delay",
        severity: Severity::Warning,
        harm: Harm::RunsTwice,
        title: "catching up with the config topic may take longer than `scheduled.rebalance.max.delay.ms`",
        inputs: &[SYNC, DELAY],
        consequence: "A worker that cannot read to the end of the config topic tries six times, waiting in between, outside of the group, while its tasks run. After the delay the leader gives them to others: the same work runs twice.",
        advice: "Lower worker.sync.timeout.ms, or raise the delay. A shorter sync timeout gives up sooner on a config topic that is slow for good reason; a longer delay lets lost work wait longer.",
        decide: catch_up_outlives_delay,
    },
    Check {
        id: "sync_reaches_rebalance",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "`worker.sync.timeout.ms` is not below `rebalance.timeout.ms`",
        inputs: &[SYNC, REBALANCE],
        consequence: "While a worker reads the config topic it cannot answer a rebalance: it may be thrown out for reading, and then has to catch up again.",
        advice: "Keep worker.sync.timeout.ms well below rebalance.timeout.ms: reading to the end of the config topic takes seconds, and is tried again.",
        decide: sync_reaches_rebalance,
    },
    Check {
        id: "delay_zero_loops",
        severity: Severity::Error,
        harm: Harm::GroupStalls,
        title: "`scheduled.rebalance.max.delay.ms` is 0 and the leader is behind on the config topic",
        inputs: &[DELAY, MISMATCHES],
        consequence: "The pause between two tries to catch up is a part of the delay, which is 0: worker and group rebalance without any pause, and nothing is assigned.",
        advice: "Set a delay above 0; and find out why the config topic is read slowly, or has more than one partition.",
        decide: delay_zero_loops,
    },
    Check {
        id: "request_below_sync_phase",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "`request.timeout.ms` is shorter than the sync phase has taken",
        inputs: &[REQUEST, SYNCS],
        consequence: "Followers wait for their assignment under that timeout. When it is over they take the coordinator for lost and join anew, and may drop their work.",
        advice: "Raise request.timeout.ms above the longest sync phase, or find out why the leader takes so long. The other side: a broker that is gone is noticed later.",
        decide: request_below_sync_phase,
    },
    Check {
        id: "config_offsets_apart",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "the same worker has read less of the config topic than another for several generations",
        inputs: &[BEHIND],
        consequence: "Workers have not read the same of the config topic. A round that a worker leads which has read less than another ends without an assignment, and each worker runs what it has by the configurations that it has read.",
        advice: "Compare config_offset of the members in /api/v1/state before anything is restarted. One far ahead of all others may be the wrong one: it may read a topic of another name or cluster (config.storage.topic, bootstrap.servers); stop that one. One behind all others may read another topic, too, or does not get on with this one: look at its rights, its network, the size of records, and restart it.",
        decide: config_offsets_apart,
    },
    Check {
        id: "config_mismatches",
        severity: Severity::Warning,
        harm: Harm::GroupStalls,
        title: "generations ended without an assignment, since the leader was behind on the config topic",
        inputs: &[MISMATCHES],
        consequence: "Each of them was a rebalance for nothing, and the next follows at once. What runs goes on, other than in the eager protocol; what has no owner waits.",
        advice: "Compare config_offset of the members in /api/v1/state. One far ahead of all others, the leader among them, may read a topic of another name or cluster: stop it. A leader that is behind all others does not read on: look at its consumer of the config topic, and whether that has one partition and is compacted.",
        decide: config_mismatches,
    },
];

fn unsync_backoff_reaches_delay(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let clocks = look.clocks([UNSYNC, DELAY]);
        let release = look.release();
        let ([unsync, delay], release) = (clocks?, release?);
        let fires = unsync >= delay && delay > 0 && release < GIVES_UP_WORK && !look.is_eager();
        fires_if(fires, || {
            format!(
                "a worker that is behind keeps its tasks for {}, others get them after {}",
                span(unsync),
                span(delay)
            )
        })
    })
}

/// Six tries, and five pauses of delay/10/k for k = 5..1 (`DistributedHerder.backoff`).
fn catch_up_ms(sync_ms: i64, delay_ms: i64) -> i64 {
    let pauses = (1..=5).map(|k| delay_ms / 10 / k);
    sync_ms.saturating_mul(6).saturating_add(pauses.sum())
}

fn catch_up_outlives_delay(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let is_alone = look
            .known
            .worker_count
            .as_ref()
            .filter(|count| count.value == 1);
        if let Some(count) = is_alone {
            // Nobody else gets its work.
            look.show(WORKER_COUNT, count);
            return passes();
        }
        if look.is_eager() {
            return passes();
        }
        let [sync, delay] = look.clocks([SYNC, DELAY])?;
        let longest = catch_up_ms(sync, delay);
        fires_if(delay > 0 && longest > delay, || {
            format!(
                "a worker that is behind keeps its tasks for up to {}, others get them after {}",
                span(longest),
                span(delay)
            )
        })
    })
}

fn sync_reaches_rebalance(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let [sync, rebalance] = look.clocks([SYNC, REBALANCE])?;
        fires_if(sync >= rebalance, || {
            format!(
                "reading the config topic may take {}, the group waits for {}",
                span(sync),
                span(rebalance)
            )
        })
    })
}

fn delay_zero_loops(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let mismatches = look.known.records.mismatches.as_ref();
        let (delay, mismatches) = (look.clock(DELAY), look.value(MISMATCHES, mismatches));
        let (delay, mismatches) = (delay?, mismatches?);
        fires_if(delay == 0 && mismatches > 0, || {
            format!("no delay, and {mismatches} generations without an assignment in an hour")
        })
    })
}

fn request_below_sync_phase(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let sync = look.known.measured.sync_ms.as_ref();
        let (request, sync) = (look.clock(REQUEST), look.value(SYNCS, sync));
        let (request, sync) = (request?, sync?);
        fires_if(request < sync, || {
            format!(
                "a sync phase took {}, requests wait for {}",
                span(sync),
                span(request)
            )
        })
    })
}

fn config_offsets_apart(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let behind = look.value(BEHIND, look.known.records.behind_in_a_row.as_ref())?;
        fires_if(behind > BEHIND_MAX, || {
            format!(
                "one worker had read less than another in {behind} generations in a row; which of the two reads the wrong topic, their offsets tell"
            )
        })
    })
}

fn config_mismatches(known: &Known) -> Vec<Judgement> {
    group(known, |look| {
        let mismatches = look.value(MISMATCHES, look.known.records.mismatches.as_ref())?;
        fires_if(mismatches > 0, || {
            format!("{mismatches} generations without an assignment in an hour")
        })
    })
}
