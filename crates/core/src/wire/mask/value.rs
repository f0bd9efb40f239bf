//! The GroupMetadata value, masked: what the coordinator wrote is copied, what members and
//! leader wrote goes through [`protocol`](super::protocol).

use super::{Mask, protocol};
use crate::wire::group_record::{GroupMetadata, Part};
use crate::wire::{DecodeError, Decoded};

/// A value with its names replaced.
pub(super) fn group(mask: &mut Mask<'_>, value: &[u8]) -> Vec<u8> {
    let mut places = Vec::new();
    let group = match GroupMetadata::read(value, &mut |place| places.push(place)) {
        Ok(Decoded::Known(group)) => group,
        // The version alone tells that it is unknown.
        Ok(Decoded::Unknown(_)) => return slice(value, 0, 2).to_vec(),
        Err(error) => return broken(&error),
    };
    // As the engine takes it: a group that nobody joined yet has the empty type.
    let is_connect = matches!(group.protocol_type, "connect" | "");
    let is_flexible = group.version >= 4;
    let mut parts = group
        .members
        .iter()
        .flat_map(|member| [member.subscription, member.assignment]);
    let mut out = Vec::with_capacity(value.len());
    let mut part = Vec::new();
    let mut next = 0;
    for place in places {
        out.extend_from_slice(slice(value, next, place.from));
        next = place.to;
        if place.part == Part::Unread {
            zeros(&mut out, place.to.saturating_sub(place.from));
            continue;
        }
        let bytes = parts.next().unwrap_or_default();
        part.clear();
        match place.part {
            _ if !is_connect => {}
            Part::Subscription => protocol::subscription(mask, bytes, &mut part),
            Part::Assignment | Part::Unread => protocol::assignment(mask, bytes, &mut part),
        }
        put_length(&mut out, part.len(), is_flexible);
        out.extend_from_slice(&part);
    }
    out
}

/// The shortest value with this kind of error.
fn broken(error: &DecodeError) -> Vec<u8> {
    match error {
        DecodeError::BadLength { .. } => vec![0, 0, 0xff, 0xff],
        DecodeError::BadUtf8 { .. } => vec![0, 0, 0, 1, 0xff],
        DecodeError::BadVarint { .. } => vec![0, 4, 0xff, 0xff, 0xff, 0xff, 0xff],
        DecodeError::Truncated { .. }
        | DecodeError::BadVersion { .. }
        | DecodeError::BadKey { .. }
        | DecodeError::Json { .. } => Vec::new(),
    }
}

/// As many zeros.
fn zeros(out: &mut Vec<u8>, count: usize) {
    out.resize(out.len().saturating_add(count), 0);
}

fn slice(bytes: &[u8], from: usize, to: usize) -> &[u8] {
    bytes.get(from..to).unwrap_or_default()
}

/// The length of BYTES or COMPACT_BYTES. Masked parts are hardly longer than the record
/// they came in, whose own length was an int32.
fn put_length(out: &mut Vec<u8>, len: usize, is_flexible: bool) {
    if !is_flexible {
        return out.extend(i32::try_from(len).unwrap_or(i32::MAX).to_be_bytes());
    }
    let mut rest = len.saturating_add(1);
    while rest > 0x7f {
        out.push(low_seven_bits(rest) | 0x80);
        rest >>= 7;
    }
    out.push(low_seven_bits(rest));
}

fn low_seven_bits(value: usize) -> u8 {
    u8::try_from(value & 0x7f).unwrap_or(0)
}
