//! Reads the three topics of one group and gives them as [`Input`]s: assigned, never
//! joined, never committed, nothing created, nothing written.
//!
//! Each topic has a client of its own (isolation is a client's setting, and a broker
//! that hangs holds up one topic only), a thread that reads, and a thread that asks
//! for end offsets. All of them stop when told to or when nobody takes the inputs.

mod budget;
mod client;
mod emit;
mod ends;
mod frontier;
mod resume;
mod sample;
mod search;
mod session;
mod shared;
mod source;
mod tail;
#[cfg(test)]
mod tests;
mod topic;
mod watched;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use evenkeel_core::facts::input::{Input, InputKind, Topic, WorkerSetting};
use evenkeel_core::facts::time::ArrivalTime;
use thiserror::Error;
use tokio::sync::mpsc;

use crate::read::connection::Connection;
use crate::read::counters::ReadCounters;
use crate::read::hitch::Hitch;
use crate::read::mask::NameMask;
use crate::read::token::{Lacking, TokenSource, UNSECURED, UNSECURED_CONFIG};
use emit::Emitter;
pub use resume::{Identity, ReadTo, TopicReadTo};
pub use search::Limits;
use topic::TopicReader;
use watched::Watched;

/// The agent's clock, handed in: the reader stamps arrivals with it.
pub type Now = Arc<dyn Fn() -> ArrivalTime + Send + Sync>;

/// What to read and how to reach it.
#[derive(Debug, Clone, Default)]
pub struct ReadSettings {
    /// How the cluster is reached.
    pub connection: Connection,
    /// The Connect group.
    pub group: String,
    /// `__consumer_offsets`.
    pub offsets_topic: String,
    /// `config.storage.topic`.
    pub config_topic: String,
    /// `status.storage.topic`.
    pub status_topic: String,
    /// `offset.storage.topic`, where somebody says it: its settings alone are read.
    pub offset_storage_topic: Option<String>,
    /// Passed on in the settings input.
    pub worker_release: Option<String>,
    /// Passed on in the settings input.
    pub own_worker: Option<String>,
    /// Passed on in the settings input.
    pub own_addresses: Vec<String>,
    /// Passed on in the settings input.
    pub worker_settings: Vec<WorkerSetting>,
    /// Replaces connector names in every record, where they are to be hidden.
    pub mask: Option<NameMask>,
}

/// A mistake in the settings, found before anything is connected. No text of it
/// repeats a property's value.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ReadError {
    /// librdkafka does not take a property.
    #[error("property {name}: {reason}")]
    Property {
        /// Its name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A property that would make evenkeel more than an observer, or untrue.
    #[error("property {name} is not allowed: {reason}")]
    NotAllowed {
        /// Its name.
        name: String,
        /// What it would do.
        reason: &'static str,
    },
    /// The properties do not fit together.
    #[error("kafka client not created: {reason}")]
    Client {
        /// What librdkafka says.
        reason: String,
    },
}

/// The readers of one group. Dropping it stops them.
#[derive(Debug)]
pub struct ReaderHandle {
    emitter: Arc<Emitter>,
    topics: Vec<Arc<shared::Shared>>,
    watched: Arc<Watched>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What will not do about properties, without connecting anywhere: each of them that is
/// not taken, or, where all are, what does not fit together.
#[must_use]
pub fn mistakes(connection: &Connection) -> Vec<ReadError> {
    let alone: Vec<ReadError> = connection
        .properties
        .iter()
        .filter_map(|(name, value)| client::check_alone(name, value).err())
        .collect();
    if !alone.is_empty() {
        return alone;
    }
    // The topics differ in nothing that a user sets: the first to fail says it all.
    let mut topics = Topic::ALL.into_iter();
    let together = topics.find_map(|topic| client::create(connection, topic).err());
    together
        .or_else(|| no_token(connection))
        .into_iter()
        .collect()
}

/// A login by a token that cannot be had: no mistake to librdkafka, which would wait for
/// one for ever.
fn no_token(connection: &Connection) -> Option<ReadError> {
    Some(match TokenSource::lacking(connection)? {
        Lacking::Source => ReadError::Client {
            reason: format!(
                "sasl.mechanism OAUTHBEARER without a token: set kafka.token_file, or {UNSECURED} \
                 with {UNSECURED_CONFIG}"
            ),
        },
        Lacking::Unsecured => ReadError::Property {
            name: UNSECURED_CONFIG.to_owned(),
            reason: "not understood: principal=NAME, and scope=, lifeSeconds= (whole, above \
                     zero), principalClaimName=, scopeClaimName=, extension_LETTERS="
                .to_owned(),
        },
    })
}

/// Whether the settings would do, or the first mistake.
fn check(settings: &ReadSettings) -> Result<(), ReadError> {
    match mistakes(&settings.connection).into_iter().next() {
        Some(mistake) => Err(mistake),
        None => Ok(()),
    }
}

/// The properties of the client that reads `topic`, as librdkafka gets them: what a bare
/// client has to have to be compared with.
///
/// # Errors
/// A property that will not do, see [`mistakes`].
pub fn client_config(
    connection: &Connection,
    topic: Topic,
) -> Result<rdkafka::ClientConfig, ReadError> {
    client::config(&connection.properties, topic)
}

/// The release of librdkafka that is built in.
#[must_use]
pub fn client_version() -> String {
    rdkafka::util::get_rdkafka_version().1
}

/// Starts reading. Inputs go to `inputs`; when it is full the readers wait.
///
/// # Errors
/// A property that will not do, see [`mistakes`]. What the network or the brokers do is never an error here: it
/// becomes an input of kind `Access`, and is tried again.
pub fn start(
    settings: ReadSettings,
    now: Now,
    inputs: mpsc::Sender<Input>,
) -> Result<ReaderHandle, ReadError> {
    start_at(settings, now, inputs, &ReadTo::default())
}

/// As [`start`], going on where another process was: where a log is the one that it read,
/// and still holds what follows.
///
/// # Errors
/// As [`start`].
pub fn start_at(
    settings: ReadSettings,
    now: Now,
    inputs: mpsc::Sender<Input>,
    read_to: &ReadTo,
) -> Result<ReaderHandle, ReadError> {
    begin(settings, now, inputs, &Limits::default(), read_to)
}

/// As [`start`], with other bounds of the search.
///
/// # Errors
/// As [`start`].
pub fn start_within(
    settings: ReadSettings,
    now: Now,
    inputs: mpsc::Sender<Input>,
    limits: &Limits,
) -> Result<ReaderHandle, ReadError> {
    begin(settings, now, inputs, limits, &ReadTo::default())
}

fn begin(
    settings: ReadSettings,
    now: Now,
    inputs: mpsc::Sender<Input>,
    limits: &Limits,
    read_to: &ReadTo,
) -> Result<ReaderHandle, ReadError> {
    check(&settings)?;
    let settings = Arc::new(settings);
    let watched = Arc::new(Watched::new(&settings));
    // Whatever the network does: what is watched is known at once. A channel that is full
    // already gets the settings with the first answer of a broker.
    let names = Input {
        at: now(),
        kind: InputKind::Settings(watched.names()),
    };
    if inputs.try_send(names).is_err() {
        tracing::debug!("inputs are not taken yet");
    }
    let emitter = Arc::new(Emitter::new(inputs, now));
    let mut handle = ReaderHandle {
        emitter: Arc::clone(&emitter),
        topics: Vec::new(),
        watched: Arc::clone(&watched),
        threads: Mutex::default(),
    };
    for topic in Topic::ALL {
        let contents = read_to.contents;
        let shared = Arc::new(shared::Shared::new(topic, &settings, &emitter, contents));
        let of_topic = read_to.topics.get(&topic).cloned();
        let reader = TopicReader::new(&settings, &shared, &watched, limits.clone(), of_topic);
        let asker = ends::Asker::new(Arc::clone(&shared));
        handle.topics.push(shared);
        handle.spawn(format!("read-{topic:?}"), move || reader.run())?;
        handle.spawn(format!("ends-{topic:?}"), move || asker.run())?;
    }
    Ok(handle)
}

// === impl ReaderHandle ===

impl ReaderHandle {
    /// Asks for the end offsets of all topics now. Questions that come while one is
    /// under way become one more.
    pub fn ask_ends(&self) {
        for topic in &self.topics {
            topic.ask();
        }
    }

    /// Goes on with new clients that reach the cluster so, from where each topic was read
    /// to. Nothing is read twice and nothing is left out.
    pub fn reconnect(&self, connection: Connection) {
        let connection = Arc::new(connection);
        for topic in &self.topics {
            topic.reconnect(&connection);
        }
    }

    /// Whether records of the group may be left out where they are beyond the byte budget:
    /// others read them all.
    pub fn sample_beyond_budget(&self, may: bool) {
        for topic in &self.topics {
            topic.set_sampling(may);
        }
    }

    /// What stands beside the names that are read is another thing now: told as an input.
    /// Waits where nobody takes inputs.
    pub fn restate(&self, settings: &ReadSettings) {
        let told = self.watched.restate(&self.emitter, settings);
        if told.is_err() {
            tracing::debug!("settings changed while reading ends");
        }
    }

    /// What stands in the way of reading a topic, where the kind of trouble does not say it.
    #[must_use]
    pub fn hitch(&self, topic: Topic) -> Option<Hitch> {
        let mut shared = self.topics.iter();
        shared.find(|shared| shared.topic == topic)?.access.hitch()
    }

    /// Which topic is read, as the brokers told when reading of it began or went on.
    #[must_use]
    pub fn identity(&self, topic: Topic) -> Identity {
        let mut shared = self.topics.iter();
        let shared = shared.find(|shared| shared.topic == topic);
        shared.map(|shared| shared.identity()).unwrap_or_default()
    }

    /// The number that the next new content of a configuration gets.
    #[must_use]
    pub fn next_content(&self) -> u32 {
        let contents = self.topics.iter().map(|shared| shared.next_content());
        contents.max().unwrap_or(0)
    }

    /// What the readers count.
    #[must_use]
    pub fn counters(&self) -> &Arc<ReadCounters> {
        &self.emitter.counters
    }

    /// Tells all readers to stop, without waiting for them.
    pub fn stop(&self) {
        self.emitter.stop();
        self.ask_ends();
    }

    /// Stops and waits; blocks for as long as a question to a broker is under way.
    pub fn join(&self) {
        self.stop();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a reader thread panicked");
            }
        }
    }

    fn spawn(&self, name: String, run: impl FnOnce() + Send + 'static) -> Result<(), ReadError> {
        let thread = std::thread::Builder::new()
            .name(name.to_lowercase())
            .spawn(run)
            .map_err(|error| ReadError::Client {
                reason: format!("no thread: {error}"),
            })?;
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.push(thread);
        Ok(())
    }
}

impl Drop for ReaderHandle {
    fn drop(&mut self) {
        self.stop();
    }
}

// === impl ReadSettings ===

impl ReadSettings {
    fn topic_name(&self, topic: Topic) -> &str {
        match topic {
            Topic::Offsets => &self.offsets_topic,
            Topic::Config => &self.config_topic,
            Topic::Status => &self.status_topic,
        }
    }
}
