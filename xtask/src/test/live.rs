//! The step that runs the tests which need a real Kafka.

use evenkeel_testbed::Tools;

use super::targets::{LIVE, LIVE_MODULE};
use super::{Context, Outcome, steps, targets};
use crate::cargo;

pub(crate) fn run(context: &Context) -> anyhow::Result<Outcome> {
    if context.quick {
        return Ok(Outcome::Skipped("--quick".to_owned()));
    }
    if let Err(missing) = Tools::find() {
        return Ok(Outcome::Skipped(format!("{missing:#}")));
    }
    let tests = targets::integration(&context.root)?;
    if tests.is_empty() {
        return Ok(Outcome::Skipped(
            "there are no integration tests".to_owned(),
        ));
    }
    // Both run even if the first fails: they start clusters of their own.
    let whole = if tests.contains(LIVE) {
        test(context, &[LIVE], &[])
    } else {
        Ok(Outcome::Passed)
    };
    let others: Vec<&str> = tests
        .iter()
        .map(String::as_str)
        .filter(|name| *name != LIVE)
        .collect();
    let parts = if others.is_empty() {
        Ok(Outcome::Passed)
    } else {
        test(context, &others, &[LIVE_MODULE])
    };
    whole.and(parts)
}

fn test(context: &Context, targets: &[&str], filter: &[&str]) -> anyhow::Result<Outcome> {
    let mut args = vec!["test", "--workspace", "--locked", "--no-fail-fast"];
    args.extend(targets.iter().flat_map(|&target| ["--test", target]));
    args.push("--");
    args.extend(filter);
    steps::run(cargo::command(&context.root, &args))
}
