//! Real incidents as data: groups that meet others under one id, and groups of
//! MirrorMaker. See `cases.rs`.

use evenkeel_core::answers::Answers;
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::InputKind;

use crate::dsl::{Step, check, inputs, run};

pub(crate) fn answers(scenario: &str) -> Answers {
    let mut engine = Engine::new();
    for step in inputs(scenario) {
        if let Step::Input(input) = step {
            engine.apply(&input);
        }
    }
    engine.answers()
}

pub(crate) fn findings(answers: &Answers) -> Vec<(&str, &str)> {
    let found = answers.findings.iter();
    found
        .map(|found| (found.finding, found.subject.as_str()))
        .collect()
}

/// Two deployments with the default group and topics are one cluster: each member is told
/// with the address it comes from, and a connector of one runs on a worker of the other.
/// The agent beside a worker of the one knows it by its address, and the statuses of the
/// other are no stale ones.
#[test]
fn o_19_two_deployments_are_one_group() {
    let scenario = |own: &str| {
        format!(
            "0.0 own {own}
             0.0 config connector pg
             0.0 config tasks pg 2
             0.1 status pg-0 FAILED q1 9
             0.1 status pg-1 RUNNING p2 9
             0.2 ends
             1.0 group 9 sessioned p1 off=4 | p1: host=192.0.2.10 claim=pg | p2: host=192.0.2.11 claim=pg-1 | q1: host=198.51.100.7 claim=pg-0
             1.1 ends"
        )
    };
    let told = answers(&scenario("nobody 198.51.100.7"));
    let members: Vec<(&str, &str)> = told
        .group
        .as_ref()
        .unwrap()
        .members
        .iter()
        .map(|member| (&*member.worker, &*member.client_host))
        .collect();
    assert_eq!(
        members,
        [
            ("p1:8083", "192.0.2.10"),
            ("p2:8083", "192.0.2.11"),
            ("q1:8083", "198.51.100.7"),
        ]
    );
    assert_eq!(&*told.own.as_ref().unwrap().worker, "q1:8083");
    assert_eq!(findings(&told), []);
    let told = answers(&scenario("nobody 192.0.2.11"));
    assert_eq!(&*told.own.as_ref().unwrap().worker, "p2:8083");
    check(
        &format!("{}\n1.2 show", scenario("p1")),
        "incarnation 1 from generation 9
         gen 9 completed by rule 4
         stable 9 sessioned led by p1
         p1 owns pg
         p2 owns pg-1
         q1 owns pg-0
         counted completed=1",
    );
}

/// Only the group id is shared, the topics are not: rounds fail since the leader is behind
/// the other's config offset, and this cluster's config topic does not reach it.
#[test]
fn o_19_two_deployments_with_topics_of_their_own() {
    check(
        "0.0 config connector ours
         0.0 config tasks ours 1
         0.1 ends
         1.0 group 3 sessioned p off=3 | p: claim=ours,ours-0
         2.0 group 4 sessioned p off=40 err=1 | p: claim=ours,ours-0 | q: claim=none
         2.1 group 5 sessioned p off=40 err=1 | p: claim=ours,ours-0 | q: claim=none
         2.2 ends
         2.2 show",
        "incarnation 1 from generation 3
         gen 3 completed by rule 3
         gen 4 mismatch by rule 2
         gen 5 mismatch by rule 2
         stable 5 sessioned led by p
         p owns ours,ours-0
         q owns 
         counted completed=1 mismatch=2 config_mismatch=2
         finding config_offset_beyond_end configs",
    );
}

/// Both deployments advertise one name, as with a host name from an image: told apart by
/// their addresses, and the statuses that nobody can tell apart are a finding.
#[test]
fn o_19_two_deployments_with_one_advertised_name() {
    let url = "url=http://connect:8083/";
    let told = answers(&format!(
        "0.0 config connector c
         0.0 config tasks c 1
         0.1 ends
         1.0 group 3 sessioned p off=3 | p: {url} host=192.0.2.10 claim=c | q: {url} host=198.51.100.7 claim=c-0
         1.1 ends"
    ));
    let members = &told.group.as_ref().unwrap().members;
    let workers: Vec<&str> = members.iter().map(|member| &*member.worker).collect();
    assert_eq!(
        workers,
        ["connect:8083@192.0.2.10", "connect:8083@198.51.100.7"]
    );
    let found = findings(&told);
    assert!(
        found.contains(&("shared_worker", "connect:8083")),
        "{found:?}"
    );
}

/// The group id belongs to consumers, by its records: Connect's group is over, its work
/// has no owner, what the coordinator says of the other is not shown as Connect's, and
/// the finding stands until a record says otherwise.
#[test]
fn o_20_consumers_took_the_group_id() {
    check(
        "0.0 config connector orders
         0.0 config tasks orders 1
         0.1 ends
         1.0 group 7 sessioned a off=3 | a: claim=orders,orders-0
         2.0 group 8 empty
         3.0 group 9 range s type=consumer | s: claim=-
         3.1 ends
         3.1 poll listed preparing
         3.2 mode
         3.2 show
         4000.0 group 10 range s type=consumer | s: claim=-
         8000.0 ends
         8000.0 show
         8001.0 group gone
         8002.0 group 1 sessioned a#2 off=3 | a#2: claim=none add=orders,orders-0
         8002.1 ends
         8002.2 show",
        "incarnation 1 from generation 7
         gen 8 emptied by rule 1
         deleted
         gen 7 unknown by rule 7
         mode full fresh state dead
         dead 8 - led by -
         unassigned orders lost since 2 of a
         unassigned orders-0 lost since 2 of a
         counted emptied=1 unknown=1
         finding foreign_group cg
         dead 8 - led by -
         unassigned orders lost since 2 of a
         unassigned orders-0 lost since 2 of a
         counted emptied=1 unknown=1
         finding foreign_group cg
         incarnation 2 from generation 1
         stable 1 sessioned led by a
         a owns orders,orders-0
         counted emptied=1 unknown=1",
    );
}

/// The same by polls, where the records may not be read.
#[test]
fn o_20_consumers_took_the_group_id_by_polls() {
    check(
        "0.0 access offsets denied
         0.0 config connector orders
         0.0 config tasks orders 1
         0.1 poll stable sessioned a off=3 | a: claim=orders,orders-0
         0.2 ends
         0.2 show
         20.0 poll stable range s type=consumer | s: claim=-
         20.1 ends
         20.1 mode
         20.1 show
         29.0 poll listed preparing
         29.1 mode
         40.0 poll stable sessioned a#2 off=3 | a#2: claim=none add=orders,orders-0
         40.1 ends
         40.1 mode
         40.1 show",
        "stable ? sessioned led by a
         a owns orders,orders-0
         counted
         mode no_offsets_topic fresh state dead
         no group
         unassigned orders lost since 20 of a
         unassigned orders-0 lost since 20 of a
         counted
         finding foreign_group cg
         mode no_offsets_topic fresh state dead
         mode no_offsets_topic fresh state stable
         stable ? sessioned led by a
         a owns orders,orders-0
         counted",
    );
}

/// A sink connector's consumers would join the workers' group: by its name, which Connect
/// refuses only in the cluster of that group, or by an override, which it does not look
/// at. Names that only look alike, sources, and overrides to elsewhere are none.
#[test]
fn o_20_a_sink_uses_the_group_id_of_the_workers() {
    let text = run("0.0 config sink by-override cg
         0.0 config sink elsewhere connect-cluster
         0.0 config sink group
         0.0 config connector source
         0.1 ends
         1.0 group 7 sessioned a off=4 | a: claim=by-override,elsewhere,group,source
         1.1 ends
         1.1 show
         2.0 config sink by-override other
         2.1 ends
         2.1 show
         3.0 config sink by-override cg
         3.1 config delete by-override
         3.2 ends
         3.2 show");
    let found: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("finding group"))
        .collect();
    assert_eq!(found, ["finding group_id_shared by-override"], "{text}");
    // By its name: the group of the workers is `connect-orders`.
    let mut engine = Engine::new();
    for step in inputs("0.0 config sink orders\n0.0 config sink payments\n0.1 ends") {
        if let Step::Input(mut input) = step {
            if let InputKind::Settings(settings) = &mut input.kind {
                settings.group = "connect-orders".to_owned();
            }
            engine.apply(&input);
        }
    }
    let told = engine.answers();
    assert!(findings(&told).contains(&("group_id_shared", "orders")));
    assert!(!findings(&told).contains(&("group_id_shared", "payments")));
}

/// Names of MirrorMaker 2: arrows, dots and dashes are part of the connector's name, and
/// its dedicated mode advertises a placeholder for every worker.
#[test]
fn o_26_names_and_workers_of_mirror_maker() {
    let arrow = "src->dst.MirrorSourceConnector";
    let same = "kafka>kafka.MirrorSourceConnector";
    let url = "url=NOTUSED";
    let text = run(&format!(
        "0.0 config connector {arrow}
         0.0 config tasks {arrow} 11
         0.0 config connector {same}
         0.1 ends
         1.0 group 3 sessioned a {url} off=14 | a: {url} host=192.0.2.10 claim={arrow},{arrow}-0,{arrow}-1,{arrow}-2,{arrow}-3,{arrow}-4 | b: {url} host=192.0.2.11 claim={same},{arrow}-5,{arrow}-6,{arrow}-7,{arrow}-8,{arrow}-9
         2.0 status {arrow}-10 FAILED NOTUSED 3
         2.1 ends
         2.1 show"
    ));
    assert!(
        text.contains(&format!("NOTUSED@192.0.2.11 owns {same},{arrow}-5,")),
        "{text}"
    );
    let unassigned: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("unassigned"))
        .collect();
    assert_eq!(unassigned.len(), 1, "{text}");
    assert!(
        unassigned[0].starts_with(&format!("unassigned {arrow}-10 ")),
        "{text}"
    );
    let found: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("finding "))
        .collect();
    assert_eq!(found, ["shared_worker NOTUSED", "url_invalid NOTUSED"]);
}
