//! Reads answers: bytes from outside, so a length is compared with what is there before
//! anything is made of it, and what is not wanted is skipped without being kept.
//!
//! Layouts: the response schemas in Kafka's
//! `clients/src/main/resources/common/message/`. Requests are made with `kafka-protocol`;
//! it is not used here, since it allocates an array by the length it is told.

pub(super) mod cluster;

use evenkeel_core::facts::poll::{Description, PolledMember, PolledState};

use super::error::{AskError, code};
use super::reach::Address;

/// Members of one group that are read; `group.max.size` has no limit by default, but a
/// worker is a process of its own.
const MEMBERS_MAX: usize = 10_000;

/// Brokers of a cluster that are remembered.
const BROKERS_MAX: usize = 100;

/// APIs that a broker serves. Kafka knows about ninety.
const APIS_MAX: usize = 1_000;

/// The least and the highest version of an API, by its number.
pub(super) type ApiVersions = Vec<(i16, i16, i16)>;

/// A broker, as another one names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) id: i32,
    pub(super) address: Address,
}

/// What `SaslAuthenticate` answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) bytes: Vec<u8>,
    /// KIP-368: the broker closes the connection after this long; 0 is never.
    pub(super) lifetime_ms: i64,
}

/// A position in untrusted bytes.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    /// Whether lengths are compact and structs end in tagged fields (KIP-482).
    flexible: bool,
}

/// `ApiVersions`; `None` where the broker does not know the request's version, which it
/// says in the layout of version 0 (KIP-511).
pub(super) fn api_versions(body: &[u8], version: i16) -> Result<Option<ApiVersions>, AskError> {
    let mut reader = Reader::new(body, false);
    let error = reader.i16("error")?;
    if error == code::UNSUPPORTED_VERSION && version > 0 {
        return Ok(None);
    }
    failed("ApiVersions", error)?;
    reader.flexible = version >= 3;
    let count = reader.count("apis")?;
    if count > APIS_MAX {
        return Err(AskError::Nonsense("apis"));
    }
    let mut versions = Vec::with_capacity(count);
    for _ in 0..count {
        let api = reader.i16("api key")?;
        versions.push((api, reader.i16("least")?, reader.i16("highest")?));
        reader.end_struct()?;
    }
    Ok(Some(versions))
}

/// `SaslHandshake`, version 1.
pub(super) fn sasl_handshake(body: &[u8]) -> Result<(), AskError> {
    match Reader::new(body, false).i16("error")? {
        code::UNSUPPORTED_SASL_MECHANISM => Err(AskError::Mechanism),
        error => failed("SaslHandshake", error),
    }
}

/// `SaslAuthenticate`, versions 0 to 2.
pub(super) fn sasl_authenticate(body: &[u8], version: i16) -> Result<Challenge, AskError> {
    let mut reader = Reader::new(body, version >= 2);
    match reader.i16("error")? {
        code::SASL_AUTHENTICATION_FAILED => return Err(AskError::Credentials),
        error => failed("SaslAuthenticate", error)?,
    }
    // The broker's words may repeat what it was sent.
    reader.nullable_text("message")?;
    let bytes = reader.bytes("auth bytes")?.to_vec();
    let lifetime_ms = if version >= 1 {
        reader.i64("session lifetime")?
    } else {
        0
    };
    Ok(Challenge { bytes, lifetime_ms })
}

/// `Metadata`, versions 1 to 12: the brokers, which come first.
pub(super) fn brokers(body: &[u8], version: i16) -> Result<Vec<Node>, AskError> {
    let mut reader = Reader::new(body, version >= 9);
    if version >= 3 {
        reader.i32("throttle time")?;
    }
    let count = reader.count("brokers")?;
    let mut nodes = Vec::new();
    for _ in 0..count {
        let id = reader.i32("node id")?;
        let host = reader.text("host")?;
        let port = reader.i32("port")?;
        reader.nullable_text("rack")?;
        reader.end_struct()?;
        if let Some(address) = Address::told(host, port)
            && nodes.len() < BROKERS_MAX
        {
            nodes.push(Node { id, address });
        }
    }
    Ok(nodes)
}

/// `FindCoordinator` for one group, versions 0 to 4.
pub(super) fn coordinator(body: &[u8], version: i16) -> Result<Node, AskError> {
    let mut reader = Reader::new(body, version >= 3);
    if version >= 1 {
        reader.i32("throttle time")?;
    }
    if version < 4 {
        failed("FindCoordinator", reader.i16("error")?)?;
        if version >= 1 {
            reader.nullable_text("message")?;
        }
        return node(&mut reader)?.ok_or(AskError::Nonsense("coordinator"));
    }
    if reader.count("coordinators")? != 1 {
        return Err(AskError::Nonsense("coordinators"));
    }
    reader.text("key")?;
    let node = node(&mut reader)?;
    failed("FindCoordinator", reader.i16("error")?)?;
    node.ok_or(AskError::Nonsense("coordinator"))
}

/// `ListGroups`, versions 4 and 5: the state in which the group is listed, if it is.
pub(super) fn listed(
    body: &[u8],
    version: i16,
    group: &str,
) -> Result<Option<PolledState>, AskError> {
    let mut reader = Reader::new(body, true);
    reader.i32("throttle time")?;
    failed("ListGroups", reader.i16("error")?)?;
    let mut found = None;
    for _ in 0..reader.count("groups")? {
        let name = reader.text("group")?;
        reader.text("protocol type")?;
        let state = reader.text("state")?;
        if version >= 5 {
            reader.text("group type")?;
        }
        reader.end_struct()?;
        if name == group {
            found = Some(PolledState::of(state));
        }
    }
    Ok(found)
}

/// `DescribeGroups` of one group, versions 0 to 6.
pub(super) fn described(body: &[u8], version: i16, group: &str) -> Result<Description, AskError> {
    let mut reader = Reader::new(body, version >= 5);
    if version >= 1 {
        reader.i32("throttle time")?;
    }
    if reader.count("groups")? != 1 {
        return Err(AskError::Nonsense("groups"));
    }
    let error = reader.i16("error")?;
    if version >= 6 {
        reader.nullable_text("message")?;
    }
    if reader.text("group")? != group {
        return Err(AskError::Nonsense("group"));
    }
    let state = reader.text("state")?;
    if error == code::GROUP_ID_NOT_FOUND {
        return Ok(Description {
            state: PolledState::Dead,
            protocol_type: String::new(),
            protocol: String::new(),
            members: Vec::new(),
        });
    }
    failed("DescribeGroups", error)?;
    let mut description = Description {
        state: PolledState::of(state),
        protocol_type: reader.text("protocol type")?.to_owned(),
        protocol: reader.text("protocol")?.to_owned(),
        members: Vec::new(),
    };
    let count = reader.count("members")?;
    if count > MEMBERS_MAX {
        return Err(AskError::Nonsense("members"));
    }
    for _ in 0..count {
        description.members.push(member(&mut reader, version)?);
    }
    Ok(description)
}

fn member(reader: &mut Reader<'_>, version: i16) -> Result<PolledMember, AskError> {
    let member_id = reader.text("member id")?.to_owned();
    let instance_id = if version >= 4 {
        reader.nullable_text("instance id")?.map(str::to_owned)
    } else {
        None
    };
    let member = PolledMember {
        member_id,
        instance_id,
        client_id: reader.text("client id")?.to_owned(),
        client_host: reader.text("client host")?.to_owned(),
        metadata: reader.bytes("metadata")?.to_vec(),
        assignment: reader.bytes("assignment")?.to_vec(),
    };
    reader.end_struct()?;
    Ok(member)
}

fn node(reader: &mut Reader<'_>) -> Result<Option<Node>, AskError> {
    let id = reader.i32("node id")?;
    let host = reader.text("host")?;
    let port = reader.i32("port")?;
    Ok(Address::told(host, port).map(|address| Node { id, address }))
}

fn failed(api: &'static str, error: i16) -> Result<(), AskError> {
    match error {
        code::NONE => Ok(()),
        code => Err(AskError::Code { api, code }),
    }
}

// === impl Reader ===

impl<'a> Reader<'a> {
    pub(super) fn new(rest: &'a [u8], flexible: bool) -> Self {
        Self { rest, flexible }
    }

    /// What is left behind a response header that begins with the correlation id.
    pub(super) fn header(mut self, correlation_id: i32) -> Result<&'a [u8], AskError> {
        if self.i32("correlation id")? != correlation_id {
            return Err(AskError::Nonsense("correlation id"));
        }
        self.end_struct()?;
        Ok(self.rest)
    }

    fn take(&mut self, len: usize, field: &'static str) -> Result<&'a [u8], AskError> {
        let taken = self.rest.split_at_checked(len);
        let (taken, rest) = taken.ok_or(AskError::Nonsense(field))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], AskError> {
        let (taken, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(AskError::Nonsense(field))?;
        self.rest = rest;
        Ok(*taken)
    }

    fn i16(&mut self, field: &'static str) -> Result<i16, AskError> {
        self.array(field).map(i16::from_be_bytes)
    }

    fn i32(&mut self, field: &'static str) -> Result<i32, AskError> {
        self.array(field).map(i32::from_be_bytes)
    }

    fn i64(&mut self, field: &'static str) -> Result<i64, AskError> {
        self.array(field).map(i64::from_be_bytes)
    }

    /// An unsigned varint of at most five bytes.
    fn varint(&mut self, field: &'static str) -> Result<u32, AskError> {
        let mut value = 0u64;
        for shift in [0u32, 7, 14, 21, 28] {
            let [byte] = self.array(field)?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return u32::try_from(value).map_err(|_| AskError::Nonsense(field));
            }
        }
        Err(AskError::Nonsense(field))
    }

    /// A compact length, which is one more than what it tells; `None` is null.
    fn compact(&mut self, field: &'static str) -> Result<Option<usize>, AskError> {
        match self.varint(field)?.checked_sub(1) {
            None => Ok(None),
            Some(len) => usize::try_from(len)
                .map(Some)
                .map_err(|_| AskError::Nonsense(field)),
        }
    }

    /// A length of four bytes, or a compact one.
    fn length(&mut self, field: &'static str) -> Result<Option<usize>, AskError> {
        if self.flexible {
            return self.compact(field);
        }
        let len = self.i32(field)?;
        plain(len, field)
    }

    /// How many elements follow. Each has at least a byte.
    fn count(&mut self, field: &'static str) -> Result<usize, AskError> {
        let count = self.length(field)?.unwrap_or(0);
        if count > self.rest.len() {
            return Err(AskError::Nonsense(field));
        }
        Ok(count)
    }

    fn nullable_text(&mut self, field: &'static str) -> Result<Option<&'a str>, AskError> {
        let len = if self.flexible {
            self.compact(field)?
        } else {
            let len = self.i16(field)?;
            plain(len.into(), field)?
        };
        let Some(len) = len else {
            return Ok(None);
        };
        let bytes = self.take(len, field)?;
        let text = std::str::from_utf8(bytes).map_err(|_| AskError::Nonsense(field))?;
        Ok(Some(text))
    }

    /// A text; null counts as empty.
    fn text(&mut self, field: &'static str) -> Result<&'a str, AskError> {
        Ok(self.nullable_text(field)?.unwrap_or_default())
    }

    /// Bytes; null counts as empty.
    fn bytes(&mut self, field: &'static str) -> Result<&'a [u8], AskError> {
        let len = self.length(field)?.unwrap_or(0);
        self.take(len, field)
    }

    /// Skips the tagged fields that end a struct in flexible versions.
    fn end_struct(&mut self) -> Result<(), AskError> {
        const FIELD: &str = "tagged fields";
        if !self.flexible {
            return Ok(());
        }
        for _ in 0..self.varint(FIELD)? {
            self.varint(FIELD)?;
            let len = self.varint(FIELD)?;
            let len = usize::try_from(len).map_err(|_| AskError::Nonsense(FIELD))?;
            self.take(len, FIELD)?;
        }
        Ok(())
    }
}

/// A signed length, where -1 is null.
fn plain(len: i32, field: &'static str) -> Result<Option<usize>, AskError> {
    match len {
        -1 => Ok(None),
        len => usize::try_from(len)
            .map(Some)
            .map_err(|_| AskError::Nonsense(field)),
    }
}
