//! Names in a worker's file that are no settings of a worker, and of which checks know what they
//! are: settings of another scope, or misspelt ones. Values are not read, since they may be
//! secrets; so may a name be that is like none of Kafka's, where a line was broken.

use evenkeel_core::checks::near::nearest;
use evenkeel_core::checks::releases::{Whose, tables};
use evenkeel_core::facts::input::WorkerSetting;

use super::settings::Settings;

/// Names of one file that are told.
const NAMES_MAX: usize = 100;

/// The longest name that is told; Kafka's have at most a third of it.
const NAME_BYTES_MAX: usize = 200;

/// What a worker accepts and does nothing with.
const IGNORED: &str = "group.instance.id";

const PREFIXES: [&str; 3] = ["consumer.", "producer.", "admin."];

const ELSEWHERE: [Whose; 5] = [
    Whose::Consumer,
    Whose::Producer,
    Whose::Admin,
    Whose::Connector,
    Whose::Topic,
];

pub(super) fn names(settings: &Settings<'_>) -> Vec<WorkerSetting> {
    let is_odd = |name: &str| {
        let is_of_worker = tables().lifetime(Whose::Worker, name).is_some();
        let is_plain = name.len() <= NAME_BYTES_MAX && !name.contains(char::is_control);
        is_plain && (name == IGNORED || !is_of_worker && is_like_kafkas(name))
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

/// Whether it is a name of Kafka's, or as good as one, so that it is no secret.
fn is_like_kafkas(name: &str) -> bool {
    let of_client = PREFIXES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .map(|rest| rest.strip_prefix("override.").unwrap_or(rest));
    let bare = of_client.unwrap_or(name);
    let is_known = ELSEWHERE
        .into_iter()
        .any(|whose| tables().lifetime(whose, bare).is_some());
    is_known || nearest(name, tables().names(Whose::Worker)).is_some()
}
