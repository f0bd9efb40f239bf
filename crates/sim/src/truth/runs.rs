//! When each piece of work really ran where, and how that ended.

use serde::{Deserialize, Serialize};

use crate::item::Item;

/// A piece of work that ran on a worker, or failed as it started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrueRun {
    /// What.
    pub item: Item,
    /// `host:port` of the worker.
    pub worker: String,
    /// Its member id then, if it had one.
    pub member: Option<String>,
    /// When it ran, and said so; or when it failed.
    pub from_ms: i64,
    /// Whether it went on after a pause.
    pub resumed: bool,
    /// When it ran no more.
    pub until_ms: Option<i64>,
    /// How that came.
    pub end: RunEnd,
    /// The number of the stop that ended it.
    pub stop: Option<usize>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// It goes on.
    Open,
    /// Its worker stopped it, and wrote so.
    Stopped,
    /// Its worker stopped it, and another one had written a newer status by then.
    StoppedSilently,
    /// Its worker gave up waiting for its stop: it runs on, and nobody says so.
    GivenUp,
    /// It failed, when it started.
    Failed,
    /// A person paused it, or stopped its connector.
    Paused,
    /// Its process died.
    Killed,
}
