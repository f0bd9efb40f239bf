//! Whether the clocks of a running group agree, by its records.

use crate::dsl::{run, told};

#[track_caller]
fn check(scenario: &str, expected: &str) {
    let told = told(&run(scenario), "checks");
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(told, expected, "\n--- told:\n{}", told.join("\n"));
}

#[test]
fn workers_with_different_timeouts_until_that_is_mended() {
    check(
        "0.1 ends
         1.0 group 1 sessioned a join=0.9 | a: claim=none | b: host=192.0.2.2 session=30000 claim=none
         2.0 ends
         2.0 checks
         3.0 group 2 sessioned a join=2.9 | a: claim=- | b#2: host=192.0.2.2 claim=none
         4.0 ends
         4.0 checks",
        "checks
         warning timeouts_differ cg: session.timeout.ms differs from worker to worker
         - a:8083 session.timeout.ms = 10000 (record of a:8083, generation 1)
         - b:8083 session.timeout.ms = 30000 (record of b:8083, generation 1)
         checks",
    );
}

/// The leader a has five minutes. When it is gone, c leads, and hands the work of a out at once:
/// a new leader's first round has no delay, whatever its file says. When d is gone, too, c
/// schedules its own one.
const TWO_LEADERS: &str = "
    0.0 config connector foo
    0.0 config tasks foo 3
    0.1 ends
    1.0 group 1 sessioned a off=5 join=0.9 | a: claim=none add=foo | b: host=192.0.2.2 claim=none add=foo-0 | c: host=192.0.2.3 claim=none add=foo-1 | d: host=192.0.2.4 claim=none add=foo-2
    10.0 group 2 sessioned a off=5 delay=300000 join=9.9 | a: claim=foo | c: host=192.0.2.3 claim=foo-1 | d: host=192.0.2.4 claim=foo-2
    11.0 ends
    11.0 checks
    310.0 group 3 sessioned a off=5 join=309.9 | a: claim=foo add=foo-0 | c: host=192.0.2.3 claim=foo-1 | d: host=192.0.2.4 claim=foo-2
    400.0 group 4 sessioned c off=5 join=399.9 | c: host=192.0.2.3 claim=foo-1 add=foo | d: host=192.0.2.4 claim=foo-2 add=foo-0
    401.0 ends
    401.0 checks";

#[test]
fn a_new_leaders_first_round_says_nothing_of_its_delay() {
    check(TWO_LEADERS, "checks\nchecks");
}

#[test]
fn leaders_with_different_delays() {
    check(
        &format!(
            "{TWO_LEADERS}
             410.0 group 5 sessioned c off=5 delay=60000 join=409.9 | c: host=192.0.2.3 claim=foo-1,foo
             411.0 ends
             411.0 checks"
        ),
        "checks
         checks
         checks
         warning delay_drifts cg: 1 min under c:8083, 5 min under a:8083 before
         -  scheduled.rebalance.max.delay.ms = 300000 (record of a:8083, generation 2)
         -  scheduled.rebalance.max.delay.ms = 60000 (record of c:8083, generation 5)",
    );
}

/// What is left of a running delay is not another one.
#[test]
fn the_rest_of_a_running_delay_is_no_other_delay() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 1 sessioned a off=5 join=0.9 | a: claim=none add=foo | b: host=192.0.2.2 claim=none add=foo-0 | c: host=192.0.2.3 claim=none add=foo-1 | d: host=192.0.2.4 claim=none add=foo-2
         10.0 group 2 sessioned a off=5 delay=60000 join=9.9 | a: claim=foo | c: host=192.0.2.3 claim=foo-1 | d: host=192.0.2.4 claim=foo-2
         65.0 group 3 sessioned a off=5 delay=5000 join=64.9 | a: claim=foo | c: host=192.0.2.3 claim=foo-1
         66.0 ends
         66.0 checks",
        "checks",
    );
}

/// A worker is given longer to be missed than its work is to wait for it: a leader with a delay
/// of five seconds.
#[test]
fn a_session_longer_than_the_leaders_delay() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 join=0.9 | a: claim=none add=foo | b: host=192.0.2.2 claim=none add=foo-0
         10.0 group 2 sessioned a off=3 delay=5000 join=9.9 | a: claim=foo
         11.0 ends
         11.0 checks",
        "checks
         warning session_above_delay a:8083: work of a worker that dies stands still for up to 15 s: 10 s until it is missed, then the delay of 5 s
         - a:8083 session.timeout.ms = 10000 (record of a:8083, generation 2)
         - a:8083 scheduled.rebalance.max.delay.ms = 5000 (record of a:8083, generation 2)",
    );
}

/// The leader stays, b is gone, and what it had is started elsewhere at once.
#[test]
fn lost_work_that_does_not_wait() {
    check(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 join=0.9 | a: claim=none add=foo | b: host=192.0.2.2 claim=none add=foo-0
         1.1 status foo RUNNING a 1
         1.2 status foo-0 RUNNING b 1
         2.0 ends
         10.0 group 2 sessioned a off=3 join=9.9 | a: claim=foo add=foo-0
         11.0 ends
         11.0 checks",
        "checks
         info delay_without_loss cg: work was lost, the leader stayed, and it scheduled no delay
         -  the delay when work was lost, in ms = 0 (record of a:8083, generation 2)
         -  whether the leader changed then = 0 (record of a:8083, generation 2)",
    );
}

/// A worker that was killed and is back is in the group twice until its session is over: only
/// who stays longer than that is somebody else.
#[test]
fn two_workers_with_one_address() {
    check(
        "0.1 ends
         1.0 group 1 sessioned a join=0.9 | a: claim=none | b: host=192.0.2.2 claim=none
         5.0 group 2 sessioned a join=4.9 | a: claim=- | b: host=192.0.2.2 claim=- | b#2: host=192.0.2.3 claim=none
         6.0 ends
         6.0 checks
         60.0 ends
         60.0 checks
         90.0 ends
         90.0 checks",
        "checks
         checks
         checks
         error advertised_shared cg: b:8083 is the address of more than one worker
         - b:8083@192.0.2.2 the address that workers advertise = b:8083 (record of b:8083@192.0.2.2, generation 2)
         - b:8083@192.0.2.3 the address that workers advertise = b:8083 (record of b:8083@192.0.2.3, generation 2)",
    );
}

/// What the file of the worker beside the agent says counts for that worker alone, and is
/// told as such.
#[test]
fn the_file_of_the_own_worker() {
    check(
        "0.0 own b heartbeat.interval.ms=5000 session.timeout.ms=20000
         0.1 ends
         1.0 group 1 sessioned a join=0.9 | a: claim=none | b: host=192.0.2.2 claim=none
         2.0 ends
         2.0 checks",
        "checks
         warning file_not_in_force b:8083, own: session.timeout.ms is 20 s in the file, and 10 s in force
         - b:8083 session.timeout.ms = 20000 (worker.properties:2)
         - b:8083 session.timeout.ms = 10000 (record of b:8083, generation 1)
         warning heartbeats_sparse b:8083, own: a heartbeat every 5 s leaves less than three in a session of 10 s
         - b:8083 heartbeat.interval.ms = 5000 (worker.properties:1)
         - b:8083 session.timeout.ms = 10000 (record of b:8083, generation 1)",
    );
}

/// What the group did under the eager protocol is nothing that a leader remembers: that it
/// schedules no delay in the first round without it says nothing of its delay.
#[test]
fn a_leader_that_was_eager_says_nothing_of_its_delay() {
    let told = told(
        &run("0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 default a off=3 join=0.9 | a: add=foo | b: host=192.0.2.2 add=foo-0
         1.1 status foo RUNNING a 1
         1.2 status foo-0 RUNNING b 1
         2.0 ends
         10.0 group 2 sessioned a off=3 join=9.9 | a: claim=foo add=foo-0
         11.0 ends
         11.0 checks"),
        "checks",
    );
    assert_eq!(told, ["checks"]);
}

/// A file may hold anything where a number belongs: it is never shown, and what is none of a
/// few words neither.
#[test]
fn what_a_file_holds_is_not_shown_unless_it_is_a_number() {
    let printed = run(
        "0.0 own b heartbeat.interval.ms=canary connect.protocol=canary session.timeout.ms=20000
         0.1 ends
         1.0 group 1 sessioned a join=0.9 | a: claim=none | b: host=192.0.2.2 claim=none
         2.0 ends
         2.0 checks",
    );
    assert!(printed.contains("file_not_in_force"), "{printed}");
    assert!(!printed.contains("canary"), "{printed}");
}

/// Forty workers with one file say one thing: twenty of them are looked at, and the one that
/// is another all the same.
#[test]
fn many_workers_alike_are_looked_at_up_to_a_bound() {
    let workers: String = (0..40)
        .map(|number| format!(" | w{number:02}: host=192.0.2.{number} claim=none"))
        .collect();
    let printed = run(&format!(
        "0.1 ends
         1.0 group 1 sessioned w00 timeout=8000 join=0.9{workers} | z: host=192.0.2.99 session=5000 claim=none
         2.0 ends
         2.0 checks"
    ));
    let told = told(&printed, "checks");
    let count = |check: &str| told.iter().filter(|line| line.contains(check)).count();
    assert_eq!(count("session_reaches_rebalance"), 20);
    assert_eq!(count("timeouts_differ"), 1);
    assert_eq!(count("z:8083 session.timeout.ms = 5000"), 1);
}

/// What brokers say of themselves and of the topics decides what no record shows; what they do
/// not say stays undecided, and what is mended is over with the next answer.
#[test]
fn what_brokers_and_topics_are_set_to() {
    const GROUP: &str = "0.1 ends
         1.0 group 1 sessioned a join=0.9 | a: claim=none | b: host=192.0.2.2 claim=none
         2.0 ends";
    check(
        &format!(
            "{GROUP}
             2.1 cluster 3 group.min.session.timeout.ms=6000 group.max.session.timeout.ms=30000 | config configs 2 1 cleanup.policy=compact | offset offsets 25 3 cleanup.policy=compact,delete | status statuses 5 3 cleanup.policy=compact | groups __consumer_offsets 50 1 max.message.bytes=300
             2.2 checks
             3.0 cluster 3 | config configs 1 3 denied | status denied
             3.1 checks"
        ),
        "checks
         error config_topic_partitions configs: configs has 2 partitions
         -  partitions = 2 (topic configs)
         error internal_topic_not_compacted offsets: offsets (offset.storage.topic) is not only compacted
         -  cleanup.policy = compact,delete (topic offsets)
         error record_near_limit cg: 285 bytes of at most 300
         -  the size of the group's record = 285 (record of the group)
         -  the largest record that the offsets topic takes = 300 (topic __consumer_offsets)
         warning internal_topic_single_replica configs: one replica on 3 brokers or more
         -  replicas = 1 (topic configs)
         -  how many brokers there are = 3 (the broker)
         checks",
    );
}

/// A worker that gave up a stop, told as long as it is that process: whoever restarts it may
/// give tasks more time.
#[test]
fn stops_that_were_given_up_until_the_worker_is_restarted() {
    const GIVEN_UP: &str = "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 join=0.9 | a: claim=none add=foo,foo-0,foo-1
         1.1 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         1.3 status foo-1 RUNNING a 1
         9.0 group 2 sessioned a off=4 join=8.9 | a: claim=foo,foo-0,foo-1 rev=foo-1 | b: host=192.0.2.2 claim=none
         15.0 group 3 sessioned a off=4 join=14.9 | a: claim=foo,foo-0 | b: host=192.0.2.2 claim=- add=foo-1
         16.0 ends
         16.0 checks";
    check(
        &format!(
            "{GIVEN_UP}
             20.0 group 4 sessioned b off=4 join=19.9 | b: host=192.0.2.2 claim=foo-1 add=foo,foo-0
             30.0 group 5 sessioned b off=4 join=29.9 | a#2: claim=none | b: host=192.0.2.2 claim=foo-1,foo,foo-0
             31.0 ends
             31.0 checks"
        ),
        "checks
         warning graceful_below_stop a:8083: 1 stop was given up
         - a:8083 how many stops of tasks were given up = 1 (last 3 generations)
         checks",
    );
}

/// All who were in the group when a delay showed are other processes now, perhaps with other
/// files: it is compared with nothing.
#[test]
fn delays_that_differed_before_all_workers_were_restarted() {
    check(
        &format!(
            "{TWO_LEADERS}
             410.0 group 5 sessioned c off=5 delay=60000 join=409.9 | c: host=192.0.2.3 claim=foo-1,foo
             420.0 group 6 sessioned c off=5 delay=50000 join=419.9 | c: host=192.0.2.3 claim=foo-1,foo | a#2: claim=none
             421.0 ends
             421.0 checks
             430.0 group 7 sessioned a#2 off=5 join=429.9 | a#2: claim=none add=foo,foo-0,foo-1,foo-2
             440.0 group 8 sessioned a#2 off=5 join=439.9 | a#2: claim=foo,foo-0,foo-1,foo-2 rev=foo | c#2: host=192.0.2.3 claim=none
             441.0 ends
             441.0 checks"
        ),
        "checks
         checks
         checks
         warning delay_drifts cg: 1 min under c:8083, 5 min under a:8083 before
         -  scheduled.rebalance.max.delay.ms = 300000 (record of a:8083, generation 2)
         -  scheduled.rebalance.max.delay.ms = 60000 (record of c:8083, generation 5)
         checks",
    );
}

/// a is told to give up work, is out after its rebalance timeout of 10 s, and comes back with a
/// claim. That is told until its timeout is longer.
#[test]
fn a_worker_that_was_out_while_it_stopped_its_work() {
    const OUT: &str = "0.0 config connector foo
         0.0 config tasks foo 2
         0.1 ends
         1.0 group 1 sessioned a off=4 timeout=10000 join=0.9 | a: session=6000 claim=none add=foo,foo-0,foo-1
         9.0 group 2 sessioned a off=4 timeout=10000 join=8.9 | a: session=6000 claim=foo,foo-0,foo-1 rev=foo-0,foo-1 | b: host=192.0.2.2 session=6000 claim=none
         19.0 group 3 sessioned b off=4 timeout=10000 join=18.9 | b: host=192.0.2.2 session=6000 claim=- add=foo,foo-0,foo-1";
    check(
        &format!(
            "{OUT}
             21.0 group 4 sessioned b off=4 timeout=10000 join=20.9 | a#2: session=6000 claim=foo | b: host=192.0.2.2 session=6000 claim=foo,foo-0,foo-1
             22.0 ends
             22.0 checks
             30.0 group 5 sessioned b off=4 timeout=10001 join=29.9 | a#3: session=6000 claim=none | b: host=192.0.2.2 session=6000 claim=foo,foo-0,foo-1
             31.0 ends
             31.0 checks"
        ),
        "checks
         warning stop_exceeds_rebalance a:8083: it stopped tasks, and was out of the group after 10 s
         - a:8083 after how long a worker was out while it stopped tasks, in ms = 10000 (record of a:8083, generation 2)
         - a:8083 rebalance.timeout.ms = 10000 (record of a:8083, generation 4)
         checks",
    );
    // Whoever comes back without a claim may have died.
    check(
        &format!(
            "{OUT}
             21.0 group 4 sessioned b off=4 timeout=10000 join=20.9 | a#2: session=6000 claim=none | b: host=192.0.2.2 session=6000 claim=foo,foo-0,foo-1
             22.0 ends
             22.0 checks"
        ),
        "checks",
    );
}
