//! All logs of a run, read into one truth.

use std::collections::BTreeMap;

use super::event::TruthEvent;
use super::{Expectations, TruthLog, broker_log, derive, stints, void, worker_log};

/// The log of one process, as text.
#[derive(Clone, Debug)]
pub struct ProcessLog {
    pub name: String,
    pub text: String,
    /// The REST URL of a worker; absent for a broker.
    pub worker_url: Option<String>,
}

/// Puts together what the processes logged of a group, and what the script did and saw.
pub fn read(group_id: &str, logs: &[ProcessLog], script: &[TruthEvent]) -> TruthLog {
    let mut events = Vec::new();
    let mut worker_urls = BTreeMap::new();
    // Brokers first: of lines with the same millisecond, theirs come first in the sort below,
    // and what a worker says of a generation follows what the broker said of it.
    for log in logs.iter().filter(|log| log.worker_url.is_none()) {
        events.extend(broker_log::parse(&log.name, &log.text, group_id));
    }
    for log in logs {
        if let Some(url) = &log.worker_url {
            events.extend(worker_log::parse(&log.name, &log.text));
            worker_urls.insert(log.name.clone(), url.clone());
        }
    }
    events.extend(script.iter().cloned());
    events.sort_by_key(|event| event.at_ms);
    let workers = derive::workers_of_members(&events, &worker_urls);
    let generations = derive::generations(&events, &workers, &worker_urls);
    let void = void::reasons(&events, &workers);
    TruthLog {
        group_id: group_id.to_owned(),
        worker_urls,
        stints: stints::stints(&events),
        events,
        generations,
        void,
        expected: Expectations::default(),
    }
}
