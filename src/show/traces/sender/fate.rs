//! What became of spans, and of each trace that was handed over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::show::view::TraceStats;

/// What became of a trace that was handed over.
#[derive(Debug, Clone, Default)]
pub struct Fate {
    exported: Arc<AtomicBool>,
}

/// Spans by what became of them.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) exported: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) dropped: AtomicU64,
    /// These are still to become one of the above.
    pub(super) waiting: AtomicU64,
}

// === impl Counts ===

impl Counts {
    /// Whether there is room for so many more.
    pub(super) fn enter(&self, spans: u64, room: u64) -> bool {
        let then = |waiting: u64| waiting.checked_add(spans).filter(|then| *then <= room);
        let entered = self
            .waiting
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, then);
        entered.is_ok()
    }

    /// So many wait no longer, and became this.
    pub(super) fn leave(&self, became: &AtomicU64, spans: u64) {
        became.fetch_add(spans, Ordering::Relaxed);
        self.waiting.fetch_sub(spans, Ordering::Relaxed);
    }

    pub(super) fn stats(&self) -> TraceStats {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        TraceStats {
            exported: count(&self.exported),
            failed: count(&self.failed),
            dropped: count(&self.dropped),
            waiting: count(&self.waiting),
        }
    }
}

// === impl Fate ===

impl Fate {
    /// Whether a receiver has it, whole as far as it says.
    #[must_use]
    pub fn is_exported(&self) -> bool {
        self.exported.load(Ordering::Relaxed)
    }

    pub(super) fn settle(&self, is_exported: bool) {
        self.exported.store(is_exported, Ordering::Relaxed);
    }
}
