//! Finds the group's coordinator and keeps one connection to it, and to no other broker.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_core::facts::cluster::{Cluster, TopicRole};
use evenkeel_core::facts::poll::{Description, PolledState};
use tokio::time::{Instant, timeout, timeout_at};

use super::asks::{self, Answered};
use super::counters::PollCounters;
use super::error::{AskError, code};
use super::polls::GroupSource;
use super::reach::{Address, Files, Reach};
use super::reply::Node;
use super::security::{Security, Unfit};
use super::socket::Connection;
use crate::read::connection;
use crate::read::kafka::Now;

/// Brokers that one question is tried on; the next one goes on with those behind.
const TRIED_MAX: usize = 8;

/// How long one question looks for the coordinator: a broker that accepts and says nothing
/// costs 6 s, and a failure must be told while the last answer still counts (30 s).
const FIND_TIMEOUT: Duration = Duration::from_secs(15);

/// What the rare questions for settings may take together: the polls wait for them.
const CLUSTER_TIMEOUT: Duration = Duration::from_secs(3);

/// How long it is believed that a broker is the coordinator. A former one lists nothing
/// and does not say that it is not asked.
const FOUND_AGE_MAX: Duration = Duration::from_secs(5);

/// The way to the coordinator.
#[derive(Debug)]
pub(super) struct Session {
    security: Result<Arc<Security>, Unfit>,
    files: Files,
    group: Arc<str>,
    /// The topics whose settings are asked for.
    topics: Arc<[(TopicRole, String)]>,
    now: Clock,
    counters: Arc<PollCounters>,
    /// Brokers that others named.
    known: Vec<Address>,
    /// Which of all brokers is asked first: the one that answered last.
    first: usize,
    coordinator: Option<Coordinator>,
}

/// The clock, for a struct that is printed.
#[derive(Clone)]
struct Clock(Now);

#[derive(Debug)]
struct Coordinator {
    connection: Connection,
    /// Its number among the brokers.
    node: i32,
    found: Instant,
    /// Whether it answered a question of ours since it was opened.
    is_used: bool,
}

/// Which question.
#[derive(Debug, Clone, Copy)]
enum Question {
    List,
    Describe,
    Cluster,
}

/// Its answer.
#[derive(Debug)]
enum Told {
    Listed(Option<Answered<Option<PolledState>>>),
    Described(Answered<Description>),
    Cluster(Option<Answered<Cluster>>),
}

// === impl Session ===

impl Session {
    pub(super) fn new(
        connection: &connection::Connection,
        group: &Arc<str>,
        topics: Vec<(TopicRole, String)>,
        now: &Now,
        counters: &Arc<PollCounters>,
    ) -> Self {
        Self {
            security: Security::of(connection).map(Arc::new),
            files: Files::new(),
            group: Arc::clone(group),
            topics: topics.into(),
            now: Clock(Arc::clone(now)),
            counters: Arc::clone(counters),
            known: Vec::new(),
            first: 0,
            coordinator: None,
        }
    }

    /// Asks the coordinator; once more where the first try only showed that it is another
    /// one now, or that the connection had ended while it rested.
    async fn ask(&mut self, question: Question) -> Result<Told, AskError> {
        let mut is_again = false;
        loop {
            // Taken, so that a question that is broken off leaves no half-read answer.
            let mut coordinator = self.coordinator().await?;
            let was_used = coordinator.is_used;
            let error = match self.put(question, &mut coordinator).await {
                Ok(told) => {
                    coordinator.is_used = true;
                    self.coordinator = Some(coordinator);
                    return Ok(told);
                }
                Err(error) => error,
            };
            let is_moved = is_moved(&error);
            if matches!(error, AskError::Code { .. }) && !is_moved {
                // The connection is well.
                self.coordinator = Some(coordinator);
            }
            let is_worth_it = is_moved || (was_used && error.is_stale_connection());
            if is_again || !is_worth_it {
                return Err(error);
            }
            is_again = true;
        }
    }

    async fn put(
        &self,
        question: Question,
        coordinator: &mut Coordinator,
    ) -> Result<Told, AskError> {
        let (group, now) = (&*self.group, &self.now.0);
        let (connection, node) = (&mut coordinator.connection, coordinator.node);
        Ok(match question {
            Question::List => Told::Listed(asks::list(connection, group, now).await?),
            Question::Describe => Told::Described(asks::describe(connection, group, now).await?),
            Question::Cluster => {
                Told::Cluster(asks::cluster(connection, node, &self.topics, now).await?)
            }
        })
    }

    /// The connection to the coordinator, as of the last seconds.
    async fn coordinator(&mut self) -> Result<Coordinator, AskError> {
        let Some(mut coordinator) = self.coordinator.take() else {
            return self.find().await;
        };
        if coordinator.connection.has_expired() {
            drop(coordinator);
            return self.find().await;
        }
        if coordinator.found.elapsed() < FOUND_AGE_MAX {
            return Ok(coordinator);
        }
        let connection = &mut coordinator.connection;
        match asks::find(connection, &self.group, &self.now.0).await {
            Ok(node) if node.address == *connection.address() => {
                self.counters.finds.add(1);
                coordinator.found = Instant::now();
                Ok(coordinator)
            }
            Ok(node) => {
                self.counters.finds.add(1);
                tracing::debug!(group = %self.group, broker = node.id, "coordinator moved");
                drop(coordinator);
                let reach = self.reach().await?;
                self.open(&reach, &node).await
            }
            Err(error) if error.is_stale_connection() => self.find().await,
            Err(error) => {
                if matches!(error, AskError::Code { .. }) {
                    self.coordinator = Some(coordinator);
                }
                Err(error)
            }
        }
    }

    /// Asks one broker after the other who the coordinator is, for a while; the next
    /// question goes on with those behind.
    async fn find(&mut self) -> Result<Coordinator, AskError> {
        let until = Instant::now() + FIND_TIMEOUT;
        let reach = self.reach().await?;
        let brokers = self.brokers(&reach.security);
        let mut told = AskError::Closed;
        for index in 0..brokers.len().min(TRIED_MAX) {
            let place = self.first.checked_rem(brokers.len()).unwrap_or(0);
            let Some(broker) = brokers.get(place) else {
                break;
            };
            // Unless it is this one: whoever does not answer, or names a dead one.
            self.first = place.saturating_add(1);
            let doing = "looking for the coordinator";
            let found = timeout_at(until, self.find_at(&reach, broker)).await;
            let error = match found.unwrap_or(Err(AskError::Timeout { doing })) {
                Ok(Ok(coordinator)) => {
                    self.first = place;
                    return Ok(coordinator);
                }
                Ok(Err(error)) => return Err(error),
                Err(error) => error,
            };
            if error.is_final() || matches!(error, AskError::Code { .. }) {
                return Err(error);
            }
            if index == 0 || error.rank() > told.rank() {
                told = error;
            }
            if Instant::now() >= until {
                break;
            }
        }
        Err(told)
    }

    /// Asks one broker who the coordinator is, and goes there. The outer error is that
    /// broker's, so that another one may be asked; the inner one the coordinator's.
    async fn find_at(
        &mut self,
        reach: &Reach,
        broker: &Address,
    ) -> Result<Result<Coordinator, AskError>, AskError> {
        let now = &self.now.0;
        let mut connection = Connection::open(reach, broker, now).await?;
        let node = asks::find(&mut connection, &self.group, now).await?;
        self.counters.finds.add(1);
        let others = asks::brokers(&mut connection, now).await?;
        self.known = others.into_iter().map(|node| node.address).collect();
        if node.address == *broker {
            return Ok(Ok(Coordinator::new(connection, node.id)));
        }
        drop(connection);
        Ok(self.open(reach, &node).await)
    }

    async fn open(&self, reach: &Reach, node: &Node) -> Result<Coordinator, AskError> {
        let connection = Connection::open(reach, &node.address, &self.now.0).await?;
        Ok(Coordinator::new(connection, node.id))
    }

    async fn reach(&self) -> Result<Reach, AskError> {
        match &self.security {
            Ok(security) => Reach::new(security, &self.files).await,
            Err(unfit) => Err(unfit.clone().into()),
        }
    }

    /// All brokers that may be asked: first those that a person named.
    fn brokers(&self, security: &Security) -> Vec<Address> {
        let mut brokers: Vec<Address> = Vec::new();
        for address in security.brokers.iter().chain(&self.known) {
            if !brokers.contains(address) {
                brokers.push(address.clone());
            }
        }
        brokers
    }
}

impl GroupSource for Session {
    async fn list(&mut self) -> Result<Option<Answered<Option<PolledState>>>, AskError> {
        match self.ask(Question::List).await? {
            Told::Listed(listed) => Ok(listed),
            _ => Err(AskError::Nonsense("list")),
        }
    }

    async fn describe(&mut self) -> Result<Answered<Description>, AskError> {
        match self.ask(Question::Describe).await? {
            Told::Described(described) => Ok(described),
            _ => Err(AskError::Nonsense("description")),
        }
    }

    async fn cluster(&mut self) -> Result<Option<Answered<Cluster>>, AskError> {
        let asked = timeout(CLUSTER_TIMEOUT, self.ask(Question::Cluster)).await;
        let doing = "settings of brokers and topics";
        match asked.map_err(|_| AskError::Timeout { doing })?? {
            Told::Cluster(told) => Ok(told),
            _ => Err(AskError::Nonsense("settings")),
        }
    }

    fn reconnect(&mut self, connection: &connection::Connection) {
        self.security = Security::of(connection).map(Arc::new);
        // Other files, perhaps, than those that are waited for.
        self.files = Files::new();
        self.known.clear();
        self.first = 0;
        self.coordinator = None;
    }
}

/// Whether another broker is the coordinator now.
fn is_moved(error: &AskError) -> bool {
    let AskError::Code { code, .. } = error else {
        return false;
    };
    matches!(
        *code,
        code::NOT_COORDINATOR
            | code::COORDINATOR_NOT_AVAILABLE
            | code::COORDINATOR_LOAD_IN_PROGRESS
    )
}

// === impl Coordinator ===

impl Coordinator {
    fn new(connection: Connection, node: i32) -> Self {
        Self {
            connection,
            node,
            found: Instant::now(),
            is_used: false,
        }
    }
}

// === impl Clock ===

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}
