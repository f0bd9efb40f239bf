//! `evenkeel replay FILE`: derives everything again from a capture, without a broker, a
//! clock or a port. What changed is printed as JSON lines, the final answers last.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use evenkeel_core::answers::Answers;
use evenkeel_core::engine::{Change, Engine};
use serde::Serialize;
use thiserror::Error;

use crate::read::capture::{CaptureError, CaptureReader, Header};

/// Why a replay failed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The capture could not be read, or not to its end.
    #[error("{path}: {source}")]
    Capture {
        /// Which file.
        path: String,
        /// Why.
        source: CaptureError,
    },
    /// The result could not be written.
    #[error("result not written")]
    Output(#[from] io::Error),
}

/// One line of the output.
#[derive(Serialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum Line<'a> {
    /// Where the capture comes from.
    Capture { header: &'a Header },
    /// Something changed, at this time on the recorder's clock.
    Change {
        at_ms: i64,
        #[serde(flatten)]
        change: &'a Change,
    },
    /// What the engine says in the end.
    Answers { answers: &'a Answers },
}

/// Replays the capture at `path` to `out`.
///
/// # Errors
/// The capture is none, or is cut: what came before the cut is printed all the same,
/// the final answers included.
pub fn replay(path: &Path, out: impl Write) -> Result<(), ReplayError> {
    let mut out = BufWriter::new(out);
    let failed =
        |source| ReplayError::Capture { path: path.display().to_string(), source };
    let reader = CaptureReader::open(path).map_err(failed)?;
    line(&mut out, &Line::Capture { header: reader.header() })?;
    let mut engine = Engine::new();
    let mut trouble = None;
    for input in reader {
        match input {
            Ok(input) => {
                for change in engine.apply(&input) {
                    line(&mut out, &Line::Change { at_ms: input.at.0, change: &change })?;
                }
            }
            Err(error) => {
                trouble = Some(error);
                break;
            }
        }
    }
    line(&mut out, &Line::Answers { answers: &engine.answers() })?;
    out.flush()?;
    trouble.map_or(Ok(()), |error| Err(failed(error)))
}

fn line(out: &mut impl Write, line: &Line<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
