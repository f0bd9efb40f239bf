//! `cargo xtask boards draw`: pictures of the boards, for the eyes of whoever changes them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use clap::Args;
use evenkeel_testbed::grafana::{self, list};
use serde_json::Value;

use super::FOLDER;
use crate::cargo;

const PAGE: &str = include_str!("../../boards-page/page.html");

/// Pixels of the picture, and of a row of Grafana's grid with the gap below it.
const WIDTH: u32 = 1600;
const ROW: u64 = 38;

/// Draw the boards as a recorded night answers them, with Chromium; Grafana takes no part
#[derive(Args)]
pub(crate) struct Draw {
    /// A capture of tests/captures, without its ending
    #[arg(long, default_value = "incident")]
    night: String,
    /// The moment of the picture, in seconds after the capture's begin
    #[arg(long, default_value_t = 35)]
    second: u32,
    /// Where answers and pictures go
    #[arg(long, default_value = "target/boards")]
    out: String,
}

pub(crate) fn run(root: &Path, args: &Draw) -> anyhow::Result<()> {
    let out = root.join(&args.out);
    std::fs::create_dir_all(&out)?;
    let test = "boards::answers_are_kept_for_whoever_draws_them";
    let status = cargo::command(
        root,
        &["test", "--workspace", "--test", "it", "--", "--exact", test],
    )
    .env("EVENKEEL_BOARDS_ANSWERS", &out)
    .env("EVENKEEL_BOARDS_NIGHT", &args.night)
    .env("EVENKEEL_BOARDS_SECOND", args.second.to_string())
    .status()?;
    ensure!(status.success(), "the boards could not be asked");
    for board in grafana::boards(&root.join(FOLDER))? {
        let kept = out.join(format!("{}.json", board.file));
        let answers = std::fs::read_to_string(kept)?.replace("</", "<\\/");
        let page = out.join(format!("{}.html", board.file));
        std::fs::write(&page, PAGE.replacen("/*DATA*/null", &answers, 1))?;
        let picture = out.join(format!("{}-{}-{}.png", board.file, args.night, args.second));
        shoot(&page, &picture, height(&board.json))?;
        println!("{}", picture.display());
    }
    Ok(())
}

/// Pixels down to the end of the lowest panel.
fn height(board: &Value) -> u64 {
    let rows = list(board, "panels").iter();
    let panels = rows.clone().chain(rows.flat_map(|row| list(row, "panels")));
    let end = |panel: &Value| {
        let side = |name: &str| panel["gridPos"][name].as_u64().unwrap_or_default();
        side("y") + side("h")
    };
    panels.map(end).max().unwrap_or_default() * ROW + 60
}

fn shoot(page: &Path, picture: &Path, height: u64) -> anyhow::Result<()> {
    let mut chromium = Command::new("chromium");
    chromium
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
        ])
        .arg(format!("--window-size={WIDTH},{height}"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()));
    let output = chromium.output().context("run chromium")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success() && picture.is_file(),
        "chromium: {told}"
    );
    Ok(())
}
