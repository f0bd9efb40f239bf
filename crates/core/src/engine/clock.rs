//! The two clocks: the agent's, and the coordinator's as its records show it.

use serde::{Deserialize, Serialize};

use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::{CLOCKS_APART_MS_MAX, TIMER_SLACK_MS};

/// What is known of the two clocks.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Clock {
    /// The newest input.
    pub(super) arrived: Option<ArrivalTime>,
    /// The newest group record, or the newest instant before which none is unread.
    pub(super) event: Option<EventTime>,
    /// The smallest delay between a group record and its arrival, of this leader epoch:
    /// another coordinator has another clock. Records of the past only make it larger,
    /// so time passes too slowly rather than too fast.
    pub(super) delay_ms_min: Option<i64>,
    /// The same of records that were written while the agent watched: the only ones that
    /// arrive when they are written.
    pub(super) delay_live_ms_min: Option<i64>,
    /// When the newest group record was written.
    recorded: Option<EventTime>,
    /// Its leader epoch.
    leader_epoch: Option<i32>,
    /// Whether that is another one than that of the record before.
    pub(super) coordinator_moved: bool,
    /// When reading of the offsets topic began.
    pub(super) watched_since: Option<EventTime>,
    /// The first group record that was written since then, as it dates itself.
    live_from: Option<EventTime>,
    /// The newest record of any topic that was written before reading began: nothing until then
    /// is watched, however far behind the agent's clock is.
    history_until: Option<EventTime>,
    /// From when to when the process before this one watched, where its state was taken up.
    watched_before: Option<(EventTime, EventTime)>,
    /// How far each topic was proven to be read when rounds were last looked at.
    pub(super) proven: [Option<ArrivalTime>; 3],
}

// === impl Clock ===

impl Clock {
    pub(super) fn saw(
        &mut self,
        leader_epoch: Option<i32>,
        recorded: EventTime,
        at: ArrivalTime,
        live: bool,
    ) {
        // A clock that was set back is another clock, too.
        let back_ms = self.recorded.map_or(0, |last| last.since_ms(recorded));
        self.recorded = Some(recorded);
        if let Some((_, until)) = &mut self.watched_before {
            // Not read before the absence, however early it was written.
            *until = recorded.plus_ms(-1).min(*until);
        }
        let other = leader_epoch.is_some() && leader_epoch != self.leader_epoch;
        self.coordinator_moved = other && self.leader_epoch.is_some();
        if other || back_ms > TIMER_SLACK_MS {
            self.leader_epoch = leader_epoch;
            self.delay_ms_min = None;
            self.delay_live_ms_min = None;
            self.event = None;
        }
        let delay_ms = at.delay_after_ms(recorded);
        self.delay_ms_min = Some(
            self.delay_ms_min
                .map_or(delay_ms, |least| least.min(delay_ms)),
        );
        if live {
            self.live_from = self.live_from.or(Some(recorded));
            let least = self
                .delay_live_ms_min
                .map_or(delay_ms, |least| least.min(delay_ms));
            self.delay_live_ms_min = Some(least);
        }
        self.event = self.event.max(Some(recorded));
    }

    /// Goes on after an absence, at `now`; `from` is since when all that happened was watched.
    /// Delays were measured with another process's clock, perhaps on another machine: time
    /// goes on from where it stood, so that it passes too slowly rather than too fast.
    pub(super) fn resume(&mut self, from: EventTime, now: ArrivalTime) {
        self.watched_before = self.now().map(|until| (from, until));
        self.arrived = None;
        self.delay_live_ms_min = None;
        self.delay_ms_min = self.event.map(|event| now.delay_after_ms(event));
        self.watched_since = None;
        self.live_from = None;
        self.history_until = None;
        self.proven = Default::default();
    }

    /// Whether an instant lies in the time that an agent watched: this one, or the one
    /// before it.
    pub(super) fn is_watched(&self, at: EventTime) -> bool {
        if self.is_before(at) || self.live_from.is_some_and(|from| from <= at) {
            return true;
        }
        // After an absence nothing is watched until reading goes on.
        let absent = self.watched_before.is_some() && self.watched_since.is_none();
        !absent && Some(at) > self.watches_from()
    }

    /// Whether an instant lies in the time that the agent before this one watched.
    fn is_before(&self, at: EventTime) -> bool {
        let before = self.watched_before;
        before.is_some_and(|(from, until)| from < at && at <= until)
    }

    /// Whether an instant lies between the agent before this one and this one.
    pub(super) fn was_absent(&self, at: EventTime) -> bool {
        self.watched_before.is_some_and(|(_, until)| at > until) && !self.is_watched(at)
    }

    /// A record was read that was written before reading began. One that is far in the future
    /// says what its writer's clock was, and nothing of ours.
    pub(super) fn read_history(&mut self, recorded: EventTime) {
        let latest = self.watched_since.map(|at| at.plus_ms(CLOCKS_APART_MS_MAX));
        if latest.is_some_and(|latest| recorded > latest) {
            return;
        }
        self.history_until = self.history_until.max(Some(recorded));
    }

    /// Since when the agent watches, on the coordinator's clock.
    pub(super) fn watches_from(&self) -> Option<EventTime> {
        let since = self.watched_since?;
        match self.delay_live_ms_min {
            Some(delay_ms) => Some(since.plus_ms(delay_ms.saturating_neg())),
            // The agent's own clock stands in, and may be behind.
            None => Some(since).max(self.history_until),
        }
    }

    /// This moment on the coordinator's clock, as well as it is known: for what is shown,
    /// never for a verdict. Until a record was seen to arrive, the agent's clock stands in.
    pub(super) fn now(&self) -> Option<EventTime> {
        let now = self.arrived?.as_event(self.delay_live_ms_min.unwrap_or(0));
        Some(now).max(self.event)
    }
}
