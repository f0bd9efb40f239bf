//! A Connect group that exists as records alone: its rounds, configurations and statuses,
//! written the way Kafka and Connect write them.

use anyhow::Context;
use evenkeel_core::wire::config_record::ConfigKey;
use evenkeel_core::wire::encode::{self, AssignmentSpec, SubscriptionSpec, topics};
use evenkeel_core::wire::group_record::{GroupMetadata, Member};
use evenkeel_core::wire::status_record::{State, StatusKey};

pub(crate) const GROUP: &str = "connect-cluster";

/// A connector by its number, and a task of it or, with -1, the connector itself.
type Item = (usize, i32);

/// Key and value of a record.
pub(crate) type KeyValue = (Vec<u8>, Vec<u8>);

/// The group, and who holds what in it.
pub(crate) struct Fleet {
    names: Vec<String>,
    tasks_each: i32,
    urls: Vec<String>,
    ids: Vec<String>,
    held: Vec<Vec<Item>>,
    /// Revoked by the last round, by the worker that had it.
    parked: Vec<Vec<Item>>,
    pub(crate) generation: i32,
    config_offset: i64,
}

// === impl Fleet ===

impl Fleet {
    /// Work dealt out round-robin, as Connect does: a worker holds a task of each of many
    /// connectors, and its claim names all of them.
    pub(crate) fn new(workers: usize, connectors: usize, tasks_each: i32) -> Fleet {
        Fleet::dealt(workers, (connectors, tasks_each), |place, _| {
            place % workers
        })
    }

    /// All tasks of a connector on one worker: few names to a claim.
    pub(crate) fn together(workers: usize, connectors: usize, tasks_each: i32) -> Fleet {
        Fleet::dealt(workers, (connectors, tasks_each), |_, (connector, _)| {
            connector % workers
        })
    }

    fn dealt(
        workers: usize,
        (connectors, tasks_each): (usize, i32),
        worker_of: impl Fn(usize, Item) -> usize,
    ) -> Fleet {
        let mut held = vec![Vec::new(); workers];
        let connectors_themselves = (0..connectors).map(|connector| (connector, -1));
        let tasks =
            (0..connectors).flat_map(|connector| (0..tasks_each).map(move |t| (connector, t)));
        for (place, item) in connectors_themselves.chain(tasks).enumerate() {
            held[worker_of(place, item)].push(item);
        }
        Fleet {
            names: (0..connectors)
                .map(|number| format!("orders-{number:04}-cdc"))
                .collect(),
            tasks_each,
            urls: (0..workers)
                .map(|number| format!("http://worker-{number:02}.connect.svc:8083/"))
                .collect(),
            ids: (0..workers)
                .map(|number| format!("connect-{number:02}-6f9619ff-8b86-d011-b42d-00c04fc964ff"))
                .collect(),
            held,
            parked: vec![Vec::new(); workers],
            generation: 0,
            config_offset: 0,
        }
    }

    pub(crate) fn workers(&self) -> usize {
        self.urls.len()
    }

    pub(crate) fn items(&self) -> usize {
        self.names.len() * (usize::try_from(self.tasks_each).unwrap_or(0) + 1)
    }

    pub(crate) fn key() -> anyhow::Result<Vec<u8>> {
        Ok(encode::group_metadata_key(GROUP)?)
    }

    /// The record of the next generation. What the one before revoked goes to the next
    /// worker; then each worker is asked for `revoke` of what it holds.
    pub(crate) fn round(&mut self, revoke: usize, now_ms: i64) -> anyhow::Result<Vec<u8>> {
        self.generation += 1;
        let workers = self.workers();
        let claims = self.held.clone();
        let mut assigned = std::mem::replace(&mut self.parked, vec![Vec::new(); workers]);
        assigned.rotate_right(1);
        let mut revoked = vec![Vec::new(); workers];
        for worker in 0..workers {
            let count = revoke.min(self.held[worker].len());
            revoked[worker] = self.held[worker].drain(..count).collect();
            self.held[worker].extend(&assigned[worker]);
        }
        let members = (0..workers)
            .map(|worker| {
                let claim = self.spec(&claims[worker], &[]);
                let subscription = SubscriptionSpec {
                    version: 2,
                    url: &self.urls[worker],
                    config_offset: self.config_offset,
                    claim: Some(claim),
                };
                let told = self.spec(&assigned[worker], &revoked[worker]);
                Ok((
                    encode::subscription(&subscription)?,
                    encode::assignment(&told)?,
                ))
            })
            .collect::<anyhow::Result<Vec<(Vec<u8>, Vec<u8>)>>>()?;
        let members = members.iter().zip(&self.ids);
        let members = members.map(|((subscription, assignment), member_id)| Member {
            member_id,
            group_instance_id: None,
            client_id: "connect",
            client_host: "/192.0.2.1",
            rebalance_timeout_ms: Some(60_000),
            session_timeout_ms: 10_000,
            subscription,
            assignment,
        });
        let value = encode::group_metadata(&GroupMetadata {
            version: 3,
            protocol_type: "connect",
            generation: self.generation,
            protocol: Some("sessioned"),
            leader: self.ids.first().map(String::as_str),
            current_state_timestamp_ms: Some(now_ms - 1),
            members: members.collect(),
        })?;
        self.parked = revoked;
        Ok(value)
    }

    fn spec(&self, assigned: &[Item], revoked: &[Item]) -> AssignmentSpec<'_> {
        let named = |items: &[Item]| {
            let pairs = items.iter().map(|&(connector, task)| (connector, task));
            let mut pairs: Vec<Item> = pairs.collect();
            pairs.sort_unstable();
            encode::items_of(
                pairs
                    .into_iter()
                    .map(|(connector, task)| (self.names[connector].as_str(), task)),
            )
        };
        AssignmentSpec {
            version: 2,
            error: 0,
            leader: &self.ids[0],
            leader_url: &self.urls[0],
            config_offset: self.config_offset,
            assigned: Some(named(assigned)),
            revoked: Some(named(revoked)),
            delay_ms: 0,
        }
    }

    /// The config topic: each connector, its tasks, their commit. Rounds that follow name
    /// its last offset, as workers do that have read it.
    pub(crate) fn configs(&mut self) -> Vec<KeyValue> {
        let mut records = Vec::new();
        for connector in &self.names {
            let key = |key: ConfigKey<'_>| topics::config_key(&key).into_bytes();
            records.push((key(ConfigKey::Connector { connector }), settings(connector)));
            for task in 0..self.tasks_each {
                let key = key(ConfigKey::Task { connector, task });
                records.push((key, settings(connector)));
            }
            let commit = topics::commit(self.tasks_each);
            records.push((key(ConfigKey::Commit { connector }), commit));
        }
        self.config_offset = i64::try_from(records.len()).unwrap_or(i64::MAX) - 1;
        records
    }

    /// The status topic: all that is held runs since this generation.
    pub(crate) fn statuses(&self) -> Vec<KeyValue> {
        let all = self.held.iter().enumerate();
        all.flat_map(|(worker, items)| items.iter().map(move |item| self.status(worker, *item)))
            .collect()
    }

    /// A status of something that a worker holds, with the present generation.
    pub(crate) fn one_status(&self) -> anyhow::Result<KeyValue> {
        let first = self.held.first().and_then(|items| items.last());
        let first = first.context("the first worker holds nothing")?;
        Ok(self.status(0, *first))
    }

    fn status(&self, worker: usize, (connector, task): Item) -> KeyValue {
        let connector = &self.names[connector];
        let key = match task {
            -1 => StatusKey::Connector { connector },
            task => StatusKey::Task { connector, task },
        };
        let url = &self.urls[worker];
        let id = url.trim_start_matches("http://").trim_end_matches('/');
        let value = topics::status(&State::Running, id, self.generation, None);
        (topics::status_key(&key).into_bytes(), value)
    }
}

/// The settings of a connector or task, of the usual size.
fn settings(connector: &str) -> Vec<u8> {
    let many: Vec<(String, String)> = (0..24)
        .map(|number| {
            let name = format!("transforms.step{number}.field.name");
            (name, "a value of the usual length".to_owned())
        })
        .collect();
    let many = many.iter().map(|(k, v)| (k.as_str(), Some(v.as_str())));
    topics::properties(many.chain([("name", Some(connector)), ("tasks.max", Some("10"))]))
}
