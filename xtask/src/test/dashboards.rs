//! The step that holds the dashboards against the tools of those who read them: Prometheus'
//! parser for their questions, the types of Grafana's makers for their form.

use std::process::Command;

use evenkeel_testbed::grafana;

use super::{Context, Outcome, setup, steps};
use crate::boards;

/// A Go program, so that Grafana's own types are used.
const DECODER: &str = "xtask/dashboards-check";

pub(crate) fn run(context: &Context) -> anyhow::Result<Outcome> {
    let mut missing = Vec::new();
    if setup::is_there("promtool") {
        let good = boards::promtool(&context.root)?;
        println!("promtool: {good} expressions are good");
    } else {
        missing.push(setup::missing("promtool"));
    }
    match decoder(context) {
        Ok(mut decode) => {
            for board in grafana::boards(&context.root.join(boards::FOLDER))? {
                decode.arg(format!("../../{}/{}.json", boards::FOLDER, board.file));
            }
            steps::run(decode)?;
        }
        Err(why) => missing.push(why),
    }
    if missing.is_empty() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Skipped(missing.join("; ")))
}

/// The program, or why there is none: Go is not there, or its module cannot be fetched.
fn decoder(context: &Context) -> Result<Command, String> {
    if !setup::is_there("go") {
        return Err("the strict decoder: go is not installed".to_owned());
    }
    let go = |args: &[&str]| {
        let mut command = Command::new("go");
        command.args(args).current_dir(context.root.join(DECODER));
        command
    };
    let fetched = go(&["mod", "download"]).output();
    if !fetched.is_ok_and(|output| output.status.success()) {
        return Err("the strict decoder: its Go module cannot be fetched".to_owned());
    }
    Ok(go(&["run", "."]))
}
