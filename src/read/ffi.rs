//! The calls into librdkafka that its Rust crate does not offer.
#![allow(unsafe_code)] // The only file that may: rdkafka 0.39 has no safe form of these.

use rdkafka::message::BorrowedMessage;

/// Leader epoch of the batch that a record came in; `None` where the log has none
/// (message formats before v2).
pub(super) fn leader_epoch(message: &BorrowedMessage<'_>) -> Option<i32> {
    // SAFETY: the pointer is that of a message which lives as long as the borrow,
    // and the call only reads from it.
    let epoch = unsafe { rdkafka_sys::rd_kafka_message_leader_epoch(message.ptr()) };
    (epoch >= 0).then_some(epoch)
}
