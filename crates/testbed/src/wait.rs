//! The one way to wait for a condition: with a deadline and with words for the failure.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;

/// Time between two looks; a look is at most a request to loopback or a file read.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Looks until `condition` gives a value; the error names `what` and the last reason.
///
/// The condition answers `Ok(Some(_))` when it holds, `Ok(None)` or `Err` when not yet.
///
/// # Errors
/// When the deadline passes first.
pub fn wait_until<T>(
    what: &str,
    at_most: Duration,
    mut condition: impl FnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let deadline = Instant::now() + at_most;
    loop {
        let reason = match condition() {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        if Instant::now() >= deadline {
            match reason {
                Some(error) => return Err(error.context(format!("waited {at_most:?} for {what}"))),
                None => bail!("waited {at_most:?} for {what}"),
            }
        }
        thread::sleep(LOOK_EVERY);
    }
}
