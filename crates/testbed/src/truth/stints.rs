//! How long each connector and task ran where: one stint from a start to its stop, as the
//! worker and the fixture logged them.

use std::collections::BTreeMap;

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
    /// The worker read its RUNNING back: it was written between the two. The first status of
    /// a JVM takes its time.
    #[serde(default)]
    pub running_read_ms: Option<i64>,
    pub stop_asked_ms: Option<i64>,
    /// The fixture's own stop is over: UNASSIGNED is written next.
    #[serde(default)]
    pub stop_ended_ms: Option<i64>,
    /// The herder saw the end: a task has written UNASSIGNED by then.
    pub stopped_ms: Option<i64>,
    /// The worker read its UNASSIGNED back; one that shuts down may not.
    #[serde(default)]
    pub unassigned_read_ms: Option<i64>,
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
pub(super) fn stints(events: &[TruthEvent], urls: &BTreeMap<String, String>) -> Vec<Stint> {
    let mut stints: Vec<Stint> = Vec::new();
    for event in events {
        match &event.what {
            What::Item { item, step } => step_of(&mut stints, event, item, *step),
            What::StatusRead {
                item,
                state,
                worker_id,
            } => {
                let own = urls.get(&event.process);
                if own.is_some_and(|url| url.contains(&format!("//{worker_id}/"))) {
                    read_back(&mut stints, event, item, state);
                }
            }
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
            running_read_ms: None,
            stop_asked_ms: None,
            stop_ended_ms: None,
            stopped_ms: None,
            unassigned_read_ms: None,
            timed_out: false,
            failed_ms: None,
            killed_ms: None,
        });
        return;
    }
    let is_own = |stint: &Stint| stint.worker == event.process && stint.item == *item;
    // One that the worker gave up waiting for may end after the next has begun.
    let late = |stint: &Stint| {
        let stops = stint.stop_asked_ms.is_some() && stint.stop_ended_ms.is_none();
        step == Step::StopEnds && stops && stint.stopped_ms.is_none() && stint.killed_ms.is_none()
    };
    let index = stints
        .iter()
        .position(|stint| is_own(stint) && late(stint))
        .or_else(|| stints.iter().rposition(is_own));
    // A step without a start: the log begins later.
    let Some(stint) = index.and_then(|index| stints.get_mut(index)) else {
        return;
    };
    match step {
        // A task says so after its own start returned; a connector says nothing more.
        Step::StartEnds | Step::Started => stint.started_ms = at_ms,
        Step::StopAsked => stint.stop_asked_ms = at_ms,
        Step::StopInTime => stint.stopped_ms = at_ms,
        Step::StopTimedOut => stint.timed_out = true,
        Step::Failed | Step::StartRefused => stint.failed_ms = at_ms,
        Step::StopEnds => stint.stop_ended_ms = at_ms,
        Step::StartAsked | Step::StartBegins | Step::StopBegins => {}
    }
}

/// A restart within one worker writes both states: the first stint that lacks one has it.
fn read_back(stints: &mut [Stint], event: &TruthEvent, item: &Item, state: &str) {
    let own = stints
        .iter_mut()
        .filter(|stint| stint.worker == event.process && stint.item == *item);
    for stint in own {
        let (since_ms, read_ms) = match state {
            "RUNNING" => (stint.started_ms, &mut stint.running_read_ms),
            "UNASSIGNED" => (stint.stop_asked_ms, &mut stint.unassigned_read_ms),
            _ => return,
        };
        if since_ms.is_some_and(|since_ms| since_ms <= event.at_ms) && read_ms.is_none() {
            *read_ms = Some(event.at_ms);
            return;
        }
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

    fn read(at_ms: i64, name: &str, state: &str, worker_id: &str) -> TruthEvent {
        let item = Item {
            kind: ItemKind::Task,
            name: name.to_owned(),
        };
        let (state, worker_id) = (state.to_owned(), worker_id.to_owned());
        event(
            at_ms,
            What::StatusRead {
                item,
                state,
                worker_id,
            },
        )
    }

    #[test]
    fn a_restart_is_two_stints_and_a_kill_ends_what_runs() {
        let (verb, ended_ms) = (Verb::Kill, 61);
        let events = [
            step(1, "a-0", Step::StopInTime),
            step(10, "a-0", Step::StartAsked),
            step(11, "a-0", Step::StartBegins),
            step(12, "a-0", Step::StartEnds),
            step(13, "a-0", Step::Started),
            read(14, "a-0", "RUNNING", "h:2"),
            read(15, "a-0", "RUNNING", "h:1"),
            step(20, "a-0", Step::StopAsked),
            step(25, "a-0", Step::StopInTime),
            read(26, "a-0", "UNASSIGNED", "h:1"),
            step(30, "a-0", Step::StartAsked),
            step(31, "a-0", Step::Started),
            read(32, "a-0", "RUNNING", "h:1"),
            step(40, "a-1", Step::StartAsked),
            step(50, "a-1", Step::StopAsked),
            step(55, "a-1", Step::StopTimedOut),
            event(60, What::Script { verb, ended_ms }),
        ];
        let urls = [("w".to_owned(), "http://h:1/".to_owned())].into();
        let all = stints(&events, &urls);
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
        let told: Vec<_> = all
            .iter()
            .map(|s| (s.running_read_ms, s.unassigned_read_ms))
            .collect();
        assert_eq!(told, [(Some(15), Some(26)), (Some(32), None), (None, None)]);
    }
    #[test]
    fn a_stop_that_ends_late_is_that_of_the_stint_that_was_given_up() {
        let events = [
            step(10, "a-0", Step::StartAsked),
            step(11, "a-0", Step::Started),
            step(20, "a-0", Step::StopAsked),
            step(22, "a-0", Step::StopTimedOut),
            step(23, "a-0", Step::StartAsked),
            step(24, "a-0", Step::Started),
            step(30, "a-0", Step::StopEnds),
        ];
        let urls = [("w".to_owned(), "http://h:1/".to_owned())].into();
        let all = stints(&events, &urls);
        let told: Vec<_> = all.iter().map(|s| s.stop_ended_ms).collect();
        assert_eq!(told, [Some(30), None]);
    }
}
