//! The form of a state on disk: what stands before it, how it is checked, and why it is
//! refused. A state that is not whole, not of this group or not of this time is worse than
//! none, so whatever is not proven to be right is refused with its reason.
//!
//! A first line names the format and its version; 8 bytes (little endian) say how long the
//! body is, 16 hold its SipHash-2-4-128; the body is gzip over two lines of JSON, the header
//! and the state.

use std::collections::BTreeMap;
use std::hash::Hasher as _;
use std::io::{self, BufRead, BufReader, Read, Write};

use evenkeel_core::engine::{STATE_VERSION, State};
use evenkeel_core::facts::input::Topic;
use evenkeel_core::facts::time::ArrivalTime;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128 as _, SipHasher24};
use thiserror::Error;

use crate::read::kafka::{Identity, ReadSettings, ReadTo, TopicReadTo};

/// The first line, the version in it.
const NAME: &[u8] = b"evenkeel-state ";
const VERSION: &[u8] = b"1\n";

/// The first line, the length of the body, its checksum.
const PREFIX: usize = NAME.len() + VERSION.len() + 8 + 16;

/// A header holds an epoch of each partition of the status topic.
const HEADER_BYTES_MAX: u64 = 1 << 20;

/// A body as it is on disk. The state of 50 workers with 10,000 tasks has half a MiB at rest,
/// and 4.5 MiB (52 before it is compressed) when the last 80 rounds each moved something.
pub(super) const BODY_BYTES_MAX: usize = 64 << 20;

/// The same before it was compressed: what a broken file may make this process read.
const STATE_BYTES_MAX: u64 = 512 << 20;

/// How old a state may be. Kafka keeps a tombstone for `delete.retention.ms`, a day by
/// default: what was deleted longer ago may have left no trace that could be read.
const AGE_MS_MAX: i64 = 12 * 60 * 60 * 1_000;

/// How far in the future it may seem to be written: clocks of two processes differ, since
/// each goes by the wall clock at its start.
const AHEAD_MS_MAX: i64 = 60_000;

/// Whose state it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    pub(super) group: String,
    pub(super) offsets_topic: String,
    pub(super) config_topic: String,
    pub(super) status_topic: String,
    /// It decides how the config topic is read.
    pub(super) worker_release: Option<String>,
    /// The code that a fixed text has under the key that names are masked with.
    pub(super) mask: Option<String>,
}

/// What stands before a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The release that wrote it.
    pub(super) evenkeel: String,
    /// `STATE_VERSION` of that release.
    pub(super) layout: u32,
    /// When, on the agent's clock.
    pub(super) written_ms: i64,
    pub(super) owner: Owner,
    pub(super) cluster_id: Option<String>,
    /// The number that the next new content of a configuration would have got.
    pub(super) contents: u32,
    /// Each topic that was read.
    pub(super) topics: Vec<(Topic, Origin)>,
}

/// What inputs of a topic came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    pub(super) identity: Identity,
    /// Leader epoch of the last record of each partition.
    pub(super) epochs: BTreeMap<i32, i32>,
}

/// A state that holds.
#[derive(Debug)]
pub(super) struct Restored {
    pub(super) header: Header,
    pub(super) state: State,
}

/// Why a state is not taken up.
#[derive(Debug, Error)]
pub(super) enum Refused {
    /// It cannot be read.
    #[error("it cannot be read")]
    Unread(#[source] io::Error),
    /// Another file.
    #[error("it is no state of evenkeel")]
    Stranger,
    /// A format of another release.
    #[error("its format has another version")]
    Version,
    /// Less, or more, than was written.
    #[error("it is torn: {found} bytes of {expected}")]
    Torn {
        /// Bytes there are.
        found: usize,
        /// Bytes there should be.
        expected: u64,
    },
    /// Other bytes than were written.
    #[error("it is corrupt: the checksum differs")]
    Corrupt,
    /// What was written is not what this release writes.
    #[error("evenkeel {release} wrote it with layout {found}, this one reads {STATE_VERSION}")]
    Layout {
        /// The release that wrote it.
        release: String,
        /// Its layout.
        found: u32,
    },
    /// Checked, and not understood all the same.
    #[error("it does not decode")]
    Undecodable,
    /// Of another group, or read in another way.
    #[error("it is foreign: {what} {found}, now {expected}")]
    Foreign {
        /// Which setting.
        what: &'static str,
        /// What the state was written with.
        found: String,
        /// What is set now.
        expected: String,
    },
    /// Deletions since may have left no trace.
    #[error("it is old: written {hours} h ago, and what was deleted since may have left no trace")]
    Old {
        /// Whole hours since then.
        hours: i64,
    },
    /// The clock was set back.
    #[error("it was written {seconds} s in the future: the clock of this machine was set back")]
    Future {
        /// Whole seconds until then.
        seconds: i64,
    },
}

/// The bytes of a file. Counted before anything is held by it.
///
/// # Errors
/// A state too large to be read back.
pub(super) fn encode(header: &Header, state: &State) -> io::Result<Vec<u8>> {
    let mut body = GzEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut body, header)?;
    body.write_all(b"\n")?;
    let mut body = Counted {
        out: body,
        left: STATE_BYTES_MAX,
    };
    serde_json::to_writer(io::BufWriter::with_capacity(64 << 10, &mut body), state)?;
    let body = body.out.finish()?;
    if body.len() > BODY_BYTES_MAX {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(PREFIX + body.len());
    bytes.extend_from_slice(NAME);
    bytes.extend_from_slice(VERSION);
    bytes.extend_from_slice(&length(&body).to_le_bytes());
    bytes.extend_from_slice(&checksum(&body));
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

/// Takes the bytes of a file apart, or says why not.
///
/// # Errors
/// Everything that keeps the state from being taken up.
pub(super) fn decode(bytes: &[u8], owner: &Owner, now: ArrivalTime) -> Result<Restored, Refused> {
    let body = checked(bytes)?;
    let mut body = BufReader::new(GzDecoder::new(body).take(STATE_BYTES_MAX));
    let mut line = Vec::new();
    let head = body
        .by_ref()
        .take(HEADER_BYTES_MAX)
        .read_until(b'\n', &mut line);
    head.map_err(|_| Refused::Undecodable)?;
    let header: Header = read_header(&line)?;
    header.holds(owner, now)?;
    let mut state = serde_json::Deserializer::from_reader(body);
    let read = State::deserialize(&mut state).map_err(|_| Refused::Undecodable)?;
    state.end().map_err(|_| Refused::Undecodable)?;
    Ok(Restored {
        header,
        state: read,
    })
}

/// The layout is looked at alone first: another one may have other fields in its header.
fn read_header(line: &[u8]) -> Result<Header, Refused> {
    #[derive(Deserialize)]
    struct Layout {
        evenkeel: String,
        layout: u32,
    }
    let Layout { evenkeel, layout } =
        serde_json::from_slice(line).map_err(|_| Refused::Undecodable)?;
    if layout != STATE_VERSION {
        let release = evenkeel.chars().take(40).collect();
        return Err(Refused::Layout {
            release,
            found: layout,
        });
    }
    serde_json::from_slice(line).map_err(|_| Refused::Undecodable)
}

fn checked(bytes: &[u8]) -> Result<&[u8], Refused> {
    let torn = |expected| Refused::Torn {
        found: bytes.len(),
        expected,
    };
    let prefix = length(&[0; PREFIX]);
    let Some(rest) = bytes.strip_prefix(NAME) else {
        return Err(match NAME.starts_with(bytes) {
            true => torn(prefix),
            false => Refused::Stranger,
        });
    };
    let Some(rest) = rest.strip_prefix(VERSION) else {
        return Err(match VERSION.starts_with(rest) {
            true => torn(prefix),
            false => Refused::Version,
        });
    };
    let Some((expected, rest)) = rest.split_first_chunk::<8>() else {
        return Err(torn(prefix));
    };
    let Some((sum, body)) = rest.split_first_chunk::<16>() else {
        return Err(torn(prefix));
    };
    let expected = u64::from_le_bytes(*expected);
    if expected != length(body) {
        return Err(torn(expected.saturating_add(prefix)));
    }
    if *sum != checksum(body) {
        return Err(Refused::Corrupt);
    }
    Ok(body)
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Against accidents, not against those who write to the folder: the key is no secret.
fn checksum(body: &[u8]) -> [u8; 16] {
    let mut hasher = SipHasher24::new();
    hasher.write(body);
    hasher.finish128().as_bytes()
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "the state is too large")
}

// === impl Owner ===

impl Owner {
    pub(super) fn of(settings: &ReadSettings) -> Self {
        let mask = settings.mask.as_ref();
        Self {
            group: settings.group.clone(),
            offsets_topic: settings.offsets_topic.clone(),
            config_topic: settings.config_topic.clone(),
            status_topic: settings.status_topic.clone(),
            worker_release: settings.worker_release.clone(),
            mask: mask.map(|mask| mask.name("the state of evenkeel")),
        }
    }
}

// === impl Header ===

impl Header {
    fn holds(&self, owner: &Owner, now: ArrivalTime) -> Result<(), Refused> {
        let Owner {
            group,
            offsets_topic,
            config_topic,
            status_topic,
            worker_release,
            mask,
        } = &self.owner;
        let release = |release: &Option<String>| release.as_deref().unwrap_or("not set").to_owned();
        let masked = |mask: &Option<String>| match mask {
            Some(code) => format!("masked by the key of {code}"),
            None => "not masked".to_owned(),
        };
        let settings = [
            ("group", group.clone(), owner.group.clone()),
            (
                "offsets_topic",
                offsets_topic.clone(),
                owner.offsets_topic.clone(),
            ),
            (
                "config_topic",
                config_topic.clone(),
                owner.config_topic.clone(),
            ),
            (
                "status_topic",
                status_topic.clone(),
                owner.status_topic.clone(),
            ),
            (
                "worker_release",
                release(worker_release),
                release(&owner.worker_release),
            ),
            ("names", masked(mask), masked(&owner.mask)),
        ];
        for (what, found, expected) in settings {
            if found != expected {
                return Err(Refused::Foreign {
                    what,
                    found,
                    expected,
                });
            }
        }
        let age_ms = now.since_ms(ArrivalTime(self.written_ms));
        if age_ms > AGE_MS_MAX {
            let hours = age_ms / 3_600_000;
            return Err(Refused::Old { hours });
        }
        if age_ms < -AHEAD_MS_MAX {
            let seconds = age_ms.saturating_neg() / 1_000;
            return Err(Refused::Future { seconds });
        }
        Ok(())
    }
}

// === impl Restored ===

impl Restored {
    /// Where the readers go on.
    pub(super) fn read_to(&self) -> ReadTo {
        let topics = self.header.topics.iter();
        let topics = topics.map(|(topic, origin)| {
            let epochs = origin.epochs.iter();
            let read_to = TopicReadTo {
                positions: self.state.read_to(*topic),
                epochs: epochs
                    .map(|(partition, epoch)| (*partition, *epoch))
                    .collect(),
                identity: origin.identity.clone(),
            };
            (*topic, read_to)
        });
        ReadTo {
            topics: topics.collect(),
            contents: self.header.contents,
        }
    }
}

/// Fails once more is written than could be read back.
struct Counted<W> {
    out: W,
    left: u64,
}

// === impl Counted ===

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(length(bytes)).ok_or_else(too_large)?;
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests;
