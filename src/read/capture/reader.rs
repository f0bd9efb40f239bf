//! Reads a capture, line by line, to its end or to where it is cut.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use evenkeel_core::facts::input::Input;
use flate2::bufread::MultiGzDecoder;
use serde_json::Value;

use super::line::{self, Parsed};
use super::{CaptureError, FORMAT, Header, LINE_BYTES_MAX, VERSION};

/// Gives the inputs of a capture in their order. After an error it gives nothing more.
#[derive(Debug)]
pub struct CaptureReader<R: Read> {
    header: Header,
    lines: BufReader<MultiGzDecoder<BufReader<R>>>,
    line: u64,
    inputs: u64,
    skipped: Skipped,
    done: bool,
}

/// What a later release wrote and this one does not know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines of an unknown kind.
    pub kinds: u64,
    /// Unknown fields of known kinds.
    pub fields: u64,
}

/// A line as it comes out of the decompressor.
enum RawLine {
    Whole(Vec<u8>),
    /// The input ended within a line or a compressed block.
    Cut,
    /// The input ended between two lines.
    Nothing,
}

// === impl CaptureReader ===

impl CaptureReader<File> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// When the file cannot be read, is no capture, or is one of a later version.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        Self::new(File::open(path)?)
    }
}

impl<R: Read> CaptureReader<R> {
    /// Reads the header from `from`.
    ///
    /// # Errors
    /// When `from` cannot be read, is no capture, or is one of a later version.
    pub fn new(from: R) -> Result<Self, CaptureError> {
        let mut lines = BufReader::new(MultiGzDecoder::new(BufReader::new(from)));
        let first = match read_line(&mut lines) {
            Ok(RawLine::Whole(first)) => first,
            Ok(RawLine::Cut | RawLine::Nothing) => return Err(no_capture("it has no first line")),
            Err(error) if is_damage(&error) => return Err(no_capture("it is not gzip")),
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            header: parse_header(&first)?,
            lines,
            line: 1,
            inputs: 0,
            skipped: Skipped::default(),
            done: false,
        })
    }

    /// Where the capture comes from.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How many inputs were read so far, those of unknown kinds included.
    #[must_use]
    pub fn inputs(&self) -> u64 {
        self.inputs
    }

    /// What was skipped so far.
    #[must_use]
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The next input; `None` after the end marker.
    fn read_input(&mut self) -> Result<Option<Input>, CaptureError> {
        loop {
            let raw = match read_line(&mut self.lines) {
                Ok(RawLine::Whole(raw)) => raw,
                Ok(RawLine::Cut | RawLine::Nothing) => {
                    return Err(CaptureError::Cut {
                        inputs: self.inputs,
                    });
                }
                Err(source) if is_damage(&source) => {
                    return Err(CaptureError::Damaged {
                        inputs: self.inputs,
                        line: self.line + 1,
                        source,
                    });
                }
                Err(error) => return Err(error.into()),
            };
            self.line += 1;
            match line::parse(&raw) {
                Ok(Parsed::Input(input, unknown_fields)) => {
                    self.inputs += 1;
                    self.skipped.fields += unknown_fields;
                    return Ok(Some(*input));
                }
                Ok(Parsed::UnknownKind) => {
                    self.inputs += 1;
                    self.skipped.kinds += 1;
                }
                Ok(Parsed::End(told)) if told == self.inputs => {
                    self.verify_checksum()?;
                    return Ok(None);
                }
                Ok(Parsed::End(told)) => {
                    return Err(CaptureError::Miscounted {
                        told,
                        inputs: self.inputs,
                    });
                }
                Err(reason) => {
                    return Err(CaptureError::Line {
                        line: self.line,
                        reason,
                    });
                }
            }
        }
    }

    /// The checksum lies behind the last line and is compared on reaching it. A file
    /// that ends before it is whole all the same: the end marker says so.
    fn verify_checksum(&mut self) -> Result<(), CaptureError> {
        match io::copy(&mut (&mut self.lines).take(LINE_BYTES_MAX), &mut io::sink()) {
            Err(source) if is_damage(&source) => Err(CaptureError::Damaged {
                inputs: self.inputs,
                line: self.line,
                source,
            }),
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error.into()),
            _ => Ok(()),
        }
    }
}

impl<R: Read> Iterator for CaptureReader<R> {
    type Item = Result<Input, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.read_input();
        self.done = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

fn read_line<R: BufRead>(from: &mut R) -> io::Result<RawLine> {
    let mut line = Vec::new();
    match from.take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(RawLine::Cut),
        Err(error) => return Err(error),
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(RawLine::Whole(line));
    }
    if u64::try_from(line.len()).unwrap_or(u64::MAX) >= LINE_BYTES_MAX {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a line is longer than {LINE_BYTES_MAX} bytes"),
        ));
    }
    Ok(if line.is_empty() {
        RawLine::Nothing
    } else {
        RawLine::Cut
    })
}

/// Whether the decompressor, not the file system, complains.
fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
    )
}

fn parse_header(line: &[u8]) -> Result<Header, CaptureError> {
    let value: Value =
        serde_json::from_slice(line).map_err(|_| no_capture("its first line is not JSON"))?;
    if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(no_capture("its first line does not say so"));
    }
    let Some(version) = value.get("version").and_then(Value::as_u64) else {
        return Err(no_capture("its first line states no version"));
    };
    if version == 0 || version > u64::from(VERSION) {
        return Err(CaptureError::UnsupportedVersion { found: version });
    }
    serde_json::from_value(value).map_err(|error| CaptureError::Line {
        line: 1,
        reason: error.to_string(),
    })
}

fn no_capture(reason: &str) -> CaptureError {
    CaptureError::NotACapture {
        reason: reason.to_owned(),
    }
}
