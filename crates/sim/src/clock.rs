//! Clocks of machines: each is off by a skew, and may be set while it runs.

use serde::{Deserialize, Serialize};

/// The clock of one machine, against true time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// How far it is ahead at first.
    pub skew_ms: i64,
    /// From when on it is further ahead, and by how much; in order.
    pub steps: Vec<(i64, i64)>,
}

// === impl Clock ===

impl Clock {
    /// A clock that is `skew_ms` ahead.
    #[must_use]
    pub fn ahead(skew_ms: i64) -> Self {
        Self {
            skew_ms,
            steps: Vec::new(),
        }
    }

    /// What it shows at a true instant.
    #[must_use]
    pub fn at(&self, true_ms: i64) -> i64 {
        let steps = self.steps.iter().filter(|(from, _)| *from <= true_ms);
        true_ms + self.skew_ms + steps.map(|(_, by)| by).sum::<i64>()
    }
}
