//! What a view becomes: values and absence.

mod absence;
mod bounds;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_core::answers::{GroupAnswer, GroupState, ItemAnswer};

use super::*;
use crate::show::catalog::{ALL, Values};
use crate::show::sample::{RECORDED, calm, incident, member, view};

/// Every series as `name{label="value",…}` with its value in words.
fn told(view: &View) -> BTreeMap<String, String> {
    let snapshot = families(view);
    let mut told = BTreeMap::new();
    let mut lines = 0;
    for samples in &snapshot.families {
        for series in &samples.series {
            let labels = samples.family.labels.iter().zip(&series.labels);
            let labels: Vec<_> = labels
                .map(|(label, value)| format!("{}={value}", label.name))
                .collect();
            let key = format!("{}{{{}}}", samples.family.name, labels.join(","));
            let value = match &series.value {
                Value::Count(value) => value.to_string(),
                Value::Whole(value) => value.to_string(),
                Value::Millis(value) => format!("{value} ms"),
                Value::Real(value) => value.to_string(),
                Value::Histogram(value) => format!("{} in {} s", value.count, value.sum),
            };
            lines += series.value.samples();
            assert!(
                told.insert(key.clone(), value).is_none(),
                "{key} is there twice"
            );
        }
    }
    assert_eq!(lines, snapshot.samples);
    told
}

/// The series of one family, without its name and the label `group`.
fn of(view: &View, name: &str) -> Vec<String> {
    let prefix = format!("{name}{{");
    let series = told(view)
        .into_iter()
        .filter(|(key, _)| key.starts_with(&prefix));
    series
        .map(|(key, value)| {
            let labels = key[prefix.len()..key.len() - 1].replace("group=connect-orders", "");
            format!("{} {value}", labels.trim_start_matches(','))
                .trim()
                .to_owned()
        })
        .collect()
}

#[test]
fn an_incident_in_numbers() {
    let view = view(vec![incident()]);
    let check = |name: &str, expected: &[&str]| assert_eq!(of(&view, name), expected, "{name}");
    check(
        "evenkeel_group_info",
        &["protocol=sessioned,leader=worker-a:8083 1"],
    );
    check(
        "evenkeel_group_state",
        &[
            "state=completing_rebalance 0",
            "state=dead 0",
            "state=empty 0",
            "state=preparing_rebalance 0",
            "state=stable 1",
        ],
    );
    check("evenkeel_generation", &["8"]);
    check("evenkeel_members", &["3"]);
    check(
        "evenkeel_last_rebalance_timestamp_seconds",
        &["1700000090250 ms"],
    );
    check(
        "evenkeel_recent_generations",
        &["window=10m 2", "window=2m 1", "window=30m 5"],
    );
    check("evenkeel_configured", &["kind=connector 3", "kind=task 6"]);
    check(
        "evenkeel_unassigned_tasks",
        &[
            "connector=audit \"eu\",reason=new 1",
            "connector=orders,reason=lost 1",
            "connector=payments,reason=lost 1",
        ],
    );
    check(
        "evenkeel_scheduled_rebalance_deadline_timestamp_seconds",
        &["reason=lost 1700000390250 ms"],
    );
    check(
        "evenkeel_worker_assignments",
        &[
            "worker=worker-a:8083,kind=connector 1",
            "worker=worker-a:8083,kind=task 1",
            "worker=worker-b:8083,kind=connector 0",
            "worker=worker-b:8083,kind=task 2",
            "worker=worker-c:8083,kind=connector 1",
            "worker=worker-c:8083,kind=task 0",
        ],
    );
    check("evenkeel_trust", &["1"]);
    check(
        "evenkeel_finding_info",
        &["finding=config_hazard,subject=connect-configs 1"],
    );
    check("evenkeel_series_dropped_total", &["0"]);
    let told = told(&view);
    for (key, expected) in [
        (
            "evenkeel_unassigned{group=connect-orders,kind=task,reason=lost}",
            "2",
        ),
        (
            "evenkeel_unassigned{group=connect-orders,kind=connector,reason=lost}",
            "1",
        ),
        (
            "evenkeel_unassigned{group=connect-orders,kind=task,reason=dropped}",
            "0",
        ),
        (
            "evenkeel_generations_total{group=connect-orders,cause=worker_lost,outcome=completed}",
            "4",
        ),
        (
            "evenkeel_generations_total{group=connect-orders,cause=worker_joined,outcome=aborted}",
            "0",
        ),
        (
            "evenkeel_revocations_total{group=connect-orders,kind=task,how=asked}",
            "3",
        ),
        (
            "evenkeel_worker_timeout_seconds{group=connect-orders,worker=worker-c:8083,timeout=session}",
            "10000 ms",
        ),
        (
            "evenkeel_records_total{group=connect-orders,input=offsets}",
            "1200",
        ),
        (
            "evenkeel_input_start_up_ratio{group=connect-orders,input=offsets}",
            "1",
        ),
        ("process_resident_memory_bytes{}", "12500000"),
    ] {
        assert_eq!(told.get(key).map(String::as_str), Some(expected), "{key}");
    }
    let lines = families(&view).samples.to_string();
    assert_eq!(told["evenkeel_series{}"], lines);
    check(
        "evenkeel_episode_info",
        &["cause=worker_lost,subject=worker-d:8083,outcome=open 1"],
    );
    check("evenkeel_rebalance_in_progress", &["0"]);
    check("evenkeel_rebalance_active_seconds", &["0 ms"]);
    check("evenkeel_rebalance_duration_seconds", &["3 in 12.5 s"]);
    check(
        "evenkeel_clock_skew_seconds",
        &["worker=worker-b:8083 -90000 ms"],
    );
    check(
        "evenkeel_pattern_info",
        &["pattern=flapping,subject=worker-d:8083 1"],
    );
    check("evenkeel_imbalance", &["kind=connector 0", "kind=task 1"]);
    check(
        "evenkeel_survivor_assignments",
        &["kind=connector,scope=worker 1", "kind=task,scope=worker 2"],
    );
    check(
        "evenkeel_departed_workers",
        &[
            "how=crashed 1",
            "how=cut_short 0",
            "how=graceful 0",
            "how=unknown 0",
            "how=unresponsive 0",
            "how=unsettled 1",
        ],
    );
    let departures = of(&view, "evenkeel_departures_total");
    assert_eq!(departures.len(), 4 * 5);
    assert!(departures.contains(&"worker=worker-d:8083,how=crashed 1".to_owned()));
}

#[test]
fn every_family_is_fed() {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut answers = incident();
    answers.inputs[0]
        .decode_errors
        .insert("truncated".to_owned(), 2);
    answers.inputs[0]
        .unknown
        .insert("offsets_key 9".to_owned(), 1);
    let view = view(vec![answers]);
    seen.extend(
        families(&view)
            .families
            .iter()
            .map(|samples| samples.family.name.to_owned()),
    );
    let all: BTreeSet<_> = ALL.iter().map(|family| family.name.to_owned()).collect();
    assert_eq!(
        all.difference(&seen).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
}

#[test]
fn the_process_is_read() {
    let read = crate::show::process::ProcessReader::new().read().unwrap();
    let known = ALL
        .iter()
        .filter(|family| family.name.starts_with("process_"));
    for family in known {
        assert!(
            read.get(family.name).is_some(),
            "{} is not read",
            family.name
        );
    }
    for name in read.names() {
        assert!(
            catalog::find(name).is_some(),
            "{name} is not in the catalogue"
        );
    }
    assert!(
        read.get("process_resident_memory_bytes")
            .is_some_and(|bytes| bytes > 1e6)
    );
}

#[test]
fn values_of_closed_labels_are_in_their_set() {
    for world in [
        incident(),
        Answers {
            group: None,
            ..incident()
        },
    ] {
        let view = view(vec![world]);
        for samples in &families(&view).families {
            for series in &samples.series {
                for (label, value) in samples.family.labels.iter().zip(&series.labels) {
                    if let Values::Closed(values) = label.values {
                        let known = values().contains(value);
                        assert!(known, "{}: {}={value}", samples.family.name, label.name);
                    }
                }
            }
        }
    }
}

/// The world with a change to its group.
fn with_group(change: impl FnOnce(&mut GroupAnswer)) -> View {
    let mut answers = incident();
    change(answers.group.as_mut().unwrap());
    view(vec![answers])
}

#[test]
fn the_last_rebalance_is_the_newest_round_with_a_record() {
    let mut answers = incident();
    let mut lost = answers.rounds[0].clone();
    (lost.generation, lost.recorded) = (9, None);
    answers.rounds.push(lost);
    let shown = |answers: &Answers| {
        of(
            &view(vec![answers.clone()]),
            "evenkeel_last_rebalance_timestamp_seconds",
        )
    };
    assert_eq!(shown(&answers), [format!("{} ms", RECORDED.0)]);
    answers.rounds.clear();
    assert_eq!(shown(&answers), [format!("{} ms", RECORDED.0)]);
    answers.group.as_mut().unwrap().state = GroupState::Dead;
    assert_eq!(shown(&answers), [""; 0], "a tombstone is no rebalance");
}

#[test]
fn a_protocol_that_fell() {
    let downgraded = |workers: Option<Vec<Arc<str>>>| {
        of(
            &with_group(|group| group.downgraded = workers),
            "evenkeel_protocol_downgraded",
        )
    };
    assert_eq!(downgraded(None), ["worker= 0"]);
    assert_eq!(downgraded(Some(Vec::new())), ["worker= 1"]);
    let two = vec![Arc::from("b:1"), Arc::from("a:1"), Arc::from("b:1")];
    assert_eq!(downgraded(Some(two)), ["worker=a:1 1", "worker=b:1 1"]);
}

#[test]
fn members_that_share_a_label_are_taken_together() {
    let item = |task| ItemAnswer {
        connector: Arc::from("orders"),
        task,
    };
    let mut other = member("worker-a:8083", &[item(Some(1)), item(Some(2))]);
    (other.session_timeout_ms, other.rebalance_timeout_ms) = (Some(6_000), Some(90_000));
    let view = view(vec![calm(vec![
        member("worker-a:8083", &[item(None), item(Some(0))]),
        other,
    ])]);
    assert_eq!(of(&view, "evenkeel_members"), ["2"]);
    assert_eq!(
        of(&view, "evenkeel_worker_assignments"),
        [
            "worker=worker-a:8083,kind=connector 1",
            "worker=worker-a:8083,kind=task 3",
        ]
    );
    assert_eq!(
        of(&view, "evenkeel_worker_timeout_seconds"),
        [
            "worker=worker-a:8083,timeout=rebalance 60000 ms",
            "worker=worker-a:8083,timeout=session 6000 ms",
        ]
    );
}

#[test]
fn several_groups_each_once() {
    let mut other = incident();
    other.settings.group = "connect-b".to_owned();
    other.group.as_mut().unwrap().generation = Some(3);
    let mut again = incident();
    again.group.as_mut().unwrap().generation = Some(99);
    let view = view(vec![incident(), other, again]);
    assert_eq!(of(&view, "evenkeel_generation"), ["group=connect-b 3", "8"]);
    for samples in &families(&view).families {
        let count = families(&view)
            .families
            .iter()
            .filter(|o| o.family.name == samples.family.name)
            .count();
        assert_eq!(count, 1, "{} in one piece", samples.family.name);
    }
}

#[test]
fn the_same_view_gives_the_same_snapshot() {
    let view = view(vec![incident()]);
    assert_eq!(
        format!("{:?}", families(&view)),
        format!("{:?}", families(&view))
    );
}
