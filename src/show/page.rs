//! The page at `/`.

use evenkeel_core::facts::time::ArrivalTime;

use crate::show::view::Published;

/// The page.
pub(super) fn html(_published: &Published, _now: ArrivalTime) -> String {
    String::new()
}
