//! `cargo xtask boards`: Grafana's dashboards, written here as typed panels and kept as JSON
//! in `dashboards/`.

mod agent;
mod check;
mod connectors;
mod dashboard;
mod document;
mod draw;
mod expr;
mod json;
mod look;
mod now;
mod panel;
mod panel_json;
mod rebalances;
mod tables;
mod workers;

use std::path::Path;

use anyhow::Context as _;
use clap::Subcommand;

use crate::cargo;
use crate::tidy::{self, Problem};
pub(crate) use check::{check, promtool};
use dashboard::Dashboard;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Writes them; `cargo xtask docs` does so, too
    Write,
    /// Checks them, promtool included
    Check,
    Draw(draw::Draw),
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    let root = cargo::root()?;
    match command {
        Command::Write => write(&root),
        Command::Draw(args) => draw::run(&root, args),
        Command::Check => {
            let mut problems = stale(&root)?;
            problems.extend(check(&root)?);
            tidy::end_with(&problems);
            println!("promtool: {} expressions are good", promtool(&root)?);
            Ok(())
        }
    }
}

/// Where the dashboards lie, and beside them what they are excused from and why.
pub(crate) const FOLDER: &str = "dashboards";

/// The five, in the order in which whoever is on call asks.
fn all() -> Vec<Dashboard> {
    vec![
        now::dashboard(),
        rebalances::dashboard(),
        connectors::dashboard(),
        workers::dashboard(),
        agent::dashboard(),
    ]
}

/// Every generated file: its path below the root, and its text.
fn files(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let boards = all();
    let mut files: Vec<(String, String)> = boards
        .iter()
        .map(|board| {
            let path = format!("{FOLDER}/{}.json", board.file);
            (path, json::text(&board.json()))
        })
        .collect();
    let lint = json::text(&dashboard::exclusions(&boards));
    files.push((format!("{FOLDER}/.lint"), lint));
    files.push((document::PATH.to_owned(), document::text(root, &boards)?));
    Ok(files)
}

/// Writes what is generated.
pub(crate) fn write(root: &Path) -> anyhow::Result<()> {
    for (path, text) in files(root)? {
        std::fs::write(root.join(&path), text).with_context(|| format!("write {path}"))?;
    }
    Ok(())
}

/// Which files are not as they would be written.
pub(crate) fn stale(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let differs = |(path, text): &(String, String)| {
        std::fs::read_to_string(root.join(path)).is_ok_and(|found| found == *text)
    };
    let files = files(root)?;
    let stale = files.iter().filter(|file| !differs(file)).map(|(path, _)| {
        let told = "is out of date; `cargo xtask docs` writes it".to_owned();
        Problem::new(path, told)
    });
    Ok(stale.collect())
}
