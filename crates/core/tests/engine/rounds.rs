//! The rules that settle a generation: each alone, and all in order.

use crate::dsl::check;

/// Rule 3: the next claims follow; rule 5: nothing follows for two rebalance timeouts.
#[test]
fn rules_3_and_5_claims_follow_and_quiet() {
    check(
        "0.0 ends
         0.5 config connector foo
         1.0 group 1 sessioned a off=1 | a: claim=none add=foo,foo-0,foo-1
         9.0 group 2 sessioned a off=1 | a: claim=foo,foo-0,foo-1 rev=foo-0 | b: claim=none
         9.5 group 3 sessioned a off=1 | a: claim=foo,foo-1 | b: claim=- add=foo-0
         60.0 ends
         134.0 ends
         134.5 ends
         134.6 show",
        "incarnation 1 from generation 1
         gen 1 completed by rule 3
         gen 2 completed by rule 3
         gen 3 completed by rule 5
         stable 3 sessioned led by a
         a owns foo,foo-1
         b owns foo-0
         counted completed=3 revoked.task.asked=1 assigned.connector=1 assigned.task=3",
    );
}

/// Rule 6: the claim is what it was before the record: nobody applied it.
#[test]
fn rule_6_record_without_effect() {
    check(
        "0.0 ends
         1.0 group 5 sessioned a | a: claim=foo,foo-0 rev=foo-0 | b: claim=-
         1.2 group 6 sessioned a | a: claim=foo,foo-0 rev=foo-0 missed | b: claim=- missed
         1.3 ends
         2.0 group 7 sessioned a | a: claim=foo | b: claim=- add=foo-0
         2.5 show",
        "incarnation 1 from generation 5
         gen 5 aborted by rule 6
         gen 6 completed by rule 3
         stable 7 sessioned led by a
         a owns foo
         b owns foo-0
         counted completed=1 aborted=1 revoked.task.asked=1",
    );
}

/// Rule 7: members that come back without a claim say nothing: who was told, if
/// only of nothing, would have an empty one.
#[test]
fn rule_7_where_nobody_remembers_the_round() {
    check(
        "0.0 ends
         1.0 group 1 sessioned a | a: claim=none | b: claim=none
         1.1 group 2 sessioned a | a: claim=none | b: claim=none | c: claim=none
         1.2 ends
         2.0 group 3 sessioned a | a: claim=- | b: claim=- | c: claim=-
         2.5 ends
         2.6 show",
        "incarnation 1 from generation 1
         gen 1 unknown by rule 7
         gen 2 completed by rule 3
         stable 3 sessioned led by a
         a owns
         b owns
         c owns
         counted completed=1 unknown=1",
    );
}

/// Rule 4: an eager round has no claims; a status with its generation proves it, and of whom
/// none is read it is not proven that it got its work. The verdict waits for the barrier.
#[test]
fn rule_4_eager_round_by_status() {
    check(
        "0.0 ends
         1.0 group 1 default a | a: add=foo,foo-0 | b: add=foo-1
         1.5 status foo-0 RUNNING a 1
         3.0 group 2 default a | a: add=foo,foo-1 | b: add=foo-0
         3.5 ends
         3.6 show",
        "incarnation 1 from generation 1
         gen 1 completed by rule 4
         stable 2 eager led by a
         a owns foo,foo-1
         b owns foo-0
         counted completed=1 revoked.connector.implied=1 revoked.task.implied=1 assigned.connector=1 assigned.task=1",
    );
}

/// Rule 4 takes no status that was written after the next join phase ended, whoever read
/// it when.
#[test]
fn rule_4_status_after_the_next_join_is_no_proof() {
    check(
        "0.0 ends
         1.0 group 1 default a | a: add=foo
         3.0 group 2 default a | a: add=foo
         3.2 status foo RUNNING a 1
         3.5 ends",
        "incarnation 1 from generation 1
         gen 1 unknown by rule 7",
    );
}

/// Rule 1 and rule 2; what a claim carries of the round before is proof, too.
#[test]
fn rules_1_and_2() {
    check(
        "0.0 ends
         1.0 group 1 sessioned a | a: claim=- | b: claim=-
         2.0 group 2 sessioned a err=1 | a: claim=-
         3.0 group 3 empty
         3.4 ends
         3.5 show",
        "incarnation 1 from generation 1
         gen 1 completed by rule 3
         gen 2 mismatch by rule 2
         gen 3 emptied by rule 1
         empty 3 - led by -
         counted completed=1 mismatch=1 emptied=1 config_mismatch=1",
    );
}

/// Rule 8: numbers without a record are aborted rounds where the log is whole, and
/// unknown where the agent did not watch. Those before the first record that was watched
/// may have been before, and are not counted.
#[test]
fn rule_8_missing_numbers() {
    check(
        "1.0 group 3 sessioned a | a: claim=-
         2.0 group 6 sessioned a | a: claim=-
         3.0 live
         3.1 ends
         4.0 group 9 sessioned a | a: claim=-
         5.0 ends
         5.1 show
         6.0 group 12 sessioned a | a: claim=-
         7.0 ends
         7.1 show",
        "incarnation 1 from generation 3
         gen 3 completed by rule 3
         missing 2 from 4: unknown
         missing 2 from 7: aborted
         gen 6 unknown by rule 7
         stable 9 sessioned led by a
         a owns 
         counted 
         missing 2 from 10: aborted
         gen 9 unknown by rule 7
         stable 12 sessioned led by a
         a owns 
         counted aborted=2 unknown=1",
    );
}

/// History is derived, never counted: only what a record shows that was written while the
/// agent watched is, wherever its proof is found.
#[test]
fn history_is_not_counted() {
    check(
        "1.0 group 1 sessioned a | a: claim=none add=foo
         2.0 group 2 sessioned a | a: claim=foo | b: claim=none
         3.0 group 3 sessioned b | b: claim=- add=foo
         4.0 live
         4.1 ends
         4.2 show
         5.0 group 4 sessioned b | b: claim=foo
         6.0 show",
        "incarnation 1 from generation 1
         gen 1 completed by rule 3
         gen 2 completed by rule 3
         stable 3 sessioned led by b
         b owns foo
         counted
         gen 3 completed by rule 3
         stable 4 sessioned led by b
         b owns foo
         counted",
    );
}

/// Rule 5 fires at its event time: the sidecar that asked before the next record, and the
/// one that only saw the next record, agree.
#[test]
fn rule_5_does_not_depend_on_when_a_sidecar_asks() {
    let verdict = "incarnation 1 from generation 1
         gen 1 completed by rule 5
         gen 2 emptied by rule 1";
    check(
        "0.0 ends
         1.0 group 1 sessioned a | a: claim=none
         127.0 ends
         130.0 group 2 empty
         131.0 ends",
        verdict,
    );
    check(
        "0.0 ends
         1.0 group 1 sessioned a | a: claim=none
         130.0 group 2 empty
         131.0 ends",
        verdict,
    );
}

/// A follower that did not ask for its assignment before the next rebalance got nothing,
/// although the round was completed: what it was told is not counted for it.
#[test]
fn a_member_that_got_nothing_is_not_counted() {
    check(
        "0.0 ends
         1.0 group 5 sessioned a | a: claim=- add=x | b: claim=- add=y
         2.0 group 6 sessioned a | a: claim=x | b: claim=- add=y missed | c: claim=none
         3.0 group 7 sessioned a | a: claim=x | b: claim=y | c: claim=-
         3.5 ends
         3.5 show",
        "incarnation 1 from generation 5
         gen 5 completed by rule 3
         gen 6 completed by rule 3
         stable 7 sessioned led by a
         a owns x
         b owns y
         c owns
         counted completed=2 assigned.connector=2",
    );
}

/// A record that nobody applied drops nothing: the work never ran.
#[test]
fn work_that_was_never_taken_is_not_dropped() {
    check(
        "0.0 ends
         1.0 group 1 sessioned a | a: claim=none add=foo,foo-0
         1.2 group 2 sessioned a | a: claim=none add=foo,foo-0 | b: claim=none
         1.5 ends
         1.5 show",
        "incarnation 1 from generation 1
         gen 1 unknown by rule 7
         stable 2 sessioned led by a
         a owns foo,foo-0
         b owns
         counted unknown=1",
    );
}

/// A round that cannot be settled does not keep all that come after it.
#[test]
fn rounds_stay_bounded_behind_an_open_one() {
    use std::fmt::Write as _;

    use evenkeel_core::engine::Engine;

    use crate::dsl::{Step, inputs};

    let mut scenario = String::from(
        "0.0 ends\n1.0 group 1 default a | a: add=foo\n1.1 group 2 default a | a: add=foo\n",
    );
    for round in 0..3000 {
        let at = 1.2 + f64::from(round) * 0.004;
        writeln!(scenario, "{at:.3} group {} default a err=1 | a:", round + 3).unwrap();
    }
    let mut engine = Engine::new();
    for step in inputs(&scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    let state = serde_json::to_vec(engine.state()).unwrap();
    assert!(state.len() < 400_000, "{} bytes of state", state.len());
}

/// A coordinator's clock that was an hour ahead for one record: after it was set back,
/// time passes from there, and the finding is seen.
#[test]
fn a_clock_set_back_is_another_clock() {
    check(
        "0.0 ends
         1.0 group 1 sessioned a | a: claim=none
         2.0 group 2 sessioned a stamped=3602.0 | a: claim=-
         3.0 group 3 sessioned a | a: claim=- | b: claim=none
         8.0 ends
         8.1 show",
        "incarnation 1 from generation 1
         gen 1 completed by rule 3
         gen 2 unknown by rule 7
         stable 3 sessioned led by a
         a owns 
         b owns 
         counted completed=1 unknown=1
         finding clock_step_back cg",
    );
}
