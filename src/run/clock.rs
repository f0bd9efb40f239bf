//! The only now: everything else gets the time handed in.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use evenkeel_core::facts::time::ArrivalTime;

/// The wall clock when it was first asked, and a clock that never steps.
static BEGAN: OnceLock<(i64, Instant)> = OnceLock::new();

/// The agent's clock: the wall clock as it was when the agent started, and what has passed
/// since. It never steps, so that a correction of the wall clock neither keeps answers
/// alive that nothing confirms, nor lets a barrier pass that nothing proves. A wall clock
/// before 1970 reads zero.
#[allow(clippy::disallowed_methods)] // This is the one place that may.
#[must_use]
pub fn now() -> ArrivalTime {
    let (wall_ms, began) = BEGAN.get_or_init(|| {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        (
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Instant::now(),
        )
    });
    let passed_ms = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
    ArrivalTime(wall_ms.saturating_add(passed_ms))
}
