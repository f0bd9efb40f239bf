//! The calls into librdkafka that its Rust crate does not offer.
#![allow(unsafe_code)] // The only file that may: rdkafka 0.39 has no safe form of these.

use std::ffi::{CStr, CString, NulError, c_char, c_int};
use std::ptr::{self, NonNull};
use std::time::Duration;

use rdkafka::ClientContext;
use rdkafka::client::Client;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::message::BorrowedMessage;
use rdkafka_sys as sys;

/// A topic as a broker describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TopicDescription {
    /// What tells it from an earlier topic of the same name (KIP-516); `None` from
    /// brokers before 2.8.
    pub(super) id: Option<[i64; 2]>,
    pub(super) partitions: usize,
}

/// A token for OAUTHBEARER, with names and values that go beside it (KIP-342). Secret.
pub(super) struct ExtendedToken {
    pub(super) token: String,
    pub(super) principal: String,
    /// Until when it is good, in milliseconds since the epoch.
    pub(super) lifetime_ms: i64,
    pub(super) extensions: Vec<(String, String)>,
}

/// A pointer that librdkafka gave us to free.
struct Owned<T> {
    pointer: NonNull<T>,
    free: unsafe extern "C" fn(*mut T),
}

/// Leader epoch of the batch that a record came in; `None` where the log has none
/// (message formats before v2).
pub(super) fn leader_epoch(message: &BorrowedMessage<'_>) -> Option<i32> {
    // SAFETY: the pointer is that of a message which lives as long as the borrow,
    // and the call only reads from it.
    let epoch = unsafe { sys::rd_kafka_message_leader_epoch(message.ptr()) };
    (epoch >= 0).then_some(epoch)
}

/// The log's end as the last answered fetch of the partition said it; `None` when that
/// fetch failed, or when there was none yet. Asks nobody.
pub(super) fn fetched_end<C: ClientContext>(
    client: &Client<C>,
    topic: &str,
    partition: i32,
) -> Option<i64> {
    let name = CString::new(topic).ok()?;
    let (mut low, mut high) = (-1, -1);
    // SAFETY: the client and the name live through the call, which writes to the two
    // numbers and keeps nothing.
    let error = unsafe {
        sys::rd_kafka_get_watermark_offsets(
            client.native_ptr(),
            name.as_ptr(),
            partition,
            &mut low,
            &mut high,
        )
    };
    no_error(error.into()).ok()?;
    (high >= 0).then_some(high)
}

/// Kafka's id of the cluster, as far as the client knows it or learns it in time. The
/// crate's own call does not give the memory back.
pub(super) fn cluster_id<C: ClientContext>(
    client: &Client<C>,
    timeout: Duration,
) -> Option<String> {
    let timeout_ms = c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX);
    let rk = client.native_ptr();
    // SAFETY: `rk` lives as long as `client`. A result that is not null is a string with
    // its end, ours to free, and freed once, after it was copied.
    unsafe {
        let id = sys::rd_kafka_clusterid(rk, timeout_ms);
        if id.is_null() {
            return None;
        }
        let copy = CStr::from_ptr(id).to_string_lossy().into_owned();
        sys::rd_kafka_mem_free(rk, id.cast());
        Some(copy)
    }
}

/// Describes one topic; blocks for `timeout` at most. The crate's own metadata call
/// leaves the topic's id out.
pub(super) fn describe_topic<C: ClientContext>(
    client: &Client<C>,
    topic: &str,
    timeout: Duration,
) -> Result<TopicDescription, RDKafkaErrorCode> {
    const OUT_OF_MEMORY: RDKafkaErrorCode = RDKafkaErrorCode::CriticalSystemResource;
    let name = CString::new(topic).map_err(|_| RDKafkaErrorCode::InvalidTopic)?;
    let timeout_ms = c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX);
    let rk = client.native_ptr();
    // SAFETY: `rk` lives as long as `client`. The name is copied by the call that takes
    // it. Whatever is created is owned by an `Owned` before the next call and freed once,
    // after everything borrowed from it was read: locals drop in reverse order, the event
    // first. The result, the descriptions and the id are borrowed from the event, are
    // checked for null, and arrays are read within the count that came with them.
    unsafe {
        let queue = Owned::new(sys::rd_kafka_queue_new(rk), sys::rd_kafka_queue_destroy)
            .ok_or(OUT_OF_MEMORY)?;
        let mut names = [name.as_ptr()];
        let topics = Owned::new(
            sys::rd_kafka_TopicCollection_of_topic_names(names.as_mut_ptr(), names.len()),
            sys::rd_kafka_TopicCollection_destroy,
        )
        .ok_or(OUT_OF_MEMORY)?;
        let options = Owned::new(
            sys::rd_kafka_AdminOptions_new(
                rk,
                sys::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS,
            ),
            sys::rd_kafka_AdminOptions_destroy,
        )
        .ok_or(OUT_OF_MEMORY)?;
        let set = sys::rd_kafka_AdminOptions_set_request_timeout(
            options.get(),
            timeout_ms,
            ptr::null_mut(),
            0,
        );
        no_error(set.into())?;
        sys::rd_kafka_DescribeTopics(rk, topics.get(), options.get(), queue.get());
        // The call times out by itself; a little more is only for a client that is stuck.
        let wait_ms = timeout_ms.saturating_add(1_000);
        let event = Owned::new(
            sys::rd_kafka_queue_poll(queue.get(), wait_ms),
            sys::rd_kafka_event_destroy,
        )
        .ok_or(RDKafkaErrorCode::OperationTimedOut)?;
        no_error(sys::rd_kafka_event_error(event.get()).into())?;
        let result = sys::rd_kafka_event_DescribeTopics_result(event.get());
        let mut count = 0;
        let descriptions = if result.is_null() {
            ptr::null_mut()
        } else {
            sys::rd_kafka_DescribeTopics_result_topics(result, &mut count)
        };
        if descriptions.is_null() || count == 0 {
            return Err(RDKafkaErrorCode::Fail);
        }
        let description = *descriptions;
        let error = sys::rd_kafka_TopicDescription_error(description);
        if !error.is_null() {
            no_error(sys::rd_kafka_error_code(error).into())?;
        }
        let mut partitions = 0;
        sys::rd_kafka_TopicDescription_partitions(description, &mut partitions);
        let id = sys::rd_kafka_TopicDescription_topic_id(description);
        let id = (!id.is_null()).then(|| {
            [
                sys::rd_kafka_Uuid_most_significant_bits(id),
                sys::rd_kafka_Uuid_least_significant_bits(id),
            ]
        });
        let id = id.filter(|id| *id != [0, 0]);
        Ok(TopicDescription { id, partitions })
    }
}

/// Gives a client the token that it asked for; one that it does not take is a failure that
/// it tells, and after which it asks again. The crate's own call knows no extensions.
pub(super) fn set_token<C: ClientContext>(client: &Client<C>, token: &ExtendedToken) {
    if try_set_token(client, token).is_err() {
        // What librdkafka says of it may repeat a value.
        let reason = c"token or extension not taken";
        // SAFETY: the client and the text live through the call, which copies the text.
        let failed = unsafe {
            sys::rd_kafka_oauthbearer_set_token_failure(client.native_ptr(), reason.as_ptr())
        };
        if no_error(failed.into()).is_err() {
            tracing::debug!("no token is wanted");
        }
    }
}

fn try_set_token<C: ClientContext>(
    client: &Client<C>,
    token: &ExtendedToken,
) -> Result<(), RDKafkaErrorCode> {
    let wrong = |_: NulError| RDKafkaErrorCode::InvalidArgument;
    let text = CString::new(token.token.as_str()).map_err(wrong)?;
    let principal = CString::new(token.principal.as_str()).map_err(wrong)?;
    let extensions = token.extensions.iter();
    let extensions: Vec<CString> = extensions
        .flat_map(|(name, value)| [name, value])
        .map(|part| CString::new(part.as_str()))
        .collect::<Result<_, _>>()
        .map_err(wrong)?;
    let mut parts: Vec<*const c_char> = extensions.iter().map(|part| part.as_ptr()).collect();
    let mut reason = [0; 256];
    // SAFETY: the client, all texts and the list of them live through the call, which
    // copies what it keeps, reads as many parts as it is told, and writes no more of a
    // reason than there is room for.
    let set = unsafe {
        sys::rd_kafka_oauthbearer_set_token(
            client.native_ptr(),
            text.as_ptr(),
            token.lifetime_ms,
            principal.as_ptr(),
            parts.as_mut_ptr(),
            parts.len(),
            reason.as_mut_ptr(),
            reason.len(),
        )
    };
    no_error(set.into())
}

fn no_error(code: RDKafkaErrorCode) -> Result<(), RDKafkaErrorCode> {
    match code {
        RDKafkaErrorCode::NoError => Ok(()),
        code => Err(code),
    }
}

// === impl ExtendedToken ===

impl std::fmt::Debug for ExtendedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

// === impl Owned ===

impl<T> Owned<T> {
    /// Takes over a pointer that `free` frees; `None` for null.
    ///
    /// # Safety
    /// `pointer` is null, or nobody else frees it and `free` may be called on it once.
    unsafe fn new(pointer: *mut T, free: unsafe extern "C" fn(*mut T)) -> Option<Self> {
        let pointer = NonNull::new(pointer)?;
        Some(Self { pointer, free })
    }

    fn get(&self) -> *mut T {
        self.pointer.as_ptr()
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: by `new`, it is ours to free, and it is dropped once.
        unsafe { (self.free)(self.pointer.as_ptr()) }
    }
}
/// Makes the native libraries ready, while no other thread uses them.
///
/// OpenSSL begins here, once, instead of in whichever of several threads needs it first;
/// and it does not clean up when the process exits, which would take away what a thread
/// still uses that waits for a broker.
pub fn prepare() {
    openssl::init();
}

/// Bounds the C allocator: two arenas, and memory given back once 128 KiB of it lie free.
/// A sidecar must stay small beside its worker; measured, this takes a fifth off. To be
/// called first, while no other thread exists.
#[cfg(target_env = "gnu")]
pub fn bound_allocator() {
    // SAFETY: plain settings of the allocator, made before any thread exists.
    // An allocator that was put in glibc's place takes neither, and needs neither.
    let _taken: i32 = unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2) + libc::mallopt(libc::M_TRIM_THRESHOLD, 128 << 10)
    };
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
