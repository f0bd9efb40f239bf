//! The log: lines on standard error, for people or for programs, and a bound on lines
//! that repeat.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};

use evenkeel_core::facts::time::ArrivalTime;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogConfig, LogFormat, LogLevel};

/// A line that was said is said again after this long at the earliest.
pub const REPEAT_MS_MIN: i64 = 10_000;

/// Lines that are remembered; beyond that the one that was said longest ago is forgotten.
const LINES_MAX: usize = 256;

/// Starts writing. A second call changes nothing.
pub fn start(config: LogConfig) {
    let started = match config.format {
        LogFormat::Text => text(config.level, io::stderr, is_coloured()).try_init(),
        LogFormat::Json => json(config.level, io::stderr).try_init(),
    };
    if started.is_err() {
        tracing::debug!("the log was already started");
    }
}

/// Colours are for a terminal whose owner did not say no (no-color.org).
fn is_coloured() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal() && !refused
}

fn text<W>(level: LogLevel, writer: W, coloured: bool) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(coloured);
    tracing_subscriber::registry()
        .with(filter(level))
        .with(lines)
}

fn json<W>(level: LogLevel, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // One flat object a line: the fields of an event are what programs look for.
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(writer);
    tracing_subscriber::registry()
        .with(filter(level))
        .with(lines)
}

/// What evenkeel says from `level` on; what libraries say one level stricter than that,
/// and never below a warning while nobody is looking for the cause of something.
fn filter(level: LogLevel) -> Targets {
    let (ours, theirs) = match level {
        LogLevel::Error => (LevelFilter::ERROR, LevelFilter::ERROR),
        LogLevel::Warn => (LevelFilter::WARN, LevelFilter::WARN),
        LogLevel::Info => (LevelFilter::INFO, LevelFilter::WARN),
        LogLevel::Debug => (LevelFilter::DEBUG, LevelFilter::INFO),
        LogLevel::Trace => (LevelFilter::TRACE, LevelFilter::TRACE),
    };
    Targets::new()
        .with_default(theirs)
        .with_target("evenkeel", ours)
}

/// Keeps lines that repeat from filling the log: each is said at most once in
/// [`REPEAT_MS_MIN`], and then with how many were left out since.
#[derive(Debug, Default)]
pub struct Repeats {
    lines: BTreeMap<String, Said>,
}

#[derive(Debug, Clone, Copy)]
struct Said {
    last: ArrivalTime,
    left_out: u64,
}

// === impl Repeats ===

impl Repeats {
    /// Whether to say the line of that key now: `Some` with how many were left out since
    /// it was last said, `None` if it has to wait.
    pub fn say(&mut self, key: &str, now: ArrivalTime) -> Option<u64> {
        match self.lines.get_mut(key) {
            // A clock that stepped back would silence the line until it has caught up.
            Some(said) if (0..REPEAT_MS_MIN).contains(&now.since_ms(said.last)) => {
                said.left_out = said.left_out.saturating_add(1);
                None
            }
            Some(said) => {
                let left_out = said.left_out;
                *said = Said {
                    last: now,
                    left_out: 0,
                };
                Some(left_out)
            }
            None => {
                self.make_room();
                self.lines.insert(
                    key.to_owned(),
                    Said {
                        last: now,
                        left_out: 0,
                    },
                );
                Some(0)
            }
        }
    }

    fn make_room(&mut self) {
        if self.lines.len() < LINES_MAX {
            return;
        }
        let oldest = self.lines.iter().min_by_key(|(_, said)| said.last);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.lines.remove(&key);
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
