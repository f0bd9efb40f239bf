//! Laws of decoding that hold for any bytes, for tests and fuzz targets (feature
//! `encode`). Each function reads hostile bytes with everything this crate has
//! for them and returns the law that is broken, if one is.

use super::config_record::{ConfigKey, ConfigRecord, ConfigValue};
use super::connect_protocol::{Assignment, Claim, ItemList, Subscription};
use super::consumer_protocol::{ConsumerAssignment, ConsumerSubscription};
use super::consumer_record::ConsumerGroupMetadata;
use super::contents::Contents;
use super::encode::{self, AssignmentSpec, Items, SubscriptionSpec};
use super::group_record::GroupMetadata;
use super::offset_commit::OffsetCommit;
use super::offsets_key::{OffsetsKey, key_group, key_is_group_metadata_of};
use super::redact::{Redacted, redact_config, redact_status};
use super::status_record::StatusRecord;
use super::{DecodeError, Decoded, JsonProblem};

/// The law that was broken, in words.
pub type Broken = &'static str;

/// No redacted document is larger: the whitelist times its bounds, escapes included.
const REDACTED_BYTES_MAX: usize = 8 * 1024;

/// The least bytes that one member takes on the wire in any version.
const MEMBER_BYTES_MIN: usize = 15;

fn law(holds: bool, broken: Broken) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(broken) }
}

/// Splits one fuzz input into a key and a value at a length in its first byte.
pub fn split(data: &[u8]) -> (&[u8], &[u8]) {
    let (len, rest) = data.split_first().unwrap_or((&0, &[]));
    rest.split_at_checked(usize::from(*len))
        .unwrap_or((rest, &[]))
}

/// A record of `__consumer_offsets`. The value is read as each kind of value,
/// whatever its key says.
///
/// # Errors
/// The law that is broken.
pub fn offsets_record(key: &[u8], value: &[u8]) -> Result<(), Broken> {
    let group = key_group(key).and_then(|group| std::str::from_utf8(group).ok());
    let filtered = group.is_some_and(|group| key_is_group_metadata_of(key, group));
    match OffsetsKey::decode(key) {
        Ok(OffsetsKey::GroupMetadata { group: read }) => {
            law(
                group == Some(read) && filtered,
                "filter misses a group metadata key",
            )?;
        }
        Ok(
            OffsetsKey::OffsetCommit { group: read, .. }
            | OffsetsKey::ConsumerGroup { group: read, .. }
            | OffsetsKey::ShareGroup { group: read, .. }
            | OffsetsKey::StreamsGroup { group: read, .. },
        ) => law(
            group == Some(read) && !filtered,
            "filter and reader differ on a key",
        )?,
        Ok(OffsetsKey::ControlMarker | OffsetsKey::Unknown(_)) | Err(_) => {
            law(!filtered, "filter takes a key that the reader does not")?;
        }
    }
    if let Ok(Decoded::Known(read)) = OffsetCommit::decode(value)
        && let Ok(bytes) = encode::offset_commit(&read)
    {
        let again = OffsetCommit::decode(&bytes);
        law(
            again == Ok(Decoded::Known(read)),
            "offset commit does not round-trip",
        )?;
    }
    let epoch = ConsumerGroupMetadata::decode(value).map(Decoded::known);
    law(
        epoch.is_err() || value.len() >= 2,
        "an epoch out of nothing",
    )?;
    group_metadata(value)
}

fn group_metadata(value: &[u8]) -> Result<(), Broken> {
    let Ok(Decoded::Known(read)) = GroupMetadata::decode(value) else {
        return Ok(());
    };
    let told = read.members.capacity().saturating_mul(MEMBER_BYTES_MIN);
    law(
        told <= value.len(),
        "more members allocated than the bytes can hold",
    )?;
    if let Ok(bytes) = encode::group_metadata(&read) {
        let again = GroupMetadata::decode(&bytes);
        law(
            again == Ok(Decoded::Known(read.clone())),
            "group metadata does not round-trip",
        )?;
    }
    for member in &read.members {
        member_bytes(member.subscription)?;
        member_bytes(member.assignment)?;
    }
    Ok(())
}

/// The bytes of one member, read as each kind of subscription and assignment.
///
/// # Errors
/// The law that is broken.
pub fn member_bytes(bytes: &[u8]) -> Result<(), Broken> {
    if let Ok(read) = Subscription::decode(bytes) {
        subscription(&read)?;
    }
    if let Ok(Some(read)) = Assignment::decode(bytes) {
        assignment(&read)?;
        let told = read.assigned.len().saturating_add(read.revoked.len());
        law(
            told.saturating_mul(4) <= bytes.len(),
            "more tasks than the bytes can hold",
        )?;
    }
    if let Ok(read) = ConsumerSubscription::decode(bytes) {
        let told = read.topics.capacity().saturating_mul(2);
        law(
            told <= bytes.len(),
            "more topics allocated than the bytes can hold",
        )?;
    }
    if let Ok(Some(read)) = ConsumerAssignment::decode(bytes) {
        let told = read.assigned.capacity().saturating_mul(6);
        law(
            told <= bytes.len(),
            "more partitions allocated than the bytes can hold",
        )?;
    }
    Ok(())
}

fn subscription(read: &Subscription<'_>) -> Result<(), Broken> {
    let claim = match &read.claim {
        Claim::Held(held) => {
            assignment(held)?;
            Some(assignment_spec(held))
        }
        Claim::Absent | Claim::Null => None,
        Claim::ZeroLength | Claim::Broken(_) => return Ok(()),
    };
    let Subscription {
        version,
        url,
        config_offset,
        ..
    } = *read;
    let spec = SubscriptionSpec {
        version,
        url,
        config_offset,
        claim,
    };
    let Ok(bytes) = encode::subscription(&spec) else {
        return Ok(());
    };
    let again = Subscription::decode(&bytes).map_err(|_| "an encoded subscription is refused")?;
    let same = (again.version, again.url, again.config_offset) == (version, url, config_offset)
        && again.claim.is_null() == read.claim.is_null()
        && again.claim.owned() == read.claim.owned();
    law(same, "subscription does not round-trip")
}

fn assignment(read: &Assignment<'_>) -> Result<(), Broken> {
    law(
        read.assigned.iter().count() == read.assigned.len(),
        "a list miscounts itself",
    )?;
    let Ok(bytes) = encode::assignment(&assignment_spec(read)) else {
        return Ok(());
    };
    let again = Assignment::decode(&bytes);
    law(
        again.as_ref() == Ok(&Some(read.clone())),
        "assignment does not round-trip",
    )
}

fn assignment_spec<'a>(read: &Assignment<'a>) -> AssignmentSpec<'a> {
    AssignmentSpec {
        version: read.version,
        error: read.error,
        leader: read.leader,
        leader_url: read.leader_url,
        config_offset: read.config_offset,
        assigned: Some(items(&read.assigned)),
        revoked: Some(items(&read.revoked)),
        delay_ms: read.delay_ms,
    }
}

fn items<'a>(list: &ItemList<'a>) -> Items<'a> {
    let items = list.connectors().iter();
    items
        .map(|items| (items.connector, items.tasks().collect()))
        .collect()
}

/// A record of the config topic, through redaction and around it.
///
/// # Errors
/// The law that is broken.
pub fn config_record(key: &[u8], value: &[u8]) -> Result<(), Broken> {
    let mut contents = Contents::new(*b"key of a fuzzer.", 0);
    let redacted = redact_config(key, Some(value), &mut contents);
    let again = redact_config(key, Some(value), &mut contents);
    law(again == redacted, "the same value got two contents")?;
    is_small_json(&redacted)?;
    let through = ConfigRecord::decode(key, redacted.value());
    let around = ConfigRecord::decode(key, Some(value));
    match ConfigKey::decode(key) {
        Ok(ConfigKey::Connector { .. } | ConfigKey::Task { .. } | ConfigKey::SessionKey) => {
            let refused = through.as_ref().err().map(DecodeError::label);
            let not_redacted = Some(JsonProblem::NotRedacted.label());
            law(
                refused != not_redacted,
                "redaction made what is not redacted",
            )?;
            // A raw value passes only if it already is what redaction writes.
            let is_document = value.windows(8).any(|window| window == b"evenkeel");
            law(
                around.is_err() || is_document,
                "a raw value got around redaction",
            )
        }
        Ok(ConfigKey::Unknown) => {
            let dropped = |read: &ConfigRecord<'_>| read.value == ConfigValue::Dropped;
            law(
                through.as_ref().is_ok_and(dropped),
                "the value of an unknown key was read",
            )
        }
        Ok(_) if around.is_ok() => law(through == around, "redaction changed an open value"),
        // A raw value may look like a marker, which only the decoder heeds.
        _ => law(
            through.is_err() || may_be_redacted(value),
            "redaction made a value of an unreadable one",
        ),
    }
}

/// Whether the bytes can hold the field that redacted documents have, plain or
/// with escapes.
fn may_be_redacted(value: &[u8]) -> bool {
    let holds = |text: &[u8]| value.windows(text.len()).any(|window| window == text);
    holds(b"evenkeel") || holds(b"\\u")
}

/// A record of the status topic, raw and redacted.
///
/// # Errors
/// The law that is broken.
pub fn status_record(key: &[u8], value: &[u8]) -> Result<(), Broken> {
    let redacted = redact_status(key, Some(value));
    is_small_json(&redacted)?;
    law(
        redact_status(key, redacted.value()) == redacted,
        "redacting twice is not once",
    )?;
    let plain = StatusRecord::decode(key, Some(value));
    let through = StatusRecord::decode(key, redacted.value());
    match (plain, through) {
        (Ok(plain), Ok(through)) => law(plain == through, "redaction changed a status"),
        (Err(plain), Err(through)) => law(
            plain.label() == through.label(),
            "redaction changed the kind of an error",
        ),
        _ => Err("raw and redacted status do not agree"),
    }
}

fn is_small_json(redacted: &Redacted) -> Result<(), Broken> {
    let document = redacted.value().ok_or("a value became a tombstone")?;
    law(
        document.len() <= REDACTED_BYTES_MAX,
        "a redacted document is large",
    )?;
    let read = serde_json::from_slice::<serde_json::Value>(document);
    law(
        read.is_ok_and(|read| read.is_object()),
        "a redacted document is no json object",
    )
}
