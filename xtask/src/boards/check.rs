//! What every dashboard keeps to, checked on the committed files. Rules that carry a name
//! ending in `-rule` are those of Grafana's dashboard-linter, and can be excused for a panel
//! in `dashboards/.lint`, with a reason; the others hold for all.

mod catalogue;
mod frame;
mod layout;
mod panels;
mod promql;
mod promtool;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use evenkeel_testbed::grafana::{self, Board, list, text};
use serde_json::Value;

pub(crate) use catalogue::Catalogue;
pub(crate) use promql::selectors;
pub(crate) use promtool::check as promtool;

use super::FOLDER;
use crate::tidy::Problem;

/// What is told of the files of one board.
struct Told<'a> {
    path: String,
    board: &'a str,
    excuses: &'a Excuses,
    problems: Vec<Problem>,
}

/// Which rule does not hold where.
#[derive(Default)]
struct Excuses {
    /// Rule, dashboard, panel.
    all: BTreeSet<(String, String, String)>,
    used: RefCell<BTreeSet<(String, String, String)>>,
}

/// All rules on all boards.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let folder = root.join(FOLDER);
    let boards = grafana::boards(&folder)?;
    let catalogue = Catalogue::read(root)?;
    let (excuses, mut problems) = excuses(&std::fs::read_to_string(folder.join(".lint"))?)?;
    for board in &boards {
        problems.extend(one(board, &catalogue, &excuses));
    }
    problems.extend(frame::together(&boards));
    let used = excuses.used.into_inner();
    for (rule, board, panel) in excuses.all.difference(&used) {
        let told = format!("{rule}: \"{panel}\" of {board} needs no excuse");
        problems.push(Problem::new(&format!("{FOLDER}/.lint"), told));
    }
    Ok(problems)
}

fn one(board: &Board, catalogue: &Catalogue, excuses: &Excuses) -> Vec<Problem> {
    let mut told = Told {
        path: format!("{FOLDER}/{}.json", board.file),
        board: text(&board.json, "title"),
        excuses,
        problems: Vec::new(),
    };
    frame::check(board, &mut told);
    layout::check(board, &mut told);
    panels::check(board, catalogue, &mut told);
    told.problems
}

/// Reads `.lint`; a reason is not optional.
fn excuses(lint: &str) -> anyhow::Result<(Excuses, Vec<Problem>)> {
    let lint: Value = serde_json::from_str(lint)?;
    let mut excuses = Excuses::default();
    let mut problems = Vec::new();
    let rules = lint.get("exclusions").and_then(Value::as_object);
    for (rule, entries) in rules.into_iter().flatten() {
        for entry in list(entries, "entries") {
            let (board, panel) = (text(entry, "dashboard"), text(entry, "panel"));
            if text(entry, "reason").is_empty() || board.is_empty() || panel.is_empty() {
                let told = format!("{rule}: {entry} does not say where and why");
                problems.push(Problem::new(&format!("{FOLDER}/.lint"), told));
            }
            let key = (rule.clone(), board.to_owned(), panel.to_owned());
            excuses.all.insert(key);
        }
    }
    Ok((excuses, problems))
}

// === impl Told ===

impl Told<'_> {
    fn tell(&mut self, what: impl Into<String>) {
        self.problems.push(Problem::new(&self.path, what.into()));
    }

    /// Unless the panel is excused from the rule.
    fn tell_of(&mut self, rule: &str, panel: &str, what: impl Into<String>) {
        let key = (rule.to_owned(), self.board.to_owned(), panel.to_owned());
        if self.excuses.all.contains(&key) {
            self.excuses.used.borrow_mut().insert(key);
            return;
        }
        self.tell(format!("{rule}: \"{panel}\": {}", what.into()));
    }
}
