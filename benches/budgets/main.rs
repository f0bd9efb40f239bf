//! Measures every budget that the design promises, next to a yardstick of the same run:
//! `cargo xtask bench`, read with `docs/benchmarks.md`.

#![allow(
    clippy::disallowed_methods,
    reason = "a stopwatch reads clocks; nothing of this is in the agent"
)]

mod derive;
mod fleet;
mod kafka;
mod latency;
mod memory;
mod process;
mod quiet;
mod report;
mod scan;
mod scrape;
mod search;
mod skip;
mod stage;
mod stopwatch;
mod storm;

use std::process::ExitCode;

use report::Report;

/// How much is measured.
#[derive(Debug, Clone, Copy, Default)]
struct Scale {
    /// A tenth of the work and fewer rounds: shows that it runs, not how fast.
    quick: bool,
    /// Also what needs real brokers and workers.
    real: bool,
    /// Records of the partition that is searched; a size that suits the broker without.
    records: Option<u64>,
    /// Hours of the storm, however long they take.
    hours: Option<i64>,
}

impl Scale {
    /// `whole`, or `quick` where that was asked for.
    fn of<T>(self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
    }
}

/// A name of the command line and what it starts.
type Bench = (&'static str, fn(Scale, &mut Report) -> anyhow::Result<()>);

/// Cheap ones first, those that start clusters last.
const BENCHES: &[Bench] = &[
    ("filter", skip::filter),
    ("derive", derive::run),
    ("storm", storm::run),
    ("skip", skip::run),
    ("search", search::run),
    ("latency", latency::run),
    ("memory", memory::run),
    ("scrape", scrape::run),
    ("quiet", quiet::run),
];

fn main() -> ExitCode {
    evenkeel::read::ffi::prepare();
    let (scale, names) = match arguments() {
        Ok(told) => told,
        Err(wrong) => {
            let known: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
            eprintln!(
                "{wrong}\nusage: [--quick] [--real] [--records N] [--hours N] [{}]…",
                known.join("|")
            );
            return ExitCode::from(2);
        }
    };
    let mut report = Report::begin();
    let mut failed = false;
    for (name, run) in BENCHES {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        eprintln!("== {name}");
        if let Err(error) = run(scale, &mut report) {
            eprintln!("{name}: {error:#}");
            failed = true;
        }
    }
    report.end();
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn arguments() -> Result<(Scale, Vec<String>), String> {
    let mut scale = Scale::default();
    let mut names = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // `cargo bench` says it to every benchmark.
            "--bench" => {}
            "--quick" => scale.quick = true,
            "--real" => scale.real = true,
            "--records" => scale.records = Some(number(&arg, args.next())?),
            "--hours" => scale.hours = Some(number(&arg, args.next())?),
            name if BENCHES.iter().any(|(known, _)| *known == name) => names.push(arg),
            other => return Err(format!("no benchmark {other}")),
        }
    }
    Ok((scale, names))
}

fn number<T: std::str::FromStr>(name: &str, text: Option<String>) -> Result<T, String> {
    let number = text.and_then(|text| text.parse().ok());
    number.ok_or_else(|| format!("{name} takes a number"))
}
