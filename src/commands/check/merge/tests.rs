//! Which worker of a file is which member, and what counts for all.

use evenkeel_core::checks::known::{Given, Known, Topic, Worker};

use super::super::live::Watched;
use super::*;

const SESSION: &str = "session.timeout.ms";

fn value<T>(value: T) -> Value<T> {
    Value::new(value, Source::Broker)
}

fn of_file(file: &str, advertised: Option<&str>) -> Worker {
    let source = Source::File {
        file: file.to_owned(),
        line: Some(1),
    };
    Worker {
        name: file.to_owned(),
        settings: [("group.id".to_owned(), Given::new("g", source))].into(),
        advertised: advertised.map(|address| value(address.to_owned())),
        ..Worker::default()
    }
}

fn member(name: &str, session_ms: i64) -> Worker {
    Worker {
        name: name.to_owned(),
        told: [(SESSION.to_owned(), value(session_ms))].into(),
        advertised: Some(value(name.to_owned())),
        given_up: Some(value(session_ms)),
        ..Worker::default()
    }
}

fn group(workers: Vec<Worker>) -> Known {
    Known {
        group: Some(value("g".to_owned())),
        workers,
        ..Known::default()
    }
}

fn watched(workers: Vec<Worker>, own: Option<(&str, &str)>) -> Watched {
    let mut known = group(workers);
    known.broker.count = Some(value(3));
    known.records.missing_generations = Some(value(7));
    known.worker_count = Some(value(9));
    Watched::for_tests(known, own)
}

/// Whose file it is, and the session that it told.
fn told(known: &Known) -> Vec<(&str, Option<i64>)> {
    let told = |worker: &Worker| Some(worker.told.get(SESSION)?.value);
    let workers = known.workers.iter();
    workers.map(|it| (it.name.as_str(), told(it))).collect()
}

#[test]
fn a_worker_is_found_again_by_its_address() {
    let files = vec![of_file("a", Some("a:8083")), of_file("b", None)];
    let mut files = [group(files)];
    let live = [watched(
        vec![member("x:8083", 1), member("a:8083", 2)],
        None,
    )];
    assert_eq!(with_live(&mut files, &live), [0]);
    let [known] = files;
    // Nobody knows which of the others b is: it may be none.
    assert_eq!(
        told(&known),
        [("a", Some(2)), ("b", None), ("x:8083", Some(1))]
    );
    assert_eq!(known.workers[0].given_up, Some(value(2)));
    assert_eq!(known.broker.count, Some(value(3)));
    assert_eq!(known.records.missing_generations, Some(value(7)));
    assert_eq!(known.worker_count, Some(value(9)));
}

#[test]
fn the_worker_beside_us_is_found_by_the_file_of_the_connection() {
    let mut files = [group(vec![of_file("a", None), of_file("b", None)])];
    let members = vec![member("x:8083", 1), member("y:8083", 2)];
    let live = [watched(members, Some(("b", "y:8083")))];
    with_live(&mut files, &live);
    assert_eq!(
        told(&files[0]),
        [("a", None), ("b", Some(2)), ("x:8083", Some(1))]
    );
    assert_eq!(
        files[0].workers[1].advertised,
        Some(value("y:8083".to_owned()))
    );
}

#[test]
fn one_file_and_one_member_are_one_worker() {
    let mut files = [group(vec![of_file("a", None)])];
    let live = [watched(vec![member("x:8083", 1)], None)];
    with_live(&mut files, &live);
    assert_eq!(told(&files[0]), [("a", Some(1))]);
}

#[test]
fn another_group_is_left_as_it_was_read() {
    let mut other = group(vec![of_file("a", None)]);
    other.group = Some(value("other".to_owned()));
    let nameless = Known {
        group: None,
        ..other.clone()
    };
    let before = [other, nameless];
    let mut files = before.clone();
    let live = [watched(vec![member("x:8083", 1)], None)];
    let none: [usize; 0] = [];
    assert_eq!(with_live(&mut files, &live), none);
    assert_eq!(files, before);
}

/// What was seen of a worker counts for the file that it runs with.
#[test]
fn what_was_seen_of_a_member_counts_for_its_file() {
    let mut seen = member("a:8083", 10_000);
    seen.out_after_ms = Some(value(60_000));
    seen.held_up_ms = Some(value(90_000));
    let mut live = watched(vec![seen, member("b:8083", 10_000)], None);
    live.known.producers = Some(Vec::new());
    let mut files = [group(vec![of_file("w.properties", Some("a:8083"))])];
    with_live(&mut files, &[live]);
    let worker = &files[0].workers[0];
    assert_eq!(worker.out_after_ms, Some(value(60_000)));
    assert_eq!(worker.held_up_ms, Some(value(90_000)));
    assert_eq!(files[0].producers, Some(Vec::new()));
}

/// Two groups that one configuration names, in one cluster, with one status topic: told once.
#[test]
fn running_groups_of_one_cluster_are_compared() {
    let told = |clusters: [&str; 2]| {
        let groups = ["a", "b"].into_iter().zip(clusters);
        let live = groups.map(|(group, cluster)| {
            let mut one = watched(vec![member("w:8083", 10_000)], None);
            one.known.group = Some(value(group.to_owned()));
            one.known.broker.topics = Some(vec![Topic {
                setting: "status.storage.topic",
                name: "statuses".to_owned(),
                partitions: None,
                cleanup: None,
                replicas: None,
            }]);
            one.cluster = (!cluster.is_empty()).then(|| cluster.to_owned());
            one
        });
        let mut live: Vec<Watched> = live.collect();
        beside_each_other(&mut live);
        let findings = live.iter().flat_map(|one| &one.findings);
        let fired = findings.filter(|it| it.judgement.outcome == checks::Outcome::Fired);
        let said: Vec<String> = fired.map(|it| it.judgement.said.clone()).collect();
        said
    };
    assert_eq!(told(["x", "x"]), ["groups a and b share topics"]);
    let none: [String; 0] = [];
    assert_eq!(told(["x", "y"]), none);
    // Nobody knows whether it is one cluster.
    assert_eq!(told(["", ""]), none);
}
