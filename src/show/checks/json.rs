//! Findings as one JSON document.

use evenkeel_core::checks::{Finding, Outcome};
use serde_json::{Value, json};

use super::{Report, Taken};

/// The whole report, undecided and passed checks included.
#[must_use]
pub fn json(report: &Report) -> String {
    let files = report
        .files
        .iter()
        .map(|read| json!({ "file": read.file, "read_as": read.format, "notes": read.notes }));
    let groups = report
        .groups
        .iter()
        .map(|(group, workers)| json!({ "group": group, "workers": workers }));
    let live = report.live.iter().map(|live| {
        json!({
            "group": live.group,
            "principal": live.principal,
            "workers": live.workers,
            "troubles": live.troubles,
            "notes": live.notes,
        })
    });
    let live: Vec<Value> = live.collect();
    let release = match report.release {
        Taken::Said { release, known } => json!({ "named": release, "known": known }),
        Taken::OfFiles => json!({}),
        Taken::Newest(release) => json!({ "assumed": release }),
    };
    let mut document = json!({
        "files": files.collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
        "release": release,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
    });
    if !live.is_empty() {
        document["live"] = json!(live);
    }
    format!("{document:#}\n")
}

fn finding(finding: &Finding) -> Value {
    let (check, judgement) = (finding.check, &finding.judgement);
    let mut value = json!({
        "check": check.id,
        "severity": check.severity,
        "harm": check.harm,
        "subject": judgement.subject,
        "outcome": judgement.outcome,
        "values": judgement.values,
    });
    match judgement.outcome {
        Outcome::Fired => {
            value["said"] = json!(judgement.said);
            value["consequence"] = json!(check.consequence);
            value["advice"] = json!(judgement.advice.as_deref().unwrap_or(check.advice));
        }
        Outcome::Undecided => value["missing"] = json!(judgement.missing),
        Outcome::Passed => {}
    }
    value
}
