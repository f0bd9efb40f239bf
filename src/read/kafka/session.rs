//! One client at work on one topic: asks, assigns, seeks, polls, and sorts what comes
//! into records, ends of partitions, and reasons to begin again.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{Record, Trouble};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};
use rdkafka::consumer::Consumer;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, Message, Timestamp};
use rdkafka::{Offset, TopicPartitionList};

use super::client::{self, Client};
use super::emit::Stopped;
use super::frontier::Progress;
use super::resume::{Bounds, Identity};
use super::shared::Shared;
use crate::read::ffi;

/// How long a question may take. Behind it stands a fetch that the broker holds for up
/// to 0.5 s (`fetch.wait.max.ms`), since a connection's requests are answered in order.
pub(super) const QUESTION_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a seek may take; it is a matter between threads of the client.
const SEEK_TIMEOUT: Duration = Duration::from_secs(1);

/// How often a refused partition is tried again. The client itself fetches on, but
/// says nothing while no record comes; a seek makes it say where the end is.
const REFUSED_RETRY: Duration = Duration::from_secs(2);

/// Why reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// Told to.
    Stopped,
    /// A new client must begin again.
    Again(Again),
}

/// Why reading must begin again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// The broker has no such offset.
    OutOfRange,
    /// The log ends before what was read, or its leader epochs go back: another log.
    Replaced,
    /// The topic or a partition is gone.
    Missing,
    /// The brokers say that the topic has another id, or other partitions.
    Changed,
    /// The cluster is to be reached in another way.
    Connection,
    /// The client gave up.
    Failed,
}

/// What a poll gave.
pub(super) enum Event<'a> {
    Record(BorrowedMessage<'a>),
    EndOfPartition(i32),
    Nothing,
}

/// A client with the partitions it is to read.
pub(super) struct Session {
    pub(super) client: Arc<Client>,
    pub(super) shared: Arc<Shared>,
    pub(super) description: Description,
    pub(super) partitions: Vec<i32>,
    /// When the broker refused records last, until it gives some again.
    refused: Cell<Option<Instant>>,
}

/// The topic as the brokers describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Description {
    pub(super) partitions: i32,
    pub(super) identity: Identity,
}

/// An answered question for offsets.
#[derive(Debug)]
pub(super) struct Offsets {
    pub(super) known: Vec<(i32, i64)>,
    /// The first error among the others.
    pub(super) failed: Option<RDKafkaErrorCode>,
}

/// Asks what the topic is.
pub(super) fn describe(client: &Client, topic: &str) -> Result<Description, Trouble> {
    let described = ffi::describe_topic(client.client(), topic, QUESTION_TIMEOUT)
        .map_err(|code| client::trouble(code).unwrap_or(Trouble::Other))?;
    let partitions = i32::try_from(described.partitions).unwrap_or(i32::MAX);
    if partitions == 0 {
        return Err(Trouble::Missing);
    }
    // In every broker's metadata, so whoever described the topic told it.
    let cluster_id = ffi::cluster_id(client.client(), QUESTION_TIMEOUT);
    Ok(Description {
        partitions,
        identity: Identity {
            cluster_id,
            topic_id: described.id,
        },
    })
}

/// What an error of a question for offsets means. That the client knows no such topic or
/// partition may only mean that it knows no leader, and a broker says so, too, before it
/// has heard that it leads one: what the brokers describe decides.
pub(super) fn why(client: &Client, topic: &str, code: RDKafkaErrorCode) -> Trouble {
    match client::trouble(code) {
        Some(Trouble::Missing) => describe(client, topic)
            .err()
            .unwrap_or(Trouble::Unreachable),
        trouble => trouble.unwrap_or(Trouble::Other),
    }
}

/// Asks where partitions end (`Offset::End`) or begin (`Offset::Beginning`), with one
/// request to each broker that leads some of them.
pub(super) fn ask_offsets(
    client: &Client,
    topic: &str,
    partitions: &[i32],
    which: Offset,
) -> Result<Offsets, RDKafkaErrorCode> {
    let mut list = TopicPartitionList::with_capacity(partitions.len());
    for partition in partitions {
        list.add_partition_offset(topic, *partition, which)
            .map_err(|error| client::code(&error))?;
    }
    let list = client
        .offsets_for_times(list, QUESTION_TIMEOUT)
        .map_err(|error| client::code(&error))?;
    let mut offsets = Offsets {
        known: Vec::with_capacity(partitions.len()),
        failed: None,
    };
    for element in list.elements() {
        match (element.error(), element.offset()) {
            (Ok(()), Offset::Offset(offset)) => offsets.known.push((element.partition(), offset)),
            (Ok(()), _) => offsets.failed = offsets.failed.or(Some(RDKafkaErrorCode::Fail)),
            (Err(error), _) => {
                offsets.failed = offsets.failed.or(Some(client::code(&error)));
            }
        }
    }
    match offsets.failed {
        Some(code) if offsets.known.is_empty() => Err(code),
        _ => Ok(offsets),
    }
}

// === impl Session ===

impl Session {
    pub(super) fn new(
        client: Arc<Client>,
        shared: &Arc<Shared>,
        description: Description,
        partitions: Vec<i32>,
    ) -> Self {
        Self {
            client,
            shared: Arc::clone(shared),
            description,
            partitions,
            refused: Cell::new(None),
        }
    }

    /// Where all partitions begin and end; `None` when not all can be told now.
    pub(super) fn bounds(&self) -> Result<Option<Vec<Bounds>>, Halt> {
        let asked = self.shared.emitter.now();
        let ask = |which| ask_offsets(&self.client, &self.shared.name, &self.partitions, which);
        let answers = ask(Offset::Beginning).and_then(|low| Ok((low, ask(Offset::End)?)));
        let (low, end) = match answers {
            Ok(answers) => answers,
            Err(code) => {
                self.questions(asked, Some(self.why(code)))?;
                return Ok(None);
            }
        };
        let failed = low.failed.or(end.failed);
        self.questions(asked, failed.map(|code| self.why(code)))?;
        let bounds: Vec<Bounds> = low
            .known
            .iter()
            .filter_map(|&(partition, low)| {
                let end = end.known.iter().find(|(other, _)| *other == partition)?.1;
                Some(Bounds {
                    partition,
                    low,
                    end,
                })
            })
            .collect();
        Ok((bounds.len() == self.partitions.len()).then_some(bounds))
    }

    fn why(&self, code: RDKafkaErrorCode) -> Trouble {
        why(&self.client, &self.shared.name, code)
    }

    /// Begins to read each partition at its next offset.
    pub(super) fn assign(&self, partitions: &[Progress]) -> Result<(), Halt> {
        let mut list = TopicPartitionList::with_capacity(partitions.len());
        for part in partitions {
            let next = Offset::Offset(part.next);
            list.add_partition_offset(&self.shared.name, part.partition, next)
                .map_err(|_| Halt::Again(Again::Failed))?;
        }
        self.client.assign(&list).map_err(|error| {
            tracing::warn!(topic = self.shared.topic.label(), error = ?client::code(&error), "partitions not assigned");
            Halt::Again(Again::Failed)
        })
    }

    /// Fetches nothing until partitions are assigned again; what is queued is dropped.
    pub(super) fn unassign(&self) -> Result<(), Halt> {
        self.client.unassign().map_err(|error| {
            tracing::warn!(topic = self.shared.topic.label(), error = ?client::code(&error), "partitions not unassigned");
            Halt::Again(Again::Failed)
        })
    }

    /// Begins to read a partition at an offset; what is queued of it is dropped.
    pub(super) fn seek(&self, partition: i32, offset: i64) -> bool {
        let offset = Offset::Offset(offset);
        self.client
            .seek(&self.shared.name, partition, offset, SEEK_TIMEOUT)
            .is_ok()
    }

    /// The offset after the last record or marker that was polled, if there was one
    /// since the last seek.
    pub(super) fn position(&self, partition: i32) -> Option<i64> {
        let list = self.client.position().ok()?;
        let element = list.find_partition(&self.shared.name, partition)?;
        match element.offset() {
            Offset::Offset(offset) => Some(offset),
            _ => None,
        }
    }

    /// The end that the last answered fetch told, if it did not fail.
    pub(super) fn fetched_end(&self, partition: i32) -> Option<i64> {
        ffi::fetched_end(self.client.client(), &self.shared.name, partition)
    }

    /// What comes next, within `wait`.
    pub(super) fn poll(&self, wait: Duration) -> Result<Event<'_>, Halt> {
        let error = match client::poll(&self.client, wait) {
            None => return Ok(Event::Nothing),
            Some(Ok(message)) => {
                self.readable()?;
                return Ok(Event::Record(message));
            }
            Some(Err(KafkaError::PartitionEOF(partition))) => {
                self.readable()?;
                return Ok(Event::EndOfPartition(partition));
            }
            Some(Err(error)) => error,
        };
        let code = client::code(&error);
        match code {
            RDKafkaErrorCode::AutoOffsetReset
            | RDKafkaErrorCode::OffsetOutOfRange
            | RDKafkaErrorCode::LogTruncation => return Err(Halt::Again(Again::OutOfRange)),
            RDKafkaErrorCode::TopicAuthorizationFailed => {
                self.refused.set(Some(Instant::now()));
                let access = &self.shared.access;
                access.records(&self.shared.emitter, Some(Trouble::Denied))?;
            }
            // Soon found out by a question, and said.
            RDKafkaErrorCode::AllBrokersDown => self.shared.ask(),
            _ if client::trouble(code) == Some(Trouble::Missing) => {
                return Err(Halt::Again(Again::Missing));
            }
            _ if matches!(error, KafkaError::MessageConsumptionFatal(_)) => {
                return Err(Halt::Again(Again::Failed));
            }
            // Trouble with connections: the client goes on by itself, and the questions
            // find out what is so.
            _ => {}
        }
        Ok(Event::Nothing)
    }

    /// Whether records are refused and it is time to try again.
    pub(super) fn is_refused_retry_due(&self, now: Instant) -> bool {
        let since = self.refused.get();
        let is_due = since.is_some_and(|since| now.duration_since(since) >= REFUSED_RETRY);
        if is_due {
            self.refused.set(Some(now));
        }
        is_due
    }

    pub(super) fn to_record(&self, message: &BorrowedMessage<'_>) -> Record {
        let (timestamp, append_time) = match message.timestamp() {
            Timestamp::NotAvailable => (None, false),
            Timestamp::CreateTime(ms) => (Some(EventTime(ms)), false),
            Timestamp::LogAppendTime(ms) => (Some(EventTime(ms)), true),
        };
        Record {
            topic: self.shared.topic,
            partition: message.partition(),
            offset: message.offset(),
            leader_epoch: ffi::leader_epoch(message),
            timestamp,
            append_time,
            key: message.key().map(<[u8]>::to_vec),
            value: message.payload().map(<[u8]>::to_vec),
        }
    }

    fn readable(&self) -> Result<(), Halt> {
        if self.shared.access.is_refused() {
            self.refused.set(None);
            self.shared.access.records(&self.shared.emitter, None)?;
        }
        Ok(())
    }

    fn questions(&self, asked: ArrivalTime, trouble: Option<Trouble>) -> Result<(), Halt> {
        let access = &self.shared.access;
        Ok(access.questions(&self.shared.emitter, asked, trouble)?)
    }
}

// === impl Halt ===

impl From<Stopped> for Halt {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}
