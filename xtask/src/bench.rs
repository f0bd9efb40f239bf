//! `cargo xtask bench`: the budgets, measured in an optimised build. No test: a shared
//! machine may miss a budget by noise.

use anyhow::ensure;
use clap::Args;

use crate::cargo;

/// The budgets next to their yardsticks, as a table (docs/benchmarks.md)
#[derive(Args)]
pub(crate) struct Bench {
    /// Only these: filter, derive, storm, skip, search, latency, memory, scrape, quiet
    names: Vec<String>,
    /// Little work and few rounds: shows that it runs, not how fast
    #[arg(long)]
    quick: bool,
    /// Leaves out real brokers and workers; so does EVENKEEL_LIVE=skip
    #[arg(long)]
    embedded: bool,
    /// Records of the partition that is read on a real broker
    #[arg(long)]
    records: Option<u64>,
    /// Hours of the storm, however long they take; without, two minutes of processor time
    #[arg(long)]
    hours: Option<u64>,
}

pub(crate) fn run(args: &Bench) -> anyhow::Result<()> {
    let skipped = std::env::var("EVENKEEL_LIVE").is_ok_and(|value| value == "skip");
    let [records, hours] = [args.records, args.hours].map(|told| told.map(|n| n.to_string()));
    let mut words = vec!["bench", "--package", "evenkeel", "--bench", "budgets", "--"];
    if args.quick {
        words.push("--quick");
    }
    if args.embedded || skipped {
        eprintln!("skipped: real brokers and workers");
    } else {
        words.push("--real");
    }
    if let Some(records) = &records {
        words.extend(["--records", records]);
    }
    if let Some(hours) = &hours {
        words.extend(["--hours", hours]);
    }
    words.extend(args.names.iter().map(String::as_str));
    let status = cargo::command(&cargo::root()?, &words).status()?;
    ensure!(status.success(), "the benchmarks ended with {status}");
    Ok(())
}
