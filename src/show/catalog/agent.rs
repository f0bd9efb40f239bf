//! The families about the agent: how well it sees, and what it costs. They stay when
//! the group's series are withdrawn, and say why.

use evenkeel_core::answers::Mode;
use evenkeel_core::facts::input::Topic;
use evenkeel_core::wire::DecodeError;

use super::group::{GROUP, WORKER};
use super::{Count, Family, Label, MetricType, Scope, Values};
use crate::show::view::{CertificateUse, ReloadStats};

const INPUT: Label = Label {
    name: "input",
    values: Values::Closed(|| Topic::ALL.map(Topic::label).to_vec()),
};

const fn gauge(name: &'static str, help: &'static str) -> Family {
    Family::new(name, MetricType::Gauge, Scope::Agent, help)
}

const fn counter(name: &'static str, help: &'static str) -> Family {
    Family::new(name, MetricType::Counter, Scope::Agent, help)
}

pub static MODE: Family = Family::new(
    "evenkeel_mode",
    MetricType::StateSet,
    Scope::Agent,
    "What the agent can see: full (the group's own records can be read and its coordinator answers; evenkeel_trust tells whether the other topics can be read, too), sampled (there are more of them than the byte budget allows: the newest is read once a second, what lies between is unknown), no_polls (the coordinator does not answer), no_offsets_topic (the records are denied or missing, the coordinator answers: nothing is counted), topics_only (neither, but the config or the status topic), blind (nothing, or not yet).",
)
.labels(&[
    GROUP,
    Label {
        name: "mode",
        values: Values::Closed(|| Mode::ALL.map(Mode::label).to_vec()),
    },
])
.count(Count::PerGroup(Mode::ALL.len()));

pub static TRUST: Family = gauge(
    "evenkeel_trust",
    "1 only if every input is current and readable and the history behind the answers is whole since a stated time.",
)
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static REPORTER: Family = gauge(
    "evenkeel_reporter",
    "1 on the agent beside the worker that leads the group by its newest record, while what that agent shows is current; 0 on all others.",
)
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static SIDECAR_INFO: Family = Family::new(
    "evenkeel_sidecar_info",
    MetricType::Info,
    Scope::Agent,
    "The worker beside this agent. Absent where none of the group's members is beside it.",
)
.labels(&[GROUP, WORKER])
.count(Count::PerGroup(1));

pub static INPUT_CAUGHT_UP: Family = gauge(
    "evenkeel_input_caught_up",
    "1 once a topic was read to the end it had at start.",
)
.labels(&[GROUP, INPUT])
.count(Count::PerGroup(Topic::ALL.len()));

pub static INPUT_START_UP: Family = gauge(
    "evenkeel_input_start_up_ratio",
    "The part of the first search through a topic that is done, from 0 to 1. Absent until its size is known, and for a topic that is read from its beginning.",
)
.unit("ratio")
.labels(&[GROUP, INPUT])
.count(Count::OnDemand);

pub static INPUT_LAG: Family = gauge(
    "evenkeel_input_lag_records",
    "Records between what was read of a topic and its newest known end. Absent until the topic was heard of.",
)
.unit("records")
.labels(&[GROUP, INPUT])
.count(Count::PerGroup(Topic::ALL.len()));

pub static RECORDS: Family = counter(
    "evenkeel_records_total",
    "Records read since the agent started. Those of the offsets topic include the other groups of its partition.",
)
.labels(&[GROUP, INPUT])
.count(Count::PerGroup(Topic::ALL.len()));

/// Values of the label `api`: Kafka's requests.
pub const POLL_APIS: [&str; 3] = ["find_coordinator", "list_groups", "describe_groups"];

pub static POLLS: Family = counter(
    "evenkeel_polls_total",
    "Questions to the group's coordinator that were answered, by Kafka's request.",
)
.labels(&[
    GROUP,
    Label {
        name: "api",
        values: Values::Closed(|| POLL_APIS.to_vec()),
    },
])
.count(Count::PerGroup(POLL_APIS.len()));

pub static POLLS_FAILED: Family = counter(
    "evenkeel_polls_failed_total",
    "Questions to the group's coordinator that were refused or not answered.",
)
.labels(&[GROUP])
.count(Count::PerGroup(1));

pub static DECODE_ERRORS: Family = counter(
    "evenkeel_decode_errors_total",
    "Records that could not be decoded, by kind of error. They are skipped.",
)
.labels(&[
    GROUP,
    INPUT,
    Label {
        name: "kind",
        values: Values::Open("a kind of decoding error; the set is fixed"),
    },
])
.count(Count::PerGroup(
    DecodeError::BINARY_LABELS.len() + 2 * DecodeError::TEXT_LABELS.len(),
));

pub static UNKNOWN_RECORDS: Family = counter(
    "evenkeel_unknown_records_total",
    "Records of a type or version that this release does not know. They are skipped. What exceeds the bound is summed under other.",
)
.labels(&[
    GROUP,
    INPUT,
    Label { name: "version", values: Values::Open("what the record said it is") },
])
.count(Count::Subjects);

pub static FINDING_INFO: Family = Family::new(
    "evenkeel_finding_info",
    MetricType::Info,
    Scope::Agent,
    "Something about the inputs that a person should know; /api/v1/state has it in words. Only while it holds.",
)
.labels(&[
    GROUP,
    Label { name: "finding", values: Values::Open("a kind of finding; the set is fixed") },
    Label { name: "subject", values: Values::Open("the topic, worker or connector it is about") },
])
.count(Count::Subjects);

pub static SERIES: Family = gauge(
    "evenkeel_series",
    "Samples in this scrape, this one included.",
);

pub static SERIES_DROPPED: Family = counter(
    "evenkeel_series_dropped_total",
    "Series that a bound kept out of a scrape (metrics.series_max, metrics.subjects_max), summed over scrapes. It grows only while something is left out.",
);

pub static CERTIFICATE_EXPIRY: Family = gauge(
    "evenkeel_tls_certificate_expiry_timestamp_seconds",
    "When the first certificate in use expires: those served on the agent's own port (use server), those shown to Kafka (use client). Absent without TLS.",
)
.unit("seconds")
.labels(&[Label {
    name: "use",
    values: Values::Closed(|| CertificateUse::ALL.map(CertificateUse::label).to_vec()),
}])
.count(Count::OnDemand);

pub static CONFIG_RELOADS: Family = counter(
    "evenkeel_config_reloads_total",
    "Changed files (settings, certificates, keys) that are in use since (ok), or were refused while what was there before stays in use (failed); the log says why.",
)
.labels(&[Label {
    name: "result",
    values: Values::Closed(|| ReloadStats::default().results().map(|(result, _)| result).to_vec()),
}])
.count(Count::Once(2));

pub static SPANS_EXPORTED: Family = counter(
    "evenkeel_spans_exported_total",
    "Spans that the receiver of traces took. Absent, as the three below are, where traces go nowhere.",
)
.count(Count::OnDemand);

pub static SPANS_FAILED: Family = counter(
    "evenkeel_spans_failed_total",
    "Spans that the receiver of traces refused for good; the log says why. What it does not take for now is tried again and not counted.",
)
.count(Count::OnDemand);

pub static SPANS_DROPPED: Family = counter(
    "evenkeel_spans_dropped_total",
    "Spans that were never sent: too many waited for a receiver that is away or slow, they waited for an hour, or the agent ended before they were sent.",
)
.count(Count::OnDemand);

pub static SPANS_WAITING: Family = gauge(
    "evenkeel_spans_waiting",
    "Spans that are still to be sent, those on their way included. When too many wait, new ones are dropped.",
)
.count(Count::OnDemand);

pub static BUILD_INFO: Family = Family::new(
    "evenkeel_build_info",
    MetricType::Info,
    Scope::Agent,
    "The running program.",
)
.labels(&[
    Label {
        name: "version",
        values: Values::Open("version of evenkeel"),
    },
    Label {
        name: "librdkafka",
        values: Values::Open("version of the Kafka client library"),
    },
]);

pub static PROCESS_CPU: Family = counter(
    "process_cpu_seconds_total",
    "User and system CPU time spent, in whole seconds.",
)
.unit("seconds");

pub static PROCESS_OPEN_FDS: Family = gauge("process_open_fds", "Open file descriptors.");

pub static PROCESS_MAX_FDS: Family =
    gauge("process_max_fds", "Most file descriptors that may be open.");

pub static PROCESS_VIRTUAL_MEMORY: Family =
    gauge("process_virtual_memory_bytes", "Virtual memory.").unit("bytes");

pub static PROCESS_RESIDENT_MEMORY: Family =
    gauge("process_resident_memory_bytes", "Resident memory.").unit("bytes");

pub static PROCESS_START_TIME: Family = gauge(
    "process_start_time_seconds",
    "When the process started, since the epoch.",
)
.unit("seconds");

pub static PROCESS_THREADS: Family = gauge("process_threads", "Threads of the process.");
