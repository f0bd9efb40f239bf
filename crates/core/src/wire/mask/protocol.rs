//! Connect's embedded protocol, masked. Reads the fields in the order of
//! [`connect_protocol`](crate::wire::connect_protocol), copies all but the names, and
//! stops at the same errors.

use super::{Code, Mask};
use crate::wire::DecodeError;
use crate::wire::connect_protocol::{CONNECTOR_BYTES_MIN, next_items, version};
use crate::wire::cursor::Cursor;

/// Version 0, the least a broken subscription needs before its URL.
const SUBSCRIPTION_START: &[u8] = &[0, 0];

/// Version 0 and no error, the least a broken assignment needs before its leader.
const ASSIGNMENT_START: &[u8] = &[0, 0, 0, 0];

/// The masked form of a subscription. Zero bytes stay zero bytes.
pub(super) fn subscription(mask: &mut Mask<'_>, bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let start = out.len();
    if let Err(error) = known_subscription(mask, bytes, out) {
        out.truncate(start);
        broken(SUBSCRIPTION_START, &error, mask.digest(bytes), out);
    }
}

/// The masked form of an assignment. Zero bytes stay zero bytes.
pub(super) fn assignment(mask: &mut Mask<'_>, bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let start = out.len();
    if let Err(error) = known_assignment(mask, bytes, out) {
        out.truncate(start);
        broken(ASSIGNMENT_START, &error, mask.digest(bytes), out);
    }
}

fn known_subscription(
    mask: &mut Mask<'_>,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let mut cursor = Cursor::new(bytes);
    let version = version(&mut cursor, "subscription version")?;
    cursor.string("url")?;
    cursor.i64("config offset")?;
    copy_read(bytes, &cursor, out);
    if version > 0 && !cursor.is_empty() {
        claim(mask, bytes, &mut cursor, out);
    }
    unread(mask, &cursor, out);
    Ok(())
}

/// The allocation of a subscription; the whole subscription is needed to tell two broken
/// ones apart.
fn claim(mask: &mut Mask<'_>, whole: &[u8], cursor: &mut Cursor<'_>, out: &mut Vec<u8>) {
    let error = match cursor.nullable_bytes("allocation") {
        Ok(None) => return out.extend((-1_i32).to_be_bytes()),
        Ok(Some([])) => return out.extend(0_i32.to_be_bytes()),
        Ok(Some(bytes)) => {
            let length_at = out.len();
            out.extend([0; 4]);
            let start = out.len();
            match known_assignment(mask, bytes, out) {
                Ok(()) => return put_length(out, length_at, start),
                Err(error) => {
                    out.truncate(length_at);
                    error
                }
            }
        }
        Err(error) => {
            cursor.continue_at(cursor.rest().get(cursor.rest().len()..).unwrap_or_default());
            error
        }
    };
    let length_at = out.len();
    out.extend([0; 4]);
    let start = out.len();
    broken(ASSIGNMENT_START, &error, mask.digest(whole), out);
    put_length(out, length_at, start);
}

fn known_assignment(
    mask: &mut Mask<'_>,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let mut cursor = Cursor::new(bytes);
    let version = version(&mut cursor, "assignment version")?;
    cursor.i16("error")?;
    cursor.string("leader")?;
    cursor.string("leader url")?;
    cursor.i64("config offset")?;
    copy_read(bytes, &cursor, out);
    if version == 0 {
        let count = cursor.array_len("assigned", CONNECTOR_BYTES_MIN)?;
        items(mask, &mut cursor, count, out)?;
    } else {
        for field in ["assigned", "revoked"] {
            if cursor.is_empty() {
                continue;
            }
            match cursor.nullable_array_len(field, CONNECTOR_BYTES_MIN)? {
                Some(count) => items(mask, &mut cursor, count, out)?,
                None => out.extend((-1_i32).to_be_bytes()),
            }
        }
        if !cursor.is_empty() {
            out.extend(cursor.i32("delay")?.to_be_bytes());
        }
    }
    unread(mask, &cursor, out);
    Ok(())
}

/// A list of connectors and their tasks.
fn items(
    mask: &mut Mask<'_>,
    cursor: &mut Cursor<'_>,
    count: usize,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    out.extend(i32::try_from(count).unwrap_or(i32::MAX).to_be_bytes());
    for _ in 0..count {
        let before = cursor.rest();
        let items = next_items(cursor)?;
        let name = mask.name(items.connector);
        let name = name.as_str();
        out.extend(i16::try_from(name.len()).unwrap_or(0).to_be_bytes());
        out.extend_from_slice(name.as_bytes());
        // Behind an int16 and the name: how many tasks, and which.
        let tasks = items.connector.len().saturating_add(2);
        let end = before.len().saturating_sub(cursor.rest().len());
        out.extend_from_slice(before.get(tasks..end).unwrap_or_default());
    }
    Ok(())
}

/// Stands for what follows the last field, which no release writes and nobody reads.
fn unread(mask: &mut Mask<'_>, cursor: &Cursor<'_>, out: &mut Vec<u8>) {
    if !cursor.is_empty() {
        out.extend(mask.digest(cursor.rest()));
    }
}

/// Bytes with this kind of error; the code keeps different ones different.
fn broken(start: &[u8], error: &DecodeError, code: Code, out: &mut Vec<u8>) {
    if let DecodeError::BadVersion { .. } = error {
        out.extend([0xff, 0xff]);
    } else {
        out.extend_from_slice(start);
        match error {
            DecodeError::BadLength { .. } => out.extend((-1_i16).to_be_bytes()),
            DecodeError::BadUtf8 { .. } => out.extend([0, 1, 0xff]),
            // The others do not occur here. More than follows:
            _ => out.extend(i16::MAX.to_be_bytes()),
        }
    }
    out.extend(code);
}

/// Copies what the cursor has read so far.
fn copy_read(bytes: &[u8], cursor: &Cursor<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(bytes.get(..cursor.at()).unwrap_or_default());
}

/// Writes into the four bytes at `at` how many follow from `start` on.
fn put_length(out: &mut [u8], at: usize, start: usize) {
    let len = i32::try_from(out.len().saturating_sub(start)).unwrap_or(i32::MAX);
    if let Some(place) = out.get_mut(at..start) {
        place.copy_from_slice(&len.to_be_bytes());
    }
}
