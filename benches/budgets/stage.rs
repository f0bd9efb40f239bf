//! An agent of this process, and the records of other groups that it reads past.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use evenkeel::config::Readiness;
use evenkeel::read::kafka::ReadSettings;
use evenkeel::run::agent::{Agent, Plan};
use evenkeel::run::shutdown::Shutdown;
use evenkeel::show::http::HttpLimits;
use evenkeel::show::view::{AgentStats, Published, SeriesLimits};
use evenkeel_core::wire::encode;
use evenkeel_core::wire::offset_commit::OffsetCommit;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::fleet::KeyValue;

/// No wait may last longer.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(300);

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
            traces: None,
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
