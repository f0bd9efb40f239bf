//! The committed rules are the defaults; thresholds end up where they belong; mistakes are
//! told all at once.

use clap::Parser;

use super::*;
use crate::config::golden;

/// The arguments as the command line gives them.
#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    rules: RulesArgs,
}

fn args(words: &[&str]) -> RulesArgs {
    let words = ["rules"].iter().chain(words);
    Line::try_parse_from(words).unwrap().rules
}

#[track_caller]
fn printed(words: &[&str]) -> String {
    print(&args(words)).unwrap()
}

#[track_caller]
fn refused(words: &[&str]) -> Vec<String> {
    let mistakes = print(&args(words)).unwrap_err();
    mistakes.0.iter().map(ToString::to_string).collect()
}

#[test]
fn the_committed_rules_are_the_defaults() {
    let settings = Settings::of(&args(&[]), &mut Vec::new());
    for (name, text) in TEMPLATES {
        let head =
            format!("# Written by `cargo xtask docs` from alerts/templates/{name}; do not edit.\n");
        let made = format!("{head}{}", template::render(text, &settings));
        golden::committed(&format!("alerts/rules/{name}"), &made);
    }
    let resource = printed(&["--format", "kubernetes"]);
    golden::committed("alerts/kubernetes/prometheusrule.yaml", &resource);
}

#[test]
fn nothing_is_left_of_the_templates() {
    for scale in ["1", "0.01"] {
        let text = printed(&["--time-scale", scale]);
        assert!(!text.contains("${"), "{text}");
    }
}

/// A time that stands as it is in a template would not be scaled.
#[test]
fn every_time_of_a_rule_is_scaled() {
    let plain = printed(&[]);
    let scaled = printed(&["--time-scale", "7"]);
    let mut times = 0;
    for (plain, scaled) in plain.lines().zip(scaled.lines()) {
        let line = plain.trim_start();
        let is_hold = line.starts_with("for:") || line.starts_with("keep_firing_for:");
        let is_window = line
            .split('[')
            .skip(1)
            .any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && !line.starts_with('#'));
        if (is_hold && line != "for: 0s") || is_window {
            times += 1;
            assert_ne!(plain, scaled);
        }
    }
    assert!(times > 50, "{times}");
}

#[test]
fn every_threshold_changes_a_rule() {
    let plain = printed(&[]);
    for known in settings::names() {
        let value = match known {
            name if name.ends_with("_share") || name.ends_with("_target") => "0.123",
            name if name.ends_with("_for")
                || name.ends_with("_margin")
                || name.ends_with("_left") =>
            {
                "123s"
            }
            _ => "123",
        };
        let set = format!("{known}={value}");
        assert_ne!(printed(&["--set", &set]), plain, "{known}");
    }
}

#[test]
fn a_threshold_is_in_the_expression_and_in_the_words() {
    let text = printed(&["--set", "lost_margin=1h30m"]);
    assert!(text.contains("seconds:max > 5400\n"), "{text}");
    assert!(
        text.contains("ended more than\n            90m ago"),
        "{text}"
    );
}

#[test]
fn windows_are_scaled_together() {
    let text = printed(&["--time-scale", "0.1"]);
    assert!(text.contains("increase(evenkeel_generation[1m])"), "{text}");
    assert!(text.contains("group:evenkeel_generation:increase1m > 20"));
    assert!(text.contains("[6m:3s]) * 3 / 360"), "{text}");
    assert!(text.contains("seconds:max > 6\n"), "{text}");
}

#[test]
fn links_lead_where_they_are_told_to() {
    let text = printed(&[
        "--runbook-base",
        "https://wiki.example/kafka/",
        "--dashboard-base",
        "http://grafana:3000/d",
    ]);
    assert!(text.contains("runbook_url: https://wiki.example/kafka/EvenkeelWorkLost.md\n"));
    assert!(text.contains(
        "dashboard_url: 'http://grafana:3000/d/evenkeel-now?var-group={{ $labels.group }}'\n"
    ));
}

#[test]
fn copies_may_differ_by_other_labels() {
    let text = printed(&["--copies", "instance, pod,node"]);
    assert!(text.contains("max without (instance, pod, node) (evenkeel_members)"));
    assert!(!text.contains("(instance, pod)"));
}

/// Copies differ by where they are scraped, not by what they tell.
#[test]
fn what_is_told_is_no_label_of_copies() {
    for copies in ["group", "instance,connector", "severity", "le"] {
        let found = refused(&["--copies", copies]);
        assert_eq!(found.len(), 1, "{copies}: {found:#?}");
    }
}

#[test]
fn a_resource_has_its_metadata() {
    let text = printed(&[
        "--format",
        "kubernetes",
        "--namespace",
        "kafka",
        "--label",
        "release=prometheus",
    ]);
    let head = "kind: PrometheusRule\nmetadata:\n  name: evenkeel\n  namespace: kafka\n  labels:\n    \
        app.kubernetes.io/name: evenkeel\n    release: \"prometheus\"\nspec:\n  groups:\n";
    assert!(text.contains(head), "{text}");
    let (_, groups) = text.split_once("  groups:\n").unwrap();
    assert!(
        groups
            .lines()
            .all(|line| line.is_empty() || line.starts_with("    "))
    );
}

#[test]
fn all_mistakes_are_told() {
    let found = refused(&[
        "--set",
        "lost_margn=2m",
        "--set",
        "most_share=1.5",
        "--set",
        "new_for=5 minutes",
        "--set",
        "lag_records=0",
        "--set",
        "empty_for",
        "--copies",
        "a b",
        "--time-scale",
        "0",
        "--dashboard-base",
        "grafana",
        "--label",
        "release",
        "--name",
        "Evenkeel",
    ]);
    assert_eq!(found.len(), 10, "{found:#?}");
    assert_eq!(
        found[0],
        "--set: found \"lost_margn\", expected the name of a threshold\n  hint: did you mean lost_margin?"
    );
    assert_eq!(
        found[1],
        "most_share: found \"1.5\", expected a number above 0 and at most 1"
    );
}

#[test]
fn times_are_read_and_written_as_prometheus_does() {
    for (text, ms) in [
        ("0s", Some(0)),
        ("90s", Some(90_000)),
        ("1h30m", Some(5_400_000)),
        ("1d", Some(86_400_000)),
        ("500ms", Some(500)),
        ("1y", Some(31_536_000_000)),
        ("2y", None),
        ("30m1h", None),
        ("1h1h", None),
        ("5", None),
        ("m", None),
        ("", None),
        ("1.5h", None),
        ("-1s", None),
        ("99999999999999999999s", None),
    ] {
        assert_eq!(settings::millis(text), ms, "{text}");
    }
    for (ms, text) in [
        (0, "0s"),
        (1, "1ms"),
        (90_000, "90s"),
        (5_400_000, "90m"),
        (1_209_600_000, "14d"),
    ] {
        assert_eq!(settings::written(ms), text);
    }
}
