//! Rules and dashboards that name what there is, and some that do not.

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

const METRICS: (&str, &str) = (
    "docs/metrics.md",
    "# Metrics\n### `evenkeel_generation`\ntext\n### `evenkeel_downtime_seconds`\n",
);

#[test]
fn known_names_pass() {
    check_files(
        &[
            METRICS,
            (
                "alerts/rules/a.yaml",
                "- record: evenkeel:generation:max\n  expr: evenkeel_generation{group=\"a\"} + \
                 rate(evenkeel_downtime_seconds_bucket[5m])\n- alert: Storm\n  expr: evenkeel:generation:max > 1\n",
            ),
            (
                "dashboards/a.json",
                "{\"expr\": \"evenkeel_downtime_seconds_count\"}",
            ),
        ],
        &[],
    );
    check_files(&[("docs/a.md", "evenkeel_nothing")], &[]);
}

#[test]
fn unknown_names_are_told() {
    check_files(
        &[
            METRICS,
            (
                "alerts/rules/a.yaml",
                "- alert: Storm\n  expr: evenkeel_generations > 1\n",
            ),
            (
                "dashboards/a.json",
                "\n{\"expr\": \"evenkeel_generation_total\"}",
            ),
        ],
        &[
            "alerts/rules/a.yaml:2: evenkeel_generations is not in the catalogue",
            "dashboards/a.json:2: evenkeel_generation_total is not in the catalogue",
        ],
    );
    check_files(
        &[("dashboards/a.json", "evenkeel_generation")],
        &["docs/metrics.md: is not there; `cargo xtask docs` writes it"],
    );
}

#[test]
fn runbooks_are_held_to_it() {
    let page = "Look at `evenkeel_generation`, then at\n`evenkeel_generatoin{group=\"$group\"}`.\n";
    check_files(
        &[METRICS, ("docs/runbooks/Storm.md", page)],
        &["docs/runbooks/Storm.md:2: evenkeel_generatoin is not in the catalogue"],
    );
}
