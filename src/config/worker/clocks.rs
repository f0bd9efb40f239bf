//! The clocks of a worker that no record shows, or that explain those that do; and whether
//! the worker takes them, by the `ConfigDef` of Connect's `DistributedConfig` (2.5 to 4.3).

use evenkeel_core::facts::input::WorkerSetting;

use super::settings::{Found, Settings};
use crate::config::mistake::quoted;

/// What a worker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `INT`; without a bound there, but nothing runs with less than zero.
    Int,
    /// `INT` from zero on.
    IntFromZero,
    /// `LONG`; as `Int`.
    Long,
    /// `LONG` from zero on.
    LongFromZero,
    /// One of these, in any case of letters.
    OneOf(&'static [&'static str]),
}

use Kind::{Int, IntFromZero, Long, LongFromZero, OneOf};

const CLOCKS: [(&str, Kind); 15] = [
    ("session.timeout.ms", Int),
    ("heartbeat.interval.ms", Int),
    ("rebalance.timeout.ms", Int),
    ("scheduled.rebalance.max.delay.ms", IntFromZero),
    (
        "connect.protocol",
        OneOf(&["eager", "compatible", "sessioned"]),
    ),
    ("worker.sync.timeout.ms", Int),
    ("worker.unsync.backoff.ms", Int),
    ("task.shutdown.graceful.timeout.ms", Long),
    ("offset.flush.interval.ms", Long),
    ("offset.flush.timeout.ms", Long),
    ("inter.worker.key.ttl.ms", IntFromZero),
    ("request.timeout.ms", IntFromZero),
    ("metadata.max.age.ms", LongFromZero),
    ("retry.backoff.ms", LongFromZero),
    (
        "exactly.once.source.support",
        OneOf(&["disabled", "enabled", "preparing"]),
    ),
];

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    CLOCKS.iter().map(|(name, _)| *name)
}

/// Those that are set. What the worker itself would refuse is a mistake; what it takes, and
/// fails with, is told.
pub(super) fn read(settings: &mut Settings<'_>) -> Vec<WorkerSetting> {
    let mut clocks = Vec::new();
    for (name, kind) in CLOCKS {
        let Some(found) = settings.look_if_known(name) else {
            continue;
        };
        if let Some(expected) = kind.refuses(found.text()) {
            // What is refused may be anything, a password in the wrong line as well.
            let told = match found.text().chars().count() {
                0 => quoted(""),
                1 => "a text of 1 character".to_owned(),
                count => format!("a text of {count} characters"),
            };
            settings.wrong(name, &told, &expected, "the worker does not start with it");
            continue;
        }
        warn_of_sign(name, &found, settings);
        clocks.push(WorkerSetting {
            name: name.to_owned(),
            value: found.text().to_owned(),
            source: found.source,
        });
    }
    clocks
}

fn warn_of_sign(name: &str, found: &Found, settings: &mut Settings<'_>) {
    let is_negative = found.text().parse::<i64>().is_ok_and(|value| value < 0);
    if is_negative {
        let source = &found.source;
        settings.warnings.push(format!(
            "{source}: {name} is below zero, with which no worker runs"
        ));
    }
}

// === impl Kind ===

impl Kind {
    /// What is expected instead of a value that is not taken (`ConfigDef.parseType`, then the
    /// validator). Java takes a sign before a number, as Rust does.
    fn refuses(self, value: &str) -> Option<String> {
        let is_int = || value.parse::<i32>();
        let is_long = || value.parse::<i64>();
        let (is_taken, expected) = match self {
            Self::Int => (is_int().is_ok(), "an integer of 32 bits"),
            Self::IntFromZero => (
                is_int().is_ok_and(|value| value >= 0),
                "an integer of 32 bits, at least 0",
            ),
            Self::Long => (is_long().is_ok(), "an integer"),
            Self::LongFromZero => (
                is_long().is_ok_and(|value| value >= 0),
                "an integer, at least 0",
            ),
            Self::OneOf(words) => {
                let is_one = words.iter().any(|word| word.eq_ignore_ascii_case(value));
                return (!is_one).then(|| words.join(", "));
            }
        };
        (!is_taken).then(|| expected.to_owned())
    }
}

#[cfg(test)]
mod tests;
