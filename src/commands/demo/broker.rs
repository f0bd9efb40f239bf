//! The embedded broker: one Kafka broker in this process, for `demo` and for tests that need faults on demand.
//!
//! It speaks Kafka's wire protocol to librdkafka and to Kafka's own console consumer, holds everything in memory, and
//! is written only through [`Broker`]. It is the leader of all partitions and the coordinator of all groups. What it
//! lacks: TLS, SASL, compression, fetch sessions, writes over the wire, groups of more than one member. It proves
//! nothing about a real broker; the tests on real Kafka do.

mod batch;
mod bounds;
mod committed;
mod dispatch;
mod faults;
mod fetch;
mod groups;
mod log;
mod membership;
mod metadata;
mod offsets;
mod request;
mod serve;
mod shapes;
mod shared;
mod store;
#[cfg(test)]
mod tests;
mod types;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

pub use faults::Target;
pub use groups::{GroupMember, GroupSpec};
/// The APIs and errors that faults and counters name.
pub use kafka_protocol::{ResponseError, messages::ApiKey};
pub use types::{BrokerError, Marker, Record, TopicSpec};

use log::PartitionLog;
use request::RequestError;
use shared::Shared;
use store::Store;

/// Records appended under one lock.
const APPEND_RECORDS_MAX: usize = 8_192;

/// A running broker. Clones are handles of the same one; it ends with [`Broker::shutdown`] or with its last handle.
#[derive(Debug, Clone)]
pub struct Broker {
    shared: Arc<Shared>,
    listener: Arc<Mutex<Option<Running>>>,
}

#[derive(Debug)]
struct Running {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Broker {
    /// Listens on `listen` (port 0 takes a free one) with these topics, all empty.
    ///
    /// # Errors
    /// If the address cannot be bound, or a topic is named twice or has no partition.
    pub async fn start(
        listen: SocketAddr,
        cluster_id: &str,
        topics: &[TopicSpec],
    ) -> Result<Self, BrokerError> {
        let mut store = Store::default();
        for topic in topics {
            store.create_topic(topic)?;
        }
        let (listener, address) = bind(listen).await?;
        let shared = Arc::new(Shared::new(cluster_id.to_owned(), address, store));
        let running = run(listener, &shared);
        Ok(Self {
            shared,
            listener: Arc::new(Mutex::new(Some(running))),
        })
    }

    /// Where clients connect; stays the same over [`Broker::stop`] and [`Broker::resume`].
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    // === Topics and records ===

    /// # Errors
    /// If the topic exists, or has no partition or too many.
    pub fn create_topic(&self, topic: &TopicSpec) -> Result<(), BrokerError> {
        self.shared.store().create_topic(topic)
    }

    /// # Errors
    /// If there is no such topic.
    pub fn delete_topic(&self, topic: &str) -> Result<(), BrokerError> {
        self.shared.store().delete_topic(topic)?;
        self.shared.wake_fetches();
        Ok(())
    }

    /// Replaces a topic by an empty one of the same name and partitions, with another topic id.
    ///
    /// # Errors
    /// If there is no such topic.
    pub fn recreate_topic(&self, topic: &str) -> Result<(), BrokerError> {
        let mut store = self.shared.store();
        let partitions = store.delete_topic(topic)?;
        store.create_topic(&TopicSpec {
            name: topic.to_owned(),
            partitions,
        })?;
        drop(store);
        self.shared.wake_fetches();
        Ok(())
    }

    /// Appends one record as a batch of its own and returns its offset.
    ///
    /// # Errors
    /// If the partition does not exist or the wanted offset is taken.
    pub fn append(&self, topic: &str, partition: i32, record: Record) -> Result<i64, BrokerError> {
        let end = self.write(topic, partition, |log| {
            log.append(None, [record])?;
            Ok(log.end_offset())
        })?;
        Ok(end.saturating_sub(1))
    }

    /// Appends records in order, many to a batch, and returns the log end after them.
    ///
    /// # Errors
    /// As [`Broker::append`]; the records before the refused one stay.
    pub fn append_many(
        &self,
        topic: &str,
        partition: i32,
        records: impl IntoIterator<Item = Record>,
    ) -> Result<i64, BrokerError> {
        self.write_many(topic, partition, None, records)
    }

    /// Appends records of a transaction, which consumers with `read_committed` see once its marker is there.
    ///
    /// # Errors
    /// As [`Broker::append_many`].
    pub fn append_transactional(
        &self,
        topic: &str,
        partition: i32,
        producer_id: i64,
        records: impl IntoIterator<Item = Record>,
    ) -> Result<i64, BrokerError> {
        self.write_many(topic, partition, Some(producer_id), records)
    }

    /// Appends a transaction marker, which takes an offset that no consumer is ever shown.
    ///
    /// # Errors
    /// As [`Broker::append`].
    pub fn append_control(
        &self,
        topic: &str,
        partition: i32,
        marker: &Marker,
    ) -> Result<i64, BrokerError> {
        self.write(topic, partition, |log| log.append_marker(marker))
    }

    /// Moves the log end to `end_offset` without a record: the newest ones were compacted away.
    ///
    /// # Errors
    /// If the partition does not exist or ends beyond `end_offset`.
    pub fn leave_hole_at_end(
        &self,
        topic: &str,
        partition: i32,
        end_offset: i64,
    ) -> Result<(), BrokerError> {
        self.write(topic, partition, |log| log.advance_end(end_offset))
    }

    /// Moves the log start up to `start_offset`: what lies before is gone.
    ///
    /// # Errors
    /// If the partition does not exist.
    pub fn truncate_front(
        &self,
        topic: &str,
        partition: i32,
        start_offset: i64,
    ) -> Result<(), BrokerError> {
        self.write(topic, partition, |log| {
            log.truncate_front(start_offset);
            Ok(())
        })
    }

    /// Sets the leader epoch that clients must know and that later batches carry: the leader moved.
    ///
    /// # Errors
    /// If the partition does not exist.
    pub fn set_leader_epoch(
        &self,
        topic: &str,
        partition: i32,
        leader_epoch: i32,
    ) -> Result<(), BrokerError> {
        self.write(topic, partition, |log| {
            log.set_leader_epoch(leader_epoch);
            Ok(())
        })
    }

    /// The offset the next record gets.
    ///
    /// # Errors
    /// If the partition does not exist.
    pub fn end_offset(&self, topic: &str, partition: i32) -> Result<i64, BrokerError> {
        let mut store = self.shared.store();
        Ok(store.partition_mut(topic, partition)?.end_offset())
    }

    // === Groups ===

    /// Shows this group in ListGroups and DescribeGroups, in place of what it showed before.
    pub fn set_group(&self, group: GroupSpec) {
        self.shared.groups().insert(group.group.clone(), group);
    }

    pub fn remove_group(&self, group: &str) {
        self.shared.groups().remove(group);
    }

    // === Faults ===

    /// Answers `error` for this target in every later request of `api`.
    ///
    /// For topics: Metadata, ListOffsets, Fetch, OffsetForLeaderEpoch. For groups: FindCoordinator, DescribeGroups,
    /// ListGroups (leaves the group out) and the group membership APIs. ApiVersions and a ListGroups that fails as a
    /// whole take [`Target::All`].
    pub fn deny(&self, api: ApiKey, target: Target, error: ResponseError) {
        self.shared.faults.deny(api, target, error);
        self.shared.wake_fetches();
    }

    /// Takes a denial back.
    pub fn allow(&self, api: ApiKey, target: &Target) {
        self.shared.faults.allow(api, target);
    }

    /// Holds every later request of `api` back for `delay` before it is answered.
    pub fn delay(&self, api: ApiKey, delay: Duration) {
        self.shared.faults.delay(api, delay);
    }

    /// Leaves requests of `api` without an answer, and those behind them on the same connection, until
    /// [`Broker::clear_faults`].
    pub fn hang(&self, api: ApiKey) {
        self.shared.faults.hang(api);
    }

    /// Takes back all denials, delays and hangs.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
    }

    /// Closes all connections that are open now; clients may come back at once.
    pub fn close_connections(&self) {
        self.shared.kick();
    }

    /// Stops listening and closes all connections: the broker is down. Its contents stay.
    pub async fn stop(&self) {
        let running = self.listener.lock().await.take();
        if let Some(running) = running {
            running.stop.send_replace(true);
            if let Err(error) = running.task.await {
                tracing::error!(%error, "embedded broker's listener failed");
            }
        }
    }

    /// Listens again where it did before; nothing happens if it does so already.
    ///
    /// # Errors
    /// If the port has been taken meanwhile.
    pub async fn resume(&self) -> Result<(), BrokerError> {
        let mut running = self.listener.lock().await;
        if running.is_none() {
            let (listener, _) = bind(self.shared.address).await?;
            *running = Some(run(listener, &self.shared));
        }
        Ok(())
    }

    /// Ends the broker; when this returns no task of it is left.
    pub async fn shutdown(self) {
        self.stop().await;
    }

    // === Counters ===

    /// Requests of `api` since the start, whatever their answer.
    pub fn requests(&self, api: ApiKey) -> u64 {
        self.shared.requests(api)
    }

    /// Bytes of the answers to `api` since the start.
    pub fn bytes_out(&self, api: ApiKey) -> u64 {
        self.shared.bytes_out(api)
    }

    pub fn connections_open(&self) -> usize {
        self.shared.connections_open()
    }

    pub fn connections_opened(&self) -> u64 {
        self.shared.connections_opened()
    }

    /// Appends by chunks, so that fetches are served in between.
    fn write_many(
        &self,
        topic: &str,
        partition: i32,
        producer_id: Option<i64>,
        records: impl IntoIterator<Item = Record>,
    ) -> Result<i64, BrokerError> {
        let mut records = records.into_iter();
        loop {
            let chunk: Vec<Record> = records.by_ref().take(APPEND_RECORDS_MAX).collect();
            let more = chunk.len() == APPEND_RECORDS_MAX;
            let end_offset = self.write(topic, partition, |log| {
                log.append(producer_id, chunk)?;
                Ok(log.end_offset())
            })?;
            if !more {
                return Ok(end_offset);
            }
        }
    }

    fn write<T>(
        &self,
        topic: &str,
        partition: i32,
        change: impl FnOnce(&mut PartitionLog) -> Result<T, BrokerError>,
    ) -> Result<T, BrokerError> {
        let outcome = change(self.shared.store().partition_mut(topic, partition)?);
        self.shared.wake_fetches();
        outcome
    }
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), BrokerError> {
    let failed = |source| BrokerError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

fn run(listener: TcpListener, shared: &Arc<Shared>) -> Running {
    let (stop, stopped) = watch::channel(false);
    let task = tokio::spawn(serve::listen(listener, Arc::clone(shared), stopped));
    Running { stop, task }
}
