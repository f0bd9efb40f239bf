//! From files to what is known of each group.

use std::collections::BTreeMap;

use evenkeel_core::checks::known::{Known, Worker};
use evenkeel_core::checks::releases::{Release, tables};
use evenkeel_core::checks::source::{Source, Value};

use crate::config::deploy::Deployed;

/// One `Known` for each group, by its id; workers that name none are a group of their own.
pub(super) fn groups(read: Vec<Deployed>, release: Option<Release>) -> Vec<Known> {
    let mut groups: BTreeMap<Option<String>, Known> = BTreeMap::new();
    for deployed in read {
        for mut worker in deployed.workers {
            settle_release(&mut worker, release);
            let group = worker
                .text("group.id")
                .map(|id| Value::new(id.value.to_owned(), id.source));
            let key = group.as_ref().map(|group| group.value.clone());
            let known = groups.entry(key).or_default();
            if known.group.is_none() {
                known.group = group;
            }
            known.workers.push(worker);
        }
    }
    groups.into_values().collect()
}

/// What a person says goes over what a file says; where nobody does, it is the newest.
fn settle_release(worker: &mut Worker, release: Option<Release>) {
    let said = release.map(|release| Value::new(release, Source::Fixed));
    let newest = tables().newest();
    let found = said.or(worker.release.take());
    worker.release = found.or(Some(Value::new(
        newest,
        Source::Default { release: newest },
    )));
}
