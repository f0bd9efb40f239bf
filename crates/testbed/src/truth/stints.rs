//! How long each connector and task ran where: one stint from a start to its stop, as the
//! worker and the fixture logged them.

use serde::{Deserialize, Serialize};

use super::event::{Item, Step, TruthEvent, Verb, What};

/// One run of a connector or task on one worker. An instant is absent where no line gives it:
/// nothing is logged of a stop by a worker that is killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stint {
    pub worker: String,
    pub item: Item,
    pub start_asked_ms: Option<i64>,
    /// The start is over: RUNNING is written next.
    pub started_ms: Option<i64>,
    pub stop_asked_ms: Option<i64>,
    /// The stop is over: UNASSIGNED was written, or is now.
    pub stopped_ms: Option<i64>,
    /// The worker gave up waiting; a task then never says that it stopped.
    #[serde(default)]
    pub timed_out: bool,
    pub failed_ms: Option<i64>,
    /// The process was killed while it ran.
    pub killed_ms: Option<i64>,
}

impl Stint {
    fn is_over(&self) -> bool {
        self.killed_ms.is_some() || self.stopped_ms.is_some() || self.timed_out
    }
}

/// All stints, in the order in which they began.
pub(super) fn stints(events: &[TruthEvent]) -> Vec<Stint> {
    let mut stints: Vec<Stint> = Vec::new();
    for event in events {
        match &event.what {
            What::Item { item, step } => step_of(&mut stints, event, item, *step),
            What::Script {
                verb: Verb::Kill,
                ended_ms,
            } => {
                let running = stints
                    .iter_mut()
                    .filter(|stint| stint.worker == event.process && !stint.is_over());
                for stint in running {
                    stint.killed_ms = Some(*ended_ms);
                }
            }
            _ => {}
        }
    }
    stints
}

fn step_of(stints: &mut Vec<Stint>, event: &TruthEvent, item: &Item, step: Step) {
    let at_ms = Some(event.at_ms);
    if step == Step::StartAsked {
        stints.push(Stint {
            worker: event.process.clone(),
            item: item.clone(),
            start_asked_ms: at_ms,
            started_ms: None,
            stop_asked_ms: None,
            stopped_ms: None,
            timed_out: false,
            failed_ms: None,
            killed_ms: None,
        });
        return;
    }
    let newest = stints
        .iter_mut()
        .rfind(|stint| stint.worker == event.process && stint.item == *item);
    // A step without a start: the log begins later.
    let Some(stint) = newest else { return };
    match step {
        // A task says so after its own start returned; a connector says nothing more.
        Step::StartEnds | Step::Started => stint.started_ms = at_ms,
        Step::StopAsked => stint.stop_asked_ms = at_ms,
        Step::StopInTime => stint.stopped_ms = at_ms,
        Step::StopTimedOut => stint.timed_out = true,
        Step::Failed => stint.failed_ms = at_ms,
        Step::StartAsked | Step::StartBegins | Step::StopBegins | Step::StopEnds => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::ItemKind;

    fn event(at_ms: i64, what: What) -> TruthEvent {
        TruthEvent {
            at_ms,
            process: "w".to_owned(),
            what,
        }
    }

    fn step(at_ms: i64, name: &str, step: Step) -> TruthEvent {
        let item = Item {
            kind: ItemKind::Task,
            name: name.to_owned(),
        };
        event(at_ms, What::Item { item, step })
    }

    #[test]
    fn a_restart_is_two_stints_and_a_kill_ends_what_runs() {
        let (verb, ended_ms) = (Verb::Kill, 61);
        let all = stints(&[
            step(1, "a-0", Step::StopInTime),
            step(10, "a-0", Step::StartAsked),
            step(11, "a-0", Step::StartBegins),
            step(12, "a-0", Step::StartEnds),
            step(13, "a-0", Step::Started),
            step(20, "a-0", Step::StopAsked),
            step(25, "a-0", Step::StopInTime),
            step(30, "a-0", Step::StartAsked),
            step(31, "a-0", Step::Started),
            step(40, "a-1", Step::StartAsked),
            step(50, "a-1", Step::StopAsked),
            step(55, "a-1", Step::StopTimedOut),
            event(60, What::Script { verb, ended_ms }),
        ]);
        let told: Vec<_> = all
            .iter()
            .map(|s| (s.started_ms, s.stopped_ms, s.timed_out, s.killed_ms))
            .collect();
        let expected = [
            (Some(13), Some(25), false, None),
            (Some(31), None, false, Some(61)),
            (None, None, true, None),
        ];
        assert_eq!(told, expected);
    }
}
