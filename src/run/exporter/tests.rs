//! Whose turn it is, on recorded groups: each rebalance is sent once, by one of the sidecars.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::Input;

use super::Exporter;
use crate::config::TraceCopies;
use crate::config::traces_for_url;
use crate::read::capture::CaptureReader;
use crate::show::traces::Trace;
use crate::show::traces::sender::{self, Sender};
use crate::show::traces::wire::Client;

fn inputs(scenario: &str) -> Vec<Input> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/captures/{scenario}.evk.gz"));
    let reader = CaptureReader::open(&path).unwrap();
    reader.map(Result::unwrap).collect()
}

fn exporter(own: Option<&str>, copies: TraceCopies) -> (Exporter, Sender) {
    let (config, _) = traces_for_url("http://127.0.0.1:4318", &|_| None).unwrap();
    let (queue, sender) = sender::channel(Client::new(config));
    let mut exporter = Exporter::new(queue, copies);
    exporter.own = own.map(Arc::from);
    (exporter, sender)
}

/// What the agent beside a worker sends while it runs.
fn sent(inputs: &[Input], own: Option<&str>, copies: TraceCopies) -> Vec<Trace> {
    let (mut exporter, _sender) = exporter(own, copies);
    let mut engine = Engine::new();
    let mut sent = Vec::new();
    for input in inputs {
        for change in engine.apply(input) {
            if let Change::Closed(episode, beside) = change {
                sent.extend(exporter.due(&engine, &episode, &beside));
            }
        }
    }
    sent
}

fn workers(inputs: &[Input]) -> BTreeSet<String> {
    let mut engine = Engine::new();
    let mut workers = BTreeSet::new();
    for input in inputs {
        engine.apply(input);
        let group = engine.answers().group;
        let members = group.into_iter().flat_map(|group| group.members);
        workers.extend(members.map(|member| member.worker.to_string()));
    }
    workers
}

#[test]
fn each_rebalance_is_sent_by_the_sidecar_of_its_leader_and_a_copy_by_the_deputys() {
    let mut most = 0;
    for scenario in ["kill_leader", "rollout", "scale_out"] {
        let inputs = inputs(scenario);
        let all = sent(&inputs, Some("elsewhere:1"), TraceCopies::All);
        assert!(all.len() > 2, "{scenario}");
        let copies_of = |copies| {
            let mut times: BTreeMap<[u8; 16], usize> = BTreeMap::new();
            for worker in workers(&inputs) {
                for trace in sent(&inputs, Some(&worker), copies) {
                    assert!(
                        all.contains(&trace),
                        "{scenario}: the same, whoever sends it"
                    );
                    *times.entry(trace.id).or_default() += 1;
                }
            }
            times
        };
        let one = copies_of(TraceCopies::One);
        assert_eq!(one.len(), all.len(), "{scenario}");
        assert!(one.values().all(|times| *times == 1), "{scenario}: {one:?}");
        let two = copies_of(TraceCopies::Two);
        assert!(
            two.values().all(|times| (1..=2).contains(times)),
            "{scenario}"
        );
        most = most.max(two.values().copied().max().unwrap_or(0));
    }
    assert_eq!(most, 2);
}

#[test]
fn what_closed_before_the_agent_watched_is_not_sent() {
    let inputs = inputs("rollout");
    let watched = sent(&inputs, None, TraceCopies::All);
    // An agent that starts late reads all of it as history.
    let late: Vec<Input> = inputs
        .iter()
        .cloned()
        .map(|mut input| {
            if let evenkeel_core::facts::input::InputKind::Start(start) = &mut input.kind {
                start.end = i64::MAX;
            }
            input.at = evenkeel_core::facts::time::ArrivalTime(input.at.0 + 3_600_000);
            input
        })
        .collect();
    let late = sent(&late, None, TraceCopies::All);
    assert!(watched.len() > 2);
    assert_eq!(late.len(), 0);
}

#[test]
fn an_agent_that_stands_beside_no_worker_sends_nothing_unless_it_is_told_to() {
    let inputs = inputs("rollout");
    let elsewhere = sent(&inputs, Some("elsewhere:1"), TraceCopies::Two);
    assert_eq!(elsewhere.len(), 0);
}

#[test]
fn what_was_handed_over_is_remembered_and_nothing_else() {
    let inputs = inputs("rollout");
    let taken = |own: &str, copies| {
        let (mut exporter, _sender) = exporter(Some(own), copies);
        let mut engine = Engine::new();
        for input in &inputs {
            let changes = engine.apply(input);
            exporter.took(&engine, &changes);
        }
        let (stats, exported) = exporter.saw(&engine.answers());
        // Nothing is on its way yet.
        assert!(exported.is_empty());
        let handed: BTreeSet<Arc<str>> = exporter.handed.into_iter().map(|(id, _)| id).collect();
        (handed, stats.waiting)
    };
    let all = sent(&inputs, None, TraceCopies::All);
    let spans: usize = all.iter().map(|trace| trace.spans.len()).sum();
    let (handed, waiting) = taken("elsewhere:1", TraceCopies::All);
    assert_eq!(
        (handed.len(), waiting),
        (all.len(), u64::try_from(spans).unwrap())
    );
    // Whose leader has an agent of its own beside it is handed over there.
    assert!(taken("elsewhere:1", TraceCopies::Two).0.is_empty());
    let mut of_workers = 0;
    for worker in workers(&inputs) {
        let (handed_there, _) = taken(&worker, TraceCopies::One);
        assert!(handed_there.is_subset(&handed));
        of_workers += handed_there.len();
    }
    assert_eq!(of_workers, all.len());
    // Nobody takes them: nothing is referred to.
    let (mut exporter, sender) = exporter(None, TraceCopies::All);
    drop(sender);
    let mut engine = Engine::new();
    for input in &inputs {
        let changes = engine.apply(input);
        exporter.took(&engine, &changes);
    }
    let (stats, _) = exporter.saw(&engine.answers());
    assert!(exporter.handed.is_empty());
    assert_eq!(stats.dropped, u64::try_from(spans).unwrap());
}
