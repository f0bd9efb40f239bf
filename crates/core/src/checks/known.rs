//! What is known of a group when its checks are decided. Files fill a part of it, records,
//! measurements and brokers another; what nobody knows is absent, and leaves checks undecided.

use std::collections::BTreeMap;
use std::fmt;

use super::releases::{Release, Whose, tables};
use super::source::{Source, Value};
use super::spelling::Spelling;
use super::values::setting;
use crate::facts::observation::Override;

/// A list of brokers, at most; topics have 249.
const NAME_BYTES_MAX: usize = 4_096;

/// Everything that is known of one group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// `group.id`.
    pub group: Option<Value<String>>,
    /// Its workers, as far as they are known.
    pub workers: Vec<Worker>,
    /// How many workers there are, where somebody says so.
    pub worker_count: Option<Value<i64>>,
    /// From how many hosts they come; a container is a host.
    pub hosts: Option<Value<i64>>,
    /// Other groups on the same brokers that are known.
    pub neighbours: Vec<Neighbour>,
    /// What the group's records say.
    pub records: Records,
    /// What was measured.
    pub measured: Measured,
    /// What brokers say.
    pub broker: Broker,
    /// Consumer groups of its sink connectors; none where nobody looked.
    pub sinks: Option<Vec<Sink>>,
    /// Connectors that set how long their producers try; none where nobody looked.
    pub producers: Option<Vec<Producer>>,
}

/// One worker, or several with the same settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worker {
    /// What people call it: a file, a service, `host:port`.
    pub name: String,
    /// The release that it runs.
    pub release: Option<Value<Release>>,
    /// What its file and its environment say, by name.
    pub settings: BTreeMap<String, Given>,
    /// How others would be written beside them.
    pub spelling: Spelling,
    /// Whether that is all: then what is not there has Kafka's default.
    pub is_complete: bool,
    /// Whether it is started with that and nothing else: no image or script adds what Kafka
    /// demands.
    pub is_started_so: bool,
    /// What it told when it joined, by name: that is what holds.
    pub told: BTreeMap<String, Value<i64>>,
    /// How many processes run with these settings, where somebody says so.
    pub replicas: Option<Value<i64>>,
    /// The resource that stands for a whole group, where it is set up by one.
    pub deployment: Option<Value<String>>,
    /// `host:port` that it advertises.
    pub advertised: Option<Value<String>>,
    /// How many stops of its tasks it gave up since it joined.
    pub given_up: Option<Value<i64>>,
    /// How long the group waited for it at least when it was out for stopping what it was told
    /// to give up.
    pub out_after_ms: Option<Value<i64>>,
    /// For how long at least it was held up by what it was told to start.
    pub held_up_ms: Option<Value<i64>>,
    /// How long its process may take to end before it is killed.
    pub grace_ms: Option<Value<i64>>,
}

/// A setting as somebody wrote it. It may be a password: only numbers and names are shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Given {
    /// The text, or why it cannot be known here.
    pub text: Result<String, Unknown>,
    /// Where it stands.
    pub source: Source,
    /// What it is called there, where that is not its name: a variable.
    pub variable: Option<String>,
}

/// Why a value that is set is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// It is looked up where the worker runs.
    Reference,
    /// It goes on with the next line, and who knows what stands there.
    Swallowed,
    /// Its name alone is told.
    Untold,
}

/// Another group on the same brokers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbour {
    /// Its `group.id`.
    pub group: String,
    /// Its topics: setting and name.
    pub topics: Vec<(&'static str, Value<String>)>,
}

/// What the records of the group say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// The full scheduled delay of each leader so far, the newest last.
    pub leader_delays: Option<Vec<Value<i64>>>,
    /// The delay in the record in which work was last lost.
    pub delay_at_loss: Option<Value<i64>>,
    /// Whether the leader changed in that record: 1, or 0.
    pub leader_changed_at_loss: Option<Value<i64>>,
    /// How many connectors and tasks one worker had to give up at once, at most.
    pub revoked_at_once: Option<Value<i64>>,
    /// Generations without an assignment because the leader's view of the config topic was
    /// behind, in the last hour.
    pub mismatches: Option<Value<i64>>,
    /// Generations in a row in which the same worker was behind on the config topic.
    pub behind_in_a_row: Option<Value<i64>>,
    /// Generations without a record, among the last hundred.
    pub missing_generations: Option<Value<i64>>,
    /// The version of the protocol in force: 0, 1, 2.
    pub protocol: Option<Value<i64>>,
    /// The best version that the same workers are proven to speak.
    pub protocol_best: Option<Value<i64>>,
    /// Bytes of the newest group record.
    pub record_bytes: Option<Value<i64>>,
    /// Since the newest session key.
    pub key_age_ms: Option<Value<i64>>,
    /// For how long a task has been `RUNNING` by a worker that is not in the group.
    pub stray_running_ms: Option<Value<i64>>,
}

/// The longest that was seen of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    /// From a worker's stop until it is back in the group.
    pub restart_ms: Option<Value<i64>>,
    /// From being told to stop a task until it had stopped.
    pub stop_ms: Option<Value<i64>>,
    /// A whole rebalance.
    pub rebalance_ms: Option<Value<i64>>,
    /// From the end of a join until the leader's assignment was there.
    pub sync_ms: Option<Value<i64>>,
    /// Between the first and the last worker of a start of the whole group.
    pub start_spread_ms: Option<Value<i64>>,
}

/// What brokers say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Broker {
    /// How many there are.
    pub count: Option<Value<i64>>,
    /// `group.min.session.timeout.ms`.
    pub session_min_ms: Option<Value<i64>>,
    /// `group.max.session.timeout.ms`.
    pub session_max_ms: Option<Value<i64>>,
    /// `group.initial.rebalance.delay.ms`.
    pub initial_delay_ms: Option<Value<i64>>,
    /// `max.message.bytes` of the offsets topic.
    pub record_bytes_max: Option<Value<i64>>,
    /// The three topics.
    pub topics: Option<Vec<Topic>>,
}

/// One of the group's topics as brokers know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// The setting that names it.
    pub setting: &'static str,
    /// Its name.
    pub name: String,
    /// How many partitions it has.
    pub partitions: Option<Value<i64>>,
    /// `cleanup.policy`: words with commas between them.
    pub cleanup: Option<Value<String>>,
    /// Replicas of each partition.
    pub replicas: Option<Value<i64>>,
}

/// The consumer group of a sink connector.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sink {
    /// The connector.
    pub connector: String,
    /// Its members' `session.timeout.ms`.
    pub session_ms: Option<Value<i64>>,
    /// Its members' `max.poll.interval.ms`.
    pub poll_interval_ms: Option<Value<i64>>,
    /// The longest time between two of its polls that was seen.
    pub poll_gap_ms: Option<Value<i64>>,
}

/// What a connector sets for its producer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Producer {
    /// The connector.
    pub connector: String,
    /// `producer.override.delivery.timeout.ms`.
    pub delivery: Override,
    /// `producer.override.request.timeout.ms`.
    pub request: Override,
    /// The topic in which it stands.
    pub topic: String,
}

// === impl Given ===

impl Given {
    /// As somebody wrote it.
    pub fn new(text: impl Into<String>, source: Source) -> Self {
        Self {
            text: Ok(text.into()),
            source,
            variable: None,
        }
    }

    /// Its name as it is written where it stands.
    #[must_use]
    pub fn called(&self, name: &str) -> String {
        let name = self.variable.as_deref().unwrap_or(name);
        name.escape_debug().to_string()
    }

    /// Another name as it would be written there: files may have names beside variables.
    #[must_use]
    pub fn spelled(&self, name: &str, spelling: Spelling) -> String {
        match self.variable {
            Some(_) => spelling.of(name),
            None => name.to_owned(),
        }
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[hidden] at {}", self.source)
    }
}

// === impl Unknown ===

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reference => "it is looked up where the worker runs",
            Self::Swallowed => "a backslash joins it with the next line",
            Self::Untold => "its name alone is told",
        })
    }
}

// === impl Worker ===

impl Worker {
    /// The number that holds for one of its own settings.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<Value<i64>> {
        let told = self.told.get(name).cloned();
        told.or_else(|| self.filed(name))
    }

    /// The number of a setting that has no default of its own, such as those behind
    /// `consumer.`: what somebody wrote. What Kafka refuses never holds.
    #[must_use]
    pub fn written(&self, name: &str) -> Option<Value<i64>> {
        let given = self.settings.get(name)?;
        let text = given.text.as_deref().ok()?;
        let number = text.trim_matches(|letter| letter <= ' ').parse().ok()?;
        let release = self.release.as_ref().map(|release| release.value);
        let setting = release.and_then(|release| setting(name, release));
        let is_refused = setting.is_some_and(|setting| setting.refuses(text).is_some());
        (!is_refused).then(|| Value::new(number, given.source.clone()))
    }

    /// A setting of tasks' clients: what somebody wrote, else the client's default.
    #[must_use]
    pub fn client(&self, whose: Whose, name: &str) -> Option<Value<i64>> {
        if self.settings.contains_key(name) {
            return self.written(name);
        }
        let (_, bare) = name.split_once('.').unwrap_or(("", name));
        self.unset(whose, bare)
    }

    /// The name that somebody wrote, without the blanks around it. Names go into what is
    /// shown: what cannot be one is not known.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<Value<&str>> {
        let given = self.settings.get(name)?;
        let text = given.text.as_deref().ok()?;
        let text = text.trim_matches(|letter| letter <= ' ');
        if text.is_empty() || text.len() > NAME_BYTES_MAX || text.contains(char::is_control) {
            return None;
        }
        Some(Value::new(text, given.source.clone()))
    }

    /// The number that its file says or, where the file says nothing, means.
    #[must_use]
    pub fn filed(&self, name: &str) -> Option<Value<i64>> {
        if self.settings.contains_key(name) {
            return self.written(name);
        }
        self.unset(Whose::Worker, name)
    }

    /// One of a few words in small letters: what somebody wrote, else the default.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<Value<String>> {
        let release = self.release.as_ref().map(|release| release.value)?;
        let setting = tables().setting(Whose::Worker, name, release)?;
        if !self.settings.contains_key(name) {
            let default = setting.default.filter(|_| self.is_complete)?;
            return Some(Value::new(default.to_owned(), Source::Default { release }));
        }
        // What is none of the words may be anything, and is never shown.
        let text = self
            .text(name)
            .filter(|text| setting.refuses(text.value).is_none())?;
        Some(Value::new(text.value.to_lowercase(), text.source))
    }

    /// How many processes it stands for, at least.
    #[must_use]
    pub fn processes(&self) -> i64 {
        self.replicas.as_ref().map_or(1, |replicas| replicas.value)
    }

    /// What holds where nobody sets it, if all that is set is known.
    #[must_use]
    pub fn unset(&self, whose: Whose, name: &str) -> Option<Value<i64>> {
        let release = self.release.as_ref().filter(|_| self.is_complete)?.value;
        let default = tables().setting(whose, name, release)?.default?;
        let default = default.parse().ok()?;
        Some(Value::new(default, Source::Default { release }))
    }
}
