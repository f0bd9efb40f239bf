//! The questions in the runbooks: whoever copies one at night gets no error.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::tidy::tree::File;

const FOLDER: &str = "docs/runbooks/";

/// What stands for something in a question, and something.
const FILLED: [(&str, &str); 3] = [("$group", "connect"), ("NAME", "orders"), ("…", "a:1")];

/// Whether Prometheus' own parser takes them all.
pub(super) fn check(root: &Path, files: &[File]) -> anyhow::Result<()> {
    let pages = files.iter().filter(|file| file.path.starts_with(FOLDER));
    let rules: Vec<_> = pages
        .flat_map(|page| questions(&page.text))
        .zip(0..)
        .map(|(expr, number)| json!({"record": format!("runbooks:{number}"), "expr": expr}))
        .collect();
    ensure!(!rules.is_empty(), "no page of {FOLDER} asks anything");
    // JSON is YAML, too.
    let groups = json!({"groups": [{"name": "runbooks", "rules": rules}]});
    let file = std::env::temp_dir().join(format!("evenkeel-runbooks-{}.yaml", std::process::id()));
    std::fs::write(&file, groups.to_string())?;
    let output = Command::new("promtool")
        .args(["check", "rules"])
        .arg(&file)
        .current_dir(root)
        .output();
    std::fs::remove_file(&file)?;
    let output = output.context("run promtool")?;
    ensure!(
        output.status.success(),
        "a question of {FOLDER}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// What is quoted as code and names series, in a line or as a block of its own. Commands of a
/// shell are none.
fn questions(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block = None;
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            block = block.is_none().then_some(language);
            continue;
        }
        match block {
            Some("promql") => found.push(line),
            Some(_) => {}
            None => found.extend(line.split('`').skip(1).step_by(2)),
        }
    }
    let asks = |text: &&str| text.contains("evenkeel_") && !text.starts_with("curl ");
    let filled = |text: &str| {
        let with = |text: String, (sign, value): &(&str, &str)| text.replace(sign, value);
        FILLED.iter().fold(text.to_owned(), with)
    };
    found.into_iter().filter(asks).map(filled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_what_is_quoted_and_names_series() {
        let page = "1. `evenkeel_trust{group=\"$group\"}` or `up`, then `curl -s a?evenkeel_b`.\n\
            ```promql\nsum(evenkeel_members)\n```\n```sh\nevenkeel_x\n```\nevenkeel_y `evenkeel_z{a=\"NAME\"}`\n";
        assert_eq!(
            questions(page),
            [
                "evenkeel_trust{group=\"connect\"}",
                "sum(evenkeel_members)",
                "evenkeel_z{a=\"orders\"}"
            ]
        );
    }
}
