//! Connector names replaced by a code, in every place where a record says that it is one.
//!
//! A masked record decodes to what it decoded to before, with the names replaced: the same
//! items, the same nulls, the same kind of error where there was one. What no layout
//! describes, or what does not decode, may hold a name and is never copied: bytes behind
//! the last field and payloads of tagged fields become zeros or a code, broken parts become
//! others that are broken in the same way. Two members' bytes that differ stay different:
//! equal ones are not read, nor their errors counted, twice.
//!
//! Texts that a record calls something else stay: member ids, hosts, URLs, worker ids,
//! class names, loggers. Topics of topic-usage records and consumer groups of sinks are
//! replaced, too, since they are mostly made from the connector's name.

mod keys;
mod protocol;
mod value;

use super::redact::{redact_status, rewrite_config};

/// Bytes of a code: among 10,000 connectors, two share one with a probability of 2e-7.
pub const CODE_BYTES: usize = 6;

/// What stands for a text.
pub type Code = [u8; CODE_BYTES];

/// `c-` and two digits a byte.
const NAME_BYTES: usize = 14;

/// Sinks consume as `connect-<connector>` unless told otherwise
/// (`SinkUtils.consumerGroupId`).
const CONSUMER_GROUP_PREFIX: &str = "connect-";

/// A name that stands for another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MaskedName([u8; NAME_BYTES]);

/// Replaces names. Where the codes come from is the caller's matter: they must be a
/// function of the text alone, and nobody must be able to compute them who may not know
/// the names.
pub struct Mask<'a> {
    code: &'a mut dyn FnMut(&[u8]) -> Code,
}

/// A record's key and value.
pub type KeyAndValue = (Option<Vec<u8>>, Option<Vec<u8>>);

// === impl MaskedName ===

impl MaskedName {
    /// The name with this code.
    #[must_use]
    pub fn of(code: Code) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or(b'0');
        let mut name = *b"c-000000000000";
        let (pairs, _) = name[2..].as_chunks_mut::<2>();
        for (pair, byte) in pairs.iter_mut().zip(code) {
            *pair = [digit(byte >> 4), digit(byte & 0xf)];
        }
        Self(name)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("c-")
    }
}

impl std::fmt::Display for MaskedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Debug for MaskedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

// === impl Mask ===

impl std::fmt::Debug for Mask<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mask").finish_non_exhaustive()
    }
}

impl<'a> Mask<'a> {
    /// A mask whose codes come from `code`.
    pub fn new(code: &'a mut dyn FnMut(&[u8]) -> Code) -> Self {
        Self { code }
    }

    /// What stands for a connector's name.
    pub fn name(&mut self, name: &str) -> MaskedName {
        MaskedName::of((self.code)(name.as_bytes()))
    }

    /// What stands for the consumer group of a sink.
    pub fn consumer_group(&mut self, group: &str) -> String {
        match group.strip_prefix(CONSUMER_GROUP_PREFIX) {
            Some(connector) => format!("{CONSUMER_GROUP_PREFIX}{}", self.name(connector)),
            None => self.name(group).to_string(),
        }
    }

    /// A record of the offsets topic. Only records of Connect groups are kept; of others
    /// remains what they were not.
    pub fn offsets_record(&mut self, key: Option<&[u8]>, value: Option<&[u8]>) -> KeyAndValue {
        let Some(key) = key else {
            return (None, value.map(|_| Vec::new()));
        };
        match keys::group_metadata(key) {
            Ok(key) => (Some(key), value.map(|value| value::group(self, value))),
            Err(other) => (Some(other), value.map(|_| Vec::new())),
        }
    }

    /// A record of the config topic whose value went through redaction.
    pub fn config_record(&mut self, key: Option<&[u8]>, value: Option<&[u8]>) -> KeyAndValue {
        let masked = key.map(|key| keys::config(self, key));
        let key = key.unwrap_or_default();
        let value = rewrite_config(key, value, |group| self.consumer_group(group));
        (masked, value.into_value())
    }

    /// A record of the status topic whose value went through redaction.
    pub fn status_record(&mut self, key: Option<&[u8]>, value: Option<&[u8]>) -> KeyAndValue {
        let masked = key.map(|key| keys::status(self, key));
        let value = redact_status(key.unwrap_or_default(), value);
        (masked, value.into_value())
    }

    /// What a member of a Connect group said when it joined.
    pub fn subscription(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        protocol::subscription(self, bytes, &mut out);
        out
    }

    /// What a member of a Connect group was told.
    pub fn assignment(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        protocol::assignment(self, bytes, &mut out);
        out
    }

    /// Tells apart what must not be shown.
    fn digest(&mut self, bytes: &[u8]) -> Code {
        (self.code)(bytes)
    }
}

#[cfg(test)]
mod tests;
