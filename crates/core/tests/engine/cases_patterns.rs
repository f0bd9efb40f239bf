//! Real incidents as data: what they look like (D13), and how work was spread (D15). See
//! `cases.rs`.

use std::fmt::Write as _;

use evenkeel_core::answers::{Answers, Pattern};
use evenkeel_core::facts::ids::Kind;

use crate::cases_groups::answers;

fn pattern(told: &Answers) -> (Pattern, Vec<&str>) {
    let pattern = told.pattern.as_ref().unwrap();
    let subjects = pattern.subjects.iter().map(|subject| &**subject);
    (pattern.pattern, subjects.collect())
}

/// What was counted for a pattern's first rule.
fn counted(told: &Answers, pattern: Pattern) -> u64 {
    let numbers = &told.pattern.as_ref().unwrap().numbers;
    let of_it = numbers.iter().find(|number| number.pattern == pattern);
    of_it.unwrap().counted
}

/// About 195 generations a second, of which one in three reaches the log: a loop within
/// seconds, and quiet two minutes after the last of it.
#[test]
fn o_02_a_loop_of_mismatches() {
    let mut scenario = String::from(
        "0.0 ends
         0.5 group 305655830 sessioned a off=11 | a: claim=- | b: claim=-
         0.6 ends\n",
    );
    for round in 0..400_u32 {
        let at = 1.0 + f64::from(round) * 0.0154;
        let generation = 305_655_831 + 3 * round;
        writeln!(
            scenario,
            "{at:.3} group {generation} sessioned a off=12 err=1 | a: claim=- | b: claim=-"
        )
        .unwrap();
        if round % 50 == 49 {
            writeln!(scenario, "{:.3} ends", at + 0.001).unwrap();
        }
    }
    let told = answers(&scenario);
    assert_eq!(pattern(&told), (Pattern::Loop, vec![]));
    assert_eq!(counted(&told, Pattern::Loop), 1 + 399 * 3);
    let told = answers(&format!("{scenario}\n120.0 ends"));
    assert_eq!(pattern(&told).0, Pattern::Loop);
    let told = answers(&format!("{scenario}\n128.0 ends"));
    assert_eq!(counted(&told, Pattern::Loop), 0);
    assert_eq!(pattern(&told).0, Pattern::Storm);
    let told = answers(&format!("{scenario}\n608.0 ends"));
    assert_eq!(pattern(&told), (Pattern::Quiet, vec![]));
}

/// A connector that writes its tasks at every start drives the group, every 7.2 s: a storm
/// from the 21st generation on, and churn before. Nobody left.
#[test]
fn o_06_a_storm_that_a_connector_drives() {
    let cycles = |cycles: u32| {
        let mut scenario = String::from(
            "0.0 config connector foo content=1
             0.0 config tasks foo 1
             0.1 ends\n",
        );
        for cycle in 0..cycles {
            let at = 1.0 + 7.2 * f64::from(cycle);
            let (generation, offset) = (cycle + 5, 2 * cycle + 3);
            let mut line = |after: f64, line: &str| {
                writeln!(scenario, "{:.1} {line}", at + after).unwrap();
            };
            line(
                0.0,
                &format!("group {generation} default a off={offset} | a: add=foo | b: add=foo-0"),
            );
            line(0.2, &format!("status foo-0 RUNNING b {generation}"));
            line(0.3, &format!("status foo RUNNING a {generation}"));
            line(0.5, "ends");
            line(0.8, "config tasks foo 1");
            line(5.0, &format!("status foo-0 UNASSIGNED b {generation}"));
            line(5.1, &format!("status foo UNASSIGNED a {generation}"));
        }
        answers(&scenario)
    };
    assert_eq!(pattern(&cycles(3)), (Pattern::Quiet, vec![]));
    assert_eq!(pattern(&cycles(4)), (Pattern::Churn, vec!["foo"]));
    assert_eq!(pattern(&cycles(21)), (Pattern::Churn, vec!["foo"]));
    let told = cycles(22);
    assert_eq!(pattern(&told), (Pattern::Storm, vec!["foo"]));
    let evidence = &told.pattern.as_ref().unwrap().evidence;
    assert!(
        evidence.contains("21 as the connector itself asked for it, 21 without any change"),
        "{evidence}"
    );
    // After ten minutes as many as the ticket says: 83 in 600 s.
    assert_eq!(counted(&cycles(90), Pattern::Storm), 83);
}

/// Generations that never reach the log are a loop, since the log is whole.
#[test]
fn o_07_a_loop_that_leaves_no_records() {
    let scenario = "0.0 ends
         10.0 group 75990 sessioned a | a: claim=- | b: claim=-
         12.0 ends
         22.0 ends
         32.0 ends
         35.5 group 76110 sessioned a | a: claim=- | b: claim=-
         35.6 ends";
    let told = answers(scenario);
    assert_eq!(pattern(&told), (Pattern::Loop, vec![]));
    assert_eq!(counted(&told, Pattern::Loop), 119);
    assert_eq!(counted(&told, Pattern::Storm), 120);
    // The same read later, as history: nobody knows when these numbers were, or what became
    // of them.
    let late = format!(
        "{}\n35.7 live\n36.0 ends",
        scenario.replace("ends\n", "show\n")
    );
    let told = answers(&late);
    assert_eq!(pattern(&told), (Pattern::Quiet, vec![]));
}

/// One pod replaced is neither a storm nor a rollout.
#[test]
fn o_08_one_pod_replaced_is_quiet() {
    let told = answers(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 7 sessioned a off=4 | a: claim=foo | b: claim=foo-0 | c: claim=foo-1
         1.1 ends
         20.0 status foo-1 UNASSIGNED c 7
         20.2 group 8 sessioned a off=4 delay=300000 | a: claim=foo | b: claim=foo-0
         20.3 ends
         60.0 group 9 sessioned a off=4 delay=260000 | a: claim=foo | b: claim=foo-0 | d: claim=none
         60.1 ends
         320.5 group 10 sessioned a off=4 | a: claim=foo | b: claim=foo-0 | d: claim=- add=foo-1
         321.0 status foo-1 RUNNING d 10
         322.0 ends",
    );
    assert_eq!(pattern(&told), (Pattern::Quiet, vec![]));
    assert_eq!(counted(&told, Pattern::Rollout), 1);
}

/// Thrown out and back every two minutes, under new member ids: one worker flaps.
#[test]
fn o_15_a_worker_flaps() {
    let mut scenario = String::from(
        "0.0 config connector mm
         0.0 config tasks mm 2
         0.1 ends
         1.0 group 10 sessioned b off=4 | a: claim=none add=mm,mm-0 | b: claim=none add=mm-1
         1.3 status mm RUNNING a 10
         1.3 status mm-0 RUNNING a 10
         1.3 status mm-1 RUNNING b 10
         1.5 ends\n",
    );
    let mut seen = Vec::new();
    for turn in 0..3 {
        let (at, generation) = (60 + 120 * turn, 11 + 2 * turn);
        scenario += &format!(
            "{at}.0 group {generation} sessioned b off=4 delay=300000 | b: claim=mm-1
             {at}.1 ends
             {}.0 group {} sessioned b off=4 | a#{}: claim=mm,mm-0 | b: claim=mm-1
             {}.1 ends\n",
            at + 60,
            generation + 1,
            turn + 2,
            at + 60,
        );
        let told = answers(&scenario);
        seen.push((pattern(&told).0, counted(&told, Pattern::Flapping)));
    }
    assert_eq!(
        seen,
        [
            (Pattern::Quiet, 1),
            (Pattern::Quiet, 2),
            (Pattern::Flapping, 3)
        ]
    );
    assert_eq!(pattern(&answers(&scenario)).1, ["a:8083"]);
}

/// The old assignor leaves 6/6/4 where 6/5/5 would do, and lets one of two newcomers have
/// all; connectors are balanced for themselves.
#[test]
fn o_36_how_far_from_the_best_split() {
    let list = |from: u32, to: u32| {
        let tasks: Vec<String> = (from..to).map(|task| format!("t-{task}")).collect();
        tasks.join(",")
    };
    let of = |first: u32, second: u32| {
        let told = answers(&format!(
            "0.0 config connector t
             0.0 config tasks t 16
             0.1 ends
             1.0 group 4 sessioned w0 off=18 | w0: claim=t,{} | w1: claim={} | w2: claim=-,{}
             1.1 ends
             130.0 ends",
            list(0, first),
            list(first, first + second),
            list(first + second, 16),
        ));
        let balance = told.balance.unwrap();
        let kinds = balance.kinds.iter();
        let above: Vec<(Kind, u64)> = kinds.map(|each| (each.kind, each.imbalance)).collect();
        assert_eq!(above[0], (Kind::Connector, 0));
        let connectors = balance.connectors.iter();
        let bunched: u64 = connectors.map(|each| each.above).sum();
        (above[1].1, bunched)
    };
    assert_eq!(of(8, 8), (4, 4));
    assert_eq!(of(6, 6), (0, 0));
    assert_eq!(of(6, 5), (0, 0));
    assert_eq!(of(10, 0), (4, 4));
}

/// Workers join one after the other, and the leader waits longer each time before it revokes
/// again: each has another reason, and it converges.
#[test]
fn o_37_revocations_that_converge() {
    let told = answers(
        "0.0 config connector t
         0.0 config tasks t 5
         0.1 ends
         1.0 group 1 sessioned a off=7 | a: claim=t,t-0,t-1,t-2,t-3,t-4
         20.0 group 2 sessioned a off=7 join=19.9 | a: claim=t,t-0,t-1,t-2,t-3,t-4 rev=t-2,t-3,t-4 | b: claim=none
         20.3 group 3 sessioned a off=7 join=20.2 delay=1600 | a: claim=t,t-0,t-1 | b: claim=- add=t-2,t-3,t-4 | c: claim=none
         22.0 group 4 sessioned a off=7 join=21.95 | a: claim=t,t-0,t-1 rev=t-1 | b: claim=t-2,t-3,t-4 rev=t-4 | c: claim=-
         22.3 group 5 sessioned a off=7 join=22.25 | a: claim=t,t-0 | b: claim=t-2,t-3 | c: claim=- add=t-1,t-4
         23.5 ends",
    );
    assert_eq!(pattern(&told), (Pattern::Quiet, vec![]));
}

/// A script creates a hundred connectors in a minute: 200 generations, and a person wrote
/// configuration all the time. No storm, and nobody to blame.
#[test]
fn o_54_a_script_is_no_storm() {
    let mut scenario = String::from(
        "0.1 ends
         0.5 group 1 sessioned a off=0 | a: claim=none
         0.6 ends\n",
    );
    let mut claim = String::from("-");
    for number in 0..100_u32 {
        let (at, name) = (1.0 + 0.6 * f64::from(number), format!("c{number:02}"));
        let (first, offset) = (2 * number + 2, 3 * number + 1);
        let second = first + 1;
        let last = offset + 2;
        let before = claim.clone();
        write!(claim, ",{name}").unwrap();
        writeln!(
            scenario,
            "{at:.2} config connector {name}
             {:.2} group {first} sessioned a off={offset} | a: claim={before} add={name}
             {:.2} config tasks {name} 1
             {:.2} group {second} sessioned a off={last} | a: claim={claim} add={name}-0
             {:.2} ends",
            at + 0.1,
            at + 0.2,
            at + 0.3,
            at + 0.4,
        )
        .unwrap();
        write!(claim, ",{name}-0").unwrap();
    }
    let told = answers(&scenario);
    assert_eq!(told.recent.in_10m, 201);
    assert_eq!(pattern(&told), (Pattern::Quiet, vec![]));
    assert!(counted(&told, Pattern::Storm) <= 1);
}
