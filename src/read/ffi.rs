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

/// Bounds the C allocator: two arenas, and memory given back once 128 KiB of it lie free.
/// A sidecar must stay small beside its worker; measured, this takes a fifth off.
#[cfg(target_env = "gnu")]
pub fn bound_allocator() {
    // SAFETY: plain settings of the allocator, made before any thread exists.
    let set = unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2) + libc::mallopt(libc::M_TRIM_THRESHOLD, 128 << 10)
    };
    debug_assert_eq!(set, 2, "glibc takes both settings");
}

/// Other allocators have no such settings.
#[cfg(not(target_env = "gnu"))]
pub fn bound_allocator() {}

/// Gives memory that lies free back to the system: after a catch-up most of it.
#[cfg(target_env = "gnu")]
pub fn give_memory_back() {
    // SAFETY: takes no pointer; glibc locks what it walks over.
    let _gave_back: i32 = unsafe { libc::malloc_trim(0) };
}

/// Other allocators have no such call.
#[cfg(not(target_env = "gnu"))]
pub fn give_memory_back() {}
