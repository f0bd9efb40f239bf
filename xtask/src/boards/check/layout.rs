//! Where panels stand: inside the grid, on no other, each under a heading.

use std::collections::BTreeSet;

use evenkeel_testbed::grafana::{Board, list, text};
use serde_json::Value;

use super::Told;

/// Columns of the grid.
const WIDTH: u64 = 24;

pub(super) fn check(board: &Board, told: &mut Told<'_>) {
    let top = list(&board.json, "panels");
    if top.first().is_none_or(|first| text(first, "type") != "row") {
        told.tell("does not begin with a row: what its first panels answer is not said");
    }
    let mut ids = BTreeSet::new();
    let mut titles = BTreeSet::new();
    let everything = top
        .iter()
        .chain(top.iter().flat_map(|row| list(row, "panels")));
    for panel in everything {
        if !ids.insert(panel.get("id").and_then(Value::as_u64)) {
            told.tell(format!(
                "the id of \"{}\" is another's, too",
                text(panel, "title")
            ));
        }
        if !titles.insert(text(panel, "title")) {
            told.tell(format!("there are two panels \"{}\"", text(panel, "title")));
        }
    }
    // Folded panels are pushed down when their row is opened: they meet only each other.
    let mut levels: Vec<Vec<&Value>> = vec![top.iter().collect()];
    levels.extend(top.iter().map(|row| list(row, "panels").iter().collect()));
    for level in levels {
        let mut taken = BTreeSet::new();
        for panel in level {
            let side = |name: &str| panel["gridPos"][name].as_u64().unwrap_or_default();
            let (x, y, w, h) = (side("x"), side("y"), side("w"), side("h"));
            if w == 0 || h == 0 || x + w > WIDTH {
                told.tell(format!(
                    "\"{}\" is not inside the grid",
                    text(panel, "title")
                ));
            }
            let cells = (y..y + h).flat_map(|row| (x..x + w).map(move |column| (column, row)));
            let free = cells.filter(|cell| !taken.insert(*cell)).count() == 0;
            if !free {
                told.tell(format!(
                    "\"{}\" lies on another panel",
                    text(panel, "title")
                ));
            }
        }
    }
}
