//! `evenkeel capture FILE`: records the inputs, so that everything can be derived again
//! offline. Values of the config and status topics are redacted before they are written.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use evenkeel_core::answers::Answers;
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Input, Topic};
use evenkeel_core::facts::time::ArrivalTime;
use std::sync::Arc;
use tokio::sync::mpsc;

use crate::commands::exit::Exit;
use crate::commands::{start, wiring};
use crate::config::ConfigFlags;
use crate::read::capture::{CaptureReader, CaptureWriter, Header, KafkaReleases};
use crate::read::group as reading;
use crate::read::group::GroupReader;
use crate::read::kafka::ReadSettings;
use crate::run::shutdown::{Shutdown, Signals};
use crate::run::{clock, group};

/// Inputs between the reader and the writer.
const INPUTS_MAX: usize = 4096;

/// Record what the agent reads, until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel capture incident.evk.gz --bootstrap broker:9092 --group connect-cluster \\
      --config-topic connect-configs --status-topic connect-status")]
pub struct CaptureArgs {
    /// The file to write; it must not exist
    pub file: PathBuf,
    /// A name for what is recorded, kept in the header
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
    /// Who records, kept in the header
    #[arg(long, value_name = "NAME")]
    pub recorder: Option<String>,
    /// The Kafka release of the brokers, kept in the header
    #[arg(long, value_name = "RELEASE")]
    pub broker_release: Option<String>,
    /// Everything that can be configured
    #[command(flatten)]
    pub config: ConfigFlags,
}

/// Records until SIGINT or SIGTERM.
#[must_use]
pub fn run(args: &CaptureArgs) -> Exit {
    if args.file == Path::new("-") {
        eprintln!("error: a capture is a file, not standard output");
        eprintln!("  hint: evenkeel capture incident.evk.gz");
        return Exit::Usage;
    }
    let loaded = match start::configured(wiring::configuration(&args.config)) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let mut readers = match wiring::readers(&loaded.config) {
        Ok(readers) => readers,
        Err(mistakes) => {
            eprintln!("{mistakes}");
            return Exit::Config;
        }
    };
    let (Some(settings), true) = (readers.pop(), readers.is_empty()) else {
        tracing::error!("a capture holds one group; name it with --group");
        return Exit::Config;
    };
    let kafka = KafkaReleases {
        broker: args.broker_release.clone(),
        workers: settings.worker_release.clone(),
    };
    let header = Header {
        recorder: args.recorder.clone(),
        kafka: (kafka != KafkaReleases::default()).then_some(kafka),
        ..Header::new(clock::now().0, args.scenario.clone())
    };
    let writer = match CaptureWriter::create(&args.file, &header) {
        Ok(writer) => writer,
        Err(error) => {
            if error.kind() != io::ErrorKind::AlreadyExists {
                remove_unless_readable(&args.file);
            }
            let hint = (error.kind() == io::ErrorKind::AlreadyExists)
                .then_some("a recording is never overwritten; name a file that does not exist");
            tracing::error!(file = %args.file.display(), %error, hint, "capture not created");
            return Exit::Failed;
        }
    };
    match start::on_this_thread(record(settings, writer)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => {
            tracing::error!(file = %args.file.display(), %error, "capture not written");
            remove_unless_readable(&args.file);
            Exit::Failed
        }
        Err(error) => {
            tracing::error!(%error, "runtime not started");
            Exit::Failed
        }
    }
}

/// Removes a file that this command made and could write nothing to, not even its header:
/// where the disk is full it would stand in the way of the next try. Anything that can be
/// replayed, however short, stays.
fn remove_unless_readable(file: &Path) {
    let is_ours = fs::metadata(file).is_ok_and(|about| about.is_file());
    if !is_ours || CaptureReader::open(file).is_ok() {
        return;
    }
    match fs::remove_file(file) {
        Ok(()) => tracing::info!(file = %file.display(), "empty capture removed"),
        Err(error) => tracing::warn!(file = %file.display(), %error, "empty capture left"),
    }
}

async fn record(settings: ReadSettings, writer: CaptureWriter<File>) -> io::Result<Exit> {
    let mut signals = Signals::listen()?;
    let (sender, inputs) = mpsc::channel(INPUTS_MAX);
    let reader = match reading::start(settings, Arc::new(clock::now), sender) {
        Ok(reader) => reader,
        Err(error) => {
            tracing::error!(%error, "kafka client not configured");
            return Ok(Exit::Config);
        }
    };
    let mut recorder = Recorder {
        reader,
        writer,
        caught_up: 0,
    };
    let shutdown = Shutdown::new();
    let ending = shutdown.ending();
    {
        let watching = group::run(Engine::new(), inputs, &mut recorder, ending);
        tokio::pin!(watching);
        tokio::select! {
            result = &mut watching => result?,
            () = signals.received() => {
                shutdown.begin();
                watching.await?;
            }
        }
    }
    let inputs = recorder.writer.inputs();
    recorder.writer.finish()?;
    tracing::info!(inputs, "capture complete");
    Ok(Exit::Ok)
}

/// What surrounds the loop of a group that is recorded.
struct Recorder {
    reader: GroupReader,
    writer: CaptureWriter<File>,
    caught_up: usize,
}

impl group::Surroundings for Recorder {
    fn ask_ends(&mut self) {
        self.reader.ask_ends();
    }

    fn took(&mut self, _engine: &Engine, input: &Input, changes: &[Change]) -> io::Result<()> {
        for change in changes {
            if let Change::CaughtUp { .. } = change {
                self.caught_up += 1;
                if self.caught_up == Topic::ALL.len() {
                    tracing::info!("all inputs read to their ends; recording");
                }
            }
        }
        self.writer.write(input)
    }

    fn publish(&mut self, _engine: &Engine, answers: Answers, _now: ArrivalTime) {
        self.reader.heed(&answers);
    }
}

#[cfg(test)]
mod tests;
