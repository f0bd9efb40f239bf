//! The end: one signal that everything long-lived waits for.

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

/// Ready at SIGINT (Ctrl-C) or SIGTERM, which is how containers are stopped.
///
/// # Errors
/// The signals cannot be listened to.
pub async fn signal() -> std::io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        result = tokio::signal::ctrl_c() => result,
        _ = terminate.recv() => Ok(()),
    }
}
