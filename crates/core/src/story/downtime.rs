//! D10 and D11: when work does not run, and why; and how it goes from one worker to the next.
//!
//! A *stretch* begins when running work stops, or its owner is gone, and ends when somebody
//! says RUNNING, or it is not to run any more. Its reason:
//! 1. *failed*: FAILED was written; it ends what was before.
//! 2. *lost*: who ran it is not in the record that follows.
//! 3. *dropped*: who ran it lost its coordinator.
//! 4. *deleted*, *stopped*, *paused*: somebody wanted that; it is no downtime.
//! 5. *handover*: the record that follows revokes it; in the eager protocol any stop before a
//!    member joins again.
//! 6. *reconfigured*: its tasks were committed anew.
//! 7. *restarted*: RESTARTING was written; or the same worker ran it again and nothing of the
//!    above says why. Work that is lost, dropped or handed over before it runs again is that.
//!
//! A hand-over, when another worker runs it than the last that did:
//! 8. *clean*: the one before had written that it stopped, or that it failed.
//! 9. *unclean*: it had not: it died, gave up stopping, or runs it still.
//!
//! A stretch is over, too:
//! 10. with the record that takes the task for removed;
//! 11. with the join phase that has who was missed back, with its claim;
//! 12. with the request to pause its connector.

mod held;
mod reasons;
mod statuses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{DownReason, HandoverHow};
use crate::facts::ids::{CONNECTOR_TASK, ConnectorId, Kind, WorkItem};
use crate::facts::observation::{RunState, Status};
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::{CONFIG_CHANGES_MAX, RESTARTED_BY_MS, STATUS_ITEMS_MAX, TIMER_SLACK_MS};
use crate::story::switches::{StoryRule, Switches};
use held::Held;
pub use held::Read;

/// Who runs what, what does not run, and why.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Downtimes {
    /// Statuses whose turn has not come.
    held: Held,
    #[serde(with = "crate::facts::pairs")]
    lines: BTreeMap<WorkItem, Line>,
    /// Stretches that last, and whose reason a step may yet say.
    pending: BTreeSet<WorkItem>,
    /// Stretches that are over and have no reason yet, oldest first.
    over: Vec<Over>,
    /// What the newest record that was judged told whom to stop, and why.
    #[serde(with = "crate::facts::pairs")]
    revoked: BTreeMap<WorkItem, (Arc<str>, DownReason)>,
    /// What the config topic said of work that ran, between that record and the one before.
    #[serde(with = "crate::facts::pairs")]
    changed: BTreeMap<WorkItem, DownReason>,
    /// The number of that record, and whether its group was eager.
    judged: Option<(i32, bool)>,
    /// Connectors that are paused: since when, and whether the agent watched that.
    #[serde(with = "crate::facts::pairs")]
    paused: BTreeMap<ConnectorId, (EventTime, bool)>,
    /// When connectors were configured anew: some may be read long before what came of it.
    configured: BTreeSet<(EventTime, ConnectorId)>,
}

/// What is known of one piece of work.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Line {
    /// It runs, as a worker last wrote.
    Up(Wrote),
    /// It does not, since it stopped.
    Down(Stretch),
    /// It is not to run, or never did.
    Off,
}

/// Who wrote a status, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Wrote {
    worker: Arc<str>,
    generation: i32,
    stamp: Stamp,
}

/// When a status was written, and had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// By its worker's clock.
    pub written: EventTime,
    /// On the coordinator's, as far as that was known.
    pub at: EventTime,
    /// When the agent had it.
    pub had: ArrivalTime,
    /// Whether it was written while the agent watched.
    pub live: bool,
}

/// A stretch in which work does not run.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stretch {
    since: EventTime,
    /// The stop; or, of who wrote none, the last that it wrote.
    stop: Wrote,
    /// Where no stop was written: the generation that missed who ran it.
    missed_in: Option<i32>,
    reason: Option<DownReason>,
}

/// A stretch that is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Over {
    item: WorkItem,
    /// Absent where no stop was seen before somebody else ran it.
    since: Option<EventTime>,
    stop: Wrote,
    /// Who runs it now, and since when.
    start: Wrote,
    /// How that one got it, where another ran it before.
    handed: Option<HandoverHow>,
}

/// Something to be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Running work stopped.
    Interrupted(WorkItem, DownReason),
    /// A stretch of downtime is over: how many milliseconds it lasted.
    Ended(WorkItem, DownReason, i64),
    /// Work went from one worker to another.
    HandedOver(WorkItem, HandoverHow),
}

/// What a status or a step cost, each with whether it happened while the agent watched.
pub type Costs = Vec<(Cost, bool)>;

// === impl Downtimes ===

impl Downtimes {
    /// A status was read; gives back what has its turn now, unless it `waits` for a step.
    pub fn read(&mut self, read: Read, waits: impl Fn(&Read) -> bool) -> Option<Read> {
        let judged = self.judged.map(|(number, _)| number);
        self.held.take(read, judged, waits)
    }

    /// What was read and has its turn now that another step is judged, unless it `waits` for the
    /// next.
    pub fn due(&mut self, waits: impl Fn(&Read) -> bool) -> Vec<Read> {
        let judged = self.judged.map(|(number, _)| number);
        self.held.release(judged, waits)
    }

    /// What was read of the life of the group that ends with a step.
    pub fn of_life(&mut self, end: EventTime) -> Vec<Read> {
        self.held.release_until(end)
    }

    /// What was read and waits for no step any more: nothing written before is unread, and no
    /// step waits.
    pub fn overdue(&mut self, passed: impl Fn(ArrivalTime) -> bool) -> Vec<Read> {
        self.held.passed(passed)
    }

    /// Takes a status.
    pub fn wrote(&mut self, status: &Status, stamp: Stamp, switches: Switches) -> Costs {
        let item = status.item;
        let mut costs = Costs::new();
        if !self.lines.contains_key(&item) && self.lines.len() >= STATUS_ITEMS_MAX {
            return costs;
        }
        let now = Wrote {
            worker: Arc::clone(&status.worker),
            generation: status.generation,
            stamp,
        };
        let line = self.lines.remove(&item).unwrap_or(Line::Off);
        // Who was thrown out writes with the generation it had: another runs it by now.
        if let Line::Up(up) = &line
            && up.worker != now.worker
            && now.generation < up.generation
        {
            self.lines.insert(item, line);
            return costs;
        }
        let next = match status.state {
            RunState::Running => {
                self.ran(item, line, &now, switches, &mut costs);
                Line::Up(now)
            }
            RunState::Failed if switches.on(StoryRule::Downtime(1)) => {
                self.failed(item, line, now, switches, &mut costs)
            }
            RunState::Unassigned => self.stopped(item, line, now, &mut costs),
            RunState::Restarting => statuses::restarting(item, line, now, switches, &mut costs),
            RunState::Paused => self.wanted(item, line, &now, DownReason::Paused, &mut costs),
            RunState::Stopped => self.wanted(item, line, &now, DownReason::Stopped, &mut costs),
            RunState::Failed | RunState::Destroyed | RunState::Unknown => line,
        };
        self.put(item, next);
        costs
    }

    fn put(&mut self, item: WorkItem, line: Line) {
        match &line {
            Line::Down(stretch) if stretch.is_open() => self.pending.insert(item),
            _ => self.pending.remove(&item),
        };
        // What does not run and is not missed is what was never heard of.
        match line {
            Line::Off => self.lines.remove(&item),
            line => self.lines.insert(item, line),
        };
    }

    /// Whether something is known of an item.
    #[must_use]
    pub fn knows(&self, item: WorkItem) -> bool {
        self.lines.contains_key(&item)
    }

    /// Somebody asked for a pause: nobody misses the connector's work from then on.
    pub fn paused(
        &mut self,
        connector: ConnectorId,
        (at, live): (EventTime, bool),
        switches: Switches,
    ) -> Costs {
        let mut costs = Costs::new();
        if switches.on(StoryRule::Downtime(12)) {
            self.paused.insert(connector, (at, live));
            if self.paused.len() > CONFIG_CHANGES_MAX {
                self.paused.pop_first();
            }
            self.end_paused(connector, &mut costs);
        }
        costs
    }

    /// Somebody wants it to run, or to be stopped.
    pub fn not_paused(&mut self, connector: ConnectorId) {
        self.paused.remove(&connector);
    }

    /// What of a connector is down and has a reason was missed until it was paused: a pause may
    /// be read long before the step that says why its work stopped.
    fn end_paused(&mut self, connector: ConnectorId, costs: &mut Costs) {
        let Some(&(at, live)) = self.paused.get(&connector) else {
            return;
        };
        let lines = self
            .lines
            .range(reasons::from_task(connector, CONNECTOR_TASK));
        let down = lines.filter_map(|(item, line)| match line {
            Line::Down(stretch) => Some((*item, stretch.since, stretch.reason?)),
            Line::Up(_) | Line::Off => None,
        });
        for (item, since, reason) in down.collect::<Vec<_>>() {
            costs.push((Cost::Ended(item, reason, at.since_ms(since).max(0)), live));
            self.put(item, Line::Off);
        }
    }

    /// The status of an item was deleted: it is not to run any more. What it was told, or a
    /// step, says why.
    pub fn destroyed(&mut self, item: WorkItem, live: bool) -> Costs {
        let mut costs = Costs::new();
        match self.lines.remove(&item) {
            Some(Line::Up(up)) => {
                let stop = up.seen(live);
                let next = self.down(item, stop.stamp.at, stop, &mut costs);
                self.put(item, next);
            }
            // Whoever deletes it need not wait for its worker, nor for the step that ends it.
            Some(line @ Line::Down(_)) => self.put(item, line),
            Some(Line::Off) | None => {}
        }
        costs
    }

    /// A connector was configured anew: its worker restarts it, without a round.
    pub fn configured(&mut self, connector: ConnectorId, at: EventTime) {
        self.configured.insert((at, connector));
        if self.configured.len() > CONFIG_CHANGES_MAX {
            self.configured.pop_first();
        }
    }

    /// Restarts without a round have their reason once nothing that was written before they
    /// were seen is unread.
    pub fn settle(&mut self, passed: impl Fn(ArrivalTime) -> bool, switches: Switches) -> Costs {
        let mut costs = Costs::new();
        let mut over = std::mem::take(&mut self.over);
        over.retain(|over| {
            if !over.is_without_a_round() || !passed(over.start.stamp.had) {
                return true;
            }
            over.settle(self.restarted(over, switches), over.since, &mut costs);
            false
        });
        self.over = over;
        costs
    }

    fn restarted(&self, over: &Over, switches: Switches) -> DownReason {
        let connector = over.item.connector;
        let from = over.stop.stamp.at.minus_ms(RESTARTED_BY_MS);
        let to = over.start.stamp.at.plus_ms(TIMER_SLACK_MS);
        let in_time = self
            .configured
            .range((from, ConnectorId(0))..)
            .take_while(|(at, _)| *at <= to);
        let is_it = over.item.kind() == Kind::Connector
            && in_time.map(|(_, of)| *of).any(|of| of == connector);
        if is_it && switches.on(StoryRule::Downtime(6)) {
            DownReason::Reconfigured
        } else {
            DownReason::Restarted
        }
    }

    /// Since when the newest restart waits for its reason, or the newest status for its turn.
    #[must_use]
    pub fn waits_since(&self) -> Option<ArrivalTime> {
        let waiting = self.over.iter().filter(|over| over.is_without_a_round());
        let restarts = waiting.map(|over| over.start.stamp.had).max();
        restarts.max(self.held.since())
    }

    /// Tasks that do not run now, by connector and reason.
    #[must_use]
    pub fn unavailable(
        &self,
        configured: impl Fn(WorkItem) -> bool,
    ) -> BTreeMap<(ConnectorId, DownReason), u64> {
        let mut counts = BTreeMap::new();
        for (item, line) in &self.lines {
            if let Line::Down(stretch) = line
                && item.kind() == Kind::Task
                && configured(*item)
            {
                let reason = stretch.reason.unwrap_or(DownReason::Handover);
                let count: &mut u64 = counts.entry((item.connector, reason)).or_default();
                *count = count.saturating_add(1);
            }
        }
        counts
    }

    /// Forgets all: the log is another one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

// === impl Wrote ===

impl Wrote {
    /// Of what it says now, whether it is seen while the agent watches.
    fn seen(mut self, live: bool) -> Self {
        self.stamp.live = live;
        self
    }
}

// === impl Stretch ===

impl Stretch {
    /// Whether a step may say why, or that its worker is gone before it had restarted it.
    fn is_open(&self) -> bool {
        matches!(self.reason, None | Some(DownReason::Restarted))
    }
}
