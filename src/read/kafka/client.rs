//! Makes the rdkafka clients and words their errors, without any property's value.

#[cfg(test)]
mod tests;
mod tokens;
mod words;

use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{Topic, Trouble};
use rdkafka::ClientContext;
use rdkafka::client::OAuthToken;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::BorrowedMessage;

use super::ReadError;
use super::emit::TopicAccess;
use crate::read::connection::{Connection, Hidden, Properties};
use crate::read::hitch::Hitch;
use crate::read::token::UNSECURED;
use tokens::Tokens;
use words::read_error;

/// A consumer that only assigns.
pub(super) type Client = BaseConsumer<Context>;

/// librdkafka wants a group id even for assign. It is never joined or committed.
const GROUP_ID: &str = "evenkeel-observer";

/// What suits reading three topics beside a worker; the user's properties come after.
/// The queue sizes keep memory small; with them the default fetch backoff of a second
/// would cut the throughput to a fifth. Nearly all that is read comes from one partition:
/// fetched by 1 MiB it came at 0.6 million records/s, by 64 KiB at 0.2; where a round trip
/// took 2 ms, at 0.55 and 0.14. `receive.message.max.bytes` stays at its default: one
/// batch larger than it would hold up reading for ever.
const DEFAULTS: &[(&str, &str)] = &[
    ("client.id", "evenkeel"),
    ("fetch.queue.backoff.ms", "5"),
    ("queued.max.messages.kbytes", "1024"),
    ("queued.min.messages", "10000"),
    ("fetch.message.max.bytes", "1048576"),
    ("fetch.max.bytes", "1048576"),
    // A broker's host that vanished is noticed before the answers count as stale (30 s).
    ("socket.timeout.ms", "20000"),
    ("socket.keepalive.enable", "true"),
    // A frozen broker still accepts connections; its topics have other leaders by then.
    ("api.version.request.timeout.ms", "3000"),
    ("reconnect.backoff.max.ms", "2000"),
    // Connections come and go with brokers; we say it once, as trouble of a topic.
    ("log.connection.close", "false"),
];

/// What must be so, whatever the user says.
const FORCED: &[(&str, &str)] = &[
    ("enable.auto.commit", "false"),
    ("enable.auto.offset.store", "false"),
    ("enable.partition.eof", "true"),
    ("allow.auto.create.topics", "false"),
    // An offset that is gone must be said, not skipped over.
    ("auto.offset.reset", "error"),
];

/// The one property that `config` keeps apart, and that comes with the others here.
const BROKERS: &str = "bootstrap.servers";

/// Log lines of one client that are passed on in [`LOG_WINDOW`].
const LOG_LINES_MAX: u32 = 10;
const LOG_WINDOW: Duration = Duration::from_secs(10);

/// What librdkafka calls back.
pub(super) struct Context {
    topic: Topic,
    access: Option<std::sync::Arc<TopicAccess>>,
    lines: Mutex<LogWindow>,
    said: Mutex<Said>,
    tokens: Tokens,
}

/// The same trouble is said again after this long.
const SAID_AGAIN: Duration = Duration::from_secs(300);

/// When each kind of error was said last: a failed handshake comes as two kinds in turn.
type Said = Vec<(RDKafkaErrorCode, Instant)>;

#[derive(Debug)]
struct LogWindow {
    began: Instant,
    lines: u32,
    left_out: u32,
}

/// Makes a client without connecting it.
pub(super) fn create(connection: &Connection, topic: Topic) -> Result<Client, ReadError> {
    create_for(connection, topic, None)
}

/// As [`create`]; what the client says of its connections goes to `access`.
pub(super) fn create_for(
    connection: &Connection,
    topic: Topic,
    access: Option<std::sync::Arc<TopicAccess>>,
) -> Result<Client, ReadError> {
    let properties = &connection.properties;
    let context = Context {
        topic,
        access,
        lines: Mutex::new(LogWindow {
            began: Instant::now(),
            lines: 0,
            left_out: 0,
        }),
        said: Mutex::default(),
        tokens: Tokens::of(connection),
    };
    plain_files(properties)?;
    config(properties, topic)?
        .create_with_context(context)
        .map_err(|error| read_error(properties, &error))
}

/// librdkafka opens what it is told to, and a pipe holds up whoever opens it.
fn plain_files(properties: &Properties) -> Result<(), ReadError> {
    for (name, value) in properties {
        let named = name.ends_with(".location").then(|| fs::metadata(&value.0));
        if let Some(Ok(about)) = named
            && !about.is_file()
            && !about.is_dir()
        {
            return Err(ReadError::Property {
                name: name.clone(),
                reason: "names no regular file".to_owned(),
            });
        }
    }
    Ok(())
}

/// Polls a client, and gives it the token that it asked for meanwhile.
pub(super) fn poll(
    client: &Client,
    wait: Duration,
) -> Option<Result<BorrowedMessage<'_>, KafkaError>> {
    let polled = client.poll(wait);
    client.context().tokens.hand_over(client.client());
    polled
}

/// Whether a property would do, whatever the others are.
pub(super) fn check_alone(name: &str, value: &Hidden) -> Result<(), ReadError> {
    if let Some(reason) = not_allowed(name) {
        let name = name.to_owned();
        return Err(ReadError::NotAllowed { name, reason });
    }
    let mut config = ClientConfig::new();
    config.set(name, &value.0);
    match config.create_native_config() {
        Ok(_) => Ok(()),
        Err(error) => {
            let alone = Properties::from([(name.to_owned(), value.clone())]);
            Err(read_error(&alone, &error))
        }
    }
}

/// The configuration's list holds here, too: nothing gets past it on another way.
fn not_allowed(name: &str) -> Option<&'static str> {
    crate::config::refused(name).filter(|_| name != BROKERS)
}

/// A broker that refuses our certificate says so in an alert. In TLS 1.3 it comes after the
/// client's handshake is over, so that librdkafka takes it for a failed receive (RFC 8446,
/// 4.4.2.4 and 6.2).
fn refused(trouble: Trouble, reason: &str) -> Trouble {
    if trouble == Trouble::Unreachable && reason.contains("SSL alert number") {
        return Trouble::Unauthenticated;
    }
    trouble
}

/// The trouble that an error of librdkafka means for a topic; `None` where it means
/// nothing for reading it.
pub(super) fn trouble(code: RDKafkaErrorCode) -> Option<Trouble> {
    use RDKafkaErrorCode as Code;
    Some(match code {
        Code::TopicAuthorizationFailed | Code::ClusterAuthorizationFailed => Trouble::Denied,
        Code::UnknownTopicOrPartition
        | Code::UnknownTopic
        | Code::UnknownPartition
        | Code::UnknownTopicId => Trouble::Missing,
        Code::Authentication
        | Code::SaslAuthenticationFailed
        | Code::UnsupportedSASLMechanism
        | Code::IllegalSASLState
        | Code::SSL => Trouble::Unauthenticated,
        Code::BrokerTransportFailure
        | Code::AllBrokersDown
        | Code::Resolve
        | Code::OperationTimedOut
        | Code::RequestTimedOut
        | Code::TimedOutQueue
        | Code::NetworkException
        | Code::BrokerNotAvailable
        | Code::LeaderNotAvailable
        | Code::NotLeaderForPartition
        | Code::ReplicaNotAvailable
        | Code::OffsetNotAvailable
        | Code::FencedLeaderEpoch
        | Code::UnknownLeaderEpoch
        | Code::KafkaStorageError
        | Code::DestroyBroker
        | Code::WaitingForCoordinator => Trouble::Unreachable,
        // Our group id is never used, so rights on it do not matter.
        Code::GroupAuthorizationFailed
        | Code::CoordinatorNotAvailable
        | Code::NotCoordinator
        | Code::CoordinatorLoadInProgress
        | Code::PartitionEOF
        | Code::NoError => return None,
        _ => Trouble::Other,
    })
}

/// The code behind an error of rdkafka.
pub(super) fn code(error: &KafkaError) -> RDKafkaErrorCode {
    error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail)
}

pub(super) fn config(properties: &Properties, topic: Topic) -> Result<ClientConfig, ReadError> {
    let mut config = ClientConfig::new();
    config.set_log_level(RDKafkaLogLevel::Info);
    for (name, value) in DEFAULTS {
        config.set(*name, *value);
    }
    let own_ca = properties.keys().any(|name| is_ca(name));
    if !own_ca {
        // The bundled OpenSSL knows no default store; librdkafka then looks for one.
        config.set("ssl.ca.location", "probe");
    }
    for (name, value) in properties {
        if let Some(reason) = not_allowed(name) {
            let name = name.clone();
            return Err(ReadError::NotAllowed { name, reason });
        }
        config.set(name, &value.0);
    }
    if properties.contains_key(UNSECURED) {
        // Made by our own code, as for the polls; librdkafka takes one or the other.
        config.set(UNSECURED, "false");
    }
    for (name, value) in FORCED {
        config.set(*name, *value);
    }
    config.set("group.id", GROUP_ID);
    config.set("isolation.level", isolation(topic));
    Ok(config)
}

/// Offsets: one open transaction of some producer would hide all later group records
/// from a committed reader. Config: a fenced leader's aborted writes must not be seen.
/// Status: never written in transactions, so this reads what is there.
fn isolation(topic: Topic) -> &'static str {
    match topic {
        Topic::Config => "read_committed",
        Topic::Offsets | Topic::Status => "read_uncommitted",
    }
}

fn is_ca(name: &str) -> bool {
    matches!(
        name,
        "ssl.ca.location" | "ssl.ca.pem" | "ssl.ca.certificate.stores"
    )
}

// === impl Context ===

impl Context {
    /// Whether such an error was not said yet, or long ago.
    fn is_news(&self, code: RDKafkaErrorCode) -> bool {
        let mut said = self
            .said
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        said.retain(|(_, at)| at.elapsed() < SAID_AGAIN);
        let is_news = !said.iter().any(|(told, _)| *told == code);
        if is_news {
            said.push((code, Instant::now()));
        }
        is_news
    }

    /// Whether a line may be logged now, and how many were left out before it.
    fn admit_line(&self) -> Option<u32> {
        let mut window = self
            .lines
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut left_out = 0;
        if window.began.elapsed() >= LOG_WINDOW {
            left_out = window.left_out;
            *window = LogWindow {
                began: Instant::now(),
                lines: 0,
                left_out: 0,
            };
        }
        if window.lines >= LOG_LINES_MAX {
            window.left_out = window.left_out.saturating_add(1);
            return None;
        }
        window.lines += 1;
        Some(left_out)
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("topic", &self.topic)
            .finish_non_exhaustive()
    }
}

impl ClientContext for Context {
    /// Only called where the mechanism is OAUTHBEARER.
    const ENABLE_REFRESH_OAUTH_TOKEN: bool = true;

    fn generate_oauth_token(
        &self,
        _oauthbearer_config: Option<&str>,
    ) -> Result<OAuthToken, Box<dyn std::error::Error>> {
        self.tokens.make()
    }

    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        let Some(left_out) = self.admit_line() else {
            return;
        };
        let mut line = format!("{facility} {message}");
        if left_out > 0 {
            line.push_str(&format!(" ({left_out} lines left out before)"));
        }
        // Whatever matters comes as an error, too, and is said once there.
        let topic = self.topic.label();
        tracing::debug!(target: "librdkafka", topic, ?level, "{line}");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        let code = code(&error);
        // The end of a partition comes here as well, and is none.
        let Some(trouble) = trouble(code).map(|trouble| refused(trouble, reason)) else {
            return;
        };
        let connects = matches!(trouble, Trouble::Unreachable | Trouble::Unauthenticated);
        if let Some(access) = self.access.as_ref().filter(|_| connects) {
            let is_tls = code == RDKafkaErrorCode::SSL || reason.contains("SSL handshake failed");
            let hitch = is_tls.then(|| Hitch::of_tls(reason)).flatten();
            access.connection(trouble, hitch);
        }
        // That all brokers are down follows from each one's own error.
        if code != RDKafkaErrorCode::AllBrokersDown && self.is_news(code) {
            let input = self.topic.label();
            tracing::warn!(input, reason, "trouble with a broker");
        }
    }
}

impl ConsumerContext for Context {}
