//! Alerts that have what they need, and some that do not.

use super::*;

#[track_caller]
fn check_files(files: &[(&str, &str)], expected: &[&str]) {
    let files: Vec<File> = files
        .iter()
        .map(|(path, text)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        })
        .collect();
    let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

const RULE: (&str, &str) = (
    "alerts/rules/a.yaml",
    "groups:\n  - alert: Storm\n    expr: x > 1\n",
);
const RUNBOOK: (&str, &str) = ("docs/runbooks/Storm.md", "# Storm\n");

#[test]
fn an_alert_with_all_it_needs_passes() {
    let tests =
        "- eval_time: 1m\n  alertname: Storm\n- eval_time: 2m\n  alertname: Storm\n  exp_alerts:\n";
    check_files(
        &[
            RULE,
            RUNBOOK,
            ("alerts/tests/a.yaml", tests),
            ("docs/runbooks/README.md", ""),
            ("alerts/templates/a.yaml", "- alert: Template\n"),
        ],
        &[],
    );
    check_files(&[("docs/a.md", "alert: Nothing")], &[]);
}

#[test]
fn what_is_missing_is_told() {
    check_files(
        &[RULE],
        &[
            "alerts/rules/a.yaml:2: Storm has no docs/runbooks/Storm.md",
            "alerts/rules/a.yaml:2: Storm fires in no test of alerts/tests/",
            "alerts/rules/a.yaml:2: Storm is silent in no test of alerts/tests/",
        ],
    );
    let never = "- alertname: Storm\n- alertname: Storm\n  exp_alerts: []\n";
    check_files(
        &[RULE, RUNBOOK, ("alerts/tests/a.yaml", never)],
        &["alerts/rules/a.yaml:2: Storm fires in no test of alerts/tests/"],
    );
    let always = "- alertname: Storm\n  exp_alerts:\n    - exp_labels:\n";
    check_files(
        &[RULE, RUNBOOK, ("alerts/tests/a.yaml", always)],
        &["alerts/rules/a.yaml:2: Storm is silent in no test of alerts/tests/"],
    );
}

#[test]
fn what_is_of_no_alert_is_told() {
    check_files(
        &[
            ("alerts/tests/a.yaml", "- alertname: Gone\n"),
            ("docs/runbooks/Gone.md", "# Gone\n"),
        ],
        &[
            "alerts/tests/a.yaml:1: Gone is no alert of alerts/rules/",
            "docs/runbooks/Gone.md: is of no alert of alerts/rules/",
        ],
    );
}
