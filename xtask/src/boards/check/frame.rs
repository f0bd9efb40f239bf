//! A board as a whole: what it says of itself, its variables, annotations and links.

use std::collections::BTreeSet;

use evenkeel_testbed::grafana::{Board, list, text};
use serde_json::{Value, json};

use super::Told;
use super::promql::selectors;
use crate::boards::FOLDER;
use crate::tidy::Problem;

/// Variables in the order in which one depends on the other.
const CHAIN: [&str; 7] = [
    "datasource",
    "job",
    "instance",
    "cluster",
    "group",
    "worker",
    "connector",
];

/// The oldest schema that Grafana's newest releases read without changing it.
const SCHEMA_MIN: u64 = 39;

pub(super) fn check(board: &Board, told: &mut Told<'_>) {
    let json = &board.json;
    let uid = format!("evenkeel-{}", board.file);
    if text(json, "uid") != uid {
        told.tell(format!("uid is not {uid}: links and alerts lead there"));
    }
    let title = text(json, "title");
    if !title.starts_with("evenkeel / ") || text(json, "description").is_empty() {
        told.tell("has no title of the product, or no description");
    }
    if json.get("schemaVersion").and_then(Value::as_u64) < Some(SCHEMA_MIN) {
        told.tell(format!("schemaVersion is below {SCHEMA_MIN}"));
    }
    for (member, wanted, why) in [
        (
            "editable",
            json!(false),
            "uneditable-dashboard: what a person changes there is lost",
        ),
        (
            "graphTooltip",
            json!(1),
            "the cursor is not shared between panels",
        ),
    ] {
        if json.get(member) != Some(&wanted) {
            told.tell(format!("{member}: {why}"));
        }
    }
    if !list(json, "tags").contains(&json!("evenkeel")) {
        told.tell("has no tag `evenkeel`, by which the boards find each other");
    }
    let links = list(json, "links").iter();
    let to_others = links.clone().any(|link| {
        text(link, "type") == "dashboards"
            && list(link, "tags").contains(&json!("evenkeel"))
            && link.get("includeVars") == Some(&json!(true))
            && link.get("keepTime") == Some(&json!(true))
    });
    if !to_others {
        told.tell("does not lead to the other boards with variables and time");
    }
    annotations(board, told);
    variables(board, told);
}

fn annotations(board: &Board, told: &mut Told<'_>) {
    let asks = board.annotations();
    let of_episodes = asks.iter().any(|(_, expr)| {
        let mut asked = selectors(expr).into_iter();
        asked.any(|selector| selector.metric == "evenkeel_episode_info")
    });
    if !of_episodes {
        told.tell("has no annotations of rebalances");
    }
}

fn variables(board: &Board, told: &mut Told<'_>) {
    let variables = board.variables();
    let sources: Vec<&Value> = variables
        .iter()
        .filter(|variable| text(variable, "type") == "datasource")
        .collect();
    match &sources[..] {
        [one] if text(one, "name") == "datasource" && text(one, "label") == "Data source" => {}
        _ => told.tell(
            "template-datasource-rule: not exactly one variable `datasource`, \"Data source\"",
        ),
    }
    for (name, label) in [("job", "Job"), ("instance", "Instance")] {
        let rule = format!("template-{name}-rule");
        let Some(variable) = variables.iter().find(|each| text(each, "name") == name) else {
            told.tell(format!("{rule}: there is no variable {name}"));
            continue;
        };
        let wanted = [
            ("label", json!(label)),
            ("type", json!("query")),
            ("multi", json!(true)),
            ("includeAll", json!(true)),
            ("allValue", json!(".+")),
            ("refresh", json!(2)),
        ];
        for (member, value) in wanted {
            if variable.get(member) != Some(&value) {
                told.tell(format!("{rule}: {member} of {name} is not {value}"));
            }
        }
    }
    let places: Vec<Option<usize>> = variables
        .iter()
        .map(|variable| {
            CHAIN
                .iter()
                .position(|name| *name == text(variable, "name"))
        })
        .collect();
    let known: Vec<usize> = places.iter().copied().flatten().collect();
    if !known.is_sorted() {
        told.tell(format!(
            "variables are not in the order {}",
            CHAIN.join(" > ")
        ));
    }
    for variable in variables
        .iter()
        .filter(|each| text(each, "type") == "query")
    {
        if variable["datasource"]["uid"] != json!("${datasource}") {
            told.tell(format!(
                "variable {} asks another data source",
                text(variable, "name")
            ));
        }
    }
    let asked = board.json.to_string();
    for variable in variables {
        let name = text(variable, "name");
        let mut uses = [format!("${name}"), format!("${{{name}")].into_iter();
        if !uses.any(|form| asked.contains(&form)) {
            told.tell(format!("nobody uses the variable {name}"));
        }
    }
}

/// What no board sees alone.
pub(super) fn together(boards: &[Board]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    let uids: BTreeSet<&str> = boards
        .iter()
        .map(|board| text(&board.json, "uid"))
        .collect();
    for board in boards {
        let path = format!("{FOLDER}/{}.json", board.file);
        for member in ["uid", "title"] {
            if !seen.insert((member, text(&board.json, member))) {
                problems.push(Problem::new(
                    &path,
                    format!("its {member} is another's, too"),
                ));
            }
        }
        for part in board.json.to_string().split("\"/d/").skip(1) {
            let uid = part.split(['?', '"', '/']).next().unwrap_or_default();
            if !uids.contains(uid) {
                problems.push(Problem::new(
                    &path,
                    format!("leads to {uid}, which is no board"),
                ));
            }
        }
    }
    problems
}
