//! What the panels of one night were answered, as a file for the page that draws them.

use std::path::Path;

use evenkeel_testbed::grafana::{self, text};
use evenkeel_testbed::history::STEP_S;
use serde_json::{Value, json};

/// Writes `BOARD.json` for each dashboard: the board, and the answer to each question, at the
/// moment and over the time that the variables name.
pub(super) fn write(folder: &Path) {
    let variable = |name: &str| std::env::var(name).unwrap();
    let name = variable("EVENKEEL_BOARDS_NIGHT");
    let second: i64 = variable("EVENKEEL_BOARDS_SECOND").parse().unwrap();
    let nights = super::nights(&[&name]);
    let night = &nights[0];
    let prometheus = super::prometheus(&nights);
    let at = night.from + second;
    for board in grafana::boards(&super::root().join("dashboards")).unwrap() {
        let mut answers = serde_json::Map::new();
        for question in board.questions() {
            let expr = grafana::filled(&question.expr, &super::variables(&board, night)).unwrap();
            let now = ["stat", "table", "bargauge"].contains(&&*question.kind);
            let series = if now {
                prometheus.at(&expr, at).unwrap()
            } else {
                prometheus.range(&expr, (night.from, at), STEP_S).unwrap()
            };
            let key = format!("{}{}", question.panel_id, question.name);
            answers.insert(key, Value::Array(series));
        }
        let all = json!({
            "board": board.json,
            "night": night.name,
            "from": night.from,
            "to": at,
            "answers": answers,
        });
        let path = folder.join(format!("{}.json", board.file));
        std::fs::write(path, all.to_string()).unwrap();
        println!("{}: asked", text(&board.json, "title"));
    }
}
