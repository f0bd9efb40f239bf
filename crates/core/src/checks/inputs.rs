//! The names of what checks compare: settings as Kafka spells them, the rest in words.

pub(super) const HEARTBEAT: &str = "heartbeat.interval.ms";
pub(super) const SESSION: &str = "session.timeout.ms";
pub(super) const REBALANCE: &str = "rebalance.timeout.ms";
pub(super) const DELAY: &str = "scheduled.rebalance.max.delay.ms";
pub(super) const GRACEFUL: &str = "task.shutdown.graceful.timeout.ms";
pub(super) const FLUSH: &str = "offset.flush.timeout.ms";
pub(super) const SYNC: &str = "worker.sync.timeout.ms";
pub(super) const UNSYNC: &str = "worker.unsync.backoff.ms";
pub(super) const REQUEST: &str = "request.timeout.ms";
pub(super) const KEY_TTL: &str = "inter.worker.key.ttl.ms";
pub(super) const PROTOCOL: &str = "connect.protocol";
pub(super) const ADMIN_CALL: &str = "admin.default.api.timeout.ms";
pub(super) const SINK_SESSION: &str = "consumer.session.timeout.ms";
pub(super) const SINK_PROTOCOL: &str = "consumer.group.protocol";
pub(super) const DELIVERY: &str = "producer.delivery.timeout.ms";
pub(super) const PRODUCER_REQUEST: &str = "producer.request.timeout.ms";
pub(super) const LINGER: &str = "producer.linger.ms";
pub(super) const SINK_INSTANCE: &str = "consumer.group.instance.id";
pub(super) const INSTANCE: &str = "group.instance.id";
pub(super) const BOOTSTRAP: &str = "bootstrap.servers";
pub(super) const GROUP: &str = "group.id";

pub(super) const CONFIG_TOPIC: &str = "config.storage.topic";
pub(super) const OFFSET_TOPIC: &str = "offset.storage.topic";
pub(super) const STATUS_TOPIC: &str = "status.storage.topic";
pub(super) const TOPICS: [&str; 3] = [CONFIG_TOPIC, OFFSET_TOPIC, STATUS_TOPIC];
pub(super) const REPLICATION: [&str; 3] = [
    "config.storage.replication.factor",
    "offset.storage.replication.factor",
    "status.storage.replication.factor",
];

pub(super) const BROKER_SESSION_MIN: &str = "group.min.session.timeout.ms";
pub(super) const BROKER_SESSION_MAX: &str = "group.max.session.timeout.ms";
pub(super) const INITIAL_DELAY: &str = "group.initial.rebalance.delay.ms";

pub(super) const FILE: &str = "all that is set for the worker";
pub(super) const BESIDE: &str = "what an image or a script sets for the worker besides";
pub(super) const RELEASE: &str = "the release of Kafka";
pub(super) const OTHERS: &str = "the settings of other workers";
pub(super) const NEIGHBOURS: &str = "the settings of other groups";
pub(super) const WORKER_COUNT: &str = "how many workers there are";
pub(super) const HOSTS: &str = "from how many hosts workers come";
pub(super) const ADVERTISED: &str = "the address that workers advertise";
pub(super) const GRACE: &str = "how long a process may take to end, in ms";
pub(super) const TOLD: &str = "what the worker told when it joined";

pub(super) const RESTARTS: &str = "how long restarts take, in ms";
pub(super) const GIVEN_UP: &str = "how many stops of tasks were given up";
pub(super) const OUT_AFTER: &str = "after how long a worker was out while it stopped tasks, in ms";
pub(super) const STOPS: &str = "how long tasks take to stop, in ms";
pub(super) const REBALANCES: &str = "how long rebalances take, in ms";
pub(super) const SYNCS: &str = "how long the sync phase takes, in ms";
pub(super) const STARTS: &str = "how far apart workers start, in ms";
pub(super) const CALLS: &str = "how long connectors hold up their worker, in ms";

pub(super) const LEADER_DELAYS: &str = "the delays of leaders";
pub(super) const LOSS: &str = "the delay when work was lost, in ms";
pub(super) const LEADER_CHANGED: &str = "whether the leader changed then";
pub(super) const REVOKED: &str = "how much is revoked at once";
pub(super) const MISMATCHES: &str = "config mismatches in an hour";
pub(super) const BEHIND: &str = "for how many generations a worker was behind";
pub(super) const GAPS: &str = "generations without a record, of a hundred";
pub(super) const IN_FORCE: &str = "the protocol in force";
pub(super) const PROVEN: &str = "the protocol that workers proved";
pub(super) const RECORD_BYTES: &str = "the size of the group's record";
pub(super) const RECORD_MAX: &str = "the largest record that the offsets topic takes";
pub(super) const KEY_AGE: &str = "the age of the session key, in ms";
pub(super) const STRAY: &str = "how long a stranger's task has been RUNNING, in ms";
pub(super) const BROKERS: &str = "how many brokers there are";
pub(super) const BROKER_TOPICS: &str = "the topics as brokers have them";
pub(super) const SINKS: &str = "the consumer groups of sink connectors";
pub(super) const PRODUCERS: &str = "what connectors set for their producers";

/// What only a running group shows.
const WATCHED: [&str; 28] = [
    BEHIND,
    BROKERS,
    BROKER_SESSION_MAX,
    BROKER_SESSION_MIN,
    BROKER_TOPICS,
    CALLS,
    GAPS,
    GIVEN_UP,
    INITIAL_DELAY,
    IN_FORCE,
    KEY_AGE,
    LEADER_CHANGED,
    LEADER_DELAYS,
    LOSS,
    MISMATCHES,
    OUT_AFTER,
    PRODUCERS,
    PROVEN,
    REBALANCES,
    RECORD_BYTES,
    RECORD_MAX,
    RESTARTS,
    REVOKED,
    SINKS,
    STARTS,
    STOPS,
    STRAY,
    SYNCS,
];

/// Whether an input is in no file.
pub(super) fn is_watched(name: &str) -> bool {
    WATCHED.contains(&name) || name == TOLD
}
