//! What was known when an episode closed is the same however late that is read.

use evenkeel_core::engine::{Change, Engine};

use crate::departures::THREE;
use crate::dsl::{Step, inputs};

/// What closed, with the pattern beside it and how its departures were told.
fn closed(scenario: &str) -> Vec<String> {
    let mut engine = Engine::new();
    let mut out = Vec::new();
    for step in inputs(scenario) {
        let Step::Input(input) = step else { continue };
        for change in engine.apply(&input) {
            if let Change::Closed(episode, beside) = change {
                let left = episode.departures.iter();
                let left = left.map(|left| (left.worker.to_string(), left.how, left.settled));
                let left: Vec<_> = left.collect();
                let (outcome, pattern) = (episode.outcome.unwrap(), beside.pattern);
                out.push(format!("{outcome:?} {pattern:?} {left:?}"));
            }
        }
    }
    out
}

/// A worker leaves three times; how it left the last time is settled before the next episode is
/// over.
const FLAPS: &str = "30.0 group 2 sessioned a off=5 join=29.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
 30.1 ends
 40.0 group 3 sessioned a off=5 join=39.9 delay=10000 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=none
 40.1 ends
 50.3 group 4 sessioned a off=5 join=50.2 | a: claim=foo,foo-0 | b: claim=foo-1 | c#2: claim=- add=foo-2
 50.8 status foo-2 RUNNING c 4
 51.0 ends
 80.0 group 5 sessioned a off=5 join=79.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
 80.1 ends
 90.0 group 6 sessioned a off=5 join=89.9 delay=10000 | a: claim=foo,foo-0 | b: claim=foo-1 | c#3: claim=none
 90.1 ends
 100.3 group 7 sessioned a off=5 join=100.2 | a: claim=foo,foo-0 | b: claim=foo-1 | c#3: claim=- add=foo-2
 100.8 status foo-2 RUNNING c 7
 101.0 ends
 130.0 group 8 sessioned a off=5 join=129.9 delay=20000 | a: claim=foo,foo-0 | b: claim=foo-1
 130.1 ends
 150.3 group 9 sessioned a off=5 join=150.2 | a: claim=foo,foo-0 | b: claim=foo-1 add=foo-2
 150.8 status foo-2 RUNNING b 9
 151.0 ends
 724.0 config tasks foo 3
 724.2 status foo-0 UNASSIGNED a 9
 724.2 status foo-1 UNASSIGNED b 9
 724.2 status foo-2 UNASSIGNED b 9
 725.0 group 10 sessioned a off=9 join=724.9 | a: claim=foo,foo-0 | b: claim=foo-1,foo-2
 725.2 status foo-0 RUNNING a 10
 725.2 status foo-1 RUNNING b 10
";

#[test]
fn what_was_settled_before_an_episode_was_over_is_known_at_its_end() {
    let live = format!(
        "{THREE}{FLAPS}726.0 ends\n732.0 ends\n735.0 status foo-2 RUNNING b 10\n736.0 ends\n"
    );
    let late = format!("{THREE}{FLAPS}735.0 status foo-2 RUNNING b 10\n736.0 ends\n");
    let live = closed(&live);
    assert!(
        live.last().unwrap().starts_with("Settled Flapping"),
        "{live:?}"
    );
    assert_eq!(closed(&late), live);
}

/// Rounds that fail without end, and rounds later that do not.
const LOOPS: &str =
    "10.0 group 2 sessioned a off=6 err=1 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
 11.0 group 3 sessioned a off=6 err=1 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
 12.0 group 4 sessioned a off=6 err=1 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
 13.0 group 5 sessioned a off=6 err=1 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
 14.0 group 6 sessioned a off=6 err=1 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
 15.0 group 7 sessioned a off=6 err=1 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
";
const CALM: &str =
    "100.0 group 8 sessioned a off=6 | a: claim=foo,foo-0 rev=foo | b: claim=foo-1 | c: claim=foo-2
 100.2 status foo UNASSIGNED a 7
 101.0 group 9 sessioned a off=6 | a: claim=foo-0 | b: claim=foo-1 add=foo | c: claim=foo-2
 101.3 status foo RUNNING b 9
 110.0 ends
";

#[test]
fn a_round_that_was_completed_later_ended_no_loop_before() {
    let live =
        format!("{THREE}5.0 config task foo-0\n{LOOPS}16.0 ends\n30.0 ends\n85.0 ends\n{CALM}");
    let late = format!("{THREE}5.0 config task foo-0\n{LOOPS}{CALM}");
    let live = closed(&live);
    assert!(
        live.iter().any(|told| told.starts_with("Unresolved Loop")),
        "{live:?}"
    );
    assert_eq!(closed(&late), live);
}
