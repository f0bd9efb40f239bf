//! D2 to D5: who owns what, why the rest has no owner, and until when.

use crate::dsl::check;

/// Fact sheet 10.1: a worker joins; what it gets is revoked in one round and handed out
/// in the next.
#[test]
fn revoked_between_two_rounds() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
         9.0 group 2 sessioned a off=4 | a: claim=foo,foo-0,foo-1 rev=foo-1 | b: claim=none
         9.1 ends
         9.1 show
         9.5 group 3 sessioned a off=4 | a: claim=foo,foo-0 | b: claim=- add=foo-1
         9.6 ends
         9.6 show",
        "incarnation 1 from generation 1
         gen 1 completed by rule 3
         stable 2 sessioned led by a
         a owns foo,foo-0
         b owns
         unassigned foo-1 revoked since 9 of a
         counted completed=1 assigned.connector=1 assigned.task=2
         gen 2 completed by rule 3
         stable 3 sessioned led by a
         a owns foo,foo-0
         b owns foo-1
         counted completed=2 revoked.task.asked=1 assigned.connector=1 assigned.task=2",
    );
}

/// Fact sheet 10.2 and 10.3: a departed worker's work is lost until the delay ends; a
/// returning worker does not shorten it, and a later record inherits the window.
#[test]
fn lost_until_the_delay_ends() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 7 sessioned a off=4 | a: claim=foo,foo-0 | c: claim=foo-1
         20.0 group 8 sessioned a off=4 delay=300000 | a: claim=foo,foo-0
         20.1 ends
         20.1 show
         60.0 group 9 sessioned a off=4 delay=260000 | a: claim=foo,foo-0 | c#2: claim=none
         60.1 ends
         60.1 show
         320.0 group 10 sessioned a off=4 | a: claim=foo,foo-0 | c#2: claim=- add=foo-1
         320.1 ends
         320.1 show",
        "incarnation 1 from generation 7
         gen 7 completed by rule 3
         stable 8 sessioned led by a
         a owns foo,foo-0
         unassigned foo-1 lost since 20 of c
         deadline 320 lost
         counted completed=1
         gen 8 completed by rule 3
         stable 9 sessioned led by a
         a owns foo,foo-0
         c owns 
         unassigned foo-1 lost since 20 of c
         deadline 320 lost
         counted completed=2
         gen 9 completed by rule 3
         stable 10 sessioned led by a
         a owns foo,foo-0
         c owns foo-1
         counted completed=3",
    );
}

/// A worker that lost its coordinator comes back with its id and without a claim.
#[test]
fn dropped_by_a_present_owner() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 3 sessioned a off=3 | a: claim=foo | b: claim=foo-0
         5.0 group 4 sessioned a off=3 delay=60000 | a: claim=foo | b: claim=none
         5.1 ends
         5.1 show",
        "incarnation 1 from generation 3
         gen 3 completed by rule 3
         stable 4 sessioned led by a
         a owns foo
         b owns 
         unassigned foo-0 dropped since 5 of b
         deadline 65 lost
         counted completed=1 revoked.task.dropped=1",
    );
}

/// New work, from its commit on; then a record that nobody applied changes nothing.
#[test]
fn new_until_it_is_really_taken() {
    check(
        "0.1 ends
         1.0 group 1 sessioned a off=0 | a: claim=none
         5.0 config connector foo
         5.1 config task foo-0
         5.1 config commit foo 1
         5.2 ends
         5.2 show
         5.3 group 2 sessioned a off=3 | a: claim=- add=foo,foo-0 | b: claim=none
         5.4 ends
         5.4 show
         5.5 group 3 sessioned a off=3 | a: claim=- missed | b: claim=none
         5.6 ends
         5.6 show",
        "incarnation 1 from generation 1
         stable 1 sessioned led by a
         a owns
         unassigned foo new since 5 of -
         unassigned foo-0 new since 5.1 of -
         counted
         gen 1 completed by rule 3
         stable 2 sessioned led by a
         a owns foo,foo-0
         b owns
         counted completed=1
         gen 2 aborted by rule 6
         stable 3 sessioned led by a
         a owns
         b owns
         unassigned foo new since 5 of -
         unassigned foo-0 new since 5.1 of -
         counted completed=1 aborted=1",
    );
}

/// The agent starts while work is already lost: statuses of a worker outside the group
/// are the evidence; without any, unknown is the answer.
#[test]
fn late_start_in_the_middle_of_a_delay() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 3
         0.2 status foo-1 RUNNING c 7
         0.2 status foo-2 RUNNING a 7
         20.0 group 8 sessioned a off=5 delay=300000 | a: claim=foo,foo-0
         30.0 live
         30.1 ends
         30.1 show",
        "incarnation 1 from generation 8
         stable 8 sessioned led by a
         a owns foo,foo-0
         unassigned foo-1 lost since ? of c
         unassigned foo-2 unknown since 0 of -
         deadline 320 lost
         counted",
    );
}

/// Everybody leaves: all is lost; the next life of the group hands it out.
#[test]
fn lost_work_lives_across_incarnations() {
    check(
        "0.0 config connector foo
         0.1 ends
         1.0 group 57 sessioned a off=1 | a: claim=foo
         9.0 group 58 empty
         9.1 ends
         9.1 show
         700.0 group gone
         700.1 ends
         700.1 show
         900.0 group 0 empty
         903.0 group 1 sessioned a#2 off=1 | a#2: claim=none add=foo
         904.0 ends
         904.0 show",
        "incarnation 1 from generation 57
         gen 58 emptied by rule 1
         gen 57 unknown by rule 7
         empty 58 - led by -
         unassigned foo lost since 9 of a
         counted emptied=1 unknown=1
         deleted
         dead 58 - led by -
         unassigned foo lost since 9 of a
         counted emptied=1 unknown=1
         incarnation 2 from generation 0
         stable 1 sessioned led by a
         a owns foo
         counted emptied=1 unknown=1",
    );
}

/// A delay without lost work has another reason: KAFKA-12495's back-off after two
/// revoking rounds, or a window that nobody needs.
#[test]
fn delay_without_lost_work() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 4 sessioned a off=4 | a: claim=foo,foo-0,foo-1 rev=foo-1 | b: claim=none
         1.5 group 5 sessioned a off=4 delay=40 | a: claim=foo,foo-0 | b: claim=- add=foo-1 | c: claim=none
         1.6 ends
         1.6 show
         3.0 group 6 sessioned a off=4 delay=5000 | a: claim=foo,foo-0 | b: claim=foo-1
         3.1 ends
         3.1 show",
        "incarnation 1 from generation 4
         gen 4 completed by rule 3
         stable 5 sessioned led by a
         a owns foo,foo-0
         b owns foo-1
         c owns
         deadline 1.54 revocation_backoff
         counted completed=1 revoked.task.asked=1
         gen 5 completed by rule 3
         stable 6 sessioned led by a
         a owns foo,foo-0
         b owns foo-1
         deadline 8 leftover
         counted completed=2 revoked.task.asked=1 assigned.task=1",
    );
}

/// D14: the fall, who came with it, and the recovery. In an eager record `assigned` is
/// everything.
#[test]
fn protocol_falls_and_recovers() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 30 sessioned a off=4 | a: claim=foo,foo-0 | b: claim=foo-1
         5.0 group 31 default a off=4 | a: add=foo | b: add=foo-0 | d: add=foo-1
         5.1 ends
         5.1 show
         9.0 group 32 sessioned a off=4 | a: claim=foo | b: claim=foo-0 add=foo-1
         9.1 ends
         9.1 show",
        "incarnation 1 from generation 30
         gen 30 unknown by rule 7
         stable 31 eager led by a
         downgraded by d
         a owns foo
         b owns foo-0
         d owns foo-1
         counted unknown=1
         gen 31 completed by rule 3
         stable 32 sessioned led by a
         a owns foo
         b owns foo-0,foo-1
         counted completed=1 unknown=1 revoked.connector.implied=1 revoked.task.implied=1 assigned.connector=1 assigned.task=1",
    );
}

/// A session key in the config topic proves that the group once spoke better.
#[test]
fn session_key_proves_a_better_protocol() {
    check(
        "0.0 config key
         0.1 ends
         1.0 group 3 compatible a off=1 | a: claim=-
         1.1 ends
         1.1 show",
        "incarnation 1 from generation 3
         stable 3 compatible led by a
         downgraded by
         a owns
         counted",
    );
}

/// A round that ends in CONFIG_MISMATCH hands out nothing: under the eager protocol
/// nobody owns anything after it, under a cooperative one the claims stand.
#[test]
fn mismatch() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 3 default a off=3 | a: add=foo,foo-0
         5.0 group 4 default a off=3 err=1 | a:
         5.1 ends
         5.1 show
         6.0 group 5 sessioned a off=3 | a: claim=foo,foo-0
         7.0 group 6 sessioned a off=3 err=1 | a: claim=foo,foo-0
         7.1 ends
         7.1 show",
        "incarnation 1 from generation 3
         gen 4 mismatch by rule 2
         gen 3 unknown by rule 7
         stable 4 eager led by a
         a owns 
         unassigned foo mismatch since 5 of a
         unassigned foo-0 mismatch since 5 of a
         counted mismatch=1 unknown=1 config_mismatch=1
         gen 6 mismatch by rule 2
         gen 5 unknown by rule 7
         stable 6 sessioned led by a
         a owns foo,foo-0
         counted mismatch=2 unknown=2 config_mismatch=2",
    );
}

/// Two equal records that nobody applied leave the oldest reason standing.
#[test]
fn the_oldest_reason_survives_equal_records_without_effect() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 | a: claim=foo | b: claim=foo-0
         2.0 group 2 sessioned a off=3 | a: claim=foo
         3.0 group 3 sessioned a off=3 | a: claim=foo add=foo-0
         3.1 group 4 sessioned a off=3 | a: claim=foo add=foo-0
         3.2 group 5 sessioned a off=3 err=1 | a: claim=foo
         3.3 ends
         3.3 show",
        "incarnation 1 from generation 1
         gen 1 completed by rule 3
         gen 5 mismatch by rule 2
         gen 2 unknown by rule 7
         gen 3 aborted by rule 6
         gen 4 aborted by rule 6
         stable 5 sessioned led by a
         a owns foo
         unassigned foo-0 lost since 2 of b
         counted completed=1 aborted=2 mismatch=1 config_mismatch=1",
    );
}

/// Tiny commits that name two thousand million tasks each cost no memory.
#[test]
fn what_commits_name_is_bounded_in_all() {
    use std::fmt::Write as _;

    use evenkeel_core::engine::Engine;

    use crate::dsl::{Step, inputs};

    let mut scenario = String::new();
    for number in 0..200 {
        writeln!(scenario, "0.0 config connector h{number}").unwrap();
        writeln!(scenario, "0.0 config commit h{number} 2147483647").unwrap();
    }
    scenario.push_str("0.1 ends");
    let mut engine = Engine::new();
    for step in inputs(&scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    let answers = engine.answers();
    assert_eq!(answers.without_owner().len(), 100_000 + 200);
    assert!(
        answers
            .findings
            .iter()
            .any(|found| found.finding == "tasks_beyond_limit")
    );
}

/// A worker took what it was handed, lost its coordinator and comes back with nothing: the
/// proof that it took it is a status, and whether that is read before the next record or
/// after it makes no difference.
#[test]
fn a_proof_read_late_gives_the_same_reason() {
    let status = "1.5 status foo-0 RUNNING a 1";
    let first = "1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0";
    let second = "9.0 group 2 sessioned a off=3 delay=300000 | a: claim=none";
    let told = "incarnation 1 from generation 1
         gen 1 completed by rule 4
         stable 2 sessioned led by a
         a owns
         unassigned foo dropped since 9 of a
         unassigned foo-0 dropped since 9 of a
         deadline 309 lost
         counted completed=1 revoked.connector.dropped=1 revoked.task.dropped=1 assigned.connector=1 assigned.task=1";
    for order in [[first, status, second], [first, second, status]] {
        check(
            &format!(
                "0.0 config connector foo
                 0.0 config tasks foo 1
                 0.1 ends
                 {}
                 9.1 ends
                 9.2 show",
                order.join("\n")
            ),
            told,
        );
    }
}
