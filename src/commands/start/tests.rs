//! That the end is bounded.

use std::sync::mpsc;
use std::time::Instant;

use super::*;

/// A thread that waits for a frozen broker is left behind.
#[test]
fn the_end_waits_for_no_thread() {
    for multi in [false, true] {
        let (release, held) = mpsc::sync_channel::<()>(0);
        let work = async move {
            let waiting = tokio::task::spawn_blocking(move || held.recv());
            let waited = tokio::time::timeout(Duration::from_millis(10), waiting).await;
            assert!(waited.is_err(), "the thread still waits");
            "done"
        };
        let began = Instant::now();
        let output = if multi {
            on_threads(2, work)
        } else {
            on_this_thread(work)
        };
        assert_eq!(output.unwrap(), "done");
        let took = began.elapsed();
        assert!(took >= END_MAX, "it had its chance: {took:?}");
        assert!(took < END_MAX * 5, "{took:?}");
        drop(release);
    }
}
