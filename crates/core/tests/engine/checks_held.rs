//! Workers that were out of the group while something held up their own thread: calls of
//! connectors, and stops of tasks.

use crate::checks_measured::says;

/// b is told to start foo in second 2 and again in second 40, and waits ten seconds for itself.
fn held(out_s: f64, back: &str) -> String {
    format!(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 timeout=10000 join=0.9 | a: session=6000 claim=none | b: host=192.0.2.2 session=6000 claim=none
         2.0 group 2 sessioned a off=3 timeout=10000 join=1.9 | a: session=6000 claim=- | b: host=192.0.2.2 session=6000 claim=- add=foo,foo-0
         13.0 group 3 sessioned a off=3 delay=60000 timeout=10000 join=12.9 | a: session=6000 claim=-
         32.0 group 4 sessioned a off=3 delay=60000 timeout=10000 join=31.9 | a: session=6000 claim=-
         37.0 group 5 sessioned a off=3 timeout=10000 join=36.9 | a: session=6000 claim=- | b#2: host=192.0.2.2 session=6000 claim=foo,foo-0
         40.0 group 6 sessioned a off=3 timeout=10000 join=39.9 | a: session=6000 claim=- | b#2: host=192.0.2.2 session=6000 claim=- add=foo,foo-0
         {out_s} group 7 sessioned a off=3 delay=60000 timeout=10000 join={} | a: session=6000 claim=-
         70.0 group 8 sessioned a off=3 delay=60000 timeout=10000 join=69.9 | a: session=6000 claim=-
         75.0 group 9 sessioned a off=3 timeout=10000 join=74.9 | a: session=6000 claim=- | {back}
         76.0 ends",
        out_s - 0.1
    )
}

const BACK: &str = "b#3: host=192.0.2.2 session=6000 claim=foo,foo-0";
const CALLS: &str = "misses how long connectors hold up their worker, in ms";

#[test]
fn a_worker_that_a_connector_holds_up() {
    let check = "connector_call_exceeds_rebalance";
    let told = "b:8083: a connector held up its worker, which was not back in the group 30 s after it was told what to run; the group waits for 10 s; \
                30000 (longest of 2 measured), 10000 (record of b:8083, generation 9)";
    for out_s in [50.0, 56.0] {
        assert_eq!(says(&held(out_s, BACK), check), told, "{out_s}");
    }
    // Sooner it may have been frozen, and so it may later; and once it may be chance.
    for out_s in [49.9, 56.1] {
        assert_eq!(says(&held(out_s, BACK), check), CALLS, "{out_s}");
    }
}

#[test]
fn workers_that_something_else_held_up() {
    let check = "connector_call_exceeds_rebalance";
    // It died.
    let dead = BACK.replace("foo,foo-0", "none");
    assert_eq!(says(&held(51.0, &dead), check), CALLS);
    // It never came back.
    assert_eq!(
        says(&held(51.0, "c: host=192.0.2.9 claim=none"), check),
        CALLS
    );
    // It had something to stop.
    let stops = held(51.0, BACK).replace("claim=- add=foo,foo-0", "claim=foo-0 rev=foo-0 add=foo");
    assert_eq!(says(&stops, check), CALLS);
    // It was told to start nothing.
    let idle = held(51.0, BACK).replace("add=foo,foo-0", "add=foo-0");
    assert_eq!(says(&idle, check), CALLS);
}

#[test]
fn a_worker_that_was_held_up_until_it_is_restarted_or_starts_it_at_last() {
    let check = "connector_call_exceeds_rebalance";
    let before = held(51.0, BACK);
    let restarted = format!(
        "{before}
         90.0 group 10 sessioned a off=3 timeout=10000 join=89.9 | a: session=6000 claim=- | b#4: host=192.0.2.2 session=6000 claim=none
         91.0 ends"
    );
    assert_eq!(says(&restarted, check), CALLS);
    let started = |s: f64| {
        format!(
            "{before}
         90.0 group 10 sessioned a off=3 timeout=10000 join=89.9 | a: session=6000 claim=- | b#3: host=192.0.2.2 session=6000 claim=foo-0 add=foo
         {s} group 11 sessioned a off=3 timeout=10000 join={} | a: session=6000 claim=- | b#3: host=192.0.2.2 session=6000 claim=foo,foo-0
         130.0 ends",
            s - 0.1
        )
    };
    assert_eq!(says(&started(100.1), check), CALLS);
    assert!(says(&started(100.0), check).contains("held up"));
    // A longer rebalance timeout mends it, too.
    let longer = format!(
        "{before}
         90.0 group 10 sessioned a off=3 timeout=30000 join=89.9 | a: session=6000 claim=- | b#3: host=192.0.2.2 session=6000 claim=foo,foo-0
         91.0 ends"
    );
    assert_eq!(says(&longer, check), CALLS);
    let still = longer.replace("timeout=30000", "timeout=29999");
    assert!(says(&still, check).contains("held up"));
}

/// b is told to start foo in second 2, and is back in second 20 for as long as it can bear.
fn again(out_s: f64, back: &str) -> String {
    format!(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 timeout=10000 join=0.9 | a: session=6000 claim=none | b: host=192.0.2.2 session=6000 claim=none
         2.0 group 2 sessioned a off=3 timeout=10000 join=1.9 | a: session=6000 claim=- | b: host=192.0.2.2 session=6000 claim=- add=foo,foo-0
         13.0 group 3 sessioned a off=3 delay=60000 timeout=10000 join=12.9 | a: session=6000 claim=-
         20.0 group 4 sessioned a off=3 timeout=10000 join=19.9 | a: session=6000 claim=- | b#2: host=192.0.2.2 session=6000 claim=foo,foo-0
         {out_s} group 5 sessioned a off=3 delay=60000 timeout=10000 join={} | a: session=6000 claim=-
         40.0 group 6 sessioned a off=3 timeout=10000 join=39.9 | a: session=6000 claim=- | {back}
         41.0 ends",
        out_s - 0.1
    )
}

#[test]
fn a_worker_that_is_held_up_again_as_soon_as_it_is_back() {
    let check = "connector_call_exceeds_rebalance";
    let told = |s: i32| {
        format!(
            "b:8083: a connector held up its worker, which was not back in the group {s} s after it was told what to run; the group waits for 10 s; \
             {s}000 (longest of 2 measured), 10000 (record of b:8083, generation 6)"
        )
    };
    for (out_s, held_s) in [(30.0, 11), (36.0, 16)] {
        assert_eq!(says(&again(out_s, BACK), check), told(held_s), "{out_s}");
    }
    for out_s in [29.9, 36.1] {
        assert_eq!(says(&again(out_s, BACK), check), CALLS, "{out_s}");
    }
    // It has no connector that could be asked.
    let without =
        again(31.0, &BACK.replace("foo,foo-0", "foo-0")).replace("claim=foo,foo-0", "claim=foo-0");
    assert_eq!(says(&without, check), CALLS);
    // It was there before, and may have been frozen since.
    let later = again(31.0, BACK).replace(
        "31 group 5",
        "21.0 group 5 sessioned a off=3 timeout=10000 join=20.9 | a: session=6000 claim=- | b#2: host=192.0.2.2 session=6000 claim=foo,foo-0
         31.0 group 6",
    );
    let later = later.replace("40.0 group 6", "40.0 group 7");
    assert_eq!(says(&later, check), CALLS);
}

#[test]
fn a_worker_that_stays_once_its_calls_are_answered() {
    let check = "connector_call_exceeds_rebalance";
    // A minute, and the two timeouts.
    let until = |s: f64| format!("{}\n{s} ends", again(31.0, BACK));
    assert!(says(&until(115.0), check).contains("held up"));
    assert_eq!(says(&until(117.0), check), CALLS);
}

/// foo gets other tasks in second 20: a stops its old one before it joins.
fn reconfigured(out_s: f64, back: &str) -> String {
    format!(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned b off=3 timeout=10000 join=0.9 | a: session=6000 claim=none add=foo-0 | b: host=192.0.2.2 session=6000 claim=none add=foo
         2.0 ends
         20.0 config tasks foo 2
         {out_s} group 2 sessioned b off=6 delay=60000 timeout=10000 join={} | b: host=192.0.2.2 session=6000 claim=foo
         40.0 group 3 sessioned b off=6 timeout=10000 join=39.9 | {back} | b: host=192.0.2.2 session=6000 claim=foo
         41.0 ends",
        out_s - 0.1
    )
}

#[test]
fn a_worker_that_was_out_while_it_stopped_the_tasks_of_a_connector_that_gets_others() {
    let check = "stop_exceeds_rebalance";
    let back = "a#2: session=6000 claim=foo-0";
    let told = "a:8083: it stopped tasks, and was out of the group after 10 s; \
                10000 (record of a:8083, generation 1), 10000 (record of a:8083, generation 3)";
    assert_eq!(says(&reconfigured(30.0, back), check), told);
    let misses = "misses how long tasks take to stop, in ms";
    // Sooner something else put it out, as it did whom nothing made stop anything.
    assert_eq!(says(&reconfigured(29.4, back), check), misses);
    let idle = reconfigured(30.0, back).replace("claim=none add=foo-0", "claim=none");
    assert_eq!(says(&idle, check), misses);
    let unchanged = reconfigured(30.0, back).replace("20.0 config tasks foo 2", "20.0 config key");
    assert_eq!(says(&unchanged, check), misses);
    // It died.
    let dead = "a#2: session=6000 claim=none";
    assert_eq!(says(&reconfigured(30.0, dead), check), misses);
}

/// The old tasks of another connector are to stop before it can join: they may be what held it up.
#[test]
fn a_worker_that_started_a_connector_and_had_tasks_to_stop() {
    let scenario = "0.0 config connector foo
         0.0 config tasks foo 1
         0.0 config connector bar
         0.0 config tasks bar 1
         0.1 ends
         1.0 group 1 sessioned a off=6 timeout=10000 join=0.9 | a: session=6000 claim=none | b: host=192.0.2.2 session=6000 claim=none add=bar-0
         2.0 group 2 sessioned a off=6 timeout=10000 join=1.9 | a: session=6000 claim=- | b: host=192.0.2.2 session=6000 claim=bar-0 add=foo
         2.2 status foo RUNNING b 2
         2.5 config tasks bar 2
         13.0 group 3 sessioned a off=9 delay=60000 timeout=10000 join=12.9 | a: session=6000 claim=-
         32.0 group 4 sessioned a off=9 delay=60000 timeout=10000 join=31.9 | a: session=6000 claim=-
         37.0 group 5 sessioned a off=9 timeout=10000 join=36.9 | a: session=6000 claim=- | b#2: host=192.0.2.2 session=6000 claim=bar-0
         40.0 group 6 sessioned a off=9 timeout=10000 join=39.9 | a: session=6000 claim=- | b#2: host=192.0.2.2 session=6000 claim=bar-0 add=foo
         40.2 status foo RUNNING b 6
         40.5 config tasks bar 1
         51.0 group 7 sessioned a off=11 delay=60000 timeout=10000 join=50.9 | a: session=6000 claim=-
         70.0 group 8 sessioned a off=11 delay=60000 timeout=10000 join=69.9 | a: session=6000 claim=-
         75.0 group 9 sessioned a off=11 timeout=10000 join=74.9 | a: session=6000 claim=- | b#3: host=192.0.2.2 session=6000 claim=bar-0,foo
         76.0 ends";
    let calls = says(scenario, "connector_call_exceeds_rebalance");
    assert!(!calls.contains("held up"), "{calls}");
    let stops = says(scenario, "stop_exceeds_rebalance");
    assert!(stops.contains("b:8083"), "{stops}");
}
