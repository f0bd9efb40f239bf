//! What each recorded scenario tells of disagreements between status topic and group, held
//! against the runs of work in the workers' logs; and what is left of them at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use evenkeel::read::capture::CaptureReader;
use evenkeel_core::answers::{Answers, DisagreementAnswer, DisagreementType};
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::InputKind;
use serde_json::Value;

use crate::replays::{captures, name};

use DisagreementType::{
    AbandonedStop, DuplicateClaim, PossibleOrphan, RunningOnDepartedWorker as Departed,
};

const DIED: &str = "it died; for ten minutes nobody knows that it is not frozen";
const CUT_OFF: &str = "it is cut off, and stopped its work where nobody can read that";

/// What is left at the end of a recording: its name, of which type, how many, and whether that
/// is so. A recording that is not listed ends without any.
const LEFT: &[(&str, DisagreementType, usize, &str)] = &[
    ("coordinator_away_follower", Departed, 3, CUT_OFF),
    (
        "coordinator_away_follower-3.4.1-2.5.1",
        Departed,
        3,
        CUT_OFF,
    ),
    ("coordinator_away_leader", Departed, 3, CUT_OFF),
    ("coordinator_away_leader-3.4.1-2.5.1", Departed, 3, CUT_OFF),
    ("coordinator_moved", Departed, 4, DIED),
    ("delay_zero", Departed, 3, DIED),
    (
        "deleted_while_away-3.4.1-2.5.1",
        AbandonedStop,
        6,
        "so: workers of 2.5.1 do not stop what runs of a deleted connector",
    ),
    ("eager_departures", Departed, 3, DIED),
    ("incident", Departed, 3, DIED),
    ("kill_leader", Departed, 2, DIED),
    ("kill_never", Departed, 3, DIED),
    ("kill_never-3.4.1-2.5.1", Departed, 2, DIED),
    ("kill_two", Departed, 5, DIED),
    (
        "membership",
        PossibleOrphan,
        1,
        "so: an eager worker came and went, and nobody stopped it",
    ),
    ("membership-3.4.1", Departed, 2, DIED),
    ("membership-3.4.1", PossibleOrphan, 1, "so"),
    ("membership-3.4.1-2.5.1", PossibleOrphan, 1, "so"),
    ("membership-3.9.2", PossibleOrphan, 1, "so"),
    (
        "task_ignores_stop",
        AbandonedStop,
        2,
        "it ended ten seconds later, which nobody writes",
    ),
    ("task_ignores_stop-3.9.2", AbandonedStop, 2, "the same"),
];

/// Copies that ran for seconds beside each other, and of which nothing is told: recording, item.
const UNSEEN: &[(&str, &str, &str)] = &[
    (
        "task_ignores_stop",
        "omega-0",
        "a stop for a new configuration is given up, and the same worker starts it anew: RUNNING \
         follows RUNNING",
    ),
    ("task_ignores_stop-3.9.2", "omega-0", "the same"),
];

/// What is told of one piece of work and one worker.
type Told = BTreeMap<(DisagreementType, String, String), DisagreementAnswer>;

/// From when on something ran, and until when.
type Run = (i64, Option<i64>);

/// When a worker's log says that work began and ended there.
#[derive(Debug, Default)]
struct Runs {
    /// By item and `host:port`.
    all: BTreeMap<(String, String), Vec<Run>>,
}

// === impl Runs ===

impl Runs {
    /// From what workers logged: a stop that timed out, a kill and a freeze end nothing.
    fn of(truth: &Value) -> Self {
        let mut runs = Self::default();
        let mut stopped: BTreeMap<(String, String), usize> = BTreeMap::new();
        for event in truth["events"].as_array().unwrap() {
            if event["event"] != "item" {
                continue;
            }
            let process = event["process"].as_str().unwrap();
            let Some(url) = truth["worker_urls"][process].as_str() else {
                continue;
            };
            let worker = url.trim_start_matches("http://").trim_end_matches('/');
            let item = event["item"]["name"].as_str().unwrap();
            let key = (item.to_owned(), worker.to_owned());
            let at = event["at_ms"].as_i64().unwrap();
            let known = runs.all.entry(key.clone()).or_default();
            match event["step"].as_str().unwrap() {
                "started" => known.push((at, None)),
                "start_ends" if event["item"]["kind"] == "connector" => known.push((at, None)),
                "stop_ends" => {
                    if let Some(last) = known.last_mut().filter(|last| last.1.is_none()) {
                        last.1 = Some(at);
                        stopped.insert(key, known.len() - 1);
                    }
                }
                "stop_timed_out" => {
                    if let Some(place) = stopped.get(&key) {
                        known[*place].1 = None;
                    }
                }
                _ => {}
            }
        }
        runs
    }

    /// Whether nothing says that it was not running there at an instant.
    fn may_run(&self, item: &str, worker: &str, at: i64) -> bool {
        let known = self.all.get(&(item.to_owned(), worker.to_owned()));
        let mut known = known.into_iter().flatten();
        known.any(|(from, until)| *from <= at && until.is_none_or(|until| until > at))
    }
}

fn item_name(told: &DisagreementAnswer) -> String {
    match told.item.task {
        Some(task) => format!("{}-{task}", told.item.connector),
        None => told.item.connector.to_string(),
    }
}

fn note(told: &mut Told, answers: &Answers) {
    let all = answers.disagreements.iter();
    for each in all.flat_map(|all| all.now.iter().chain(&all.over)) {
        let key = (each.kind, item_name(each), each.worker.to_string());
        told.entry(key).or_insert_with(|| each.clone());
    }
}

/// All that was told in a recording, and what is left when it ends.
fn derived(capture: &Path) -> (Told, Vec<DisagreementAnswer>) {
    let mut engine = Engine::new();
    let mut told = Told::new();
    for input in CaptureReader::open(capture).unwrap() {
        let input = input.unwrap();
        engine.apply(&input);
        if matches!(input.kind, InputKind::Ends(_)) {
            note(&mut told, &engine.answers());
        }
    }
    for input in engine.ends_here() {
        engine.apply(&input);
    }
    let answers = engine.answers();
    note(&mut told, &answers);
    (told, answers.disagreements.unwrap_or_default().now)
}

/// Whether the logs say what is told, or, of who may have died, no less.
fn is_so(runs: &Runs, told: &DisagreementAnswer) -> bool {
    let (item, at) = (item_name(told), told.since.0);
    let here = runs.may_run(&item, &told.worker, at);
    match told.kind {
        Departed | PossibleOrphan | AbandonedStop => here,
        DuplicateClaim => {
            let others = runs
                .all
                .keys()
                .filter(|(of, worker)| *of == item && **worker != *told.worker);
            let mut others = others.map(|(_, worker)| worker);
            here && others.any(|other| runs.may_run(&item, other, at))
        }
        DisagreementType::AssignedNotRunning | DisagreementType::StatusFrozen => !here,
        _ => false,
    }
}

/// Pairs of workers that ran a piece of work beside each other for seconds.
fn copies(truth: &Value) -> BTreeSet<(String, String, String)> {
    let mut copies = BTreeSet::new();
    let runs = truth["costs"]["runs"].as_array().into_iter().flatten();
    let runs: Vec<_> = runs
        .map(|run| {
            let url = &truth["worker_urls"][run["worker"].as_str().unwrap()];
            let worker = url.as_str().unwrap().trim_start_matches("http://");
            (
                run["item"]["name"].as_str().unwrap().to_owned(),
                worker.trim_end_matches('/').to_owned(),
                run["from_ms"].as_i64().unwrap(),
                run["to_ms"].as_i64().unwrap_or(i64::MAX),
            )
        })
        .collect();
    for (place, (item, worker, from, to)) in runs.iter().enumerate() {
        for (other_item, other, other_from, other_to) in &runs[place + 1..] {
            let beside_ms = to.min(other_to) - from.max(other_from);
            if item == other_item && beside_ms > 2_000 {
                copies.insert((item.clone(), worker.clone(), other.clone()));
            }
        }
    }
    copies
}

#[test]
fn what_is_told_of_each_recording_is_so() {
    let mut wrong = Vec::new();
    let mut left: BTreeMap<(String, DisagreementType), usize> = BTreeMap::new();
    let mut unseen = BTreeSet::new();
    let mut kinds: BTreeMap<DisagreementType, usize> = BTreeMap::new();
    for capture in captures() {
        let truth = capture.to_string_lossy().replace(".evk.gz", ".truth.json");
        let truth: Value = serde_json::from_str(&fs::read_to_string(truth).unwrap()).unwrap();
        let runs = Runs::of(&truth);
        let (told, last) = derived(&capture);
        let capture_name = name(&capture);
        for ((kind, ..), each) in &told {
            *kinds.entry(*kind).or_default() += 1;
            if !is_so(&runs, each) {
                wrong.push(format!("{capture_name}: {each:?}"));
            }
        }
        for each in &last {
            *left.entry((capture_name.clone(), each.kind)).or_default() += 1;
        }
        for (item, one, other) in copies(&truth) {
            let mut about = told.keys().filter(|(_, of, _)| *of == item);
            if !about.any(|(_, _, worker)| [&one, &other].contains(&worker)) {
                unseen.insert((capture_name.clone(), item));
            }
        }
    }
    let expected = LEFT.iter();
    let expected = expected.map(|(name, kind, count, _)| (((*name).to_owned(), *kind), *count));
    let expected: BTreeMap<_, _> = expected.collect();
    if left != expected {
        wrong.push(format!("left: {left:#?}"));
    }
    let expected = UNSEEN.iter();
    let expected = expected.map(|(name, item, _)| ((*name).to_owned(), (*item).to_owned()));
    if unseen != expected.collect() {
        wrong.push(format!("unseen: {unseen:#?}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The recordings hold some of each that real workers were made to show.
    for kind in [Departed, DuplicateClaim, PossibleOrphan, AbandonedStop] {
        assert!(kinds.contains_key(&kind), "no {}", kind.label());
    }
    println!("told: {kinds:?}");
}
