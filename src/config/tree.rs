//! The tree of keys, as a person writes it. The comments here are the reference and
//! the sample file.

use super::describe::{section, words};
use super::headers::Headers;
use super::properties::Properties;

/// Most groups that one agent watches.
pub const GROUPS_MAX: usize = 32;
/// Default of `metrics.series_max`: room for a few dozen groups of 50 workers.
pub const SERIES_MAX_DEFAULT: usize = 10_000;
/// Default of `metrics.subjects_max`: what is wrong fifty times is read in the API,
/// not in a graph.
pub const SUBJECTS_MAX_DEFAULT: usize = 50;

section! {
    /// The whole configuration.
    pub struct Tree {
        /// How to reach the Kafka cluster that Connect stores its state in.
        kafka: KafkaTree = KafkaTree::default() => "";
        /// The Connect clusters to watch; usually one. Flags and environment variables
        /// name the key of the only group: they make one where the file has none, and
        /// are refused where it has several.
        groups: Vec<GroupTree> = Vec::new() => "";
        /// Where metrics, probes, the API and the page are served.
        http: HttpTree = HttpTree::default() => "";
        /// What is hidden from those who see what the agent shows.
        privacy: PrivacyTree = PrivacyTree::default() => "";
        /// What outlives a restart of the agent.
        state: StateTree = StateTree::default() => "";
        /// Bounds on what one scrape carries.
        metrics: MetricsTree = MetricsTree::default() => "";
        /// Where traces go: each rebalance that is over as one trace.
        traces: TracesTree = TracesTree::default() => "";
        /// What the agent says on standard error.
        log: LogTree = LogTree::default() => "";
    }
}

section! {
    /// How to reach the cluster.
    pub struct KafkaTree {
        /// Brokers to begin with, as host:port, separated by commas. The others are
        /// found through them.
        bootstrap: String = String::new() => "broker-1:9092,broker-2:9092";
        /// Any property of librdkafka: TLS, SASL, timeouts. Names and values are checked
        /// by that library. A value may hold ${env:NAME} or ${file:/path} (the whole file,
        /// without its last line end), so that no secret has to stand here; $${ is a plain ${.
        /// The agent needs READ and DESCRIBE on three topics and never joins a group.
        /// Properties that would change that are refused. Files that they name or refer to
        /// are watched: reading goes on over new connections when one has changed. This
        /// file and the environment are read at start alone.
        properties: Properties = Properties::default() => "sasl.password: ${env:KAFKA_PASSWORD}";
        /// A file with the token for the SASL mechanism OAUTHBEARER, read anew for each
        /// login, as Kubernetes keeps one fresh for a service account.
        token_file: Option<String> = None => "/var/run/secrets/tokens/kafka";
    }
}

section! {
    /// One Connect cluster.
    pub struct GroupTree {
        /// The properties file of the worker beside this agent: connection, TLS, SASL, group,
        /// topics and timings come from it, and from CONNECT_* variables over it, where
        /// nothing here says otherwise. docs/worker-file.md tells what is read, and what of a
        /// change is taken up without a restart.
        worker_properties: Option<String> = None => "/etc/kafka/connect-distributed.properties";
        /// The workers' group.id.
        group: String = String::new() => "connect-cluster";
        /// The workers' config.storage.topic.
        config_topic: String = String::new() => "connect-configs";
        /// The workers' status.storage.topic.
        status_topic: String = String::new() => "connect-status";
        /// The topic where the broker keeps group records.
        offsets_topic: String = "__consumer_offsets".to_owned() => "__consumer_offsets";
        /// host:port that the worker beside this agent advertises, where there is one.
        own_worker: Option<String> = None => "worker-a:8083";
        /// The Kafka release of the workers. It decides how findings read the config
        /// topic (KAFKA-16838), never a count. Taken as the newest where it is not set.
        worker_release: Option<String> = None => "3.9.1";
    }
}

section! {
    /// Where things are served.
    pub struct HttpTree {
        /// Address and port. All interfaces by default, as exporters do, since the scraper
        /// is another machine; nothing can be changed through it, and it tells names of
        /// connectors and workers. An empty address (":9790") means all interfaces.
        listen: String = "0.0.0.0:9790".to_owned() => "127.0.0.1:9790";
        /// What /readyz answers while the agent does not see everything: lenient is 200
        /// with the reasons, since a sidecar that is not ready takes its worker out of
        /// service; strict is 503.
        readiness: Readiness = Readiness::Lenient => "strict";
        /// TLS, users and headers of this port: a file in the format of the Prometheus
        /// exporters (--web.config.file works, too), see docs/security.md. It and the
        /// files it names are watched, and a change is taken up without a restart.
        web_config_file: Option<String> = None => "/etc/evenkeel/web.yml";
        /// What /livez and /readyz answer to those who do not say who they are, where the
        /// web configuration file has users: open is the status alone, since a kubelet
        /// knows no password; protected is 401, as all other paths answer.
        probes: Probes = Probes::Open => "protected";
    }
}

words! {
    /// What probes answer to those who do not say who they are.
    pub enum Probes {
        /// The status, without reasons.
        Open = "open",
        /// 401.
        Protected = "protected",
    }
    default Open
}

words! {
    /// What `/readyz` answers while the agent does not see everything.
    pub enum Readiness {
        /// 200, with the reasons.
        Lenient = "lenient",
        /// 503, with the reasons.
        Strict = "strict",
    }
    default Lenient
}

section! {
    /// What is hidden.
    pub struct PrivacyTree {
        /// Whether connector names are replaced by codes (c-1f0a3b5c7d9e) as soon as they are
        /// read: in metrics, the API, the page, the log and captures. evenkeel mask NAME tells
        /// the code of a name. docs/security.md says what stays readable.
        mask_names: bool = false => "true";
        /// The file with the key that the codes are made with, the same for all sidecars of a
        /// cluster: at least 16 characters, its last line end left out. Without one the
        /// group.id serves, and whoever knows it can test a guessed name. Read at start
        /// alone.
        mask_key_file: Option<String> = None => "/etc/evenkeel/mask.key";
    }
}

section! {
    /// What outlives a restart.
    pub struct StateTree {
        /// A folder for the state of each group, which counters and history outlive a restart
        /// in; it must be there, be writable, and belong to this agent alone. A file holds names
        /// of connectors and workers (codes, where names are masked) and no secrets. Without one
        /// counters begin at zero. docs/restarts.md tells what is restored and when not.
        dir: Option<String> = None => "/var/lib/evenkeel";
    }
}

section! {
    /// Bounds on what one scrape carries.
    pub struct MetricsTree {
        /// Most series of a scrape, from 1000 to 1000000. Beyond it families are left out
        /// whole, those with a series a worker or a connector first, and counted in
        /// evenkeel_series_dropped_total. The agent's own always fit.
        series_max: usize = SERIES_MAX_DEFAULT => "20000";
        /// Most series, a family and group, of those that have one a connector or a
        /// finding, from 1 to 10000. The largest are kept.
        subjects_max: usize = SUBJECTS_MAX_DEFAULT => "100";
        /// Which agents show the series of a group, so that a large group is not shown by
        /// as many as it has workers: auto is always up to five members, beyond that
        /// leader_and_deputy. An agent without a worker beside it shows them always, since
        /// nobody else may. The agent's own series are always there.
        group_series: GroupSeries = GroupSeries::Auto => "always";
    }
}

words! {
    /// Which agents show the series of a group.
    pub enum GroupSeries {
        /// All up to five members, beyond that those beside the leader and its deputy.
        Auto = "auto",
        /// All.
        Always = "always",
        /// The two beside the leader and the next worker by name.
        LeaderAndDeputy = "leader_and_deputy",
        /// None: the API and the log only.
        Never = "never",
    }
    default Auto
}

section! {
    /// Where traces go.
    pub struct TracesTree {
        /// The OpenTelemetry collector, or another receiver of OTLP, as
        /// http://HOST:PORT or https://HOST:PORT; without one no trace is sent. With http/protobuf
        /// /v1/traces is put behind it, unless it ends so. What is not set here is taken from
        /// OpenTelemetry's own variables (OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _PROTOCOL and so
        /// on, those with TRACES in their names first); docs/traces.md names them all.
        endpoint: Option<String> = None => "https://collector.example:4318";
        /// How spans are sent: http/protobuf (usually port 4318) or grpc (usually 4317).
        protocol: Option<TraceProtocol> = None => "grpc";
        /// Headers that are sent along, such as the key of a tenant. A value may hold ${env:NAME}
        /// or ${file:/path}, and is never shown.
        headers: Headers = Headers::default() => "authorization: Bearer ${file:/run/secrets/collector}";
        /// Milliseconds after which a receiver that does not answer is given up, from 100 to
        /// 60000; 10000 where nothing says otherwise. What was not taken is tried again for an
        /// hour.
        timeout_ms: Option<usize> = None => "5000";
        /// Whether spans are compressed: gzip, or none.
        compression: Option<TraceCompression> = None => "gzip";
        /// A file with the authorities, in PEM, that the receiver's certificate is checked
        /// against, and nobody else's; without one those of the system. Read anew for each
        /// connection, as the two below are.
        ca_file: Option<String> = None => "/etc/evenkeel/collector-ca.pem";
        /// A file with the certificate, in PEM, that the receiver is shown.
        certificate_file: Option<String> = None => "/etc/evenkeel/tls.crt";
        /// The file with its key, in PEM.
        key_file: Option<String> = None => "/etc/evenkeel/tls.key";
        /// The service.name of all spans; evenkeel where nothing says otherwise.
        service_name: Option<String> = None => "evenkeel-orders";
        /// Which agents send a trace: 1 is the one beside the worker that led the group
        /// when the rebalance was over, 2 also the one beside the next worker by name (the
        /// same ids, so that a receiver can tell), all is every agent, for one that stands beside
        /// no worker.
        copies: TraceCopies = TraceCopies::One => "2";
    }
}

words! {
    /// How spans are sent.
    pub enum TraceProtocol {
        /// OTLP over HTTP/1.1.
        Http = "http/protobuf",
        /// OTLP over gRPC.
        Grpc = "grpc",
    }
    default Http
}

words! {
    /// Whether spans are compressed.
    pub enum TraceCompression {
        /// They are not.
        None = "none",
        /// With gzip.
        Gzip = "gzip",
    }
    default None
}

words! {
    /// Which agents send a trace.
    pub enum TraceCopies {
        /// The one beside the leader.
        One = "1",
        /// The one beside the deputy, too.
        Two = "2",
        /// All.
        All = "all",
    }
    default One
}

section! {
    /// What the agent says.
    pub struct LogTree {
        /// The least severe level that is written: error is what a person must act on,
        /// warn what is degraded, info what happens, debug each observation.
        level: LogLevel = LogLevel::Info => "debug";
        /// Lines for people, or JSON objects for programs.
        format: LogFormat = LogFormat::Text => "json";
    }
}

words! {
    /// The least severe level that is written.
    pub enum LogLevel {
        /// A person must act.
        Error = "error",
        /// Something is degraded.
        Warn = "warn",
        /// Started, caught up, a rebalance.
        Info = "info",
        /// Each observation.
        Debug = "debug",
        /// All there is.
        Trace = "trace",
    }
    default Info
}

words! {
    /// How lines are written.
    pub enum LogFormat {
        /// For people.
        Text = "text",
        /// For programs.
        Json = "json",
    }
    default Text
}
