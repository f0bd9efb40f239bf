//! The shapes that programs read, and the text that people do.

use serde_json::Value;

use super::{check, folder, out};

/// SARIF 2.1.0: what its schema requires of what is used of it.
#[test]
fn sarif_has_the_shape_of_its_schema() {
    let temporary = tempfile::tempdir().unwrap();
    let name = "a b,ü.env";
    std::fs::copy(folder().join("worker.env"), temporary.path().join(name)).unwrap();
    let output = check(temporary.path(), &[name, "--format", "sarif"]);
    let sarif: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(sarif["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let runs = sarif["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let driver = &runs[0]["tool"]["driver"];
    assert_eq!(driver["name"], "evenkeel");
    let rules = driver["rules"].as_array().unwrap();
    let levels = ["none", "note", "warning", "error"];
    for rule in rules {
        assert!(rule["id"].is_string());
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(!rule[text]["text"].as_str().unwrap().is_empty(), "{rule}");
        }
        let level = rule["defaultConfiguration"]["level"].as_str().unwrap();
        assert!(levels.contains(&level), "{rule}");
    }
    let results = runs[0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(levels.contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let locations = result["locations"].as_array().unwrap();
        assert_eq!(locations.len(), 1);
        let place = &locations[0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b%2C%C3%BC.env");
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
    }
}

/// Where only defaults contradict each other, the file that leaves them so.
#[test]
fn a_finding_without_a_set_value_has_a_file() {
    let args = ["stock.properties", "--kafka-release", "2.5.0", "--format"];
    let output = check(&folder(), &[&args[..], &["sarif"]].concat());
    let sarif: Value = serde_json::from_slice(&output.stdout).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "unsync_backoff_reaches_delay");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "stock.properties");
    assert!(place.get("region").is_none());
    let output = check(&folder(), &[&args[..], &["github"]].concat());
    let text = out(&output);
    assert!(
        text.starts_with("::error file=stock.properties,title=unsync"),
        "{text}"
    );
}

/// Values in several files are related locations.
#[test]
fn sarif_names_every_place() {
    let output = check(&folder(), &["compose.yaml", "--format", "sarif"]);
    let sarif: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let shared = results
        .iter()
        .find(|result| result["ruleId"] == "advertised_shared");
    let related = shared.unwrap()["relatedLocations"].as_array().unwrap();
    assert_eq!(related.len(), 1);
    assert_eq!(related[0]["physicalLocation"]["region"]["startLine"], 34);
    assert_eq!(related[0]["id"], 1);
}

#[test]
fn workflow_commands_are_one_line_each() {
    let output = check(&folder(), &["compose.yaml", "--format", "github"]);
    let text = out(&output);
    assert_eq!(text.lines().count(), 4, "{text}");
    for line in text.lines() {
        let (command, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        assert!(
            command.starts_with("error file=compose.yaml,line=")
                || command.starts_with("warning file=compose.yaml,line="),
            "{line}"
        );
        assert!(!message.is_empty());
    }
}

#[test]
fn json_tells_what_passed_and_what_is_missing() {
    let output = check(&folder(), &["stock.properties", "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["files"][0]["read_as"], "a properties file");
    assert_eq!(report["groups"][0]["group"], "connect-cluster");
    assert_eq!(report["release"]["assumed"], "4.4.0");
    let findings = report["findings"].as_array().unwrap();
    let of = |check: &str| {
        findings
            .iter()
            .find(|finding| finding["check"] == check)
            .unwrap()
    };
    let passed = of("session_above_delay");
    assert_eq!(passed["outcome"], "passed");
    assert_eq!(passed["values"][0]["source"]["from"], "default");
    assert_eq!(passed["values"][0]["source"]["release"], "4.4.0");
    let undecided = of("delay_below_restart");
    assert_eq!(undecided["outcome"], "undecided");
    assert_eq!(undecided["missing"][0], "how long restarts take, in ms");
}

/// As a person reads it.
#[test]
fn the_text_is_as_it_was_read_over() {
    let output = check(&folder(), &["worker.env", "--kafka-release", "3.9.2"]);
    let expected = include_str!("../../fixtures/check/expected/worker.txt");
    let path = folder().join("expected/worker.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, out(&output)).unwrap();
        return;
    }
    assert_eq!(out(&output), expected);
}

/// A value that is set, but only known where the worker runs, is not said to be missing alone.
#[test]
fn what_is_set_by_reference_is_undecided_with_its_place() {
    let temporary = tempfile::tempdir().unwrap();
    let text = "group.id=g\nsession.timeout.ms=${env:SESSION}\n";
    std::fs::write(temporary.path().join("worker.properties"), text).unwrap();
    let told = out(&check(temporary.path(), &["worker.properties"]));
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let place = "session.timeout.ms (known where the worker runs: worker.properties:2)";
    assert!(told.contains(place), "{told}");
    let output = check(temporary.path(), &["worker.properties", "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let reaches = findings
        .iter()
        .find(|finding| finding["check"] == "session_reaches_rebalance")
        .unwrap();
    assert_eq!(
        reaches["missing"],
        serde_json::json!(["session.timeout.ms"])
    );
    assert_eq!(reaches["values"][0]["value"], "[set where the worker runs]");
}
