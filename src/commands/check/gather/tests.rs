//! Which workers are one group, and how many there are.

use evenkeel_core::checks::known::Given;

use super::*;
use crate::config::deploy::Format;

fn worker(name: &str, pairs: &[(&str, &str)]) -> Worker {
    let source = Source::Variable {
        name: name.to_owned(),
    };
    let given = |text: &str| Given::new(text, source.clone());
    Worker {
        name: name.to_owned(),
        settings: pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), given(value)))
            .collect(),
        ..Worker::default()
    }
}

fn groups_of(workers: Vec<Worker>, in_containers: bool) -> Vec<Known> {
    let deployed = Deployed {
        file: "f".to_owned(),
        format: Format::Properties,
        workers,
        in_containers,
        notes: Vec::new(),
    };
    groups(vec![deployed], None)
}

fn names(known: &Known) -> Vec<&str> {
    let workers = known.workers.iter();
    workers.map(|worker| worker.name.as_str()).collect()
}

#[test]
fn a_group_is_an_id_and_its_brokers() {
    let id = ("group.id", "g");
    let known = groups_of(
        vec![
            worker("a", &[id, ("bootstrap.servers", "B1:9092, b2:9092")]),
            worker("b", &[id, ("bootstrap.servers", "b1:9092")]),
            worker("other cluster", &[id, ("bootstrap.servers", "c1:9092")]),
            worker("brokers unknown", &[id]),
            worker("no id", &[]),
            worker("no id either", &[]),
        ],
        false,
    );
    let all: Vec<_> = known.iter().map(names).collect();
    assert_eq!(
        all,
        [
            vec!["a", "b", "brokers unknown"],
            vec!["other cluster"],
            vec!["no id"],
            vec!["no id either"],
        ]
    );
    assert!(known[0].hosts.is_none());
    assert!(known[0].worker_count.is_none());
}

#[test]
fn neighbours_are_groups_on_the_same_brokers() {
    let topic = ("config.storage.topic", "t");
    let known = groups_of(
        vec![
            worker(
                "a",
                &[("group.id", "a"), topic, ("bootstrap.servers", "b1:9092")],
            ),
            worker(
                "b",
                &[("group.id", "b"), topic, ("bootstrap.servers", "b1:9092")],
            ),
            worker(
                "c",
                &[("group.id", "c"), topic, ("bootstrap.servers", "c1:9092")],
            ),
            worker("d", &[("group.id", "d"), topic]),
        ],
        false,
    );
    let of = |index: usize| -> Vec<&str> {
        let neighbours = known[index].neighbours.iter();
        neighbours
            .map(|neighbour| neighbour.group.as_str())
            .collect()
    };
    assert_eq!(of(0), ["b"]);
    assert_eq!(of(1), ["a"]);
    assert!(of(2).is_empty() && of(3).is_empty());
}

#[test]
fn processes_are_counted_where_every_file_says_how_many() {
    let replicas = |name: &str, count: Option<i64>| Worker {
        replicas: count.map(|count| Value::new(count, Source::Said)),
        ..worker(name, &[("group.id", "g")])
    };
    let known = groups_of(vec![replicas("a", Some(2)), replicas("b", Some(3))], true);
    assert_eq!(known[0].worker_count.as_ref().unwrap().value, 5);
    assert_eq!(known[0].hosts.as_ref().unwrap().value, 5);
    let known = groups_of(vec![replicas("a", Some(2)), replicas("b", None)], true);
    assert!(known[0].worker_count.is_none());
    assert_eq!(known[0].hosts.as_ref().unwrap().value, 3);
}

#[test]
fn what_a_person_says_of_the_release_goes_over_the_file() {
    let mut own = worker("a", &[]);
    own.release = Some(Value::new(Release::new(3, 6, 0), Source::Said));
    let release = |said: Option<Release>| {
        let mut worker = own.clone();
        settle_release(&mut worker, said);
        worker.release.unwrap().value
    };
    assert_eq!(release(None), Release::new(3, 6, 0));
    assert_eq!(release(Some(Release::new(2, 8, 2))), Release::new(2, 8, 2));
    let mut bare = worker("b", &[]);
    settle_release(&mut bare, None);
    assert_eq!(bare.release.unwrap().value, tables().newest());
}
