//! The only now: everything else gets the time handed in. Tokens alone are held against
//! the wall clock itself (`read/wall.rs`), since a broker holds them against its own.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use evenkeel_core::facts::time::ArrivalTime;
use rustix::time::{ClockId, clock_gettime};

/// The wall clock when it was first asked, and a clock that never steps.
static BEGAN: OnceLock<(i64, i64)> = OnceLock::new();

/// The agent's clock: the wall clock as it was when the agent started, and what has passed
/// since, the time included that the machine slept. It never steps, so that a correction of the wall clock neither keeps answers
/// alive that nothing confirms, nor lets a barrier pass that nothing proves. A wall clock
/// before 1970 reads zero.
#[allow(clippy::disallowed_methods)] // This place may, and read/wall.rs.
#[must_use]
pub fn now() -> ArrivalTime {
    let (wall_ms, began_ms) = BEGAN.get_or_init(|| {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        (
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            since_boot_ms(),
        )
    });
    let passed_ms = since_boot_ms().saturating_sub(*began_ms);
    ArrivalTime(wall_ms.saturating_add(passed_ms))
}

/// Milliseconds since the machine started. The clock behind `Instant` stands still while
/// a machine sleeps; this one does not.
fn since_boot_ms() -> i64 {
    let since = clock_gettime(ClockId::Boottime);
    since
        .tv_sec
        .saturating_mul(1_000)
        .saturating_add(since.tv_nsec / 1_000_000)
}
