//! Everything a contributor runs: dispatches to one module a subcommand.

// Tests may unwrap: a panic there is the failure that is wanted.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bench;
mod boards;
mod cargo;
mod cluster;
mod collector;
mod docs;
mod kafka;
mod scenarios;
mod settings;
mod test;
mod tidy;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Everything a contributor runs")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything CI runs
    Test(test::Test),
    /// The rules of the house that no compiler holds
    Tidy(tidy::Tidy),
    /// Writes the generated documents, or checks them
    Docs(docs::Docs),
    /// Published Kafka releases in the local cache
    #[command(subcommand)]
    Kafka(kafka::Command),
    /// A real Kafka and Connect cluster on loopback
    #[command(subcommand)]
    Cluster(cluster::Command),
    /// Builds the OpenTelemetry Collector that tests send to, if it is not in the cache
    Collector,
    /// Grafana's dashboards
    #[command(subcommand)]
    Boards(boards::Command),
    Scenarios(scenarios::Scenarios),
    Bench(bench::Bench),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Test(args) => test::run(&args),
        Command::Tidy(args) => tidy::run(&args),
        Command::Docs(args) => docs::run(&args),
        Command::Kafka(command) => kafka::run(&command),
        Command::Cluster(command) => cluster::run(&command),
        Command::Collector => collector::run(),
        Command::Boards(command) => boards::run(&command),
        Command::Scenarios(args) => scenarios::run(&args),
        Command::Bench(args) => bench::run(&args),
    }
}
