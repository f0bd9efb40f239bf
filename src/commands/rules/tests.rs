//! The committed rules are the defaults; thresholds end up where they belong; mistakes are
//! told all at once.

mod routes;

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
    let routes = printed(&["--format", "alertmanager"]);
    golden::committed("alerts/alertmanager.example.yaml", &routes);
}

#[test]
fn nothing_is_left_of_the_templates() {
    for scale in ["1", "0.01"] {
        for format in ["prometheus", "kubernetes", "alertmanager"] {
            let text = printed(&["--time-scale", scale, "--format", format]);
            assert!(!text.contains("${"), "{text}");
            assert!(!text.contains("=@"), "{text}");
        }
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
        // What the agent counts over is not scaled.
        let is_its_own = line.contains("outcome=\"completed\"}[2m]");
        if (is_hold && line != "for: 0s") || (is_window && !is_its_own) {
            times += 1;
            assert_ne!(plain, scaled);
        }
    }
    assert!(times > 50, "{times}");
}

/// Both limits of each threshold are taken, and change a rule.
#[test]
fn every_threshold_changes_a_rule() {
    let plain = printed(&[]);
    for (name, limits) in settings::limits() {
        let set = |limit| printed(&["--set", &format!("{name}={limit}")]);
        let [least, most] = limits.map(set);
        assert_ne!(least, most, "{name}");
        assert!(least != plain || most != plain, "{name}");
    }
}

#[test]
fn a_threshold_beyond_its_limits_is_refused() {
    for set in [
        // The group is forgotten after six hours.
        "unseen_for=7h",
        "unseen_for=5h1s",
        "unseen_for=59s",
        // There is no budget, or one of which no fourteen times is ever burnt.
        "availability_target=1",
        "availability_target=0.93",
        // Never above.
        "most_share=1",
        "record_share=1",
        "imbalance_share=0.91",
        // Looked for in the last day.
        "better_protocol_for=1d",
        "headroom_for=1d",
        // Every crash would raise it.
        "disagreement_for=10m",
        // The pattern begins above that.
        "storm_generations=19",
        "leader_changes=1",
        "long_share=NaN",
        "long_share=inf",
        "certificate_left=0s",
        "worker_tasks_max=0",
    ] {
        let found = refused(&["--set", set]);
        assert_eq!(found.len(), 1, "{set}: {found:?}");
        let (name, value) = set.split_once('=').unwrap();
        let told = format!("{name}: found \"{value}\", expected a ");
        assert!(found[0].starts_with(&told), "{found:?}");
        assert!(found[0].contains("\n  hint: "), "{found:?}");
    }
    let found = refused(&["--set", "unseen_for=7h"]);
    let told = "unseen_for: found \"7h\", expected a time from 1m to 5h, as in 90s or 1h30m\n  \
        hint: a group that was seen is missed for six hours";
    assert!(found[0].starts_with(told), "{found:?}");
}

/// Whoever is refused tries what the message has as examples.
#[test]
fn examples_of_a_time_are_taken() {
    let mut times = 0;
    for (name, _) in settings::limits() {
        let told = &refused(&["--set", &format!("{name}=soon")])[0];
        let Some((_, examples)) = told.split_once(", as in ") else {
            continue;
        };
        times += 1;
        let examples = examples.lines().next().unwrap();
        let examples: Vec<&str> = examples.split(" or ").collect();
        assert_eq!(examples.len(), 2, "{told}");
        for example in examples {
            printed(&["--set", &format!("{name}={example}")]);
        }
    }
    assert!(times > 15, "{times}");
}

/// Which of the two was meant nobody knows.
#[test]
fn a_threshold_is_set_once() {
    let twice = ["--set", "new_for=20m", "--set", "new_for=20m"];
    assert_eq!(
        refused(&twice),
        ["new_for: found \"20m\", expected to be set once\n  hint: leave all but one of them out"]
    );
    let of = |label: &'static str| ["--format", "kubernetes", "--label", label];
    let twice = [&of("a=1")[..], &["--label", "a=2"]].concat();
    assert_eq!(refused(&twice).len(), 1);
    assert_eq!(refused(&of("app.kubernetes.io/name=other")).len(), 1);
}

#[test]
fn a_threshold_is_in_the_expression_and_in_the_words() {
    let text = printed(&["--set", "lost_margin=1m30s"]);
    assert!(text.contains("seconds:max > 90\n"), "{text}");
    assert!(text.contains(", more than 90s ago. Connectors"), "{text}");
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
        "dashboard_url: 'http://grafana:3000/d/evenkeel-now?{{ with $labels.group }}var-group={{ . | urlquery }}{{ end }}\
        {{ with $labels.job }}&var-job={{ . | urlquery }}{{ end }}\
        {{ with $labels.cluster }}&var-cluster={{ . | urlquery }}{{ end }}\
        {{ with $labels.namespace }}&var-namespace={{ . | urlquery }}{{ end }}'\n"
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

/// Whatever is asked of the alert's group is asked with all labels that tell it from others.
#[test]
fn groups_of_one_name_are_told_apart() {
    for (labels, matchers, equal) in [
        (
            "job,cluster,namespace",
            "{group=%q,job=%q,cluster=%q,namespace=%q}",
            "equal: [group, job, cluster, namespace]\n",
        ),
        ("region", "{group=%q,region=%q}", "equal: [group, region]\n"),
        ("", "{group=%q}", "equal: [group]\n"),
    ] {
        let text = printed(&["--cluster-labels", labels]);
        let asked = text.matches("query (printf").count();
        let selecting = text
            .split("query (printf")
            .skip(1)
            .filter(|query| query.contains(matchers.trim_start_matches('{').trim_end_matches('}')))
            .count();
        assert_eq!(asked, selecting, "{labels}");
        assert!(text.contains(&format!("count(evenkeel_trust{matchers})")));
        let routes = printed(&["--format", "alertmanager", "--cluster-labels", labels]);
        assert!(routes.contains(equal), "{routes}");
    }
    let text = printed(&["--cluster-labels", "region"]);
    assert!(text.contains("{{ with $labels.region }}Region: {{ . }}. {{ end }}Trust: "));
}

#[test]
fn what_differs_is_not_the_same() {
    for args in [
        // Both: the copies of a group, and its cluster.
        &["--cluster-labels", "instance"][..],
        &["--copies", "instance,job"],
        &["--cluster-labels", "cluster,cluster"],
        &["--cluster-labels", "worker"],
        &["--cluster-labels", "a b"],
        &["--copies", ""],
    ] {
        let found = refused(args);
        assert_eq!(found.len(), 1, "{args:?}: {found:#?}");
    }
    // Each sidecar may have a job of its own.
    printed(&["--copies", "instance,job", "--cluster-labels", "cluster"]);
}

#[test]
fn a_resource_has_names_that_kubernetes_takes() {
    let long = ["a"; 64].concat();
    let of = |flag: &str, value: &str| {
        let given = format!("{flag}={value}");
        refused(&["--format", "kubernetes", &given]).len()
    };
    for name in ["", "a..b", "a-", ".a", "A", "a_b", long.as_str()] {
        assert_eq!(of("--name", name), 1, "{name}");
        assert_eq!(of("--namespace", name), 1, "{name}");
    }
    assert_eq!(of("--namespace", "a.b"), 1);
    let values = ["=", "a", "a=-", "-a=b", "a/b/c=d", "/a=b"].map(str::to_owned);
    for label in values
        .into_iter()
        .chain([format!("a={long}"), format!("{long}=a")])
    {
        assert_eq!(of("--label", &label), 1, "{label}");
    }
    for label in ["a=", "a.b/C_d=E.f", "a=1"] {
        printed(&[
            "--format",
            "kubernetes",
            "--name",
            "a.b-c",
            "--label",
            label,
        ]);
    }
}

/// Nobody believes that something was done that was not.
#[test]
fn what_a_format_has_no_use_for_is_refused() {
    for args in [
        &["--name", "other"][..],
        &["--namespace", "kafka"],
        &["--label", "a=b"],
        &["--format", "alertmanager", "--set", "lost_margin=2m"],
        &["--format", "alertmanager", "--namespace", "kafka"],
    ] {
        assert_eq!(refused(args).len(), 1, "{args:?}");
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
        "--format",
        "kubernetes",
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
        "most_share: found \"1.5\", expected a number from 0.01 to 0.99\n  hint: more than all work is never \
        without an owner, and a group without any has its own alert"
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
