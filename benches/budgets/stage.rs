//! The embedded broker with the three topics of one group, and an agent of this process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bytes::Bytes;
use evenkeel::commands::demo::broker::{Broker, GroupSpec, Record, TopicSpec};
use evenkeel::config::Readiness;
use evenkeel::read::connection::{Connection, Hidden};
use evenkeel::read::kafka::ReadSettings;
use evenkeel::run::agent::{Agent, Plan};
use evenkeel::run::clock;
use evenkeel::run::shutdown::Shutdown;
use evenkeel::show::http::HttpLimits;
use evenkeel::show::view::{AgentStats, Published, SeriesLimits};
use evenkeel_core::facts::partition::group_partition;
use evenkeel_core::wire::encode;
use evenkeel_core::wire::offset_commit::OffsetCommit;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::fleet::{Fleet, GROUP, KeyValue};

pub(crate) const OFFSETS: &str = "__consumer_offsets";
pub(crate) const CONFIG: &str = "connect-configs";
pub(crate) const STATUS: &str = "connect-status";

/// No wait may last longer.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(300);

/// The topics that a group has: few partitions, since only one is read.
pub(crate) async fn broker() -> anyhow::Result<Broker> {
    let specs = [(OFFSETS, 3), (CONFIG, 1), (STATUS, 5)];
    let specs = specs.map(|(name, partitions)| TopicSpec {
        name: name.to_owned(),
        partitions,
    });
    let broker = Broker::start("127.0.0.1:0".parse()?, "embedded-bench", &specs).await?;
    broker.set_group(GroupSpec {
        group: GROUP.to_owned(),
        state: "Stable".to_owned(),
        protocol_type: "connect".to_owned(),
        protocol: "sessioned".to_owned(),
        members: Vec::new(),
    });
    Ok(broker)
}

/// The partition of the offsets topic that holds the group.
pub(crate) fn partition() -> anyhow::Result<i32> {
    group_partition(GROUP, 3).context("no partition")
}

pub(crate) fn settings(bootstrap: String, offsets_topic: &str) -> ReadSettings {
    ReadSettings {
        connection: Connection {
            properties: [("bootstrap.servers".to_owned(), Hidden(bootstrap))].into(),
            token_file: None,
        },
        group: GROUP.to_owned(),
        offsets_topic: offsets_topic.to_owned(),
        config_topic: CONFIG.to_owned(),
        status_topic: STATUS.to_owned(),
        ..ReadSettings::default()
    }
}

pub(crate) fn record(key: Vec<u8>, value: Vec<u8>) -> Record {
    Record {
        key: Some(Bytes::from(key)),
        value: Some(Bytes::from(value)),
        timestamp_ms: clock::now().0,
        offset: None,
    }
}

/// Offset commits of other groups, as nearly all records of the partition are.
pub(crate) fn foreign(count: u64) -> anyhow::Result<impl Iterator<Item = KeyValue>> {
    let value = encode::offset_commit(&OffsetCommit {
        version: 3,
        offset: 123_456_789,
        leader_epoch: None,
        metadata: "",
        commit_timestamp_ms: 1_700_000_000_000,
        expire_timestamp_ms: None,
    })?;
    let keys = (0..64)
        .map(|number| {
            let group = format!("connect-sink-orders-{:02}", number / 8);
            encode::offset_commit_key(&group, "orders", number % 8)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let keys = keys.into_iter().cycle();
    let count = usize::try_from(count)?;
    Ok(keys.take(count).map(move |key| (key, value.clone())))
}

/// Appends so many of them.
pub(crate) fn fill(broker: &Broker, count: u64) -> anyhow::Result<()> {
    let records = foreign(count)?.map(|(key, value)| record(key, value));
    broker.append_many(OFFSETS, partition()?, records)?;
    Ok(())
}

/// Appends what the workers of the group have written up to now, statuses last.
pub(crate) fn settle(broker: &Broker, fleet: &mut Fleet, history: u32) -> anyhow::Result<()> {
    for (key, value) in fleet.configs() {
        broker.append(CONFIG, 0, record(key, value))?;
    }
    for _ in 0..history {
        let now_ms = clock::now().0;
        let value = fleet.round(1, now_ms)?;
        broker.append(OFFSETS, partition()?, record(Fleet::key()?, value))?;
    }
    // The last two leave nothing parked.
    for _ in 0..2 {
        let value = fleet.round(0, clock::now().0)?;
        broker.append(OFFSETS, partition()?, record(Fleet::key()?, value))?;
    }
    for (place, (key, value)) in fleet.statuses().into_iter().enumerate() {
        broker.append(STATUS, i32::try_from(place % 5)?, record(key, value))?;
    }
    Ok(())
}

/// An agent that runs in this process until it is dropped.
pub(crate) struct Running {
    pub(crate) published: watch::Receiver<Arc<Published>>,
    shutdown: Arc<Shutdown>,
    served: JoinHandle<()>,
}

// === impl Running ===

impl Running {
    pub(crate) async fn start(settings: ReadSettings) -> anyhow::Result<Running> {
        let plan = Plan {
            groups: vec![settings],
            state: None,
            look: None,
            readiness: Readiness::Lenient,
            series: SeriesLimits::default(),
            agent: AgentStats::default(),
            http: HttpLimits::default(),
            web: None,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let shutdown = Arc::new(Shutdown::new());
        let agent = Agent::start(plan, &shutdown)?;
        let published = agent.published();
        let until = Arc::clone(&shutdown);
        let served = tokio::spawn(async move { agent.serve(listener, &until).await });
        Ok(Running {
            published,
            shutdown,
            served,
        })
    }

    /// Waits until what is published is so; gives how long that took.
    pub(crate) async fn until(
        &mut self,
        what: &str,
        is_so: impl Fn(&Published) -> bool,
    ) -> anyhow::Result<Duration> {
        let began = Instant::now();
        loop {
            if is_so(&self.published.borrow_and_update()) {
                return Ok(began.elapsed());
            }
            let left = WAIT_MAX.saturating_sub(began.elapsed());
            ensure!(
                !left.is_zero(),
                "{what}: not within {} s",
                WAIT_MAX.as_secs()
            );
            // What was waited for is looked at again either way.
            if let Ok(gone) = tokio::time::timeout(left, self.published.changed()).await {
                gone.context("the agent ended")?;
            }
        }
    }

    /// Waits until the answers about the group may be shown.
    pub(crate) async fn until_fresh(&mut self) -> anyhow::Result<Duration> {
        self.until("true answers", |published| {
            published
                .groups
                .first()
                .is_some_and(|answers| answers.fresh)
        })
        .await
    }

    pub(crate) async fn end(self) -> anyhow::Result<()> {
        self.shutdown.begin();
        Ok(self.served.await?)
    }
}
