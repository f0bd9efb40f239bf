//! Writes a capture so that a killed recorder loses at most the last seconds.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use evenkeel_core::facts::input::{Input, InputKind};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Header, line};

/// Arrival time after which what was written is pushed out, in ms. Each push costs
/// a few bytes of compression; two seconds of a storm are bearable to lose.
const FLUSH_AFTER_MS: i64 = 2_000;

/// Arrival time between two ticks that are kept, in ms. A timer fires at its event
/// time whatever the tick cadence, so fewer ticks derive the same.
const TICK_SPACING_MS: i64 = 1_000;

/// Writes inputs as they come. [`finish`](Self::finish) adds the end marker; without
/// it the capture counts as cut.
#[derive(Debug)]
pub struct CaptureWriter<W: Write> {
    out: GzEncoder<W>,
    inputs: u64,
    /// Arrival time of the last line written.
    last_at: i64,
    /// Arrival time of a tick that was left out after the last line.
    tick_left_out: Option<i64>,
    flushed_at: i64,
}

// === impl CaptureWriter ===

impl CaptureWriter<File> {
    /// Creates the file and writes the header. A file that is there is left alone: it may
    /// be the only recording of an incident.
    ///
    /// # Errors
    /// When the file exists, or cannot be created or written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        // The encoder collects 32 KiB before it writes.
        Self::new(File::create_new(path)?, header)
    }
}

impl<W: Write> CaptureWriter<W> {
    /// Writes the header to `out`.
    ///
    /// # Errors
    /// When `out` does not take it.
    pub fn new(out: W, header: &Header) -> io::Result<Self> {
        let mut writer = Self {
            out: GzEncoder::new(out, Compression::default()),
            inputs: 0,
            last_at: header.recorded_at_ms,
            tick_left_out: None,
            flushed_at: header.recorded_at_ms,
        };
        writer.write_line(&serde_json::to_vec(header)?)?;
        writer.flush()?;
        Ok(writer)
    }

    /// Adds an input.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, input: &Input) -> io::Result<()> {
        let at = input.at.0;
        if input.kind == InputKind::Tick && at.saturating_sub(self.last_at) < TICK_SPACING_MS {
            self.tick_left_out = Some(at);
            return Ok(());
        }
        self.write_line(&line::write(input)?)?;
        self.inputs += 1;
        self.last_at = at;
        self.tick_left_out = None;
        if at.saturating_sub(self.flushed_at) >= FLUSH_AFTER_MS {
            self.flush()?;
            self.flushed_at = at;
        }
        Ok(())
    }

    /// Pushes out what was written so far, so that it survives a kill.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        // The encoder's flush ends a deflate block on a byte border and flushes
        // what lies below; a reader gets every line up to here.
        self.out.flush()
    }

    /// How many inputs were written.
    #[must_use]
    pub fn inputs(&self) -> u64 {
        self.inputs
    }

    /// What lies below; it holds all lines up to the last flush.
    pub fn get_ref(&self) -> &W {
        self.out.get_ref()
    }

    /// Adds the end marker and closes the capture.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(at) = self.tick_left_out.take() {
            let tick = Input {
                at: evenkeel_core::facts::time::ArrivalTime(at),
                kind: InputKind::Tick,
            };
            self.write_line(&line::write(&tick)?)?;
            self.inputs += 1;
            self.last_at = at;
        }
        self.write_line(&line::write_end(self.last_at, self.inputs)?)?;
        let mut out = self.out.finish()?;
        out.flush()?;
        Ok(out)
    }

    fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        self.out.write_all(line)?;
        self.out.write_all(b"\n")
    }
}
