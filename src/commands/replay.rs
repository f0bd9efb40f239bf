//! `evenkeel replay FILE`: derives everything again from a capture, without a broker, a
//! clock or a port. What changed is printed as JSON lines, the final answers last.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use evenkeel_core::answers::{
    Answers, DepartureHow, EpisodesAnswer, Outcome, RoundAnswer, SkewAnswer,
};
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Settings, Topic};
use evenkeel_core::facts::time::EventTime;
use serde::Serialize;
use thiserror::Error;

use crate::commands::{start, wiring};
use crate::config::Mistakes;
use crate::read::capture::{CaptureError, CaptureReader, Header, Skipped};
use crate::show::traces::wire::{Client, SendError};
use crate::show::traces::{Named, Trace, sender, trace};

/// Why a replay failed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The capture could not be read, or not to its end.
    #[error("{path}")]
    Capture {
        /// Which file.
        path: String,
        /// Why.
        source: CaptureError,
    },
    /// The result could not be written.
    #[error("result not written")]
    Output(#[from] io::Error),
    /// Where traces are to go makes no sense.
    #[error("{0}")]
    Receiver(#[from] Mistakes),
    /// The capture holds no name for its cluster, from which ids of traces are made.
    #[error("{path}: no cluster id is captured, so its rebalances have no trace ids")]
    NoCluster {
        /// Which file.
        path: String,
    },
    /// Traces did not arrive.
    #[error("traces not sent to {receiver}")]
    Sent {
        /// Where to.
        receiver: String,
        /// Why.
        source: SendError,
    },
}

/// One line of the output.
#[derive(Serialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum Line<'a> {
    /// Where the capture comes from.
    Capture { header: &'a Header },
    /// A generation was settled.
    Settled { at_ms: i64, round: RoundAnswer },
    /// Generations that left no record.
    Missing {
        at_ms: i64,
        first: i32,
        count: u64,
        outcome: Outcome,
    },
    /// The group was created.
    Created {
        at_ms: i64,
        incarnation: u32,
        generation: i32,
    },
    /// The group was deleted.
    Deleted { at_ms: i64 },
    /// An input was read to the end it had at start.
    CaughtUp { at_ms: i64, input: Topic },
    /// An episode began.
    Opened { at_ms: i64, episode: Named<'a> },
    /// An episode is over.
    Closed { at_ms: i64, episode: Named<'a> },
    /// What was sent as traces, where that was asked for.
    Sent {
        receiver: &'a str,
        traces: usize,
        spans: usize,
        rejected: u64,
        /// Rebalances that closed and have no trace: their first record is not in the capture.
        without_trace: usize,
    },
    /// What a later release wrote and this one does not know; absent where nothing is.
    Skipped { kinds: u64, fields: u64 },
    /// The episodes, as they are known in the end.
    Episodes { episodes: Option<Episodes<'a>> },
    /// What the engine says in the end.
    Answers { answers: &'a Answers },
}

/// As `EpisodesAnswer`, each with the id of its trace.
#[derive(Serialize)]
struct Episodes<'a> {
    open: Option<Named<'a>>,
    active_since: Option<EventTime>,
    closed: Vec<Named<'a>>,
    departed: &'a [(Option<DepartureHow>, u64)],
    skews: &'a [SkewAnswer],
}

/// Arguments of `evenkeel replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The capture
    file: PathBuf,
    /// Take the end of the capture for the end of the topics: what waits for proof that
    /// nothing is unread is settled
    #[arg(long)]
    settle: bool,
    /// Send the rebalances that are over as traces to this receiver of OTLP, as
    /// http://HOST:PORT; protocol, headers and TLS by OTEL_EXPORTER_OTLP_* variables
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
}

/// `evenkeel replay`.
///
/// # Errors
/// As [`replay`].
pub fn run(args: &ReplayArgs, out: impl Write) -> Result<(), ReplayError> {
    let Some(url) = &args.otlp else {
        return replay(&args.file, args.settle, out);
    };
    let client = wiring::client_for(url)?;
    let mut sending = Sending::default();
    let mut out = BufWriter::new(out);
    let replayed = derive(&args.file, args.settle, &mut out, |engine, change| {
        sending.take(engine, change);
    });
    // Of a capture that is cut, what came before is sent all the same.
    if matches!(replayed, Err(ReplayError::Output(_))) {
        return replayed;
    }
    sending.send(&args.file, &client, &mut out)?;
    replayed
}

/// The traces of a capture.
#[derive(Debug, Default)]
struct Sending {
    traces: Vec<Trace>,
    without_trace: usize,
    no_cluster: bool,
}

// === impl Sending ===

impl Sending {
    fn take(&mut self, engine: &Engine, change: &Change) {
        let Change::Closed(episode, beside) = change else {
            return;
        };
        let settings = engine.state().settings();
        match trace(settings, episode, beside) {
            Some(trace) => self.traces.push(trace),
            None => {
                self.without_trace += 1;
                self.no_cluster |= settings.cluster_id.is_none();
            }
        }
    }

    fn send(self, path: &Path, client: &Client, mut out: impl Write) -> Result<(), ReplayError> {
        if self.no_cluster {
            let path = path.display().to_string();
            return Err(ReplayError::NoCluster { path });
        }
        let receiver = client.to_string();
        let traces = self.traces.len();
        let spans: usize = self.traces.iter().map(|trace| trace.spans.len()).sum();
        let sent = start::on_this_thread(sender::send_all(client, self.traces))?;
        let taken = sent.map_err(|source| ReplayError::Sent {
            receiver: receiver.clone(),
            source,
        })?;
        line(
            &mut out,
            &Line::Sent {
                receiver: &receiver,
                traces,
                spans,
                rejected: taken.rejected,
                without_trace: self.without_trace,
            },
        )?;
        out.flush()?;
        if self.without_trace > 0 {
            eprintln!(
                "{} rebalances have no trace: their first record is not in the capture",
                self.without_trace
            );
        }
        if taken.rejected == 0 {
            eprintln!("{spans} spans of {traces} rebalances sent to {receiver}");
        } else {
            let source = SendError::Refused(format!(
                "{} of {spans} spans refused: {}",
                taken.rejected, taken.why
            ));
            return Err(ReplayError::Sent { receiver, source });
        }
        Ok(())
    }
}

/// Replays the capture at `path` to `out`; `settle` takes its end for that of the topics.
///
/// # Errors
/// The capture is none, or is cut: what came before the cut is printed all the same,
/// the final answers included.
pub fn replay(path: &Path, settle: bool, out: impl Write) -> Result<(), ReplayError> {
    derive(path, settle, BufWriter::new(out), |_, _| {})
}

/// As [`replay`]; `told` is told each change, too.
fn derive(
    path: &Path,
    settle: bool,
    mut out: impl Write,
    mut told: impl FnMut(&Engine, &Change),
) -> Result<(), ReplayError> {
    let failed = |source| ReplayError::Capture {
        path: path.display().to_string(),
        source,
    };
    let reader = CaptureReader::open(path).map_err(failed)?;
    line(
        &mut out,
        &Line::Capture {
            header: reader.header(),
        },
    )?;
    let mut engine = Engine::new();
    let mut trouble = None;
    let mut reader = reader;
    for input in reader.by_ref() {
        match input {
            Ok(input) => {
                for change in engine.apply(&input) {
                    line(&mut out, &Line::of(input.at.0, &engine, &change))?;
                    told(&engine, &change);
                }
            }
            Err(error) => {
                trouble = Some(error);
                break;
            }
        }
    }
    if !settle && engine.wants_ends() {
        eprintln!(
            "hint: the capture ends before it is proven that nothing was unread; with --settle its \
             end is taken for the end of the topics, and what waits for that proof is settled"
        );
    }
    let ends = if settle {
        engine.ends_here()
    } else {
        Vec::new()
    };
    for input in ends {
        for change in engine.apply(&input) {
            line(&mut out, &Line::of(input.at.0, &engine, &change))?;
            told(&engine, &change);
        }
    }
    let Skipped { kinds, fields } = reader.skipped();
    if kinds > 0 || fields > 0 {
        line(&mut out, &Line::Skipped { kinds, fields })?;
    }
    let answers = engine.answers();
    let episodes = answers.episodes.as_ref();
    let episodes = episodes.map(|all| Episodes::of(&answers.settings, all));
    line(&mut out, &Line::Episodes { episodes })?;
    line(&mut out, &Line::Answers { answers: &answers })?;
    out.flush()?;
    trouble.map_or(Ok(()), |error| Err(failed(error)))
}

// === impl Episodes ===

impl<'a> Episodes<'a> {
    fn of(settings: &Settings, all: &'a EpisodesAnswer) -> Self {
        let EpisodesAnswer {
            open,
            active_since,
            closed,
            departed,
            skews,
        } = all;
        let closed = closed.iter();
        Self {
            open: open.as_ref().map(|open| Named::of(settings, open)),
            active_since: *active_since,
            closed: closed.map(|one| Named::of(settings, one)).collect(),
            departed,
            skews,
        }
    }
}

// === impl Line ===

impl<'a> Line<'a> {
    /// A change, at this time on the recorder's clock.
    fn of(at_ms: i64, engine: &Engine, change: &'a Change) -> Self {
        match change {
            Change::Settled(round) => Self::Settled {
                at_ms,
                round: engine.describe(round),
            },
            Change::Missing {
                first,
                count,
                outcome,
            } => Self::Missing {
                at_ms,
                first: *first,
                count: *count,
                outcome: *outcome,
            },
            Change::Created {
                incarnation,
                generation,
            } => Self::Created {
                at_ms,
                incarnation: *incarnation,
                generation: *generation,
            },
            Change::Deleted => Self::Deleted { at_ms },
            Change::Opened(episode) => Self::Opened {
                at_ms,
                episode: Named::of(engine.state().settings(), episode),
            },
            Change::Closed(episode, _) => Self::Closed {
                at_ms,
                episode: Named::of(engine.state().settings(), episode),
            },
            Change::CaughtUp { input } => Self::CaughtUp {
                at_ms,
                input: *input,
            },
        }
    }
}

fn line(out: &mut impl Write, line: &Line<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
