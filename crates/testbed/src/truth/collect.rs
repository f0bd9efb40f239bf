//! All logs of a run, read into one truth.

use std::collections::BTreeMap;

use super::event::{self, TruthEvent, What};
use super::{Expectations, TruthLog, broker_log, costs, derive, stints, void, worker_log};

/// The log of one process, as text.
#[derive(Clone, Debug)]
pub struct ProcessLog {
    pub name: String,
    pub text: String,
    /// The REST URL of a worker; absent for a broker.
    pub worker_url: Option<String>,
    /// How far the clock of the process is ahead of that of the script.
    pub skew_ms: i64,
}

/// Puts together what the processes logged of a group, and what the script did and saw.
pub fn read(group_id: &str, logs: &[ProcessLog], script: &[TruthEvent]) -> TruthLog {
    // Each with its time by the script's clock, which orders them.
    let mut dated: Vec<(i64, TruthEvent)> = Vec::new();
    let mut date = |events: Vec<TruthEvent>, skew_ms: i64| {
        dated.extend(
            events
                .into_iter()
                .map(|event| (event.at_ms - skew_ms, event)),
        );
    };
    let mut worker_urls = BTreeMap::new();
    // Brokers first: of lines with the same millisecond, theirs come first in the sort below,
    // and what a worker says of a generation follows what the broker said of it.
    for log in logs.iter().filter(|log| log.worker_url.is_none()) {
        date(
            broker_log::parse(&log.name, &log.text, group_id),
            log.skew_ms,
        );
    }
    let mut skews_ms = BTreeMap::new();
    for log in logs {
        if let Some(url) = &log.worker_url {
            date(worker_log::parse(&log.name, &log.text), log.skew_ms);
            worker_urls.insert(log.name.clone(), url.clone());
        }
        if log.skew_ms != 0 {
            skews_ms.insert(log.name.clone(), log.skew_ms);
        }
    }
    date(script.to_vec(), 0);
    dated.sort_by_key(|(at_ms, _)| *at_ms);
    let mut events: Vec<TruthEvent> = dated.into_iter().map(|(_, event)| event).collect();
    let stints = stints::stints(&events, &worker_urls);
    // Every worker reads the statuses of all.
    events.retain(|event| match &event.what {
        What::StatusRead { worker_id, .. } => worker_urls
            .get(&event.process)
            .is_some_and(|url| url.contains(&format!("//{worker_id}/"))),
        _ => true,
    });
    let workers = derive::workers_of_members(&events, &worker_urls);
    let generations = derive::generations(&events, &workers, &worker_urls);
    let void = void::reasons(&events, &workers);
    let costs = costs::costs(&events, &generations, &|event| {
        event::true_ms(event, &skews_ms)
    });
    events.retain(|event| !matches!(event.what, What::StatusRead { .. } | What::Alive { .. }));
    without_repeats(&mut events);
    TruthLog {
        group_id: group_id.to_owned(),
        worker_urls,
        skews_ms,
        stints,
        events,
        generations,
        void,
        expected: Expectations::default(),
        costs: Some(costs),
    }
}

/// A worker that is behind joins again hundreds of times a second and is told the same each
/// time: that is kept a few times.
fn without_repeats(events: &mut Vec<TruthEvent>) {
    const KEPT: usize = 5;
    let mut seen: BTreeMap<String, Vec<(What, usize)>> = BTreeMap::new();
    events.retain(|event| {
        if matches!(event.what, What::Stabilized { .. }) {
            seen.clear();
        }
        let repeats = matches!(
            event.what,
            What::Rejoining
                | What::Joined { .. }
                | What::Received { .. }
                | What::Applied { .. }
                | What::ConfigAhead { .. }
        );
        if !repeats {
            return true;
        }
        let seen = seen.entry(event.process.clone()).or_default();
        match seen.iter_mut().find(|(what, _)| *what == event.what) {
            Some((_, times)) => {
                *times += 1;
                *times <= KEPT
            }
            None => {
                seen.push((event.what.clone(), 1));
                true
            }
        }
    });
}
