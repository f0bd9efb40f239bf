//! `cargo xtask test`: everything CI runs, each step with its time, and a table at the end.

mod collector;
mod dashboards;
mod licences;
mod live;
mod report;
mod rules;
mod runbooks;
mod setup;
mod steps;
mod targets;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Args;

use crate::cargo;
use report::{Line, Report, Verdict};

#[derive(Args)]
#[command(after_help = "Example: cargo xtask test --only fmt --only clippy")]
pub(crate) struct Test {
    /// Leaves out what needs a real Kafka
    #[arg(long)]
    quick: bool,
    /// Runs this step alone; may be given again
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Prints the steps and runs none
    #[arg(long)]
    list: bool,
}

/// What a step may know.
struct Context {
    root: PathBuf,
    quick: bool,
    /// Runs where nobody watches: CI sets `CI`.
    ci: bool,
}

/// How a step ended that did not fail.
enum Outcome {
    Passed,
    /// With the reason, in words that follow "skipped:".
    Skipped(String),
}

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Context) -> anyhow::Result<Outcome>,
    /// Without it, those that follow would tell the same failure again.
    needed: bool,
}

const STEPS: &[Step] = &[
    Step {
        name: "set-up",
        about: "programs that the others need; installs them as root on Debian",
        run: setup::run,
        needed: true,
    },
    Step {
        name: "fmt",
        about: "formatting",
        run: steps::fmt,
        needed: false,
    },
    Step {
        name: "clippy",
        about: "lints, warnings are errors",
        run: steps::clippy,
        needed: false,
    },
    Step {
        name: "build",
        about: "all programs and tests",
        run: steps::build,
        needed: true,
    },
    Step {
        name: "rustdoc",
        about: "documentation, warnings are errors",
        run: steps::rustdoc,
        needed: false,
    },
    Step {
        name: "collector",
        about: "an OpenTelemetry Collector to send to; built once",
        run: collector::run,
        needed: false,
    },
    Step {
        name: "test",
        about: "all tests that need no real Kafka",
        run: steps::test,
        needed: false,
    },
    Step {
        name: "tidy",
        about: "the rules of the house",
        run: steps::tidy,
        needed: false,
    },
    Step {
        name: "rules",
        about: "alerts, their tests and their routes, by promtool and amtool",
        run: rules::run,
        needed: false,
    },
    Step {
        name: "boards",
        about: "dashboards, by promtool and by Grafana's own types",
        run: dashboards::run,
        needed: false,
    },
    Step {
        name: "licences",
        about: "licences, crates and sources, by cargo-deny",
        run: licences::run,
        needed: false,
    },
    Step {
        name: "fuzz",
        about: "the fuzz targets compile",
        run: steps::fuzz,
        needed: false,
    },
    Step {
        name: "settings",
        about: "the table of Kafka's settings is what its jars say",
        run: steps::settings,
        needed: false,
    },
    Step {
        name: "live",
        about: "a short pass on real Kafka brokers and Connect workers",
        run: live::run,
        needed: false,
    },
];

pub(crate) fn run(args: &Test) -> anyhow::Result<()> {
    if args.list {
        for step in STEPS {
            println!("{:<9} {}", step.name, step.about);
        }
        return Ok(());
    }
    let chosen = choose(&args.only)?;
    let context = Context {
        root: cargo::root()?,
        quick: args.quick,
        ci: std::env::var_os("CI").is_some(),
    };
    let mut report = Report::default();
    let mut stopped = false;
    for step in chosen {
        if stopped {
            report.add(Line::not_run(step.name));
            continue;
        }
        let line = run_step(step, &context);
        stopped = step.needed && line.failed();
        report.add(line);
    }
    println!("{report}");
    if report.failed() > 0 {
        // The table has said what failed.
        std::process::exit(1);
    }
    Ok(())
}

fn choose(only: &[String]) -> anyhow::Result<Vec<&'static Step>> {
    for name in only {
        if !STEPS.iter().any(|step| step.name == name) {
            let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("no step {name:?}; there are {}", names.join(", "));
        }
    }
    let chosen = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    Ok(STEPS.iter().filter(chosen).collect())
}

fn run_step(step: &Step, context: &Context) -> Line {
    println!("\n=== {}: {}", step.name, step.about);
    let began = Instant::now();
    let result = (step.run)(context).with_context(|| format!("step {}", step.name));
    let took = began.elapsed();
    let verdict = match result {
        Ok(Outcome::Passed) => Verdict::Passed,
        Ok(Outcome::Skipped(reason)) => Verdict::Skipped(reason),
        Err(error) => Verdict::Failed(format!("{error:#}")),
    };
    let line = Line {
        name: step.name,
        verdict,
        took,
    };
    println!("=== {line}");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_by_name_in_their_own_order() {
        let names = |only: &[&str]| -> Vec<&str> {
            let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
            choose(&only)
                .unwrap()
                .iter()
                .map(|step| step.name)
                .collect()
        };
        assert_eq!(names(&["tidy", "fmt"]), ["fmt", "tidy"]);
        assert_eq!(names(&[]).len(), STEPS.len());
        let error = choose(&["tidi".to_owned()])
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("no step \"tidi\"; there are set-up, fmt"),
            "{error}"
        );
    }
}
