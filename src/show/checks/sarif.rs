//! Findings as SARIF 2.1.0, which code scanning takes.

use evenkeel_core::checks::{self, Check, Finding, Severity};
use serde_json::{Value, json};

use super::{LiveRead, Report, fired, line, places, uri};

/// The whole report; what passed or is undecided is no result.
#[must_use]
pub fn sarif(report: &Report) -> String {
    let rules: Vec<Value> = checks::all().map(rule).collect();
    let results: Vec<Value> = fired(report)
        .map(|finding| result(report, finding))
        .collect();
    let notifications: Vec<Value> = report.live.iter().flat_map(notifications).collect();
    let mut document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "evenkeel",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    });
    if !report.live.is_empty() {
        // What could not be read is about this run, and in no file.
        let is_whole = report.live.iter().all(|live| live.troubles.is_empty());
        document["runs"][0]["invocations"] = json!([{
            "executionSuccessful": is_whole,
            "toolExecutionNotifications": notifications,
        }]);
    }
    format!("{document:#}\n")
}

fn notifications(live: &LiveRead) -> Vec<Value> {
    let told = |level: &str, text: &String| {
        let text = format!("group {}: {text}", live.group);
        json!({ "level": level, "message": { "text": text } })
    };
    let troubles = live.troubles.iter().map(|text| told("error", text));
    let notes = live.notes.iter().map(|text| told("note", text));
    troubles.chain(notes).collect()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn rule(check: &Check) -> Value {
    json!({
        "id": check.id,
        "shortDescription": { "text": check.title.replace('`', "") },
        "fullDescription": { "text": check.consequence },
        "help": { "text": check.advice },
        "defaultConfiguration": { "level": level(check.severity) },
    })
}

fn result(report: &Report, finding: &Finding) -> Value {
    let check = finding.check;
    let index = checks::all().position(|other| other.id == check.id);
    let places = places(report, finding).into_iter();
    let mut places = places.map(|(file, line)| location(file, line));
    let mut result = json!({
        "ruleId": check.id,
        "ruleIndex": index,
        "level": level(check.severity),
        "message": { "text": line(finding) },
    });
    result["locations"] = places.next().into_iter().collect();
    let related: Vec<Value> = places
        .enumerate()
        .map(|(id, mut place)| {
            place["id"] = json!(id + 1);
            place
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

fn location(file: &str, line: Option<usize>) -> Value {
    let mut place = json!({ "artifactLocation": { "uri": uri(file) } });
    if let Some(line) = line {
        place["region"] = json!({ "startLine": line });
    }
    json!({ "physicalLocation": place })
}
