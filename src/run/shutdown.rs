//! The end: one signal that everything long-lived waits for.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

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
pub struct Signals(Heard);

#[derive(Debug)]
enum Heard {
    /// By the thread of [`watch_from_the_start`].
    Early(watch::Receiver<bool>),
    /// Here.
    Own {
        interrupt: Signal,
        terminate: Signal,
    },
}

/// What the thread heard that listens from the start.
static EARLY: OnceLock<watch::Receiver<bool>> = OnceLock::new();

/// Whether a command ends by itself once a signal came.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Listens for signals before anything else is done: to the first process of a container the
/// kernel hands no signal that it does not listen for. Until a command takes over with
/// [`Signals::listen`], a signal ends the process. Where no thread is to be had, signals do
/// what they do to any other process.
pub fn watch_from_the_start() {
    let (listening, listens) = mpsc::sync_channel(1);
    let thread = std::thread::Builder::new().name("signals".to_owned());
    let spawned = thread.spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        if let Ok(runtime) = runtime {
            runtime.block_on(heed(&listening));
        }
    });
    // An error means that nobody listens; then there is nothing to wait for.
    let _listens = spawned.is_ok() && listens.recv().is_ok();
}

async fn heed(listening: &mpsc::SyncSender<()>) {
    let Ok(mut own) = Heard::own() else {
        return;
    };
    let (came, early) = watch::channel(false);
    if EARLY.set(early).is_err() || listening.send(()).is_err() {
        return;
    }
    loop {
        let signal = own.next().await;
        came.send_replace(true);
        if !IS_TAKEN.load(Ordering::SeqCst) {
            // As a shell counts who was ended by a signal.
            std::process::exit(128 + signal.as_raw_value());
        }
    }
}

// === impl Signals ===

impl Signals {
    /// Listens from now on: a signal that comes before anybody waits is not lost.
    ///
    /// # Errors
    /// The signals cannot be listened to.
    pub fn listen() -> io::Result<Self> {
        IS_TAKEN.store(true, Ordering::SeqCst);
        match EARLY.get() {
            Some(early) => Ok(Self(Heard::Early(early.clone()))),
            None => Heard::own().map(Self),
        }
    }

    /// From now on a SIGHUP ends nothing, and says that nothing has to be told: files are
    /// looked at anyway. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The signal cannot be listened to.
    pub fn ignore_hangups(&self) -> io::Result<()> {
        let mut hangups = signal(SignalKind::hangup())?;
        // It ends with the runtime.
        drop(tokio::spawn(async move {
            while hangups.recv().await.is_some() {
                tracing::info!("SIGHUP: nothing to do, changed files are taken up by themselves");
            }
        }));
        Ok(())
    }

    /// Ready once one came.
    pub async fn received(&mut self) {
        self.0.next().await;
    }
}

// === impl Heard ===

impl Heard {
    fn own() -> io::Result<Self> {
        Ok(Self::Own {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The signal that came, or one that stands for it.
    async fn next(&mut self) -> SignalKind {
        match self {
            Self::Early(came) => {
                if came.wait_for(|came| *came).await.is_err() {
                    // Whoever listened is gone, and no signal ever comes.
                    std::future::pending::<()>().await;
                }
                SignalKind::terminate()
            }
            Self::Own {
                interrupt,
                terminate,
            } => tokio::select! {
                _ = interrupt.recv() => SignalKind::interrupt(),
                _ = terminate.recv() => SignalKind::terminate(),
            },
        }
    }
}

#[cfg(test)]
mod tests;
