//! How many bytes the group's records may have. Beyond it most sidecars of a cluster read
//! the newest of them once a second, so that a storm of large records does not cost the
//! broker each of them once a worker. No IO, no clock.
//!
//! 1. The rate is that of the log, by the records' own times: reading up after a pause is
//!    no storm, however fast it is.
//! 2. The budget is a debt that time pays. It may be overdrawn by some seconds' worth: a
//!    rollout of a large group is over before that.
//! 3. All is read again once the rate, by the numbers of the generations and the size of
//!    the newest record, was under half of the budget for so many samples in a row.

#[cfg(test)]
mod tests;

use evenkeel_core::facts::time::EventTime;

/// Bytes of group records a second that every sidecar may read.
pub(super) const BYTES_PER_S: u64 = 4_000_000;

/// Seconds' worth of it that may be owed.
const OWED_S_MAX: u64 = 5;

/// Samples in a row below half of the budget after which all is read again.
const CALM_SAMPLES: u32 = 10;

/// What the records that are read cost.
#[derive(Debug, Default)]
pub(super) struct Budget {
    owed: u64,
    at: Option<EventTime>,
}

/// What the samples tell of the records that are not read.
#[derive(Debug, Default)]
pub(super) struct Calm {
    newest: Option<Sample>,
    in_a_row: u32,
}

/// The newest record at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    /// Its generation; a tombstone has none.
    pub(super) generation: i32,
    /// When it was written.
    pub(super) at: EventTime,
    pub(super) bytes: u64,
}

// === impl Budget ===

impl Budget {
    /// A record of so many bytes is read; whether it is beyond the budget.
    pub(super) fn spend(&mut self, at: EventTime, bytes: u64) -> bool {
        // A clock that steps back pays nothing, and begins anew.
        let passed_ms = self.at.map_or(0, |before| at.since_ms(before).max(0));
        let paid = u64::try_from(passed_ms)
            .unwrap_or(0)
            .saturating_mul(BYTES_PER_S)
            / 1_000;
        self.owed = self.owed.saturating_sub(paid).saturating_add(bytes);
        self.at = Some(at);
        self.owed > BYTES_PER_S * OWED_S_MAX
    }
}

// === impl Calm ===

impl Calm {
    /// One more sample, `None` where nothing new was written; whether the records are few
    /// enough to be read all.
    pub(super) fn is_over(&mut self, newest: Option<Sample>) -> bool {
        let few = match (self.newest, newest) {
            (_, None) => true,
            // Of the first nothing is known but itself.
            (None, Some(_)) => false,
            (Some(before), Some(now)) => rate(before, now) <= BYTES_PER_S / 2,
        };
        self.newest = newest.or(self.newest);
        self.in_a_row = if few { self.in_a_row + 1 } else { 0 };
        self.in_a_row >= CALM_SAMPLES
    }
}

/// Bytes a second between two samples: a record a generation, each as large as the newest.
/// A group that was created anew between them has had at least the newest's number.
fn rate(before: Sample, now: Sample) -> u64 {
    let generations = match now.generation.saturating_sub(before.generation) {
        fewer if fewer < 0 => now.generation,
        more => more.max(1),
    };
    let bytes = now
        .bytes
        .saturating_mul(u64::try_from(generations).unwrap_or(0));
    let passed_ms = now.at.since_ms(before.at).max(1);
    bytes.saturating_mul(1_000) / u64::try_from(passed_ms).unwrap_or(1)
}
