//! Real incidents as data: what an episode is, why it came about and what it cost (D5 to
//! D9), where the group itself is the reason. See `cases.rs`; cases in which a connector is
//! the reason are in `cases_config.rs`, those in which a worker leaves in `cases_left.rs`.

use std::fmt::Write as _;

use evenkeel_core::answers::{Answers, Cause, EpisodeOutcome, Outcome, TasksRoot};

use crate::cases_groups::answers;
use crate::dsl::{check, run};

/// What the scenario's last `story`, and what stands after it, tells, without the episode in
/// which the group is met first, what only this agent saw, and the counters.
#[track_caller]
pub(crate) fn tells(scenario: &str, expected: &str) {
    let printed = run(scenario);
    let mut episodes = 0;
    let told: Vec<&str> = printed
        .lines()
        .filter(|line| {
            episodes += usize::from(line.starts_with("episode"));
            episodes != 1 || !(line.starts_with("episode") || line.starts_with(' '))
        })
        .map(str::trim)
        .filter(|line| !line.starts_with("seen here") && !line.starts_with("counted"))
        .collect();
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(
        told,
        expected,
        "\n--- the engine says:\n{}",
        told.join("\n")
    );
}

/// All causes of the newest episode, each with what says so.
pub(crate) fn evidence(answers: &Answers) -> Vec<(Cause, &str, &str)> {
    let episodes = answers.episodes.as_ref().unwrap();
    let newest = episodes.open.as_ref().or(episodes.closed.last()).unwrap();
    let causes = newest.contributing.iter();
    causes
        .map(|cause| {
            let subject = cause.subject.as_deref().unwrap_or("-");
            (cause.cause, subject, cause.evidence.as_str())
        })
        .collect()
}

/// The move of a task to a new worker is one rebalance in two rounds, and the second is the
/// consequence of the first.
#[test]
fn o_01_two_rounds_are_one_rebalance() {
    tells(
        "0.0 config connector redis
         0.0 config tasks redis 2
         0.1 ends
         1.0 group 1 sessioned w1 off=4 | w1: claim=none add=redis,redis-0,redis-1
         1.2 status redis RUNNING w1 1
         1.2 status redis-0 RUNNING w1 1
         1.2 status redis-1 RUNNING w1 1
         1.5 ends
         20.0 group 2 sessioned w1 off=4 join=19.9 | w1: claim=redis,redis-0,redis-1 rev=redis-0 | w2: claim=none
         20.2 status redis-0 UNASSIGNED w1 1
         20.5 group 3 sessioned w1 off=4 join=20.4 | w1: claim=redis,redis-1 | w2: claim=- add=redis-0
         20.9 status redis-0 RUNNING w2 3
         21.0 ends
         21.0 story",
        "episode 2-3 settled 19.9..20.9 active 1+ parked 0
         worker_joined w2 from 2
         revocation_followup - from 3
         gen 2 completed worker_joined w2 sync 0.1 stop 0.2[0,0.4] start -
         gen 3 completed revocation_followup - sync 0.1 stop - start -",
    );
}

/// A loop of mismatches is one episode, however long, with the count that the numbers of its
/// generations say, and as much as one screen of it is kept.
#[test]
fn o_02_one_episode_of_mismatches() {
    let mut scenario = String::from(
        "0.0 ends
         0.5 group 305655830 sessioned a off=11 | a: claim=- | b: claim=-
         0.6 ends\n",
    );
    for round in 0..500_u32 {
        let at = 1.0 + f64::from(round) * 0.015;
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
    let episodes = told.episodes.as_ref().unwrap();
    let open = episodes.open.as_ref().unwrap();
    assert_eq!(episodes.closed.len(), 1);
    assert_eq!(open.cause, Cause::ConfigMismatch);
    assert_eq!(open.generations, 3 * 499 + 1);
    assert_eq!(
        (open.first_generation, open.last_generation),
        (305_655_831, 305_655_831 + 3 * 499)
    );
    // Up to the last question where the log ends.
    assert_eq!(open.active.ms, 499 * 15 + 1);
    assert!(open.rounds.len() <= 32, "{} rounds", open.rounds.len());
    assert_eq!(open.lost.items, 0);
    assert!(open.departures.is_empty());
    assert_eq!(told.counters.generations_of(Outcome::Mismatch), 500);
    let told = answers(&format!("{scenario}\n80.0 ends"));
    let closed = told.episodes.as_ref().unwrap();
    let closed = closed.closed.last().unwrap();
    assert_eq!(closed.outcome, Some(EpisodeOutcome::Unresolved));
    assert_eq!(told.counters.rebalances.values().sum::<u64>(), 2);
}

/// A connector that writes its tasks at every start, with the same content: nobody came,
/// nobody left and nobody edited it. It asks for it itself.
#[test]
fn o_06_the_connector_itself_asks_for_it() {
    let mut scenario = String::from(
        "0.0 config connector foo content=1
         0.0 config tasks foo 1
         0.1 ends\n",
    );
    for cycle in 0..20_u32 {
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
    let told = answers(&scenario);
    let episodes = told.episodes.as_ref().unwrap();
    let cycles = &episodes.closed[1..];
    assert_eq!(cycles.len(), 19);
    for episode in cycles {
        assert_eq!(episode.cause, Cause::TasksChanged);
        assert_eq!(episode.subject.as_deref(), Some("foo"));
        let causes = &episode.contributing;
        assert_eq!(causes.len(), 1, "{causes:?}");
        assert_eq!(causes[0].root, Some(TasksRoot::Requested));
        assert_eq!(causes[0].changed, Some(false));
        assert!(causes[0].evidence.ends_with(": 1 task as before"));
        assert!(episode.departures.is_empty());
        assert_eq!(episode.lost.items, 0);
    }
    assert_eq!(told.counters.rebalances[&Cause::TasksChanged], 19);
    assert!(told.counters.departures.is_empty());
}

/// Generations without a record belong to the episode of the one that reached the log, and
/// are told with it.
#[test]
fn o_07_what_never_reached_the_log_is_told() {
    check(
        "0.0 ends
         10.0 group 75990 sessioned a | a: claim=- | b: claim=-
         12.0 ends
         22.0 ends
         32.0 ends
         35.5 group 76110 sessioned a | a: claim=- | b: claim=-
         35.6 ends
         35.7 story",
        "episode 75990-75990 settled 10..10 active 0+ parked 0 in part
           unknown - from 75990
           gen 75990 completed unknown - sync 0 stop - start -
         episode 75991-76110 settled 35.5..35.5 active 0+ parked 0
           unknown - from 76110
           gen 76110 open unknown - sync 0 stop - start - after 119 without a record
         counted unknown.completed=1 unknown.aborted=119 rebalances.unknown=2 sync=2 join.unmeasured=2",
    );
}

/// One eager worker: the protocol falls with it and rises again without it, and it is named
/// both times.
#[test]
fn o_14_one_eager_worker() {
    let log = "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 30 sessioned a off=5 | a: claim=foo,foo-0 | b: claim=foo-1 | c: claim=foo-2
         1.1 ends
         40.0 group 31 default a off=5 join=39.9 | a: add=foo,foo-0 | b: add=foo-1 | c: add= | d: add=foo-2
         40.2 status foo RUNNING a 31
         40.2 status foo-0 RUNNING a 31
         40.3 status foo-1 RUNNING b 31
         40.4 status foo-2 RUNNING d 31
         40.5 ends";
    tells(
        &format!("{log}\n40.6 story\n40.6 show"),
        "episode 31-31 settled 39.9..40.4 active 0.5+ parked 0
         protocol_changed d from 31
         worker_joined d from 31
         gen 31 completed protocol_changed d sync 0.1 stop - start -
         stable 31 eager led by a
         downgraded by d
         a owns foo,foo-0
         b owns foo-1
         c owns
         d owns foo-2",
    );
    tells(
        &format!(
            "{log}
         90.0 status foo UNASSIGNED a 31
         90.0 status foo-0 UNASSIGNED a 31
         90.0 status foo-1 UNASSIGNED b 31
         90.1 status foo-2 UNASSIGNED d 31
         90.5 group 32 sessioned a off=5 join=90.4 | a: claim=none add=foo,foo-0 | b: claim=none add=foo-1 | c: claim=none add=foo-2
         90.8 status foo RUNNING a 32
         90.8 status foo-0 RUNNING a 32
         90.8 status foo-1 RUNNING b 32
         90.9 status foo-2 RUNNING c 32
         91.0 ends
         91.0 story
         91.0 show"
        ),
        "episode 31-31 settled 39.9..40.4 active 0.5+ parked 0
         protocol_changed d from 31
         worker_joined d from 31
         gen 31 completed protocol_changed d sync 0.1 stop - start -
         episode 32-32 settled 90..90.9 active 0.9[0.5,0.9] parked 0
         protocol_changed d from 32
         worker_left d from 32
         gen 32 completed protocol_changed d sync 0.1 stop - start -
         left d graceful with 0+1
         lost 1 open 0 reassigned=1 longest 0.4
         stable 32 sessioned led by a
         a owns foo,foo-0
         b owns foo-1
         c owns foo-2",
    );
}

/// The lesser fall, from signed requests between workers to unsigned ones.
#[test]
fn o_14_a_compatible_worker_among_sessioned_ones() {
    tells(
        "0.0 config connector foo
         0.1 ends
         1.0 group 30 sessioned a off=1 | a: claim=foo | b: claim=-
         1.1 ends
         40.0 group 31 compatible a off=1 join=39.9 | a: claim=foo | b: claim=- | d: claim=none
         40.1 ends
         40.1 story
         40.1 show",
        "episode 31-31 settled 39.9..40 active 0.1+ parked 0
         protocol_changed d from 31
         worker_joined d from 31
         gen 31 open protocol_changed d sync 0.1 stop - start -
         stable 31 compatible led by a
         downgraded by d
         a owns foo
         b owns
         d owns",
    );
}

/// The coordinator's broker restarts: members that go on leave no trace, members that join
/// again bring a generation in which nothing moved.
#[test]
fn o_55_the_coordinator_restarts() {
    tells(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 33 sessioned a off=3 epoch=4 | a: claim=foo | b: claim=foo-0
         1.1 ends
         300.0 group 34 sessioned a off=3 epoch=5 join=299.9 | a: claim=foo | b: claim=foo-0
         300.1 ends
         300.1 story
         300.1 show",
        "episode 34-34 settled 299.9..300 active 0.1+ parked 0
         coordinator_moved - from 34
         gen 34 open coordinator_moved - sync 0.1 stop - start -
         stable 34 sessioned led by a
         a owns foo
         b owns foo-0",
    );
}
