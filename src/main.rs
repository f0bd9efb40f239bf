//! The `evenkeel` program: reads the command line, starts a command, ends with its code.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use evenkeel::commands::capture::CaptureArgs;
use evenkeel::commands::config::ConfigArgs;
use evenkeel::commands::demo::DemoArgs;
use evenkeel::commands::exit::{Exit, chain};
use evenkeel::commands::metrics::MetricsArgs;
use evenkeel::commands::run::RunArgs;
use evenkeel::commands::{self};

/// Explains every rebalance of an Apache Kafka Connect group
#[derive(Debug, Parser)]
#[command(name = "evenkeel", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(RunArgs),
    Demo(DemoArgs),
    Capture(CaptureArgs),
    /// Derive everything again from a capture, as JSON lines
    #[command(
        after_help = "Example: evenkeel replay incident.evk.gz | jq 'select(.line == \"change\")'"
    )]
    Replay {
        /// The capture
        file: PathBuf,
    },
    Metrics(MetricsArgs),
    Config(ConfigArgs),
}

fn main() -> ExitCode {
    evenkeel::read::ffi::bound_allocator();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let asked = !error.use_stderr();
            // Nothing is left to say when even this cannot be printed.
            return match error.print() {
                Ok(()) if asked => Exit::Ok.into(),
                _ => Exit::Usage.into(),
            };
        }
    };
    run(cli.command).into()
}

fn run(command: Command) -> Exit {
    match command {
        Command::Run(args) => commands::run::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Capture(args) => commands::capture::run(&args),
        Command::Replay { file } => match commands::replay::replay(&file, io::stdout().lock()) {
            Ok(()) => Exit::Ok,
            Err(error) => failed(&error),
        },
        Command::Metrics(args) => printed(commands::metrics::run(args, &mut io::stdout().lock())),
        Command::Config(args) => match commands::config::run(&args, &mut io::stdout().lock()) {
            Ok(exit) => exit,
            Err(error) => printed(Err(error)),
        },
    }
}

fn printed(result: io::Result<()>) -> Exit {
    match result {
        Ok(()) => Exit::Ok,
        // Whoever read the output has seen enough: `evenkeel metrics | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Ok,
        Err(error) => failed(&error),
    }
}

fn failed(error: &dyn std::error::Error) -> Exit {
    eprintln!("error: {}", chain(error));
    Exit::Failed
}
