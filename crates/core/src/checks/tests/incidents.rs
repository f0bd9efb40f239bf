//! Settings of real deployments: what is said of them, and nothing else.

use super::dsl::known;
use super::*;

/// What fired, as `severity id`, in the order of the table.
fn fired(text: &str) -> Vec<String> {
    let findings = judge(&known(text)).into_iter();
    let fired = findings.filter(|finding| finding.judgement.outcome == Outcome::Fired);
    fired
        .map(|finding| format!("{} {}", finding.check.severity.word(), finding.check.id))
        .collect()
}

/// O-15: calls of a connector hold up the worker's own thread.
#[test]
fn o_15_a_connector_blocks_longer_than_the_group_waits() {
    let text = "worker a admin.default.api.timeout.ms=60000\ntold a rebalance.timeout.ms=60000 session.timeout.ms=10000\nheld a 120000";
    assert_eq!(
        fired(text),
        [
            "error connector_call_exceeds_rebalance",
            "warning admin_call_reaches_rebalance"
        ]
    );
    let finding = judge(&known(text))
        .into_iter()
        .find(|finding| finding.check.id == "connector_call_exceeds_rebalance");
    let finding = finding.unwrap();
    assert!(
        finding
            .check
            .consequence
            .contains("exceeds rebalance.timeout.ms")
    );
    assert_eq!(finding.judgement.values[1].value, "60000");
}

/// O-16: two defaults of five minutes, on the releases that had them and went on.
#[test]
fn o_16_two_defaults_collide_before_the_fix() {
    for release in ["2.3.0", "2.5.0"] {
        let text = format!("release {release}\nworker a");
        assert_eq!(
            fired(&text),
            ["error unsync_backoff_reaches_delay"],
            "{release}"
        );
    }
    assert!(fired("release 2.5.1\nworker a").is_empty());
    assert!(fired("worker a").is_empty());
}

/// O-17: what is meant for sinks, topics and connectors stands at the top.
#[test]
fn o_17_settings_at_the_wrong_scope() {
    let text = "worker a session.timeout.ms=90000 heartbeat.interval.ms=3000 max.poll.records=10 cleanup.policy=compact errors.retry.timeout=300000 producer.max.request.size=104857600";
    assert_eq!(
        fired(text),
        [
            "warning session_reaches_rebalance",
            "info session_above_sinks",
            "warning wrong_scope",
            "warning wrong_scope",
            "warning wrong_scope",
        ]
    );
    let advice = |name: &str| {
        let findings = judge(&known(text)).into_iter();
        let mut ours = findings.filter(|finding| finding.check.id == "wrong_scope");
        let found = ours.find(|finding| finding.judgement.values[0].name == name);
        found.unwrap().judgement.advice.unwrap()
    };
    assert!(advice("max.poll.records").contains("consumer.override.max.poll.records"));
    assert!(advice("cleanup.policy").contains("topic.creation.default.cleanup.policy"));
    assert!(advice("errors.retry.timeout").contains("configuration of a connector"));
}

/// O-18: seven sets of settings found in public.
#[test]
fn o_18_settings_found_in_public() {
    let delay = "scheduled.rebalance.max.delay.ms";
    let cfg1 = format!(
        "worker a session.timeout.ms=120000 {delay}=90000 task.shutdown.graceful.timeout.ms=30000 worker.sync.timeout.ms=60000 worker.unsync.backoff.ms=60000 status.storage.partitions=168"
    );
    assert_eq!(
        fired(&cfg1),
        [
            "warning session_reaches_rebalance",
            "warning session_above_delay",
            "warning catch_up_outlives_delay",
            "warning sync_reaches_rebalance",
            "info session_above_sinks",
        ]
    );
    let cfg2 = format!(
        "worker a rebalance.timeout.ms=120000 session.timeout.ms=30000 {delay}=30000 task.shutdown.graceful.timeout.ms=100000"
    );
    assert_eq!(fired(&cfg2), ["warning graceful_near_rebalance"]);
    let cfg3 = format!("worker a {delay}=0 consumer.metadata.max.age.ms=5000");
    assert_eq!(fired(&cfg3), ["info delay_zero"]);
    let cfg4 = format!("worker a {delay}=10000\ncount 1");
    assert_eq!(fired(&cfg4), ["info delay_of_one_worker"]);
    let cfg5 =
        format!("worker a session.timeout.ms=10000 heartbeat.interval.ms=3000 {delay}=30000");
    assert!(fired(&cfg5).is_empty());
    let cfg6 =
        format!("worker a session.timeout.ms=30000 heartbeat.interval.ms=10000 {delay}=300000");
    assert!(fired(&cfg6).is_empty());
    let cfg7 = format!("worker a {delay}=300000\nworker b {delay}=10000");
    // The second worker's delay is also too short to catch up in.
    assert_eq!(
        fired(&cfg7),
        ["warning delay_differs", "warning catch_up_outlives_delay"]
    );
}

/// O-31: no delay, before and after the fix.
#[test]
fn o_31_no_delay_strands_work_before_the_fix() {
    let text =
        |release: &str| format!("release {release}\nworker a scheduled.rebalance.max.delay.ms=0");
    for release in ["2.3.0", "3.4.1", "3.5.1", "3.6.0"] {
        assert_eq!(
            fired(&text(release)),
            ["error delay_zero_strands_work"],
            "{release}"
        );
    }
    for release in ["3.5.2", "3.6.1", "3.7.0", "4.4.0"] {
        assert_eq!(fired(&text(release)), ["info delay_zero"], "{release}");
    }
}

/// O-41: static membership does nothing for workers, and harms all sink tasks.
#[test]
fn o_41_static_membership_of_workers_and_of_all_sinks() {
    let worker = fired("worker a group.instance.id=pod-0");
    assert_eq!(worker, ["warning instance_id_ignored"]);
    let sinks = fired("worker a consumer.group.instance.id=pod-0");
    assert_eq!(sinks, ["error sink_instance_id_shared"]);
}

/// Two groups with Kafka's sample topics: told once, not once for each.
#[test]
fn a_pair_of_groups_is_told_once() {
    let first =
        fired("group a\nworker a config.storage.topic=c\nneighbour b config.storage.topic=c");
    assert_eq!(first, ["error groups_share_topics"]);
    let second =
        fired("group b\nworker b config.storage.topic=c\nneighbour a config.storage.topic=c");
    assert!(second.is_empty(), "{second:?}");
}
