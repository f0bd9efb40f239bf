//! Names in a worker's file that are no settings of a worker: misspelt, of another scope, or
//! nobody's. The checks tell them apart; values are not read, since they may be secrets.

use evenkeel_core::checks::releases::{Whose, tables};
use evenkeel_core::facts::input::WorkerSetting;

use super::settings::Settings;

/// Names of one file that are told.
const NAMES_MAX: usize = 100;

/// The longest name that is told; Kafka's have at most a third of it.
const NAME_BYTES_MAX: usize = 200;

/// What a worker accepts and does nothing with.
const IGNORED: &str = "group.instance.id";

pub(super) fn names(settings: &Settings<'_>) -> Vec<WorkerSetting> {
    let is_odd = |name: &str| {
        let is_of_worker = tables().lifetime(Whose::Worker, name).is_some();
        let is_plain = name.len() <= NAME_BYTES_MAX && !name.contains(char::is_control);
        is_plain && (!is_of_worker || name == IGNORED)
    };
    let odd = settings.places().filter(|(name, _)| is_odd(name));
    odd.take(NAMES_MAX)
        .map(|(name, source)| WorkerSetting {
            name: name.to_owned(),
            value: String::new(),
            source: source.to_owned(),
        })
        .collect()
}
