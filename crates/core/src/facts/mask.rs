//! The mask on what a reader hands on: the one list of where connector names stand in
//! inputs.

use crate::facts::input::{Record, Topic};
use crate::facts::poll::{PollAnswer, Polled, PolledMember};
use crate::wire::mask::Mask;

/// Masks a record. Values of the config and status topics must be redacted already.
pub fn record(record: &mut Record, mask: &mut Mask<'_>) {
    let (key, value) = (record.key.as_deref(), record.value.as_deref());
    (record.key, record.value) = match record.topic {
        Topic::Offsets => mask.offsets_record(key, value),
        Topic::Config => mask.config_record(key, value),
        Topic::Status => mask.status_record(key, value),
    };
}

/// Masks the answer of a poll.
pub fn polled(polled: &mut Polled, mask: &mut Mask<'_>) {
    let PollAnswer::Described(description) = &mut polled.answer else {
        return;
    };
    let is_connect = matches!(description.protocol_type.as_str(), "connect" | "");
    for told in &mut description.members {
        if is_connect {
            member(told, mask);
        } else {
            // Whatever members of other groups say, it is not read.
            told.metadata.clear();
            told.assignment.clear();
        }
    }
}

/// Masks a polled member of a Connect group.
pub fn member(member: &mut PolledMember, mask: &mut Mask<'_>) {
    member.metadata = mask.subscription(&member.metadata);
    member.assignment = mask.assignment(&member.assignment);
}
