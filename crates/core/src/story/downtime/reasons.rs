//! What a step says of work that stopped before it: why.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::{Cost, Costs, Downtimes, Line, Over, Stretch, Wrote};
use crate::answers::{DownReason, TasksRoot};
use crate::facts::ids::{CONNECTOR_TASK, ConnectorId, Kind, Protocol, WorkItem};
use crate::facts::observation::Member;
use crate::facts::sets;
use crate::facts::time::EventTime;
use crate::limits::TIMER_SLACK_MS;
use crate::story::config_log::What;
use crate::story::losses;
use crate::story::steps::Turn;
use crate::story::switches::StoryRule;

// === impl Downtimes ===

impl Downtimes {
    /// Takes a step: who is gone runs nothing any more, and what stopped before has a reason.
    pub fn judge(&mut self, turn: &Turn<'_>) -> Costs {
        let mut costs = Costs::new();
        for (place, old) in turn.leavers() {
            if turn.on(StoryRule::Downtime(2)) {
                let items = self.run_by(turn, place, old);
                self.gone(turn, old, &items, DownReason::Lost, &mut costs);
            }
        }
        if turn.on(StoryRule::Downtime(11)) {
            self.back(turn, &mut costs);
        }
        for (place, old) in turn.before().iter().enumerate() {
            if turn.on(StoryRule::Downtime(3)) && turn.dropped(place, old) {
                self.gone(
                    turn,
                    old,
                    &turn.held(place, old),
                    DownReason::Dropped,
                    &mut costs,
                );
            }
        }
        let told = turn.now().iter().flat_map(|member| {
            let items = member.revoked.iter();
            let why = |item: &WorkItem| {
                let wanted = by_config(turn, *item).filter(|reason| reason.is_wanted());
                let moved = turn.on(StoryRule::Downtime(5));
                wanted.or_else(|| moved.then_some(DownReason::Handover))
            };
            items.filter_map(move |item| Some((*item, (Arc::clone(&member.worker), why(item)?))))
        });
        self.revoked = told.collect();
        let changed = turn.changes().map(|change| change.connector);
        let changed: BTreeSet<ConnectorId> = changed.collect();
        let ran = changed.into_iter().flat_map(|connector| {
            let lines = self.lines.range(from_task(connector, CONNECTOR_TASK));
            lines.filter_map(|(item, _)| Some((*item, by_config(turn, *item)?)))
        });
        self.changed = ran.collect();
        let newest = turn.step.now.as_deref();
        self.judged = newest.map(|now| (now.generation, is_eager(turn)));
        self.explain_pending(turn, &mut costs);
        self.explain_over(turn, &mut costs);
        for connector in self.paused.keys().copied().collect::<Vec<_>>() {
            self.end_paused(connector, &mut costs);
        }
        if turn.on(StoryRule::Downtime(10)) {
            self.end_removed(turn, &mut costs);
        }
        costs
    }

    /// Nobody misses what is not configured any more.
    fn end_removed(&mut self, turn: &Turn<'_>, costs: &mut Costs) {
        for change in turn.changes() {
            let from = match change.what {
                What::Deleted => CONNECTOR_TASK,
                What::Committed { tasks, .. } => tasks,
                What::Created => continue,
            };
            let items = from_task(change.connector, from);
            let mut over = Vec::new();
            for (item, line) in self.lines.range(items) {
                if let Line::Down(Stretch {
                    since,
                    reason: Some(reason),
                    ..
                }) = line
                {
                    let ms = turn.step.recorded.since_ms(*since).max(0);
                    costs.push((Cost::Ended(*item, *reason, ms), turn.step.live));
                    over.push(*item);
                }
            }
            for item in over {
                self.put(item, Line::Off);
            }
        }
    }

    /// What a member ran, by its own words; where several write under one name, what it had.
    fn run_by(&self, turn: &Turn<'_>, place: usize, member: &Member) -> Vec<WorkItem> {
        let before = turn.step.before.as_deref();
        if before.is_some_and(|before| before.shares_worker(&member.worker)) {
            return turn.held(place, member);
        }
        let runs = |line: &Line| matches!(line, Line::Up(up) if up.worker == member.worker);
        let lines = self.lines.iter().filter(|(_, line)| runs(line));
        lines.map(|(item, _)| *item).collect()
    }

    /// Their owner is gone, or lost its coordinator, and wrote no stop.
    fn gone(
        &mut self,
        turn: &Turn<'_>,
        owner: &Member,
        held: &[WorkItem],
        reason: DownReason,
        costs: &mut Costs,
    ) {
        for item in held {
            let Some(Line::Up(up)) = self.lines.get(item) else {
                continue;
            };
            if up.worker != owner.worker || !is_before(turn, up) {
                continue;
            }
            let stretch = Stretch {
                since: turn.step.join_ended,
                stop: up.clone(),
                missed_in: Some(turn.generation()),
                reason: Some(reason),
            };
            costs.push((Cost::Interrupted(*item, reason), turn.step.live));
            self.put(*item, Line::Down(stretch));
        }
    }

    /// Who was missed joins with a claim to what it had: it was frozen, and runs it on without
    /// a word. A fresh process claims nothing yet.
    fn back(&mut self, turn: &Turn<'_>, costs: &mut Costs) {
        for member in turn.newcomers() {
            for item in member.claimed() {
                let Some(Line::Down(stretch)) = self.lines.get(item) else {
                    continue;
                };
                let missed = stretch.missed_in.is_some() && stretch.stop.worker == member.worker;
                if let Some(reason) = stretch.reason.filter(|_| missed) {
                    let ms = turn.step.join_ended.since_ms(stretch.since).max(0);
                    costs.push((Cost::Ended(*item, reason, ms), turn.step.live));
                    let up = stretch.stop.clone();
                    self.put(*item, Line::Up(up));
                }
            }
        }
    }

    fn explain_pending(&mut self, turn: &Turn<'_>, costs: &mut Costs) {
        let pending: Vec<WorkItem> = self.pending.iter().copied().collect();
        for item in pending {
            let Some(Line::Down(stretch)) = self.lines.get_mut(&item) else {
                continue;
            };
            if !is_before(turn, &stretch.stop) {
                continue;
            }
            let Some(reason) = reason(turn, item, &stretch.stop) else {
                continue;
            };
            // It was stopped to be restarted, and that was counted; now it is down because
            // nobody is there to do so, or is to. A stop is no reason twice.
            let is_counted = stretch.reason.is_some();
            let moved = match reason {
                DownReason::Lost | DownReason::Dropped => true,
                DownReason::Handover => !is_eager(turn),
                _ => false,
            };
            if is_counted && !moved {
                continue;
            }
            stretch.reason = Some(reason);
            if !is_counted {
                costs.push((Cost::Interrupted(item, reason), stretch.stop.stamp.live));
            }
            self.pending.remove(&item);
            if reason.is_wanted() {
                self.put(item, Line::Off);
            }
        }
    }

    fn explain_over(&mut self, turn: &Turn<'_>, costs: &mut Costs) {
        let mut over = std::mem::take(&mut self.over);
        over.retain(|over| {
            if over.is_without_a_round() || !is_before(turn, &over.stop) {
                return true;
            }
            over.explain(turn, costs);
            false
        });
        self.over = over;
    }
}

// === impl Over ===

impl Over {
    /// No round came between: a person, or the worker itself, restarted it.
    pub(super) fn is_without_a_round(&self) -> bool {
        self.stop.generation == self.start.generation && self.stop.worker == self.start.worker
    }

    fn count_handed(&self, costs: &mut Costs) {
        if let Some(how) = self.handed {
            costs.push((Cost::HandedOver(self.item, how), self.start.stamp.live));
        }
    }

    /// The reason is known: counts what it cost.
    pub(super) fn settle(&self, reason: DownReason, since: Option<EventTime>, costs: &mut Costs) {
        costs.push((Cost::Interrupted(self.item, reason), self.stop.stamp.live));
        // What was not to run meanwhile is handed over by nobody.
        if !reason.is_wanted() {
            self.count_handed(costs);
        }
        let Some(since) = since else {
            return;
        };
        if !reason.is_wanted() {
            let start = self.start.stamp;
            let ms = start.at.since_ms(since).max(0);
            costs.push((Cost::Ended(self.item, reason, ms), start.live));
        }
    }

    fn explain(&self, turn: &Turn<'_>, costs: &mut Costs) {
        let found = reason(turn, self.item, &self.stop);
        // Who is gone without a word ran it until then at most.
        let missed = matches!(found, Some(DownReason::Lost | DownReason::Dropped));
        let since = self
            .since
            .or_else(|| missed.then(|| turn.step.join_ended.min(self.start.stamp.at)));
        self.settle_unless_orphan(found, since, is_eager(turn), costs);
    }

    /// Work that an eager member should have stopped may run on beside who has it now (an
    /// orphan); one that was told to stop it gave up.
    pub(super) fn settle_unless_orphan(
        &self,
        found: Option<DownReason>,
        since: Option<EventTime>,
        eager: bool,
        costs: &mut Costs,
    ) {
        if since.is_none() && eager {
            self.count_handed(costs);
            return;
        }
        let reason = found.unwrap_or(if self.start.worker == self.stop.worker {
            DownReason::Restarted
        } else {
            DownReason::Handover
        });
        self.settle(reason, since, costs);
    }
}

/// Whether nobody is told what to stop: not in this round, or not in the one before.
fn is_eager(turn: &Turn<'_>) -> bool {
    let records = [turn.step.before.as_deref(), turn.step.now.as_deref()];
    let mut records = records.into_iter().flatten();
    records.any(|record| record.protocol == Some(Protocol::Eager))
}

/// Work of a connector from a task on; the connector itself comes first.
pub(super) fn from_task(connector: ConnectorId, task: i32) -> RangeInclusive<WorkItem> {
    let last = WorkItem {
        connector,
        task: i32::MAX,
    };
    WorkItem { connector, task }..=last
}

/// Whether a status was written before its worker could act on the step's record: by the number
/// that it had completed, whatever any clock says; in another life of the group by time, as far
/// as its worker's clock is known.
fn is_before(turn: &Turn<'_>, wrote: &Wrote) -> bool {
    match turn.step.now.as_deref() {
        Some(now) if turn.step.continues => wrote.generation < now.generation,
        _ => {
            let ahead_ms = turn.skews.of(&wrote.worker).most_ms;
            let latest = turn.step.recorded.plus_ms(TIMER_SLACK_MS);
            ahead_ms.is_none_or(|ms| wrote.stamp.written.minus_ms(ms) <= latest)
        }
    }
}

/// Why work stopped that a worker wrote the stop of before this record.
fn reason(turn: &Turn<'_>, item: WorkItem, stop: &Wrote) -> Option<DownReason> {
    let on = |rule| turn.on(StoryRule::Downtime(rule));
    let mut owners = turn.before().iter().enumerate();
    let owner = owners.find(|(_, old)| old.worker == stop.worker);
    let by_config = by_config(turn, item);
    if let Some((place, old)) = owner {
        let now = turn.present(&old.id);
        if now.is_none() && on(2) {
            return Some(DownReason::Lost);
        }
        if turn.dropped(place, old) && on(3) {
            return Some(DownReason::Dropped);
        }
        let revoked = now.is_some_and(|now| sets::contains(&now.revoked, item));
        let is_wanted = by_config.is_some_and(DownReason::is_wanted);
        if revoked && !is_wanted && on(5) {
            return Some(DownReason::Handover);
        }
    }
    let before = turn.step.before.as_deref();
    let eager = before.and_then(|before| before.protocol) == Some(Protocol::Eager);
    by_config.or((eager && owner.is_some() && on(5)).then_some(DownReason::Handover))
}

/// What the config topic says of work that stopped between the two records.
fn by_config(turn: &Turn<'_>, item: WorkItem) -> Option<DownReason> {
    let on = |rule| turn.on(StoryRule::Downtime(rule));
    let is_task = item.kind() == Kind::Task;
    let mut changes = turn
        .changes()
        .filter(|change| change.connector == item.connector);
    let found = changes.find_map(|change| match change.what {
        What::Deleted if on(4) => Some(DownReason::Deleted),
        What::Committed {
            root: TasksRoot::Stopped,
            ..
        } if is_task && on(4) => Some(DownReason::Stopped),
        What::Committed { tasks, .. } if is_task && item.task >= tasks && on(4) => {
            Some(DownReason::Deleted)
        }
        What::Committed { .. } if is_task && on(6) => Some(DownReason::Reconfigured),
        What::Committed { .. } | What::Created | What::Deleted => None,
    });
    // It was removed before: a leader that is new to the group revokes it one round later.
    found.or_else(|| {
        let removed = on(4) && !losses::is_configured(turn, item);
        removed.then_some(DownReason::Deleted)
    })
}
