//! Stretches in which connectors and tasks really ran.

use super::reasons::{Context, connector_of};
use super::{Failure, Reason, Run, RunBegin, RunEnd};
use crate::truth::event::{Item, ItemKind, Step, TruthEvent, Verb, What};

/// A worker says so soon before or after that it sets the state a connector is to have.
const TARGET_MS_MAX: i64 = 5_000;

/// All runs, in the order in which they began, and all failures.
pub(super) fn runs(
    events: &[TruthEvent],
    true_ms: &dyn Fn(&TruthEvent) -> i64,
) -> (Vec<Run>, Vec<Failure>) {
    let mut tracker = Tracker::default();
    for event in events {
        let at_ms = true_ms(event);
        tracker.context.apply(event, at_ms);
        tracker.apply(event, at_ms);
    }
    tracker.decide(events, true_ms);
    tracker.runs.sort_by_key(|run| run.from_ms);
    (tracker.runs, tracker.failures)
}

#[derive(Debug, Default)]
struct Tracker {
    context: Context,
    runs: Vec<Run>,
    failures: Vec<Failure>,
    /// Runs of connectors and tasks that a state asked for may have stopped.
    undecided: Vec<usize>,
}

impl Tracker {
    fn apply(&mut self, event: &TruthEvent, at_ms: i64) {
        let process = &event.process;
        match &event.what {
            What::Item { item, step } => self.step((process, item), *step, at_ms),
            What::Alive { item } => {
                let started = |run: &&mut Run| run.is_of(process, item) && run.to_ms.is_none();
                if let Some(run) = self.runs.iter_mut().rfind(started) {
                    run.last_alive_ms = Some(at_ms);
                }
            }
            What::StatusRead { item, state, .. } if item.kind == ItemKind::Task => {
                self.read((process, item), state, at_ms);
            }
            What::HerderStopped => self.end_all(process, at_ms, RunEnd::Stopped),
            What::Script { verb, .. } => match verb {
                Verb::Kill => self.end_all(process, at_ms, RunEnd::Killed),
                Verb::Freeze => self.end_all(process, at_ms, RunEnd::Frozen),
                Verb::Thaw => self.thaw(process, at_ms),
                // What was not seen to end was gone by then.
                Verb::Start => self.end_all(process, at_ms, RunEnd::Killed),
                Verb::Stop | Verb::Cut | Verb::Mend => {}
            },
            _ => {}
        }
    }

    fn step(&mut self, (process, item): (&str, &Item), step: Step, at_ms: i64) {
        let connector = item.kind == ItemKind::Connector;
        match step {
            Step::StartEnds if connector => self.begin((process, item), RunBegin::Started, at_ms),
            Step::Started => self.begin((process, item), RunBegin::Started, at_ms),
            Step::StopAsked => self.ask((process, item), at_ms),
            // A pause, and a stop of the connector, tell the connector alone.
            Step::StopBegins if connector => {
                let going = |run: &Run| run.is_of(process, item) && run.to_ms.is_none();
                let asked = self
                    .runs
                    .iter()
                    .any(|run| going(run) && run.stop_asked_ms.is_some());
                if !asked {
                    self.ask((process, item), at_ms);
                    self.undecided.extend(self.runs.iter().rposition(going));
                }
            }
            Step::StopEnds | Step::StopInTime => {
                let stops = |run: &&mut Run| {
                    run.is_of(process, item) && run.to_ms.is_none() && run.stop_asked_ms.is_some()
                };
                if let Some(run) = self.runs.iter_mut().find(stops) {
                    run.to_ms = Some(at_ms);
                    let abandoned = run.gave_up_ms.is_some();
                    run.end = Some(if abandoned {
                        RunEnd::Abandoned
                    } else {
                        RunEnd::Stopped
                    });
                }
            }
            Step::StopTimedOut => {
                let stops = |run: &&mut Run| {
                    run.is_of(process, item) && run.to_ms.is_none() && run.stop_asked_ms.is_some()
                };
                if let Some(run) = self.runs.iter_mut().rfind(stops) {
                    run.gave_up_ms = Some(at_ms);
                }
            }
            Step::Failed => {
                let going = |run: &&mut Run| {
                    run.is_of(process, item) && run.to_ms.is_none() && run.gave_up_ms.is_none()
                };
                let run = self.runs.iter_mut().rfind(going);
                self.failures.push(Failure {
                    at_ms,
                    item: item.clone(),
                    worker: process.to_owned(),
                    starting: run.is_none(),
                });
                if let Some(run) = run {
                    run.finish(at_ms, RunEnd::Failed, Reason::Failed);
                }
            }
            // What runs already runs on.
            Step::StartRefused => self.failures.push(Failure {
                at_ms,
                item: item.clone(),
                worker: process.to_owned(),
                starting: true,
            }),
            Step::StartAsked | Step::StartBegins | Step::StartEnds | Step::StopBegins => {}
        }
    }

    fn begin(&mut self, (process, item): (&str, &Item), began: RunBegin, at_ms: i64) {
        self.runs.push(Run {
            item: item.clone(),
            worker: process.to_owned(),
            from_ms: at_ms,
            began,
            stop_asked_ms: None,
            gave_up_ms: None,
            last_alive_ms: None,
            to_ms: None,
            end: None,
            reason: None,
        });
    }

    fn ask(&mut self, (process, item): (&str, &Item), at_ms: i64) {
        let reason = self.context.reason(process, item, at_ms);
        let going = |run: &Run| {
            run.is_of(process, item) && run.to_ms.is_none() && run.stop_asked_ms.is_none()
        };
        let Some(index) = self.runs.iter().rposition(going) else {
            return;
        };
        let run = &mut self.runs[index];
        run.stop_asked_ms = Some(at_ms);
        run.reason = Some(reason);
        if matches!(reason, Reason::Reconfigured | Reason::Unknown) {
            self.undecided.push(index);
        }
    }

    /// Tasks pause and go on without a line; their own statuses tell.
    fn read(&mut self, (process, item): (&str, &Item), state: &str, at_ms: i64) {
        let newest = self.runs.iter_mut().rfind(|run| run.is_of(process, item));
        match (newest, state) {
            (Some(run), "PAUSED") if run.to_ms.is_none() && run.stop_asked_ms.is_none() => {
                run.finish(at_ms, RunEnd::Paused, Reason::Paused);
            }
            (Some(run), "RUNNING") if run.end == Some(RunEnd::Paused) => {
                self.begin((process, item), RunBegin::Resumed, at_ms);
            }
            _ => {}
        }
    }

    fn end_all(&mut self, process: &str, at_ms: i64, end: RunEnd) {
        for run in &mut self.runs {
            if run.worker == process && run.to_ms.is_none() {
                run.finish(at_ms, end, Reason::Lost);
            }
        }
    }

    /// What was frozen last goes on.
    fn thaw(&mut self, process: &str, at_ms: i64) {
        let frozen = |run: &&Run| run.worker == process && run.end == Some(RunEnd::Frozen);
        let last_ms = self
            .runs
            .iter()
            .filter(frozen)
            .filter_map(|run| run.to_ms)
            .max();
        let gone_on: Vec<Run> = self
            .runs
            .iter()
            .filter(frozen)
            .filter(|run| run.to_ms == last_ms)
            .cloned()
            .collect();
        for run in gone_on {
            self.begin((process, &run.item), RunBegin::Thawed, at_ms);
        }
    }

    /// Which state was asked for where a stop may have been for that.
    fn decide(&mut self, events: &[TruthEvent], true_ms: &dyn Fn(&TruthEvent) -> i64) {
        for index in std::mem::take(&mut self.undecided) {
            let run = &mut self.runs[index];
            let Some(asked_ms) = run.stop_asked_ms else {
                continue;
            };
            let connector = connector_of(&run.item);
            let nearest = events
                .iter()
                .filter_map(|event| match &event.what {
                    What::TargetState {
                        connector: of,
                        state,
                    } if of == connector => Some(((true_ms(event) - asked_ms).abs(), state)),
                    _ => None,
                })
                .min_by_key(|(apart_ms, _)| *apart_ms)
                .filter(|(apart_ms, _)| *apart_ms <= TARGET_MS_MAX);
            match nearest.map(|(_, state)| state.as_str()) {
                Some("STOPPED") => run.reason = Some(Reason::Stopped),
                Some("PAUSED") if run.item.kind == ItemKind::Connector => {
                    run.reason = Some(Reason::Paused);
                }
                _ => {}
            }
        }
    }
}

impl Run {
    fn is_of(&self, process: &str, item: &Item) -> bool {
        self.worker == process && self.item == *item
    }

    /// What was asked for before stays its reason.
    fn finish(&mut self, at_ms: i64, end: RunEnd, reason: Reason) {
        self.to_ms = Some(at_ms);
        self.end = Some(end);
        self.reason.get_or_insert(reason);
    }
}
