//! What a status says of work that ran, or did not, until then.

use super::{Cost, Costs, Downtimes, Line, Over, Stretch, Wrote};
use crate::answers::{DownReason, HandoverHow};
use crate::facts::ids::WorkItem;
use crate::facts::time::EventTime;
use crate::limits::STRETCHES_OVER_MAX;
use crate::story::switches::{StoryRule, Switches};

// === impl Downtimes ===

impl Downtimes {
    /// Somebody says that it runs.
    pub(super) fn ran(
        &mut self,
        item: WorkItem,
        line: Line,
        now: &Wrote,
        switches: Switches,
        costs: &mut Costs,
    ) {
        match line {
            // A worker says so once a start: it was started again, or its process was.
            Line::Up(up) if up.worker != now.worker || up.generation != now.generation => {
                if up.worker != now.worker {
                    handed_over(item, false, now, switches, costs);
                }
                // That it stopped is seen only now.
                let stop = up.seen(now.stamp.live);
                self.is_over(item, None, stop, now.clone(), costs);
            }
            Line::Down(stretch) => {
                if stretch.stop.worker != now.worker {
                    handed_over(item, stretch.missed_in.is_none(), now, switches, costs);
                }
                self.ends(item, stretch, now, costs);
            }
            Line::Up(_) | Line::Off => {}
        }
    }

    /// A stretch ends; without a reason it waits for the step that gives it one.
    fn ends(&mut self, item: WorkItem, stretch: Stretch, now: &Wrote, costs: &mut Costs) {
        match stretch.reason {
            Some(reason) if !reason.is_wanted() => {
                let ms = now.stamp.at.since_ms(stretch.since).max(0);
                costs.push((Cost::Ended(item, reason, ms), now.stamp.live));
            }
            Some(_) => {}
            None => self.is_over(item, Some(stretch.since), stretch.stop, now.clone(), costs),
        }
    }

    fn is_over(
        &mut self,
        item: WorkItem,
        since: Option<EventTime>,
        stop: Wrote,
        start: Wrote,
        costs: &mut Costs,
    ) {
        let over = Over {
            item,
            since,
            stop,
            start,
        };
        // The round that led to the start told its reasons before this was seen.
        if let Some((judged, eager)) = self.judged
            && !over.is_without_a_round()
            && over.start.generation <= judged
        {
            let told = self.revoked.get(&item);
            let told = told.filter(|(worker, _)| *worker == over.stop.worker);
            let told = told.map(|(_, reason)| *reason);
            let found = told.or_else(|| self.changed.get(&item).copied());
            return over.settle_unless_orphan(found, over.since, eager, costs);
        }
        self.over.push(over);
        if self.over.len() > STRETCHES_OVER_MAX {
            let oldest = self.over.remove(0);
            oldest.settle(DownReason::Handover, oldest.since, costs);
        }
    }

    pub(super) fn failed(
        &mut self,
        item: WorkItem,
        line: Line,
        now: Wrote,
        switches: Switches,
        costs: &mut Costs,
    ) -> Line {
        let failed = |now: Wrote| {
            Line::Down(Stretch {
                since: now.stamp.at,
                stop: now,
                missed_in: None,
                reason: Some(DownReason::Failed),
            })
        };
        match line {
            Line::Down(stretch) if stretch.reason == Some(DownReason::Failed) => {
                Line::Down(Stretch {
                    stop: now,
                    missed_in: None,
                    ..stretch
                })
            }
            Line::Up(up) if up.worker == now.worker => {
                costs.push((Cost::Interrupted(item, DownReason::Failed), now.stamp.live));
                failed(now)
            }
            line => {
                self.ran(item, line, &now, switches, costs);
                failed(now)
            }
        }
    }

    pub(super) fn stopped(
        &mut self,
        item: WorkItem,
        line: Line,
        now: Wrote,
        costs: &mut Costs,
    ) -> Line {
        match line {
            Line::Up(up) if up.worker == now.worker => self.down(item, now.stamp.at, now, costs),
            // Who was missed before it had stopped says at last that it did; not who came in its
            // place.
            Line::Down(stretch)
                if stretch.stop.worker == now.worker
                    && stretch.missed_in.is_some_and(|by| now.generation < by) =>
            {
                Line::Down(Stretch {
                    missed_in: None,
                    ..stretch
                })
            }
            // Of who runs it no more, or of what is down already, nothing new.
            line => line,
        }
    }

    /// It runs no more: for what its worker was told, or for a reason that a step will say.
    pub(super) fn down(
        &self,
        item: WorkItem,
        since: EventTime,
        stop: Wrote,
        costs: &mut Costs,
    ) -> Line {
        let told = self.revoked.get(&item);
        let told = told.filter(|(worker, _)| *worker == stop.worker);
        let reason = told.map(|(_, reason)| *reason);
        if let Some(reason) = reason {
            costs.push((Cost::Interrupted(item, reason), stop.stamp.live));
            if reason.is_wanted() {
                return Line::Off;
            }
        }
        Line::Down(Stretch {
            since,
            stop,
            missed_in: None,
            reason,
        })
    }

    /// It does not run because somebody wants that.
    pub(super) fn wanted(
        &mut self,
        item: WorkItem,
        line: Line,
        now: &Wrote,
        reason: DownReason,
        costs: &mut Costs,
    ) -> Line {
        match line {
            Line::Up(up) if up.worker == now.worker => {
                costs.push((Cost::Interrupted(item, reason), now.stamp.live));
            }
            Line::Down(stretch) => self.ends(item, stretch, now, costs),
            Line::Up(_) | Line::Off => {}
        }
        Line::Off
    }
}

fn handed_over(item: WorkItem, clean: bool, now: &Wrote, switches: Switches, costs: &mut Costs) {
    let (how, rule) = if clean {
        (HandoverHow::Clean, StoryRule::Downtime(8))
    } else {
        (HandoverHow::Unclean, StoryRule::Downtime(9))
    };
    if switches.on(rule) {
        costs.push((Cost::HandedOver(item, how), now.stamp.live));
    }
}

pub(super) fn restarting(
    item: WorkItem,
    line: Line,
    now: Wrote,
    switches: Switches,
    costs: &mut Costs,
) -> Line {
    match line {
        Line::Up(up) if up.worker == now.worker && switches.on(StoryRule::Downtime(7)) => {
            costs.push((
                Cost::Interrupted(item, DownReason::Restarted),
                now.stamp.live,
            ));
            Line::Down(Stretch {
                since: now.stamp.at,
                stop: now,
                missed_in: None,
                reason: Some(DownReason::Restarted),
            })
        }
        line => line,
    }
}
