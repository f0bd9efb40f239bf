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
                let over = Over {
                    item,
                    since: None,
                    handed: handed_over(&up, false, now, switches),
                    // That it stopped is seen only now.
                    stop: up.seen(now.stamp.live),
                    start: now.clone(),
                };
                self.is_over(over, costs);
            }
            Line::Down(stretch) => {
                let clean = stretch.missed_in.is_none();
                let handed = handed_over(&stretch.stop, clean, now, switches);
                self.ends(item, stretch, now, handed, costs);
            }
            Line::Up(_) | Line::Off => {}
        }
    }

    /// A stretch ends; without a reason it waits for the step that gives it one.
    fn ends(
        &mut self,
        item: WorkItem,
        stretch: Stretch,
        now: &Wrote,
        handed: Option<HandoverHow>,
        costs: &mut Costs,
    ) {
        match stretch.reason {
            Some(reason) if !reason.is_wanted() => {
                let live = now.stamp.live;
                costs.extend(handed.map(|how| (Cost::HandedOver(item, how), live)));
                let ms = now.stamp.at.since_ms(stretch.since).max(0);
                costs.push((Cost::Ended(item, reason, ms), live));
            }
            Some(_) => {}
            None => {
                let over = Over {
                    item,
                    since: Some(stretch.since),
                    stop: stretch.stop,
                    start: now.clone(),
                    handed,
                };
                self.is_over(over, costs);
            }
        }
    }

    fn is_over(&mut self, over: Over, costs: &mut Costs) {
        // The round that led to the start told its reasons before this was seen.
        if let Some((judged, eager)) = self.judged
            && !over.is_without_a_round()
            && over.start.generation <= judged
        {
            let told = self.revoked.get(&over.item);
            let told = told.filter(|(worker, _)| *worker == over.stop.worker);
            let told = told.map(|(_, reason)| *reason);
            let found = told.or_else(|| self.changed.get(&over.item).copied());
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
            Line::Down(stretch) => self.ends(item, stretch, now, None, costs),
            Line::Up(_) | Line::Off => {}
        }
        Line::Off
    }
}

/// How another worker than the last got it.
fn handed_over(last: &Wrote, clean: bool, now: &Wrote, switches: Switches) -> Option<HandoverHow> {
    let (how, rule) = if clean {
        (HandoverHow::Clean, StoryRule::Downtime(8))
    } else {
        (HandoverHow::Unclean, StoryRule::Downtime(9))
    };
    (last.worker != now.worker && switches.on(rule)).then_some(how)
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
        // Workers write it once they have stopped it, and before they start it: that says why it
        // stopped, whatever was written to the config topic before.
        Line::Down(stretch)
            if stretch.reason.is_none()
                && stretch.stop.worker == now.worker
                && stretch.stop.generation == now.generation
                && switches.on(StoryRule::Downtime(7)) =>
        {
            costs.push((
                Cost::Interrupted(item, DownReason::Restarted),
                stretch.stop.stamp.live,
            ));
            Line::Down(Stretch {
                reason: Some(DownReason::Restarted),
                ..stretch
            })
        }
        line => line,
    }
}
