//! Each rule, broken once.

use evenkeel_testbed::grafana::Board;
use serde_json::{Value, json};

use super::promql::selectors;
use super::{Catalogue, Excuses, excuses, one};
use crate::boards;

const CATALOGUE: &str = "\
### `evenkeel_a_total`

counter · one a group · since 0.1.0

Text.

| label | values |
| --- | --- |
| `group` | the Connect `group.id` |
| `kind` | `connector`, `task` |

### `evenkeel_h_seconds`

histogram, seconds · 16 a group · since 0.1.0
";

/// The first generated board, changed.
fn broken(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut json = boards::all()[0].json();
    change(&mut json);
    let board = Board {
        file: "now".to_owned(),
        json,
    };
    let root = crate::cargo::root().unwrap();
    let catalogue = Catalogue::read(&root).unwrap();
    let lint = boards::dashboard::exclusions(&boards::all()).to_string();
    let (excuses, _) = excuses(&lint).unwrap();
    let problems = one(&board, &catalogue, &excuses);
    problems.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn tells(change: impl FnOnce(&mut Value), wanted: &str) {
    let told = broken(change);
    assert!(
        told.iter().any(|told| told.contains(wanted)),
        "{wanted}: {told:?}"
    );
}

fn panel(board: &mut Value) -> &mut Value {
    &mut board["panels"][1]
}

fn ask(board: &mut Value, expr: &str) {
    panel(board)["targets"][0]["expr"] = json!(expr);
}

const MATCH: &str = r#"job=~"$job", instance=~"$instance""#;

#[test]
fn what_is_generated_keeps_all_rules() {
    assert_eq!(broken(|_| ()), Vec::<String>::new());
}

#[test]
fn a_board_that_breaks_a_rule_is_told() {
    tells(|board| board["uid"] = json!("x"), "uid is not evenkeel-now");
    tells(
        |board| board["editable"] = json!(true),
        "uneditable-dashboard",
    );
    tells(|board| board["schemaVersion"] = json!(38), "schemaVersion");
    tells(|board| board["graphTooltip"] = json!(0), "cursor");
    tells(
        |board| board["tags"] = json!(["kafka"]),
        "no tag `evenkeel`",
    );
    tells(
        |board| board["links"] = json!([]),
        "lead to the other boards",
    );
    tells(
        |board| board["annotations"]["list"] = json!([]),
        "annotations",
    );
    let list = |board: &mut Value| board["templating"]["list"].as_array().unwrap().clone();
    tells(
        |board| board["templating"]["list"] = json!(list(board)[1..]),
        "template-datasource-rule",
    );
    tells(
        |board| board["templating"]["list"][0]["label"] = json!("DS"),
        "template-datasource-rule",
    );
    tells(
        |board| board["templating"]["list"][1]["allValue"] = json!(".*"),
        "template-job-rule: allValue",
    );
    tells(
        |board| board["templating"]["list"][2]["multi"] = json!(false),
        "template-instance-rule: multi",
    );
    tells(
        |board| {
            let mut turned = list(board);
            turned.swap(3, 4);
            board["templating"]["list"] = json!(turned);
        },
        "order",
    );
}

#[test]
fn a_panel_that_breaks_a_rule_is_told() {
    tells(
        |board| panel(board)["description"] = json!(""),
        "panel-title-description-rule",
    );
    tells(
        |board| panel(board)["datasource"]["uid"] = json!("p"),
        "panel-datasource-rule",
    );
    tells(
        |board| panel(board)["fieldConfig"]["defaults"]["unit"] = json!("tasks"),
        "panel-units-rule",
    );
    tells(|board| panel(board)["targets"] = json!([]), "asks nothing");
    tells(
        |board| panel(board)["targets"][0]["legendFormat"] = json!("{{group}}"),
        "names no cluster",
    );
    tells(
        |board| panel(board)["gridPos"]["w"] = json!(9),
        "lies on another",
    );
    tells(
        |board| panel(board)["gridPos"]["x"] = json!(23),
        "inside the grid",
    );
    let id = |board: &mut Value| board["panels"][2]["id"] = json!(2);
    tells(
        |board| {
            panel(board)["id"] = json!(2);
            id(board);
        },
        "the id of",
    );
}

#[test]
fn a_question_that_breaks_a_rule_is_told() {
    let with = |expr: &str| {
        let expr = expr.replace('@', MATCH);
        move |board: &mut Value| ask(board, &expr)
    };
    tells(with("1"), "target-promql-rule");
    tells(with("evenkeel_members{}"), "target-job-rule");
    tells(
        with(r#"evenkeel_members{job=~"$job"}"#),
        "target-instance-rule",
    );
    tells(
        with("rate(evenkeel_records_total{@}[5m])"),
        "target-rate-interval-rule",
    );
    tells(
        with("sum(evenkeel_records_total{@})"),
        "target-counter-agg-rule",
    );
    tells(
        with("rate(evenkeel_members{@}[$__rate_interval])"),
        "is no counter",
    );
    tells(with("evenkeel_memberz{@}"), "not in the catalogue");
    tells(
        with(r#"evenkeel_members{@, worker="a"}"#),
        "has no label worker",
    );
    tells(
        with(r#"evenkeel_unassigned{@, reason=~"lost|gone"}"#),
        r#"has no reason "gone""#,
    );
}

#[test]
fn an_excuse_needs_a_place_and_a_reason() {
    let lint =
        json!({"exclusions": {"target-job-rule": {"entries": [{"dashboard": "d", "panel": "p"}]}}});
    let (_, problems) = excuses(&lint.to_string()).unwrap();
    assert_eq!(problems.len(), 1);
    let Excuses { all, .. } = Excuses::default();
    assert!(all.is_empty());
}

#[test]
fn selectors_are_found_where_they_stand() {
    let expr = r#"sum by (le) (max without (instance, pod) (increase(a_bucket{x=~"b|c", y!="}"}[$__rate_interval]))) / (d > bool 0) and on (job) label_replace(e, "f", "$1", "g", "(.+)") unless h offset 5m"#;
    let found = selectors(expr);
    let names: Vec<&str> = found.iter().map(|each| each.metric.as_str()).collect();
    assert_eq!(names, ["a_bucket", "d", "e", "h"]);
    assert_eq!(found[0].within, ["sum", "max", "increase"]);
    assert_eq!(found[0].range.as_deref(), Some("$__rate_interval"));
    let matcher = |label: &str, operator: &str, value: &str| {
        (label.to_owned(), operator.to_owned(), value.to_owned())
    };
    assert_eq!(
        found[0].matchers,
        [matcher("x", "=~", "b|c"), matcher("y", "!=", "}")]
    );
    assert_eq!(found[2].within, ["label_replace"]);
}

#[test]
fn the_catalogue_is_read_from_its_document() {
    let catalogue = Catalogue::parse(CATALOGUE);
    let (name, family) = catalogue.family_of("evenkeel_a_total").unwrap();
    assert_eq!(
        (name, family.kind.as_str(), family.grows()),
        ("evenkeel_a_total", "counter", true)
    );
    assert_eq!(family.labels["group"], None);
    let kinds = family.labels["kind"].as_ref().unwrap();
    assert!(kinds.contains("task") && kinds.len() == 2);
    let (name, _) = catalogue.family_of("evenkeel_h_seconds_bucket").unwrap();
    assert_eq!(name, "evenkeel_h_seconds");
    assert!(catalogue.family_of("evenkeel_a_total_sum").is_none());
}
