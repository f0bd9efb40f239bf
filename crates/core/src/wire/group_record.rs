//! The GroupMetadata value: one completed round of a classic group.
//!
//! Layout: Kafka's `GroupMetadataValue.json`, versions 0 to 4. Version 1 added
//! rebalanceTimeout, 2 currentStateTimestamp, 3 groupInstanceId (KIP-345), 4 is
//! version 3 in the flexible encoding (KIP-915, written by no release so far,
//! read by all since 3.5). Everything borrows from the record: the only
//! allocation is the vector of members.

use super::cursor::Cursor;
use super::{DecodeError, Decoded, Unknown, UnknownInput};

/// The newest version this build reads.
pub const VERSION_MAX: i16 = 4;

/// Five one-byte lengths, two int32, two one-byte lengths and no tagged fields:
/// the least a member takes in any version.
const MEMBER_BYTES_MIN: usize = 15;

/// What a GroupMetadata value says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMetadata<'a> {
    /// The value's version, 0 to 4.
    pub version: i16,
    /// `connect`, `consumer`, or empty for a group nobody joined yet.
    pub protocol_type: &'a str,
    /// The generation whose round this record ends.
    pub generation: i32,
    /// The protocol all members share; null while the group is empty.
    pub protocol: Option<&'a str>,
    /// The leader's member id; null while the group is empty.
    pub leader: Option<&'a str>,
    /// When the state was entered, on the coordinator's clock. `None` before
    /// version 2 and where the coordinator did not know (-1).
    pub current_state_timestamp_ms: Option<i64>,
    /// The members, in the record's order.
    pub members: Vec<Member<'a>>,
}

/// One member of the group.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Member<'a> {
    /// The coordinator's name for it.
    pub member_id: &'a str,
    /// Static membership (version 3); always null for Connect.
    pub group_instance_id: Option<&'a str>,
    /// The client id the member chose.
    pub client_id: &'a str,
    /// The address it came from, as Java prints one: `/10.1.2.3`.
    pub client_host: &'a str,
    /// As stated by the member. `None` before version 1 and for -1: Kafka then
    /// takes the session timeout, see [`Member::effective_rebalance_timeout_ms`].
    pub rebalance_timeout_ms: Option<i32>,
    /// The session timeout.
    pub session_timeout_ms: i32,
    /// The member's metadata for the selected protocol; for a Connect group
    /// what [`Subscription`](super::connect_protocol::Subscription) reads.
    pub subscription: &'a [u8],
    /// What the leader sent it; zero bytes if the leader did not mention it.
    pub assignment: &'a [u8],
}

impl Member<'_> {
    /// How long the coordinator waits for this member to rejoin.
    pub fn effective_rebalance_timeout_ms(&self) -> i32 {
        self.rebalance_timeout_ms.unwrap_or(self.session_timeout_ms)
    }
}

impl std::fmt::Debug for Member<'_> {
    /// Byte fields are shown as lengths: a thousand tasks are no help in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member")
            .field("member_id", &self.member_id)
            .field("group_instance_id", &self.group_instance_id)
            .field("client_id", &self.client_id)
            .field("client_host", &self.client_host)
            .field("rebalance_timeout_ms", &self.rebalance_timeout_ms)
            .field("session_timeout_ms", &self.session_timeout_ms)
            .field("subscription_bytes", &self.subscription.len())
            .field("assignment_bytes", &self.assignment.len())
            .finish()
    }
}

impl<'a> GroupMetadata<'a> {
    /// Reads a value that is no tombstone. Bytes after the last field are not
    /// looked at, as in Kafka's own reader.
    ///
    /// # Errors
    /// A value that ends early or has a length its type does not allow.
    pub fn decode(value: &'a [u8]) -> Result<Decoded<Self>, DecodeError> {
        Self::read(value, &mut |_| ())
    }

    /// The same, and tells in order where each part lies whose content another layout
    /// describes, or none.
    pub(super) fn read(
        value: &'a [u8],
        places: &mut impl FnMut(Place),
    ) -> Result<Decoded<Self>, DecodeError> {
        let mut cursor = Cursor::new(value);
        let version = cursor.i16("version")?;
        if !(0..=VERSION_MAX).contains(&version) {
            let input = UnknownInput::GroupMetadata;
            return Ok(Decoded::Unknown(Unknown { input, version }));
        }
        if version >= 4 {
            cursor.set_flexible();
        }
        let protocol_type = cursor.string("protocolType")?;
        let generation = cursor.i32("generation")?;
        let protocol = cursor.nullable_string("protocol")?;
        let leader = cursor.nullable_string("leader")?;
        let current_state_timestamp_ms = match version {
            0 | 1 => None,
            _ => Some(cursor.i64("currentStateTimestamp")?).filter(|&ms| ms >= 0),
        };
        let count = cursor.array_len("members", MEMBER_BYTES_MIN)?;
        let mut members = Vec::with_capacity(count);
        for _ in 0..count {
            members.push(member(&mut cursor, version, places)?);
        }
        tagged_fields(&mut cursor, "tagged fields", places)?;
        places(Place::unread(&cursor));
        Ok(Decoded::Known(Self {
            version,
            protocol_type,
            generation,
            protocol,
            leader,
            current_state_timestamp_ms,
            members,
        }))
    }
}

fn member<'a>(
    cursor: &mut Cursor<'a>,
    version: i16,
    places: &mut impl FnMut(Place),
) -> Result<Member<'a>, DecodeError> {
    let member_id = cursor.string("memberId")?;
    let group_instance_id = match version {
        0..=2 => None,
        _ => cursor.nullable_string("groupInstanceId")?,
    };
    let client_id = cursor.string("clientId")?;
    let client_host = cursor.string("clientHost")?;
    let rebalance_timeout_ms = match version {
        0 => None,
        _ => Some(cursor.i32("rebalanceTimeout")?).filter(|&ms| ms >= 0),
    };
    let session_timeout_ms = cursor.i32("sessionTimeout")?;
    let mut bytes = |part, field| {
        let from = cursor.at();
        let bytes = cursor.bytes(field)?;
        let to = cursor.at();
        places(Place { part, from, to });
        Ok(bytes)
    };
    let member = Member {
        member_id,
        group_instance_id,
        client_id,
        client_host,
        rebalance_timeout_ms,
        session_timeout_ms,
        subscription: bytes(Part::Subscription, "subscription")?,
        assignment: bytes(Part::Assignment, "assignment")?,
    };
    tagged_fields(cursor, "member's tagged fields", places)?;
    Ok(member)
}

/// No version read here knows a tagged field.
fn tagged_fields(
    cursor: &mut Cursor<'_>,
    field: &'static str,
    places: &mut impl FnMut(Place),
) -> Result<(), DecodeError> {
    cursor.tagged_fields(field, |_, payload| {
        places(Place::unread(&payload));
        Ok(())
    })
}

/// Where in a value one of its parts lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) part: Part,
    /// The first byte, that of the length prefix where there is one.
    pub(super) from: usize,
    /// The byte after the last.
    pub(super) to: usize,
}

/// A part of a value whose content this file does not describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A member's subscription, with its length.
    Subscription,
    /// A member's assignment, with its length.
    Assignment,
    /// Bytes that nobody reads: a tagged field's payload, or what follows the last field.
    Unread,
}

impl Place {
    /// All that is left.
    fn unread(rest: &Cursor<'_>) -> Self {
        let from = rest.at();
        Self {
            part: Part::Unread,
            from,
            to: from.saturating_add(rest.rest().len()),
        }
    }
}

#[cfg(test)]
mod tests;
