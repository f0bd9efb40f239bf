//! Where one check ends and another begins, and what is said at the edge.

use super::dsl::known;
use super::source::{Source, Value};
use super::*;

fn fired(text: &str) -> Vec<&'static str> {
    let findings = judge(&known(text)).into_iter();
    let fired = findings.filter(|finding| finding.judgement.outcome == Outcome::Fired);
    fired.map(|finding| finding.check.id).collect()
}

fn said(id: &str, text: &str) -> String {
    let findings = judge(&known(text)).into_iter();
    let mut ours = findings.filter(|finding| finding.check.id == id);
    ours.next().unwrap().judgement.said
}

/// A heartbeat that keeps no session is told once, as what it is.
#[test]
fn a_heartbeat_is_either_sparse_or_refused() {
    let text = "worker a heartbeat.interval.ms=10000 session.timeout.ms=10000";
    assert_eq!(fired(text), ["heartbeat_reaches_session"]);
    let text = "worker a heartbeat.interval.ms=9999 session.timeout.ms=10000";
    assert_eq!(fired(text), ["heartbeats_sparse"]);
}

/// Default limits count as long as not both of the brokers' own are known.
#[test]
fn known_limits_go_over_default_ones() {
    let text = "worker a session.timeout.ms=2000 heartbeat.interval.ms=500";
    assert_eq!(fired(text), ["session_outside_default_limits"]);
    let half = format!("{text}\nlive session_min_ms 1000");
    assert_eq!(fired(&half), ["session_outside_default_limits"]);
    let both = format!("{half}\nlive session_max_ms 30000");
    assert!(fired(&both).is_empty());
}

/// Brokers that wait for nobody are meant to.
#[test]
fn no_initial_delay_is_never_too_short() {
    let text = "live initial_delay_ms 0\nlive start_spread_ms 60000";
    assert!(fired(text).is_empty());
}

/// What a connector sets for its producer is held against what its worker sets, or against
/// what nobody sets.
#[test]
fn a_connectors_producer_has_what_its_worker_has_unless_it_says_so() {
    let refused = |text: &str| {
        let findings = judge(&known(text)).into_iter();
        let mut ours = findings.filter(|it| it.check.id == "delivery_below_request");
        ours.find(|it| it.judgement.subject == "foo")
            .unwrap()
            .judgement
            .outcome
    };
    let cases = [
        // Kafka's default of a request is 30 s, and it lingers 5 ms.
        ("worker a\nproducer foo delivery_ms=30005", Outcome::Passed),
        ("worker a\nproducer foo delivery_ms=30004", Outcome::Fired),
        (
            "worker a producer.linger.ms=0\nproducer foo delivery_ms=30000",
            Outcome::Passed,
        ),
        (
            "worker a producer.request.timeout.ms=40000\nproducer foo delivery_ms=40004",
            Outcome::Fired,
        ),
        (
            "worker a producer.request.timeout.ms=40000\nproducer foo delivery_ms=9000 request_ms=8000",
            Outcome::Passed,
        ),
        // Nobody sets the delivery: Connect never gives up.
        ("worker a\nproducer foo request_ms=900000", Outcome::Passed),
        (
            "worker a producer.delivery.timeout.ms=60000\nproducer foo request_ms=60001",
            Outcome::Fired,
        ),
        (
            "worker a producer.delivery.timeout.ms=?\nproducer foo request_ms=60001",
            Outcome::Undecided,
        ),
        (
            "member a\nproducer foo request_ms=60001",
            Outcome::Undecided,
        ),
        (
            "member a\nproducer foo delivery_ms=60001",
            Outcome::Undecided,
        ),
        (
            "worker a\nproducer foo delivery_ms=${x} request_ms=1",
            Outcome::Undecided,
        ),
        (
            "worker a\nproducer foo delivery_ms=60000 request_ms=${x}",
            Outcome::Undecided,
        ),
    ];
    for (text, outcome) in cases {
        assert_eq!(refused(text), outcome, "{text}");
    }
}

/// A worker makes three topics, and each finding says which of them it is about.
#[test]
fn a_topic_with_one_replica_is_a_subject_of_its_own() {
    let text = "worker a bootstrap.servers=b1:1,b2:1 config.storage.topic=c \
                config.storage.replication.factor=1 status.storage.replication.factor=1";
    let findings = judge(&known(text)).into_iter();
    let ours = findings.filter(|it| it.check.id == "internal_topic_single_replica");
    let subjects: Vec<String> = ours.map(|it| it.judgement.subject).collect();
    assert_eq!(
        subjects,
        [
            "a (c)",
            "a (offset.storage.topic)",
            "a (status.storage.topic)"
        ]
    );
}

/// Where nothing is meant to wait, no wait is too short.
#[test]
fn no_delay_is_never_too_short() {
    let text = "worker a scheduled.rebalance.max.delay.ms=0\nlive restart_ms 60000\ncount 1";
    assert_eq!(fired(text), ["delay_zero"]);
}

#[test]
fn one_slow_task_is_told_from_more_than_eight() {
    let said = |graceful: i64| {
        let text = format!("worker a task.shutdown.graceful.timeout.ms={graceful}");
        said("graceful_near_rebalance", &text)
    };
    assert!(
        said(60_000).starts_with("one slow task"),
        "{}",
        said(60_000)
    );
    assert!(
        said(59_999).starts_with("more than eight"),
        "{}",
        said(59_999)
    );
}

/// The eager protocol knows no delay.
#[test]
fn eager_workers_have_no_delay() {
    for delay in [0, 5_000] {
        let text = format!(
            "release 2.5.0\nworker a connect.protocol=eager scheduled.rebalance.max.delay.ms={delay}"
        );
        assert_eq!(fired(&text), ["protocol_eager"], "{delay}");
    }
}

/// Advice that is computed: a tenth above the longest restart, in tens of seconds, with the
/// spacing that goes with it.
#[test]
fn delay_and_spacing_are_advised_as_a_pair() {
    let text = "worker a scheduled.rebalance.max.delay.ms=30000\nlive restart_ms 95000";
    let findings = judge(&known(text)).into_iter();
    let mut ours = findings.filter(|finding| finding.check.id == "delay_below_restart");
    let advice = ours.next().unwrap().judgement.advice.unwrap();
    assert!(advice.contains("delay.ms to 110000"), "{advice}");
    assert!(
        advice.contains("every 165 s or more, the leader last"),
        "{advice}"
    );
    assert!(
        advice.contains("a restart of the leader has none"),
        "{advice}"
    );
}

#[test]
fn spans_are_as_people_say_them() {
    let spans = [
        (0, "0 s"),
        (999, "999 ms"),
        (1_500, "1500 ms"),
        (90_000, "90 s"),
    ];
    let more = [(12_345, "12 s"), (300_000, "5 min"), (7_200_000, "2 h")];
    for (ms, said) in spans.into_iter().chain(more) {
        assert_eq!(look::span(ms), said, "{ms}");
    }
}

/// What somebody meant where a number belongs, and nothing of what is there.
#[test]
fn a_refused_number_says_what_was_meant() {
    let advice = |value: &str| {
        let mut known = known("worker a session.timeout.ms=1");
        let given = known.workers[0].settings.get_mut("session.timeout.ms");
        given.unwrap().text = Ok(value.to_owned());
        let findings = judge(&known).into_iter();
        let mut ours = findings.filter(|it| it.check.id == "value_refused");
        ours.next().unwrap().judgement.advice
    };
    let cases = [
        ("60000 # a minute", "comment"),
        ("60000\t! a minute", "comment"),
        ("\"60000\"", "quotation marks"),
        ("'1'", "quotation marks"),
        ("5m", "unit"),
        ("30 s", "unit"),
        ("99999999999", "too large"),
        ("-99999999999", "too small"),
        ("300,000", "digits alone"),
        ("3_600_000", "digits alone"),
        ("1.500.000", "digits alone"),
        ("1.5", "whole number"),
        ("60000.0", "whole number"),
    ];
    for (value, expected) in cases {
        let advice = advice(value).unwrap_or_default();
        assert!(advice.contains(expected), "{value}: {advice:?}");
        assert!(!advice.contains(value), "{value}: {advice}");
    }
    for other in ["canary", "", "m", "s3cr3t", "#", "12ab34", "$1"] {
        assert_eq!(advice(other), None, "{other}");
    }
}

/// Whoever reads a running group was told its topics: they are not missed.
#[test]
fn the_topics_of_a_running_group_are_known() {
    let missing = |text: &str, id: &str| {
        let findings = judge(&known(text)).into_iter();
        let ours = findings.filter(|it| it.check.id == id);
        let missing: Vec<String> = ours.flat_map(|it| it.judgement.missing).collect();
        missing.join(", ")
    };
    let read =
        "group g\nmember a\nmember b\ntopic config.storage.topic c\ntopic status.storage.topic s";
    assert_eq!(missing(read, "groups_share_topics"), "");
    assert_eq!(
        missing(read, "topics_collide"),
        "offset.storage.topic, offset.storage.topic"
    );
    let split =
        "the settings of other workers, offset.storage.topic, the settings of other workers";
    assert_eq!(missing(read, "group_split_topics"), split);
    let all = format!("{read}\ntopic offset.storage.topic c");
    assert_eq!(fired(&all), ["topics_collide", "topics_collide"]);
    let neighbour = format!("{read}\nneighbour h status.storage.topic=s");
    assert_eq!(fired(&neighbour), ["groups_share_topics"]);
}

/// What Kafka refuses is told once, and nothing is made of it.
#[test]
fn a_number_that_is_refused_is_held_against_nothing() {
    for text in [
        "worker a worker.sync.timeout.ms=9223372036854775807",
        "worker a worker.sync.timeout.ms=2147483648",
        "worker a scheduled.rebalance.max.delay.ms=-1",
        "worker a consumer.session.timeout.ms=2147483648 scheduled.rebalance.max.delay.ms=60000",
        "worker a producer.delivery.timeout.ms=-1",
    ] {
        assert_eq!(fired(text), ["value_refused"], "{text}");
    }
}

/// One topic of three is alone.
#[test]
fn only_the_topic_with_one_replica_is_told() {
    let text = "worker a bootstrap.servers=b1:1,b2:1 status.storage.replication.factor=1";
    assert_eq!(fired(text), ["internal_topic_single_replica"]);
}

/// A number that goes on with the next line is none; a name may be.
#[test]
fn a_swallowed_line_spoils_numbers() {
    assert_eq!(fired("worker a session.timeout.ms=+"), ["value_refused"]);
    assert!(fired("worker a client.id=+").is_empty());
    // As Kafka's own documentation writes a login.
    for name in ["sasl.jaas.config", "plugin.path", "bootstrap.servers"] {
        assert!(fired(&format!("worker a {name}=+")).is_empty(), "{name}");
    }
}

/// A stop that was given up shows that tasks need longer, also where nobody knows what they
/// are given; one that was not shows nothing.
#[test]
fn a_stop_that_was_given_up_is_evidence_by_itself() {
    let mut known = known("member a");
    let count = |count| Some(Value::new(count, Source::Broker));
    let outcome = |known: &Known| {
        let findings = judge(known).into_iter();
        let mut ours = findings.filter(|finding| finding.check.id == "graceful_below_stop");
        let judgement = ours.next().unwrap().judgement;
        (judgement.outcome, judgement.said)
    };
    known.workers[0].given_up = count(0);
    assert_eq!(outcome(&known).0, Outcome::Undecided);
    known.workers[0].given_up = count(2);
    let fired = (Outcome::Fired, "2 stops were given up".to_owned());
    assert_eq!(outcome(&known), fired);
    let told = Value::new(2_000, Source::Broker);
    let graceful = "task.shutdown.graceful.timeout.ms".to_owned();
    known.workers[0].told.insert(graceful, told);
    let fired = (Outcome::Fired, "2 stops were given up after 2 s".to_owned());
    assert_eq!(outcome(&known), fired);
}

/// Who was out while it stopped its work is told until the group waits longer for it.
#[test]
fn a_worker_that_was_out_while_it_stopped_is_told_until_the_group_waits_longer() {
    for (now, outcome) in [(60_000, Outcome::Fired), (60_001, Outcome::Undecided)] {
        let mut known = known(&format!("member a rebalance.timeout.ms={now}"));
        known.workers[0].out_after_ms = Some(Value::new(60_000, Source::Broker));
        let findings = judge(&known).into_iter();
        let mut ours = findings.filter(|finding| finding.check.id == "stop_exceeds_rebalance");
        assert_eq!(ours.next().unwrap().judgement.outcome, outcome, "{now}");
    }
}

/// By the name that somebody wrote.
#[test]
fn a_setting_of_a_variable_is_called_by_the_variable() {
    let text = "release 4.1.1\nworker a gruop.id=g session.timeout.ms=x max.poll.records=1\n\
                variable a gruop.id CONNECT_GRUOP_ID\n\
                variable a session.timeout.ms CONNECT_SESSION_TIMEOUT_MS\n\
                variable a max.poll.records CONNECT_MAX_POLL_RECORDS\nalone a";
    let findings = judge(&known(text)).into_iter();
    let fired = findings.filter(|it| it.judgement.outcome == Outcome::Fired);
    let told: Vec<String> = fired
        .map(|it| {
            let judgement = it.judgement;
            let values = judgement.values.iter();
            let names: Vec<&str> = values.map(|shown| shown.name.as_str()).collect();
            let advice = judgement.advice.unwrap_or_default();
            format!("{}; {}; {advice}", judgement.said, names.join(", "))
        })
        .collect();
    let has = |line: &str| assert!(told.iter().any(|it| it == line), "{line}: {told:#?}");
    has("CONNECT_GRUOP_ID is no setting; CONNECT_GRUOP_ID; Did you mean CONNECT_GROUP_ID?");
    has("CONNECT_GROUP_ID is not set; CONNECT_GROUP_ID; ");
    has("CONNECT_SESSION_TIMEOUT_MS is not an integer of 32 bits; CONNECT_SESSION_TIMEOUT_MS; ");
    has(
        "CONNECT_MAX_POLL_RECORDS does nothing for tasks here; CONNECT_MAX_POLL_RECORDS; \
         It works as CONNECT_CONSUMER_MAX_POLL_RECORDS for all sink tasks, or as \
         consumer.override.max.poll.records in a connector.",
    );
}

/// The mark is told once, as what it is.
#[test]
fn a_mark_before_a_name_is_no_slip() {
    let text = "worker a \u{ef}\u{bb}\u{bf}session.timeout.ms=20000 consumer.max.poll.records=1";
    assert_eq!(fired(text), ["byte_order_mark"]);
    let text = "worker a \u{ef}\u{bb}\u{bf}consumer.max.poll.records=1";
    assert_eq!(fired(text), ["byte_order_mark"]);
    assert!(fired("worker a \u{ef}\u{bb}\u{bf}canary=1").is_empty());
}
