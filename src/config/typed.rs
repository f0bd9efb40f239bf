//! The configuration after every check: what the agent runs on.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use evenkeel_core::facts::input::WorkerSetting;

use super::properties::Properties;
use super::secret::Secret;
use super::tree::{
    GroupSeries, LogFormat, LogLevel, Probes, Readiness, TraceCompression, TraceCopies,
    TraceProtocol,
};

/// A configuration without mistakes.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// How to reach the cluster.
    pub kafka: KafkaConfig,
    /// The groups to watch; at least one, each once.
    pub groups: Vec<GroupConfig>,
    /// Where things are served.
    pub http: HttpConfig,
    /// What is hidden.
    pub privacy: PrivacyConfig,
    /// What outlives a restart.
    pub state: StateConfig,
    /// Bounds on a scrape.
    pub metrics: MetricsConfig,
    /// Where traces go; `None` where they go nowhere.
    pub traces: Option<TracesConfig>,
    /// What is written.
    pub log: LogConfig,
}

/// How to reach the cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct KafkaConfig {
    /// `bootstrap.servers` of librdkafka.
    pub bootstrap: String,
    /// Further properties of librdkafka, none of those that the agent decides.
    pub properties: Properties,
    /// A file with the token for OAUTHBEARER.
    pub token_file: Option<PathBuf>,
}

/// One Connect cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupConfig {
    /// The workers' `group.id`.
    pub group: String,
    /// `config.storage.topic`.
    pub config_topic: String,
    /// `status.storage.topic`.
    pub status_topic: String,
    /// Where the broker keeps group records.
    pub offsets_topic: String,
    /// `host:port` of the worker beside the agent.
    pub own_worker: Option<String>,
    /// The Kafka release of the workers.
    pub worker_release: Option<String>,
    /// How the cluster of this group is reached.
    pub connection: ConnectionConfig,
    /// Whom the brokers see, as Kafka names a principal, where the settings say so.
    pub principal: Option<String>,
    /// When the client's certificate expires, in seconds since the epoch; `None` without one.
    pub certificate_expires_seconds: Option<i64>,
    /// The clocks of the worker beside the agent, from its own settings.
    pub worker_settings: Vec<WorkerSetting>,
    /// `offset.storage.topic`, where the worker's file says it.
    pub offset_storage_topic: Option<String>,
    /// Every file that this group's settings were read from or name.
    pub files: Vec<PathBuf>,
}

/// How a cluster is reached, and as whom: everything looked up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// Properties of librdkafka, `bootstrap.servers` among them.
    pub properties: BTreeMap<String, Secret>,
    /// A file with the token for OAUTHBEARER, which librdkafka has no property for.
    pub token_file: Option<PathBuf>,
}

/// Where things are served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// Address and port.
    pub listen: SocketAddr,
    /// What `/readyz` answers while not everything is seen.
    pub readiness: Readiness,
    /// The web configuration file.
    pub web_config_file: Option<PathBuf>,
    /// What probes answer to those who do not say who they are.
    pub probes: Probes,
}

/// What is hidden.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrivacyConfig {
    /// Whether connector names are masked.
    pub mask_names: bool,
    /// The file with the key for it.
    pub mask_key_file: Option<String>,
}

/// What outlives a restart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateConfig {
    /// The folder for the state of each group.
    pub dir: Option<PathBuf>,
}

/// Bounds on a scrape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricsConfig {
    /// Most series in all.
    pub series_max: usize,
    /// Most series of a family that has one a subject.
    pub subjects_max: usize,
    /// Which agents show the series of a group.
    pub group_series: GroupSeries,
}

/// Where traces go, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracesConfig {
    /// The receiver.
    pub endpoint: TraceEndpoint,
    /// How it is spoken to.
    pub protocol: TraceProtocol,
    /// Headers with values that hold secrets.
    pub headers: BTreeMap<String, Secret>,
    /// How long it may take to answer, in milliseconds.
    pub timeout_ms: u64,
    /// Whether spans are compressed.
    pub compression: TraceCompression,
    /// Whom to trust; the system's authorities where nothing is named.
    pub ca_file: Option<TraceFile>,
    /// Who the agent is.
    pub certificate_file: Option<TraceFile>,
    /// The key of that.
    pub key_file: Option<TraceFile>,
    /// Attributes of the resource, `service.name` among them.
    pub resource: BTreeMap<String, String>,
    /// Which agents send.
    pub copies: TraceCopies,
}

/// A file that TLS is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFile {
    /// Where it is.
    pub path: PathBuf,
    /// The variable that names it, if the configuration does not.
    pub variable: Option<String>,
}

/// Where a receiver is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceEndpoint {
    /// Whether TLS is spoken.
    pub tls: bool,
    /// Its name or address, without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The path that is asked for, for HTTP.
    pub path: String,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogConfig {
    /// Least severe level.
    pub level: LogLevel,
    /// Form of a line.
    pub format: LogFormat,
}
