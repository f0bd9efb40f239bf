//! The truth of one short scenario, from the logs of every kind of release that differs.
//!
//! `fixtures/truth/README.md` says where the logs come from. Scenario: two workers start, a
//! connector with three tasks is created, the follower is killed, its work is parked for 4 s
//! and handed out, it comes back, the leader stops, the other stops.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::*;

#[derive(Deserialize)]
struct Run {
    urls: BTreeMap<String, String>,
    script: Vec<TruthEvent>,
}

fn folder(release: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/truth")
        .join(release)
}

fn load(release: &str) -> (Vec<ProcessLog>, Vec<TruthEvent>) {
    let text = |name: &str| std::fs::read_to_string(folder(release).join(name)).unwrap();
    let run: Run = serde_json::from_str(&text("run.json")).unwrap();
    let logs = ["broker-1", "worker-1", "worker-2"].map(|name| ProcessLog {
        name: name.to_owned(),
        text: text(&format!("{name}.log")),
        worker_url: run.urls.get(name).cloned(),
        skew_ms: 0,
    });
    (logs.to_vec(), run.script)
}

#[track_caller]
fn check(release: &str) -> TruthLog {
    let (logs, script) = load(release);
    let truth = read("connect", &logs, &script);
    let told: Vec<String> = truth.generations.iter().map(ToString::to_string).collect();
    let told = told.join("\n") + "\n";
    let expected = folder(release).join("expected.txt");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&expected, &told).unwrap();
    }
    assert_eq!(told, std::fs::read_to_string(&expected).unwrap());
    assert_eq!(truth.void, Vec::<String>::new());
    assert!(truth.is_settled());
    // Every generation says when it was prepared, joined, assigned, applied, in this order.
    for generation in &truth.generations {
        let mut times = vec![generation.prepared_ms.unwrap(), generation.join_end_ms];
        times.extend(generation.assignment_ms);
        for member in &generation.members {
            let own = [member.received_ms, member.applied_ms, member.finished_ms];
            let own: Vec<i64> = times
                .iter()
                .copied()
                .chain(own.map(Option::unwrap))
                .collect();
            assert!(own.is_sorted(), "{} {own:?}", generation.generation);
        }
    }
    // The same truth, written beside a capture and read again.
    let json = serde_json::to_string(&truth).unwrap();
    assert_eq!(serde_json::from_str::<TruthLog>(&json).unwrap(), truth);
    truth
}

#[test]
fn java_coordinator_and_newest_worker() {
    let truth = check("4.4.0-4.4.0");
    let steps = |name: &str| -> Vec<Step> {
        truth
            .events
            .iter()
            .filter(|event| event.process == "worker-1")
            .filter_map(|event| match &event.what {
                What::Item { item, step } if item.name == name => Some(*step),
                _ => None,
            })
            .collect()
    };
    // src-1 runs on worker-1 from beginning to end.
    let whole_life = [
        Step::StartAsked,
        Step::StartBegins,
        Step::StartEnds,
        Step::Started,
        Step::StopAsked,
        Step::StopBegins,
        Step::StopEnds,
        Step::StopInTime,
    ];
    assert_eq!(steps("src-1"), whole_life);
}

#[test]
fn scala_coordinator_and_its_last_worker() {
    check("3.9.2-3.9.2");
}

#[test]
fn first_kraft_release() {
    check("2.8.2-2.8.2");
}

#[test]
fn oldest_worker_on_newest_broker() {
    check("4.4.0-2.5.1");
}

#[test]
fn an_expiry_without_a_kill_in_the_script_voids_the_run() {
    let (logs, mut script) = load("4.4.0-4.4.0");
    script.retain(|event| {
        !matches!(
            event.what,
            What::Script {
                verb: Verb::Kill,
                ..
            }
        )
    });
    let void = read("connect", &logs, &script).void;
    assert_eq!(void.len(), 1, "{void:?}");
    assert!(void[0].contains("of worker-2 expired"), "{void:?}");
}

#[test]
fn another_group_has_no_truth_here() {
    let (logs, script) = load("4.4.0-4.4.0");
    for group_id in ["connec", "connect-src", "onnect"] {
        let truth = read(group_id, &logs, &script);
        assert!(truth.generations.is_empty(), "{group_id}");
        assert!(!truth.is_settled(), "{group_id}");
    }
}

#[test]
fn a_generation_is_not_settled_before_all_have_finished() {
    let (mut logs, script) = load("4.4.0-4.4.0");
    // Cut each log where the connector's tasks have just been handed out.
    let worker = logs[2].text.clone();
    let cut = worker.find("Starting task src-0").unwrap();
    let line = worker[..cut].rfind('\n').unwrap();
    let time = &worker[line + 1..line + 24];
    for log in &mut logs {
        log.text = log
            .text
            .lines()
            .filter(|text| text.get(..23).is_some_and(|stamp| stamp < time))
            .map(|text| format!("{text}\n"))
            .collect();
    }
    let truth = read("connect", &logs, &script);
    assert_eq!(truth.last().unwrap().generation, 4);
    assert!(!truth.is_settled());
}

#[test]
fn every_cut_of_a_log_is_read_without_harm() {
    let (logs, script) = load("3.9.2-3.9.2");
    for index in 0..logs.len() {
        let text = logs[index].text.clone();
        for end in (0..text.len()).step_by(997) {
            let mut cut = logs.clone();
            cut[index].text = String::from_utf8_lossy(&text.as_bytes()[..end]).into_owned();
            let truth = read("connect", &cut, &script);
            assert!(truth.generations.len() <= 10);
        }
    }
}

/// What scripts expect of recorded runs: every generation is in one episode, in order, and
/// everything names a step that was played.
#[test]
fn recorded_expectations_account_for_every_generation() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".truth.json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let truth: TruthLog = serde_json::from_str(&text).unwrap();
        let expected = &truth.expected;
        if expected.episodes.is_empty() {
            continue;
        }
        let episodes = expected.episodes.iter();
        let told: Vec<i64> = episodes.flat_map(|e| e.generations.clone()).collect();
        let happened: Vec<i64> = truth.generations.iter().map(|g| g.generation).collect();
        assert_eq!(told, happened, "{}", path.display());
        let named = expected.episodes.iter().map(|e| &e.step);
        let named = named.chain(expected.departures.iter().map(|d| &d.step));
        let named = named.chain(expected.lost_work.iter().map(|l| &l.step));
        for step in named.chain(expected.deadlines.iter().map(|d| &d.step)) {
            let played = expected.steps.iter().any(|played| played.name == *step);
            assert!(played, "{}: {step}", path.display());
        }
        checked += 1;
    }
    assert!(checked > 15, "{checked}");
}

/// What scripts cost, in the recordings that tell it: everything that stopped has a reason, and
/// what was derived when it was recorded is what its events say.
#[test]
fn recorded_costs_have_reasons() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".truth.json") {
            continue;
        }
        let name = path.display();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut truth: TruthLog = serde_json::from_str(&text).unwrap();
        let Some(mut told) = truth.costs.take() else {
            continue;
        };
        // Needs came later than moves, and are made of the same generations.
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            told.moves = truth.costs().moves;
            truth.costs = Some(told);
            let text = serde_json::to_string(&truth).unwrap();
            std::fs::write(&path, format!("{text}\n")).unwrap();
            told = truth.costs.take().unwrap();
        }
        for interruption in &told.interruptions {
            assert_ne!(
                interruption.reason,
                Reason::Unknown,
                "{name} {interruption:?}"
            );
        }
        for run in &told.runs {
            assert!(
                run.to_ms.is_none_or(|to_ms| run.from_ms <= to_ms),
                "{name} {run:?}"
            );
            assert_eq!(run.to_ms.is_some(), run.end.is_some(), "{name} {run:?}");
        }
        for stretch in &told.downtime {
            assert!(stretch.to_ms.is_none_or(|to_ms| stretch.from_ms <= to_ms));
        }
        // All but pauses, of which only the workers' own statuses tell.
        if told.runs.iter().all(|run| run.end != Some(RunEnd::Paused)) {
            let derived = truth.costs();
            let overlaps = told
                .handovers
                .iter()
                .any(|handover| handover.overlap_ms > 0);
            assert!(overlaps || derived.handovers == told.handovers, "{name}");
            assert_eq!(derived.interruptions, told.interruptions, "{name}");
            assert_eq!(derived.downtime, told.downtime, "{name}");
            assert_eq!(derived.moves, told.moves, "{name}");
        }
        checked += 1;
    }
    assert!(checked >= 13, "{checked}");
}
