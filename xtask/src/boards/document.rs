//! `docs/dashboards.md`: every panel with the question it answers, and the metrics that no
//! board and no rule asks for.

use std::collections::BTreeSet;
use std::path::Path;

use super::check::{Catalogue, selectors};
use super::dashboard::Dashboard;

pub(crate) const PATH: &str = "docs/dashboards.md";

const HEAD: &str = "\
# Dashboards

Written by `cargo xtask docs` from the panels in `xtask/src/boards/`; do not edit. What they need and how they are
installed is in [dashboards/README.md](../dashboards/README.md).
";

/// The document.
pub(crate) fn text(root: &Path, boards: &[Dashboard]) -> anyhow::Result<String> {
    let mut out = HEAD.to_owned();
    for board in boards {
        out.push_str(&format!("\n## {}\n\n{}\n", board.title, board.description));
        for row in &board.rows {
            out.push_str(&format!("\n**{}**\n\n", row.title));
            for panel in &row.panels {
                out.push_str(&format!("- *{}*: {}\n", panel.title, panel.description));
            }
        }
    }
    out.push_str(&unused(root, boards)?);
    Ok(out)
}

/// Those of the catalogue that nothing bundled asks for.
fn unused(root: &Path, boards: &[Dashboard]) -> anyhow::Result<String> {
    let catalogue = Catalogue::read(root)?;
    let mut asked: BTreeSet<String> = BTreeSet::new();
    for board in boards {
        let panels = board.rows.iter().flat_map(|row| &row.panels);
        for target in panels.flat_map(|panel| &panel.targets) {
            asked.extend(selectors(&target.expr).into_iter().map(|each| each.metric));
        }
    }
    asked.extend(in_rules(&root.join("alerts/rules"))?);
    let asked: BTreeSet<&str> = asked
        .iter()
        .filter_map(|series| Some(catalogue.family_of(series)?.0))
        .collect();
    let mut out = "\n## Metrics that no dashboard and no alert rule asks for\n\n".to_owned();
    let unused: Vec<&String> = catalogue
        .0
        .keys()
        .filter(|name| !asked.contains(name.as_str()))
        .collect();
    if unused.is_empty() {
        out.push_str("None.\n");
    }
    for name in unused {
        out.push_str(&format!("- `{name}`\n"));
    }
    Ok(out)
}

/// Names of metrics in the rules, comments left out; none where there are no rules.
fn in_rules(folder: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    if !folder.is_dir() {
        return Ok(names);
    }
    for entry in folder.read_dir()? {
        let text = std::fs::read_to_string(entry?.path())?;
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        let words = lines.flat_map(|line| {
            line.split(|c: char| !(c == '_' || c == ':' || c.is_ascii_alphanumeric()))
        });
        let ours = words.filter(|word| word.starts_with("evenkeel_"));
        names.extend(ours.map(str::to_owned));
    }
    Ok(names)
}
