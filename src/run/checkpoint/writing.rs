//! One state on its way to the disk: everything that takes time is done on a thread that may
//! wait.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use evenkeel_core::answers::Counters;
use evenkeel_core::engine::State;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::file::StateFile;
use super::form::{self, Header};

/// How long it took to make, or why it was not written.
pub(super) type Wrote = io::Result<Duration>;

/// A state that is being written.
#[derive(Debug)]
pub(super) struct Writing {
    counters: Counters,
    began: Instant,
    is_said: bool,
    task: JoinHandle<Wrote>,
}

// === impl Writing ===

impl Writing {
    pub(super) fn begin(
        file: Arc<StateFile>,
        header: Header,
        state: State,
        began: Instant,
    ) -> Self {
        let counters = state.counters().clone();
        let task = tokio::task::spawn_blocking(move || {
            let began = std::time::Instant::now();
            let bytes = form::encode(&header, &state)?;
            // Not the disk's part of it: that costs nobody anything.
            let took = began.elapsed();
            // It may be as large as all else that this process holds.
            drop(state);
            file.write(&bytes)?;
            Ok(took)
        });
        Self {
            counters,
            began,
            is_said: false,
            task,
        }
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(super) fn into_counters(self) -> Counters {
        self.counters
    }

    pub(super) fn is_late(&self, now: Instant, after: Duration) -> bool {
        now.duration_since(self.began) > after
    }

    /// Whether it is said for the first time that it is late.
    pub(super) fn is_news(&mut self) -> bool {
        !std::mem::replace(&mut self.is_said, true)
    }

    /// Waits for the end of it. May be given up and called again.
    pub(super) async fn wrote(&mut self) -> Wrote {
        match (&mut self.task).await {
            Ok(wrote) => wrote,
            Err(error) => Err(io::Error::other(error)),
        }
    }
}
