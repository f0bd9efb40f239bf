//! How long-lived commands begin and end: configuration and log first, and an end that
//! waits for nobody longer than it must.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::runtime::Builder;

use crate::commands::exit::Exit;
use crate::config::{Loaded, Mistakes};
use crate::show::log;

/// How long the end waits for threads that wait themselves, on a broker that answers
/// nothing: whoever stops a container kills it 10 s later.
const END_MAX: Duration = Duration::from_secs(1);

/// Starts the log as a configuration says, or says every mistake in it.
pub(super) fn configured(loaded: Result<Loaded, Mistakes>) -> Result<Loaded, Exit> {
    match loaded {
        Ok(loaded) => {
            log::start(loaded.config.log);
            for warning in &loaded.warnings {
                tracing::warn!("{warning}");
            }
            Ok(loaded)
        }
        Err(mistakes) => {
            eprintln!("{mistakes}");
            Err(Exit::Config)
        }
    }
}

/// Runs `work` on this thread.
///
/// # Errors
/// The runtime could not be started.
pub(super) fn on_this_thread<F: Future>(work: F) -> io::Result<F::Output> {
    block_on(&mut Builder::new_current_thread(), work)
}

/// Runs `work` on as many threads.
///
/// # Errors
/// As [`on_this_thread`].
pub(super) fn on_threads<F: Future>(count: usize, work: F) -> io::Result<F::Output> {
    block_on(Builder::new_multi_thread().worker_threads(count), work)
}

fn block_on<F: Future>(builder: &mut Builder, work: F) -> io::Result<F::Output> {
    let runtime = builder.enable_all().build()?;
    let output = runtime.block_on(work);
    runtime.shutdown_timeout(END_MAX);
    Ok(output)
}

#[cfg(test)]
mod tests;
