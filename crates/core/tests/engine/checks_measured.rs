//! What is measured in a running group, held against its clocks: what fires, what does not at
//! the boundary, and what stays undecided.

use evenkeel_core::answers::ChecksAnswer;

use crate::dsl::{BASE_MS, Step, inputs, run, told};
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{Input, InputKind, Topic};
use evenkeel_core::facts::time::ArrivalTime;

/// What the checks say at the end of a scenario.
fn checks(steps: Vec<Step>) -> ChecksAnswer {
    let mut engine = Engine::new();
    for step in steps {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    let answers = engine.answers();
    ChecksAnswer::clone(answers.checks.as_ref().expect("records are read"))
}

/// What one check says: its words if it fires, what it misses if it is undecided.
pub(crate) fn says(scenario: &str, check: &str) -> String {
    said(&checks(inputs(scenario)), check)
}

/// The same of an agent that starts so late, and reads what was before as history.
fn says_from(start_s: f64, scenario: &str, check: &str) -> String {
    let start = ArrivalTime(BASE_MS + (start_s * 1_000.0) as i64);
    let mut steps = inputs(scenario);
    let records = steps.iter().filter_map(|step| match step {
        Step::Input(Input {
            at,
            kind: InputKind::Record(record),
        }) => (*at < start).then_some((record.topic, record.offset)),
        _ => None,
    });
    let read: Vec<(Topic, i64)> = records.collect();
    for step in &mut steps {
        let Step::Input(input) = step else { continue };
        input.at = input.at.max(start);
        if let InputKind::Start(from) = &mut input.kind {
            let ours = read.iter().filter(|(topic, _)| *topic == from.topic);
            from.end = ours.map(|(_, offset)| offset + 1).max().unwrap_or(0);
        }
    }
    said(&checks(steps), check)
}

fn said(checks: &ChecksAnswer, check: &str) -> String {
    let mut fired = checks.fired.iter().filter(|fired| fired.check == check);
    if let Some(fired) = fired.next() {
        let values = fired.values.iter();
        let values = values.map(|it| format!("{} ({})", it.value, it.source));
        let values: Vec<String> = values.collect();
        return format!("{}: {}; {}", fired.subject, fired.said, values.join(", "));
    }
    let mut undecided = checks.undecided.iter();
    match undecided.find(|undecided| undecided.check == check) {
        Some(undecided) => format!("misses {}", undecided.missing.join(", ")),
        None => "passes".to_owned(),
    }
}

/// A group that signs its requests since second 1, whose key was written in second 2.
fn key(read_until: f64) -> String {
    format!(
        "0.0 own a inter.worker.key.ttl.ms=3600000
         0.1 ends
         1.0 group 1 sessioned a join=0.9 | a: claim=none
         2.0 config key
         3.0 ends
         {read_until} ends"
    )
}

#[test]
fn a_key_that_is_not_renewed() {
    // An hour and the minute in which the leader comes to it; ages are told in steps of 10 s.
    assert_eq!(says(&key(3_669.0), "key_not_renewed"), "passes");
    assert_eq!(
        says(&key(3_672.5), "key_not_renewed"),
        "a:8083: the key is 3668 s old and holds for 1 h; 3600000 (worker.properties:1), \
         3668000 (topic configs)"
    );
}

#[test]
fn a_key_that_was_renewed_late() {
    let renewed = format!("{}\n3673.0 config key\n3680.0 ends", key(3_672.5));
    assert_eq!(says(&renewed, "key_not_renewed"), "passes");
}

#[test]
fn the_age_of_a_key_is_not_known() {
    let missing = "misses the age of the session key, in ms";
    // Nothing was read of the topic since: a newer key may be there.
    let unread = key(3_672.5).replace("3672.5 ends", "3672.5 ends offsets");
    assert_eq!(says(&unread, "key_not_renewed"), missing);
    // A group that does not sign renews nothing.
    let unsigned = key(3_672.5).replace("sessioned", "compatible");
    assert_eq!(says(&unsigned, "key_not_renewed"), missing);
    // A leader that has just come may find the key of a group that was down.
    let came = format!(
        "{}\n3673.0 group 2 sessioned b join=3672.9 | b: claim=none\n3700.0 ends",
        key(3_660.0)
    )
    .replace("own a", "own b");
    assert_eq!(says(&came, "key_not_renewed"), missing);
    // No key at all.
    let none = key(3_672.5).replace("2.0 config key", "2.0 config connector foo");
    assert_eq!(says(&none, "key_not_renewed"), missing);
    // Nor how long it holds.
    let untold = key(3_672.5).replace("inter.worker.key.ttl.ms", "heartbeat.interval.ms");
    let says = says(&untold, "key_not_renewed");
    assert_eq!(says, "misses inter.worker.key.ttl.ms");
}

/// A key that was there before anybody watched: its time is told by the clock of whoever led.
fn cold(started: &str, stopped: &str, until: f64) -> String {
    format!(
        "0.0 own a inter.worker.key.ttl.ms=3600000
         0.2 config connector foo
         0.3 config tasks foo 1
         1.0 group 1 sessioned a off=4 join=0.9 | a: claim=none
         400.0 group 2 sessioned a off=4 join=399.9 | a: claim=- add=foo,foo-0
         401.0 config key
         402.5 status foo-0 RUNNING a 2 {started}
         410.0 group 3 sessioned a off=4 join=409.9 | a: claim=foo,foo-0 rev=foo-0
         411.0 status foo-0 UNASSIGNED a 2 {stopped}
         412.0 group 4 sessioned a off=4 join=411.9 | a: claim=foo add=foo-0
         413.0 ends
         {until} ends"
    )
}

#[test]
fn the_key_of_a_leader_whose_clock_is_behind_is_no_older_than_is_certain() {
    let check = "key_not_renewed";
    let says_late = |scenario: &str| says_from(412.5, scenario, check);
    let told = "a:8083: the key is 3669 s old and holds for 1 h; 3600000 (worker.properties:1), \
                3669000 (topic configs)";
    assert_eq!(says_late(&cold("", "", 4_071.0)), told);
    // Five minutes behind, and no more, as a stop before it joined shows.
    let behind = |until| cold("stamped=102.5", "stamped=111.8", until);
    assert_eq!(says_late(&behind(4_361.0)), "passes");
    assert!(says_late(&behind(4_371.0)).contains("the key is 3668 s old"));
    // Nobody knows how far.
    let unbound = behind(4_371.0);
    let unbound: Vec<&str> = unbound
        .lines()
        .filter(|line| !line.contains("UNASSIGNED"))
        .collect();
    let missing = "misses the age of the session key, in ms";
    assert_eq!(says_late(&unbound.join("\n")), missing);
    // Who watched knows when the key arrived.
    assert_eq!(says(&behind(4_071.0), check), told);
}

/// The key is in the value of the record: nothing of it is in any answer, nor in the state.
#[test]
fn of_the_key_its_age_alone_is_kept() {
    use evenkeel_core::wire::contents::Contents;
    use evenkeel_core::wire::{encode, redact};
    let raw = encode::topics::session_key("Y2FuYXJ5LWNhbmFyeS0wMQ==", 1_700_000_000_000);
    let mut contents = Contents::new([0; 16], 0);
    let kept = redact::redact_config(b"session-key", Some(&raw), &mut contents);
    let kept = String::from_utf8(kept.into_value().unwrap()).unwrap();
    assert!(!kept.contains("Y2FuYXJ5"), "{kept}");
    assert!(kept.contains("content"), "{kept}");
}

/// A start of three workers where the broker waits three seconds for the first generation.
fn start(second_s: f64, delay: &str) -> String {
    let third_s = second_s + 5.0;
    format!(
        "0.1 ends
         1.0 group 1 sessioned a join=0.9 | a: claim=none
         {second_s} group 2 sessioned a join={} | a: claim=- | b: host=192.0.2.2 claim=none
         {third_s} group 3 sessioned a join={} | a: claim=- | b: host=192.0.2.2 claim=- | c: host=192.0.2.3 claim=none
         {} ends
         {} cluster 3 {delay}",
        second_s - 0.1,
        third_s - 0.1,
        third_s + 1.0,
        third_s + 1.1,
    )
}

const DELAY: &str = "group.initial.rebalance.delay.ms=3000";

#[test]
fn workers_that_start_further_apart_than_the_first_generation_waits() {
    // The first came 3 s before the first join ended, at 0.9; the last after the second record.
    assert_eq!(
        says(&start(10.0, DELAY), "initial_delay_below_starts"),
        "cg: workers started 12 s apart, the broker waits for 3 s; 3000 (the broker), \
         12100 (measured once)"
    );
}

#[test]
fn workers_that_start_together_or_come_later() {
    let together = "0.1 ends
         1.0 group 1 sessioned a join=0.9 | a: claim=none | b: host=192.0.2.2 claim=none
         2.0 ends
         2.1 cluster 3 group.initial.rebalance.delay.ms=3000";
    assert_eq!(says(together, "initial_delay_below_starts"), "passes");
    // Two minutes after the first: a worker that was added. A restart is none either.
    let added = start(121.0, DELAY);
    let last = says(&added, "initial_delay_below_starts");
    assert!(last.contains("123 s apart"), "{last}");
    assert_eq!(
        says(&start(121.1, DELAY), "initial_delay_below_starts"),
        "passes"
    );
    let again = start(10.0, DELAY)
        .replace("| b: host=192.0.2.2 claim=none", "| a#2: claim=none")
        .replace("| b: host=192.0.2.2 claim=-", "| a#2: claim=-")
        .replace("| c: host=192.0.2.3 claim=none", "");
    assert_eq!(says(&again, "initial_delay_below_starts"), "passes");
}

#[test]
fn starts_that_were_not_seen() {
    let seen_later = start(10.0, DELAY)
        .replace("group 3", "group 9")
        .replace("group 2", "group 8")
        .replace("group 1", "group 7");
    let missing = "misses how far apart workers start, in ms";
    assert_eq!(says(&seen_later, "initial_delay_below_starts"), missing);
    // A group that was empty starts, whatever its number.
    let anew = seen_later.replace("1.0 group 7", "0.5 group 6 empty\n1.0 group 7");
    let said = says(&anew, "initial_delay_below_starts");
    assert!(said.contains("12 s apart"), "{said}");
    let untold = start(10.0, "group.min.session.timeout.ms=6000");
    let missing = "misses group.initial.rebalance.delay.ms";
    assert_eq!(says(&untold, "initial_delay_below_starts"), missing);
}

/// A task that moves from one worker to another.
fn rebalance(ttl_ms: u32) -> String {
    format!(
        "0.0 own a inter.worker.key.ttl.ms={ttl_ms}
         0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 join=0.9 | a: claim=none add=foo,foo-0 | b: host=192.0.2.2 claim=none
         1.1 status foo RUNNING a 1
         1.2 status foo-0 RUNNING a 1
         2.0 ends
         100.0 ends
         194.0 config tasks foo 1
         200.0 group 2 sessioned a off=5 join=199.9 | a: claim=foo,foo-0 rev=foo-0 | b: host=192.0.2.2 claim=-
         203.0 status foo-0 UNASSIGNED a 1
         203.5 group 3 sessioned a off=5 join=203.4 | a: claim=foo | b: host=192.0.2.2 claim=- add=foo-0
         204.0 status foo-0 RUNNING b 3
         205.0 ends
         400.0 ends"
    )
}

#[test]
fn a_key_that_holds_shorter_than_rebalances_last() {
    let check = "key_ttl_below_measured";
    let said = says(&rebalance(4_000), check);
    assert!(
        said.starts_with("a:8083: a key holds for 4 s, a rebalance took "),
        "{said}"
    );
    assert!(said.contains("(longest of 3 measured)"), "{said}");
    let (_, value) = said.split_once("4000 (worker.properties:1), ").unwrap();
    let (lasted_ms, _) = value.split_once(' ').unwrap();
    let lasted_ms: u32 = lasted_ms.parse().unwrap();
    // The other worker's file is not known.
    let silent = "misses inter.worker.key.ttl.ms";
    assert_eq!(says(&rebalance(lasted_ms), check), silent);
    assert!(says(&rebalance(lasted_ms - 1), check).contains("a rebalance took"));
    // No episode is over yet.
    let unsettled = "0.0 own a inter.worker.key.ttl.ms=1
         0.0 config connector foo
         0.1 ends
         1.0 group 1 sessioned a off=1 join=0.9 | a: claim=none add=foo
         2.0 ends";
    let missing = "misses how long rebalances take, in ms";
    assert_eq!(says(unsettled, check), missing);
}

/// b dies, its task is handed out after the delay, and its status stays.
fn stray(read_until: f64, handed: &str) -> String {
    format!(
        "0.0 config connector foo
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=3 join=0.9 | a: claim=none add=foo | b: host=192.0.2.2 claim=none add=foo-0
         1.1 status foo RUNNING a 1
         1.2 status foo-0 RUNNING b 1
         2.0 ends
         20.0 group 2 sessioned a off=3 delay=20000 join=19.9 | a: claim=foo
         40.0 group 3 sessioned a off=3 join=39.9 | a: claim=foo {handed}
         41.0 ends
         {read_until} ends"
    )
}

#[test]
fn a_task_that_runs_by_a_worker_that_left() {
    let check = "stray_running";
    // The delay of 20 s and a minute, since the record without it.
    assert_eq!(says(&stray(99.9, ""), check), "passes");
    let said = says(&stray(100.0, ""), check);
    assert!(said.starts_with("cg: RUNNING for "), "{said}");
    assert!(said.contains("(measured once)"), "{said}");
    assert!(
        said.contains("20000 (record of a:8083, generation 2)"),
        "{said}"
    );
    // What is started elsewhere is overwritten.
    let started =
        stray(131.0, "add=foo-0").replace("41.0 ends", "40.5 status foo-0 RUNNING a 3\n41.0 ends");
    assert_eq!(says(&started, check), "passes");
    // No delay was seen.
    let unseen = stray(131.0, "").replace("delay=20000", "");
    assert_eq!(
        says(&unseen, check),
        "misses scheduled.rebalance.max.delay.ms"
    );
}

fn producer(clocks: &str) -> String {
    format!(
        "0.0 config connector foo {clocks}
         0.0 config connector bar
         0.0 config tasks foo 1
         0.1 ends
         1.0 group 1 sessioned a off=4 join=0.9 | a: claim=none add=foo,foo-0,bar
         2.0 ends"
    )
}

#[test]
fn a_connector_whose_producer_gives_up_before_a_rebalance_is_over() {
    let check = "delivery_cuts_patience";
    let clock = "producer.override.delivery.timeout.ms";
    let said = "foo: delivery is given 59999 ms, a rebalance may take 1 min; \
                59999 (topic configs), 60000 (record of a:8083, generation 1)";
    let said = said.replace("59999 ms", "59 s");
    assert_eq!(says(&producer(&format!("{clock}=59999")), check), said);
    let undecided = "misses all that is set for the worker";
    assert_eq!(says(&producer(&format!("{clock}=60000")), check), undecided);
    let looked_up = says(&producer(&format!("{clock}=${{file:/x:y}}")), check);
    assert!(
        looked_up.contains("producer.delivery.timeout.ms"),
        "{looked_up}"
    );
}

#[test]
fn a_connector_whose_producer_refuses_its_clocks() {
    let check = "delivery_below_request";
    let (delivery, request) = (
        "producer.override.delivery.timeout.ms",
        "producer.override.request.timeout.ms",
    );
    let refused = producer(&format!("{delivery}=60000 {request}=60001"));
    assert_eq!(
        says(&refused, check),
        "foo: delivery is given 1 min, a single request 60 s; 60000 (topic configs), \
         60001 (topic configs)"
    );
    // How long records linger is not known here.
    let equal = producer(&format!("{delivery}=60000 {request}=60000"));
    assert!(says(&equal, check).starts_with("misses "));
    let deleted = format!("{refused}\n3.0 config delete foo\n4.0 ends\n4.0 checks");
    assert_eq!(told(&run(&deleted), "checks"), ["checks"]);
}

/// What brokers did not say for want of a right is told beside what is undecided.
#[test]
fn rights_that_are_missing_are_told_until_they_are_given() {
    let group = "0.1 ends
         1.0 group 1 sessioned a join=0.9 | a: claim=none
         2.0 ends";
    let denied = format!("{group}\n2.1 cluster 3 | config configs 1 3 denied | status denied");
    assert_eq!(
        checks(inputs(&denied)).rights_missing,
        [
            "DESCRIBE_CONFIGS on topic configs",
            "DESCRIBE on topic denied"
        ]
    );
    let given = format!("{denied}\n3.0 cluster 3 | config configs 1 3 cleanup.policy=compact");
    assert_eq!(checks(inputs(&given)).rights_missing, Vec::<String>::new());
}
