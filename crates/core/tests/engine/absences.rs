//! A state that is taken up after an absence: what time it is, and what counts.

use evenkeel_core::answers::Cause;
use evenkeel_core::engine::{Change, Engine, State};
use evenkeel_core::facts::input::{Ends, Input, InputKind, Start, Topic};
use evenkeel_core::facts::time::ArrivalTime;

use crate::dsl::{BASE_MS, Step, inputs};

fn given(scenario: &str) -> Vec<Input> {
    let steps = inputs(scenario).into_iter();
    let input = |step| match step {
        Step::Input(input) => Some(input),
        _ => None,
    };
    steps.filter_map(input).collect()
}

fn run(engine: &mut Engine, inputs: &[Input]) -> Vec<Change> {
    inputs
        .iter()
        .flat_map(|input| engine.apply(input))
        .collect()
}

fn at(ms: i64) -> ArrivalTime {
    ArrivalTime(BASE_MS + ms)
}

/// Another process, `ms` after the scenario's beginning by its own clock. `missed` was written
/// meanwhile: history, up to which everything is read.
fn after_absence(engine: &Engine, ms: i64, missed: &[Input]) -> (Engine, Vec<Change>) {
    let written = serde_json::to_vec(engine.state()).unwrap();
    let state: State = serde_json::from_slice(&written).unwrap();
    let mut engine = Engine::resume(state, at(ms));
    for topic in Topic::ALL {
        let is_of = |input: &&Input| matches!(&input.kind, InputKind::Record(record) if record.topic == topic);
        let more = i64::try_from(missed.iter().filter(is_of).count()).unwrap();
        for (partition, offset) in engine.state().read_to(topic) {
            let end = offset + more;
            let start = Start {
                topic,
                partition,
                offset,
                end,
                anew: false,
            };
            engine.apply(&Input {
                at: at(ms),
                kind: InputKind::Start(start),
            });
        }
    }
    for input in missed {
        engine.apply(&Input {
            at: at(ms),
            kind: input.kind.clone(),
        });
    }
    let changes = asks_ends(&mut engine, ms);
    (engine, changes)
}

/// All is read up to the ends that are asked for now.
fn asks_ends(engine: &mut Engine, ms: i64) -> Vec<Change> {
    let ends = Topic::ALL.map(|topic| {
        let ends = engine.state().read_to(topic);
        let kind = InputKind::Ends(Ends {
            topic,
            asked: at(ms),
            ends,
        });
        Input { at: at(ms), kind }
    });
    run(engine, &ends)
}

fn closed(changes: &[Change]) -> usize {
    let is_closed = |change: &&Change| matches!(change, Change::Closed(..));
    changes.iter().filter(is_closed).count()
}

/// The clock of the new process is an hour ahead: no timer runs on that account. Time goes on
/// from where it stood, and the minute after which nothing moved is a minute.
#[test]
fn another_clock_lets_no_timer_run() {
    let mut engine = Engine::new();
    let before = "0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo
         1.5 status foo RUNNING a 1
         9.0 group 2 sessioned a off=4 | a: claim=foo rev=foo
         9.5 ends";
    run(&mut engine, &given(before));
    let (mut engine, changes) = after_absence(&engine, 3_600_000, &[]);
    assert_eq!(closed(&changes), 0);
    assert_eq!(closed(&asks_ends(&mut engine, 3_600_000 + 50_000)), 0);
    assert_eq!(closed(&asks_ends(&mut engine, 3_600_000 + 61_000)), 1);
}

/// Nobody knows which of the numbers without a record ended during the absence.
#[test]
fn numbers_without_a_record_across_an_absence_are_not_counted() {
    let whole = given(
        "0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=-
         2.0 group 2 sessioned a off=4 | a: claim=-
         2.1 ends
         9.0 group 5 sessioned a off=4 | a: claim=-
         9.1 ends
         10.0 group 8 sessioned a off=4 | a: claim=-
         10.1 ends",
    );
    let next = |input: &Input| input.at >= at(9_000);
    let cut = whole.iter().position(next).unwrap();
    let aborted = |engine: &Engine| {
        let counters = engine.state().counters();
        counters.generations_of(evenkeel_core::answers::Outcome::Aborted)
    };
    let mut uninterrupted = Engine::new();
    run(&mut uninterrupted, &whole);
    assert_eq!(aborted(&uninterrupted), 4);
    let mut engine = Engine::new();
    run(&mut engine, &whole[..cut]);
    let (mut engine, _) = after_absence(&engine, 8_000, &[]);
    run(&mut engine, &whole[cut..]);
    assert_eq!(aborted(&engine), 2);
}

/// A record that was written just before the end, and not read: what it ended is history,
/// whatever the clocks say.
#[test]
fn a_record_that_was_on_its_way_is_history() {
    let whole = given(
        "0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none
         1.1 ends
         5.0 ends
         5.0 group 2 empty stamped=4.9
         5.1 ends",
    );
    let is_last = |input: &Input| matches!(input.kind, InputKind::Record(_));
    let cut = whole.iter().rposition(is_last).unwrap();
    let emptied = |engine: &Engine| {
        let rebalances = &engine.state().counters().rebalances;
        rebalances.get(&Cause::GroupEmptied).copied().unwrap_or(0)
    };
    let mut uninterrupted = Engine::new();
    run(&mut uninterrupted, &whole);
    assert_eq!(emptied(&uninterrupted), 1);
    let mut engine = Engine::new();
    run(&mut engine, &whole[..cut]);
    let (engine, changes) = after_absence(&engine, 60_000, &whole[cut..=cut]);
    assert_eq!((emptied(&engine), closed(&changes)), (0, 1));
}
