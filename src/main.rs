//! The `evenkeel` program: reads the command line, starts a command, ends with its code.

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use evenkeel::commands::capture::CaptureArgs;
use evenkeel::commands::check::CheckArgs;
use evenkeel::commands::config::ConfigArgs;
use evenkeel::commands::dashboards::DashboardsArgs;
use evenkeel::commands::demo::DemoArgs;
use evenkeel::commands::exit::Exit;
use evenkeel::commands::mask::MaskArgs;
use evenkeel::commands::metrics::MetricsArgs;
use evenkeel::commands::replay::{ReplayArgs, ReplayError};
use evenkeel::commands::rules::RulesArgs;
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
    #[command(after_help = "\
The member `line` says what a line is: first the `capture`, then what changed
(`settled` and `missing` generations, rebalances `opened` and `closed`, the group
`created` or `deleted`, an input `caught_up`), last the `episodes` and the `answers`.

Example: evenkeel replay incident.evk.gz | jq 'select(.line == \"settled\")'")]
    Replay(ReplayArgs),
    Check(CheckArgs),
    Metrics(MetricsArgs),
    Rules(RulesArgs),
    Dashboards(DashboardsArgs),
    Config(ConfigArgs),
    Mask(MaskArgs),
}

fn main() -> ExitCode {
    evenkeel::read::ffi::bound_allocator();
    evenkeel::run::shutdown::watch_from_the_start();
    evenkeel::read::ffi::prepare();
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
        Command::Replay(args) => match commands::replay::run(&args, io::stdout().lock()) {
            Ok(()) => Exit::Ok,
            Err(ReplayError::Output(error)) => Exit::of_output(&error),
            Err(ReplayError::Receiver(mistakes)) => {
                eprintln!("{mistakes}");
                Exit::Config
            }
            Err(error) => Exit::of_error(&error),
        },
        Command::Check(args) => ended(commands::check::run(&args, &mut io::stdout().lock())),
        Command::Metrics(args) => printed(commands::metrics::run(args, &mut io::stdout().lock())),
        Command::Rules(args) => ended(commands::rules::run(&args, &mut io::stdout().lock())),
        Command::Dashboards(args) => {
            ended(commands::dashboards::run(&args, &mut io::stdout().lock()))
        }
        Command::Config(args) => ended(commands::config::run(&args, &mut io::stdout().lock())),
        Command::Mask(args) => ended(commands::mask::run(&args, &mut io::stdout().lock())),
    }
}

fn printed(result: io::Result<()>) -> Exit {
    ended(result.map(|()| Exit::Ok))
}

fn ended(result: io::Result<Exit>) -> Exit {
    result.unwrap_or_else(|error| Exit::of_output(&error))
}
