//! Everything a contributor runs: dispatches to one module a subcommand.

mod cluster;
mod kafka;
mod scenarios;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Everything a contributor runs")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Published Kafka releases in the local cache
    #[command(subcommand)]
    Kafka(kafka::Command),
    /// A real Kafka and Connect cluster on loopback
    #[command(subcommand)]
    Cluster(cluster::Command),
    Scenarios(scenarios::Scenarios),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Kafka(command) => kafka::run(&command),
        Command::Cluster(command) => cluster::run(&command),
        Command::Scenarios(args) => scenarios::run(&args),
    }
}
