//! The end: one signal that everything long-lived waits for.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// Tells everybody to end. Dropping it does too.
#[derive(Debug)]
pub struct Shutdown {
    ending: watch::Sender<bool>,
}

/// Waits for the end.
#[derive(Debug, Clone)]
pub struct Ending {
    ending: watch::Receiver<bool>,
}

// === impl Shutdown ===

impl Shutdown {
    /// Nothing ends yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            ending: watch::channel(false).0,
        }
    }

    /// Ends everything that waits.
    pub fn begin(&self) {
        self.ending.send_replace(true);
    }

    /// For somebody who should end.
    #[must_use]
    pub fn ending(&self) -> Ending {
        Ending {
            ending: self.ending.subscribe(),
        }
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}

// === impl Ending ===

impl Ending {
    /// Ready once the end has begun.
    pub async fn wait(mut self) {
        // An error means that whoever would begin the end is gone: that is the end, too.
        if self.ending.wait_for(|ending| *ending).await.is_err() {
            tracing::debug!("shutdown without a signal");
        }
    }
}

/// SIGINT (Ctrl-C) and SIGTERM, which is how containers are stopped.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

// === impl Signals ===

impl Signals {
    /// Listens from now on: a signal that comes before anybody waits is not lost.
    ///
    /// # Errors
    /// The signals cannot be listened to.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Ready once one came.
    pub async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
