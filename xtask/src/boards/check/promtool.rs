//! Every question of every board as Prometheus' own parser sees it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use evenkeel_testbed::grafana::{self, Board, text};
use serde_json::{Value, json};

use super::super::FOLDER;

/// Asks promtool; gives how many expressions it found good.
pub(crate) fn check(root: &Path) -> anyhow::Result<usize> {
    let mut rules = Vec::new();
    for board in grafana::boards(&root.join(FOLDER))? {
        rules.extend(expressions(&board)?);
    }
    // JSON is YAML, too.
    let groups = json!({"groups": [{"name": "dashboards", "rules": rules}]});
    let file =
        std::env::temp_dir().join(format!("evenkeel-dashboards-{}.yaml", std::process::id()));
    std::fs::write(&file, groups.to_string())?;
    let output = Command::new("promtool")
        .args(["check", "rules"])
        .arg(&file)
        .output();
    std::fs::remove_file(&file)?;
    let output = output.context("run promtool")?;
    ensure!(
        output.status.success(),
        "promtool check rules: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(rules.len())
}

fn expressions(board: &Board) -> anyhow::Result<Vec<Value>> {
    let variables = board.everything(15, 3600);
    let mut named: Vec<(String, String)> = board
        .questions()
        .into_iter()
        .map(|each| (format!("{}_{}", each.panel_id, each.name), each.expr))
        .collect();
    let annotations = board.annotations().into_iter().zip(0..);
    named.extend(annotations.map(|((_, expr), number)| (format!("annotation_{number}"), expr)));
    for variable in board.variables() {
        let query = text(&variable["query"], "query");
        if let Some((series, _)) = query
            .strip_prefix("label_values(")
            .and_then(|query| query.rsplit_once(", "))
        {
            named.push((text(variable, "name").to_owned(), series.to_owned()));
        }
    }
    let mut rules = Vec::new();
    for (name, expr) in named {
        let expr = grafana::filled(&expr, &variables)?;
        rules.push(json!({"record": format!("dashboard:{}:{name}", board.file), "expr": expr}));
    }
    Ok(rules)
}
