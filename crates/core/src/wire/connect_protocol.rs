//! Connect's embedded protocol: what a worker says when it joins, and what the
//! leader answers.
//!
//! Layouts: `ConnectProtocol.java` (version 0, `default`, eager),
//! `IncrementalCooperativeConnectProtocol.java` (1 `compatible` and 2
//! `sessioned`, one layout, KIP-415 and KIP-507). As Kafka's own parser does,
//! higher versions are read with the layout of version 1, trailing fields of
//! version 1 and up may be missing, and bytes after the last field are ignored.

use super::DecodeError;
use super::cursor::Cursor;

/// The task id that stands for the connector itself (`ConnectProtocol.CONNECTOR_TASK`).
pub const CONNECTOR_TASK: i32 = -1;

/// Assignment error: the leader's config view is behind the highest config
/// offset in the group, so nobody is told anything (`Assignment.CONFIG_MISMATCH`).
pub const CONFIG_MISMATCH: i16 = 1;

/// An int16 length and an int32 count: the least a connector takes in a list.
pub(super) const CONNECTOR_BYTES_MIN: usize = 6;

/// What a worker declares when it joins ("worker metadata").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription<'a> {
    /// The protocol version: 0 eager, 1 compatible, 2 sessioned.
    pub version: i16,
    /// The worker's advertised REST URL.
    pub url: &'a str,
    /// The config topic offset it would read next; -1 before it read anything.
    pub config_offset: i64,
    /// What it believes it owns.
    pub claim: Claim<'a>,
}

/// The allocation inside a subscription: everything the worker believes it owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim<'a> {
    /// Not on the wire: version 0 has none. In version 1 and up a missing
    /// trailing field, which means the same as null.
    Absent,
    /// Null: the process remembers no assignment. It is fresh, or it dropped
    /// its work after losing the coordinator.
    Null,
    /// Zero bytes, which no Kafka release writes: owns nothing.
    ZeroLength,
    /// What it holds; the lists may be empty, which is not the same as null.
    Held(Assignment<'a>),
    /// Bytes that are no assignment; the rest of the subscription stands.
    Broken(DecodeError),
}

impl<'a> Claim<'a> {
    /// Whether the worker says that it remembers no assignment.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Absent | Self::Null)
    }

    /// The claimed connectors and tasks; `None` unless there is a readable claim.
    pub fn owned(&self) -> Option<&ItemList<'a>> {
        match self {
            Self::Held(assignment) => Some(&assignment.assigned),
            _ => None,
        }
    }
}

/// What the leader sends to one worker, or what a worker claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment<'a> {
    /// The protocol version: 0 eager, 1 compatible, 2 sessioned.
    pub version: i16,
    /// 0, or [`CONFIG_MISMATCH`].
    pub error: i16,
    /// The leader's member id.
    pub leader: &'a str,
    /// The leader's REST URL.
    pub leader_url: &'a str,
    /// The config offset that a worker must have reached to start its work.
    pub config_offset: i64,
    /// Version 0: all the worker's work. Version 1 and up: what to start in
    /// addition; in a claim everything owned. Null and missing mean none.
    pub assigned: ItemList<'a>,
    /// What to stop. Null and missing mean none; version 0 has no such field.
    pub revoked: ItemList<'a>,
    /// Rejoin after this long; 0 also where it is missing.
    pub delay_ms: i32,
}

/// A list of connectors and tasks, grouped by connector as on the wire. It may
/// name a piece of work twice (`ExtendedAssignment` is built from lists): a set.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ItemList<'a> {
    connectors: Vec<ConnectorItems<'a>>,
}

/// The entries of one connector in an [`ItemList`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ConnectorItems<'a> {
    /// The connector's name.
    pub connector: &'a str,
    /// Big-endian int32 each, checked to be whole when the list was read.
    tasks: &'a [u8],
}

impl<'a> ConnectorItems<'a> {
    /// Task ids in the order of the record; [`CONNECTOR_TASK`] is the connector.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = i32> + Clone + use<'a> {
        let (tasks, _) = self.tasks.as_chunks::<4>();
        tasks.iter().map(|bytes| i32::from_be_bytes(*bytes))
    }
}

impl<'a> ItemList<'a> {
    /// The connectors in the order of the record.
    pub fn connectors(&self) -> &[ConnectorItems<'a>] {
        &self.connectors
    }

    /// All entries as (connector, task), [`CONNECTOR_TASK`] for the connector.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, i32)> + Clone + '_ {
        self.connectors
            .iter()
            .flat_map(|items| items.tasks().map(|task| (items.connector, task)))
    }

    /// Entries, connectors and tasks together, duplicates counted.
    pub fn len(&self) -> usize {
        self.connectors
            .iter()
            .map(|items| items.tasks().len())
            .sum()
    }

    /// Whether the list names no work.
    pub fn is_empty(&self) -> bool {
        self.connectors.iter().all(|items| items.tasks.is_empty())
    }
}

impl std::fmt::Debug for ItemList<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl std::fmt::Debug for ConnectorItems<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: ", self.connector)?;
        f.debug_list().entries(self.tasks()).finish()
    }
}

impl<'a> Subscription<'a> {
    /// Reads a member's subscription in a group of type `connect`. A claim that
    /// does not decode is [`Claim::Broken`]: URL and config offset still count.
    ///
    /// # Errors
    /// Version, URL or config offset do not decode.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(bytes);
        let version = version(&mut cursor, "subscription version")?;
        let url = cursor.string("url")?;
        let config_offset = cursor.i64("config offset")?;
        let claim = if version == 0 || cursor.is_empty() {
            Claim::Absent
        } else {
            claim(&mut cursor)
        };
        Ok(Self {
            version,
            url,
            config_offset,
            claim,
        })
    }
}

fn claim<'a>(cursor: &mut Cursor<'a>) -> Claim<'a> {
    match cursor.nullable_bytes("allocation") {
        Ok(None) => Claim::Null,
        Ok(Some([])) => Claim::ZeroLength,
        Ok(Some(bytes)) => {
            let base = cursor.at().saturating_sub(bytes.len());
            match assignment(Cursor::nested(bytes, base)) {
                Ok(held) => Claim::Held(held),
                Err(error) => Claim::Broken(error),
            }
        }
        Err(error) => Claim::Broken(error),
    }
}

impl<'a> Assignment<'a> {
    /// Reads a member's assignment in a group of type `connect`. Zero bytes are
    /// `None`: the leader did not mention the member, it is told nothing.
    ///
    /// # Errors
    /// Bytes that are no assignment.
    pub fn decode(bytes: &'a [u8]) -> Result<Option<Self>, DecodeError> {
        match bytes {
            [] => Ok(None),
            _ => assignment(Cursor::new(bytes)).map(Some),
        }
    }
}

fn assignment(mut cursor: Cursor<'_>) -> Result<Assignment<'_>, DecodeError> {
    let version = version(&mut cursor, "assignment version")?;
    let error = cursor.i16("error")?;
    let leader = cursor.string("leader")?;
    let leader_url = cursor.string("leader url")?;
    let config_offset = cursor.i64("config offset")?;
    let (assigned, revoked, delay_ms) = if version == 0 {
        // Version 0 may neither lack the list nor send null.
        let count = cursor.array_len("assigned", CONNECTOR_BYTES_MIN)?;
        (items(&mut cursor, count)?, ItemList::default(), 0)
    } else {
        let assigned = trailing_items(&mut cursor, "assigned")?;
        let revoked = trailing_items(&mut cursor, "revoked")?;
        let delay_ms = if cursor.is_empty() {
            0
        } else {
            cursor.i32("delay")?
        };
        (assigned, revoked, delay_ms)
    };
    Ok(Assignment {
        version,
        error,
        leader,
        leader_url,
        config_offset,
        assigned,
        revoked,
        delay_ms,
    })
}

fn trailing_items<'a>(
    cursor: &mut Cursor<'a>,
    field: &'static str,
) -> Result<ItemList<'a>, DecodeError> {
    if cursor.is_empty() {
        return Ok(ItemList::default());
    }
    match cursor.nullable_array_len(field, CONNECTOR_BYTES_MIN)? {
        Some(count) => items(cursor, count),
        None => Ok(ItemList::default()),
    }
}

const TASK_BYTES: usize = 4;

fn items<'a>(cursor: &mut Cursor<'a>, count: usize) -> Result<ItemList<'a>, DecodeError> {
    let mut connectors = Vec::with_capacity(count);
    for _ in 0..count {
        connectors.push(next_items(cursor)?);
    }
    Ok(ItemList { connectors })
}

/// The next connector of a list. Nearly all of a group record's bytes pass here, so the
/// well-formed case carries no position; the careful reader then says what was wrong.
#[inline]
pub(super) fn next_items<'a>(cursor: &mut Cursor<'a>) -> Result<ConnectorItems<'a>, DecodeError> {
    match well_formed_items(cursor.rest()) {
        Some((items, rest)) => {
            cursor.continue_at(rest);
            Ok(items)
        }
        None => connector_items(cursor),
    }
}

fn connector_items<'a>(cursor: &mut Cursor<'a>) -> Result<ConnectorItems<'a>, DecodeError> {
    let connector = cursor.string("connector")?;
    let tasks = cursor.array_len("tasks", TASK_BYTES)?;
    let tasks = cursor.take(tasks.saturating_mul(TASK_BYTES), "tasks")?;
    Ok(ConnectorItems { connector, tasks })
}

/// The same without errors. `None` leaves the verdict to [`connector_items`].
fn well_formed_items(bytes: &[u8]) -> Option<(ConnectorItems<'_>, &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<2>()?;
    let len = usize::from(u16::try_from(i16::from_be_bytes(*len)).ok()?);
    let (connector, rest) = rest.split_at_checked(len)?;
    let (count, rest) = rest.split_first_chunk::<4>()?;
    let count = usize::try_from(i32::from_be_bytes(*count)).ok()?;
    let (tasks, rest) = rest.split_at_checked(count.saturating_mul(TASK_BYTES))?;
    let connector = std::str::from_utf8(connector).ok()?;
    Some((ConnectorItems { connector, tasks }, rest))
}

pub(super) fn version(cursor: &mut Cursor<'_>, field: &'static str) -> Result<i16, DecodeError> {
    match cursor.i16(field)? {
        version if version < 0 => Err(DecodeError::BadVersion { field, version }),
        version => Ok(version),
    }
}

#[cfg(test)]
mod tests;
