//! Generations in the last minutes, counted by the second: a loop of 250 a second for
//! half an hour must not cost more than a calm group.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::answers::RecentAnswer;
use crate::facts::time::EventTime;
use crate::limits::RECENT_WINDOW_S_MAX;

/// Generations by the second in which their record was written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RecentGenerations {
    seconds: VecDeque<(i64, u64)>,
}

// === impl RecentGenerations ===

impl RecentGenerations {
    /// `count` generations came to light by a record of this time.
    pub fn add(&mut self, recorded: EventTime, count: u64) {
        let second = recorded.0.div_euclid(1000);
        // A clock that was ahead told a second that is not there yet: what was counted in it
        // is of this one, since order is the log's.
        let mut count = count;
        while let Some((last, sum)) = self.seconds.back().copied()
            && last >= second
        {
            count = count.saturating_add(sum);
            self.seconds.pop_back();
        }
        self.seconds.push_back((second, count));
        let oldest = second.saturating_sub(RECENT_WINDOW_S_MAX);
        while self
            .seconds
            .front()
            .is_some_and(|(second, _)| *second < oldest)
        {
            self.seconds.pop_front();
        }
    }

    /// The windows that end `now`.
    #[must_use]
    pub fn answer(&self, now: EventTime) -> RecentAnswer {
        let second = now.0.div_euclid(1000);
        let within = |window_s: i64| {
            self.seconds
                .iter()
                .rev()
                .take_while(|(at, _)| *at > second.saturating_sub(window_s))
                .map(|(_, count)| *count)
                .fold(0, u64::saturating_add)
        };
        RecentAnswer {
            in_2m: within(120),
            in_10m: within(600),
            in_30m: within(1800),
        }
    }
}
