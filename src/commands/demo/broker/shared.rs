//! What all connections of one broker share: topics, groups, faults, counters, and who wakes whom.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kafka_protocol::messages::ApiKey;
use tokio::sync::watch;

use super::committed::CommittedOffsets;
use super::faults::Faults;
use super::groups::GroupSpec;
use super::membership::Memberships;
use super::shapes::SERVED;
use super::store::Store;

/// The one broker of the cluster: leader of every partition, coordinator of every group.
pub(super) const NODE_ID: i32 = 1;

/// Requests and answers of one API.
#[derive(Debug, Default)]
struct Traffic {
    requests: AtomicU64,
    bytes_out: AtomicU64,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) cluster_id: String,
    pub(super) address: SocketAddr,
    pub(super) faults: Faults,
    store: Mutex<Store>,
    groups: Mutex<BTreeMap<String, GroupSpec>>,
    memberships: Mutex<Memberships>,
    committed: Mutex<CommittedOffsets>,
    traffic: Vec<(ApiKey, Traffic)>,
    connections_opened: AtomicU64,
    connections_open: AtomicUsize,
    /// Wakes fetches that wait for records.
    appends: watch::Sender<u64>,
    /// Closes the connections that are open.
    kicks: watch::Sender<u64>,
}

impl Shared {
    pub(super) fn new(cluster_id: String, address: SocketAddr, store: Store) -> Self {
        Self {
            cluster_id,
            address,
            faults: Faults::new(),
            store: Mutex::new(store),
            groups: Mutex::default(),
            memberships: Mutex::default(),
            committed: Mutex::default(),
            traffic: SERVED
                .iter()
                .map(|served| (served.api, Traffic::default()))
                .collect(),
            connections_opened: AtomicU64::new(0),
            connections_open: AtomicUsize::new(0),
            appends: watch::Sender::new(0),
            kicks: watch::Sender::new(0),
        }
    }

    pub(super) fn host(&self) -> String {
        self.address.ip().to_string()
    }

    pub(super) fn port(&self) -> i32 {
        self.address.port().into()
    }

    // A panic under one of these locks ends one connection's task; the data stays usable for the others.

    pub(super) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn groups(&self) -> MutexGuard<'_, BTreeMap<String, GroupSpec>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn memberships(&self) -> MutexGuard<'_, Memberships> {
        self.memberships
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn committed(&self) -> MutexGuard<'_, CommittedOffsets> {
        self.committed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn appends(&self) -> watch::Receiver<u64> {
        self.appends.subscribe()
    }

    pub(super) fn wake_fetches(&self) {
        self.appends
            .send_modify(|version| *version = version.wrapping_add(1));
    }

    pub(super) fn kicks(&self) -> watch::Receiver<u64> {
        self.kicks.subscribe()
    }

    pub(super) fn kick(&self) {
        self.kicks
            .send_modify(|version| *version = version.wrapping_add(1));
    }

    pub(super) fn open_connection(&self) -> u64 {
        self.connections_open.fetch_add(1, Ordering::Relaxed);
        self.connections_opened.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn close_connection(&self, connection: u64) {
        self.connections_open.fetch_sub(1, Ordering::Relaxed);
        self.memberships().connection_closed(connection);
    }

    pub(super) fn connections_open(&self) -> usize {
        self.connections_open.load(Ordering::Relaxed)
    }

    pub(super) fn connections_opened(&self) -> u64 {
        self.connections_opened.load(Ordering::Relaxed)
    }

    pub(super) fn count_request(&self, api: ApiKey) {
        if let Some(traffic) = self.traffic(api) {
            traffic.requests.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn count_bytes_out(&self, api: ApiKey, bytes: usize) {
        if let Some(traffic) = self.traffic(api) {
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            traffic.bytes_out.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    pub(super) fn requests(&self, api: ApiKey) -> u64 {
        self.traffic(api)
            .map_or(0, |traffic| traffic.requests.load(Ordering::Relaxed))
    }

    pub(super) fn bytes_out(&self, api: ApiKey) -> u64 {
        self.traffic(api)
            .map_or(0, |traffic| traffic.bytes_out.load(Ordering::Relaxed))
    }

    fn traffic(&self, api: ApiKey) -> Option<&Traffic> {
        self.traffic
            .iter()
            .find(|(known, _)| *known == api)
            .map(|(_, traffic)| traffic)
    }
}
