//! Grafana's dashboards as files: their panels, and their questions with the variables filled
//! in as Grafana would.

use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::Value;

/// A dashboard.
#[derive(Debug, Clone)]
pub struct Board {
    /// The name of its file, without `.json`.
    pub file: String,
    /// What is in it.
    pub json: Value,
}

/// One question of a panel.
#[derive(Debug, Clone)]
pub struct Question {
    /// The number of the panel.
    pub panel_id: u64,
    /// The title of the panel.
    pub panel: String,
    /// Grafana's name of its kind: `stat`, `timeseries`, …
    pub kind: String,
    /// Which of the panel's questions: `A`, `B`, …
    pub name: String,
    /// The question, with variables.
    pub expr: String,
}

/// The dashboards of a folder, by name.
///
/// # Errors
/// The folder or a file in it cannot be read, or is no JSON.
pub fn boards(folder: &Path) -> anyhow::Result<Vec<Board>> {
    let mut boards = Vec::new();
    for entry in folder
        .read_dir()
        .with_context(|| folder.display().to_string())?
    {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let told = || path.display().to_string();
        let text = std::fs::read_to_string(&path).with_context(told)?;
        let json = serde_json::from_str(&text).with_context(told)?;
        let file = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        boards.push(Board { file, json });
    }
    ensure!(
        !boards.is_empty(),
        "{} holds no dashboards",
        folder.display()
    );
    boards.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(boards)
}

/// The text of a member, empty where it has none.
#[must_use]
pub fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value
        .get(member)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The list of a member, empty where it has none.
pub fn list<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value
        .get(member)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

impl Board {
    /// All panels, those of folded rows included, without the rows.
    #[must_use]
    pub fn panels(&self) -> Vec<&Value> {
        let mut panels = Vec::new();
        for panel in list(&self.json, "panels") {
            if text(panel, "type") == "row" {
                panels.extend(list(panel, "panels"));
            } else {
                panels.push(panel);
            }
        }
        panels
    }

    /// All questions of all panels.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        let mut questions = Vec::new();
        for panel in self.panels() {
            for target in list(panel, "targets") {
                questions.push(Question {
                    panel_id: panel.get("id").and_then(Value::as_u64).unwrap_or_default(),
                    panel: text(panel, "title").to_owned(),
                    kind: text(panel, "type").to_owned(),
                    name: text(target, "refId").to_owned(),
                    expr: text(target, "expr").to_owned(),
                });
            }
        }
        questions
    }

    /// What its annotations ask.
    #[must_use]
    pub fn annotations(&self) -> Vec<(String, String)> {
        let annotations = self
            .json
            .get("annotations")
            .map_or(&[][..], |all| list(all, "list"));
        annotations
            .iter()
            .map(|each| (text(each, "name").to_owned(), text(each, "expr").to_owned()))
            .collect()
    }

    /// Its variables.
    #[must_use]
    pub fn variables(&self) -> &[Value] {
        self.json
            .get("templating")
            .map_or(&[], |all| list(all, "list"))
    }

    /// What each variable stands for while everything is chosen, and what Grafana itself
    /// brings: a point each `step_s`, of series that are scraped as often.
    #[must_use]
    pub fn everything(&self, step_s: u64, range_s: u64) -> Vec<(String, String)> {
        let own = self.variables().iter().map(|variable| {
            let all = text(variable, "allValue");
            let value = if all.is_empty() {
                text(variable, "query")
            } else {
                all
            };
            (text(variable, "name").to_owned(), value.to_owned())
        });
        // Grafana: at least four scrapes, and one more than a step.
        let rate = (4 * step_s).max(2 * step_s);
        let brought = [
            ("__rate_interval", format!("{rate}s")),
            ("__interval", format!("{step_s}s")),
            ("__range", format!("{range_s}s")),
        ];
        own.chain(brought.map(|(name, value)| (name.to_owned(), value)))
            .collect()
    }
}

/// The text with its variables filled in.
///
/// # Errors
/// It names a variable that is not among them. `$1` belongs to PromQL.
pub fn filled(text: &str, variables: &[(String, String)]) -> anyhow::Result<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let braced = after.starts_with('{');
        let name = after.trim_start_matches('{');
        let end = name
            .find(|c: char| !(c == '_' || c.is_ascii_alphanumeric()))
            .unwrap_or(name.len());
        let (name, mut tail) = name.split_at(end);
        if braced {
            tail = tail.split_once('}').map_or("", |(_, tail)| tail);
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            out.push('$');
            out.push_str(name);
        } else {
            let value = variables.iter().find(|(known, _)| known == name);
            let (_, value) = value.with_context(|| format!("no variable ${name} in {text}"))?;
            out.push_str(value);
        }
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn variables_are_filled_in_and_unknown_ones_are_told() {
        let variables = [
            ("a".to_owned(), "x".to_owned()),
            ("ab".to_owned(), "y".to_owned()),
        ];
        let text = filled("m{l=~\"$ab\"}[$a] ${ab:raw} \"$1\"", &variables).unwrap();
        assert_eq!(text, "m{l=~\"y\"}[x] y \"$1\"");
        let told = filled("m{l=\"$b\"}", &variables).unwrap_err();
        assert!(told.to_string().contains("$b"), "{told}");
    }
}
