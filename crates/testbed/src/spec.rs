//! What a cluster is asked to be: brokers, groups, workers, their releases and settings.

use crate::properties::Properties;
use crate::security::{Access, Security};
use crate::version::Version;

/// A cluster of brokers and any number of Connect groups on it.
#[derive(Clone, Debug)]
pub struct ClusterSpec {
    pub brokers: BrokerSpec,
    pub groups: Vec<GroupSpec>,
    /// Whether workers carry the Prometheus Java agent.
    pub jmx: bool,
}

/// The brokers of a cluster.
#[derive(Clone, Debug)]
pub struct BrokerSpec {
    pub count: u16,
    pub version: Version,
    /// `offsets.topic.num.partitions`. Kafka's default is 50; 5 start faster and still tell
    /// a right hash from a wrong one.
    pub offsets_partitions: u16,
    /// Replicas of `__consumer_offsets` and of the topics of Connect. With 2 (and two
    /// brokers) a group survives the loss of its coordinator.
    pub offsets_replicas: u16,
    /// `group.initial.rebalance.delay.ms`. Kafka's default is 3000. 0 keeps scripts exact:
    /// with a delay the number of first generations depends on who arrives within it.
    pub initial_rebalance_delay_ms: u32,
    /// Listeners with TLS and SASL, users and ACLs; none without.
    pub security: Option<Security>,
    /// Whether each broker has one more listener behind a proxy that makes faults.
    pub proxied: bool,
    /// Whether workers get network namespaces with addresses of their own, which needs root.
    pub namespaces: bool,
    /// Any other broker setting; wins over all above.
    pub settings: Properties,
}

/// A Connect group and its workers.
#[derive(Clone, Debug)]
pub struct GroupSpec {
    pub group_id: String,
    pub config_topic: String,
    pub offset_topic: String,
    pub status_topic: String,
    pub workers: Vec<WorkerSpec>,
}

/// One worker of a group.
#[derive(Clone, Debug)]
pub struct WorkerSpec {
    pub version: Version,
    /// `scheduled.rebalance.max.delay.ms`; Kafka's default is 300 000.
    pub scheduled_delay_ms: u32,
    /// How it reaches the brokers; any but plaintext needs a secured cluster.
    pub access: Access,
    /// How far its clock is ahead of that of everybody else; behind when negative. Needs
    /// libfaketime.
    pub skew_ms: i64,
    /// Any other worker setting; wins over all above.
    pub settings: Properties,
}

impl Default for BrokerSpec {
    fn default() -> BrokerSpec {
        BrokerSpec {
            count: 1,
            version: Version::DEFAULT,
            offsets_partitions: 5,
            offsets_replicas: 1,
            initial_rebalance_delay_ms: 0,
            security: None,
            proxied: false,
            namespaces: false,
            settings: Properties::new(),
        }
    }
}

impl Default for WorkerSpec {
    fn default() -> WorkerSpec {
        WorkerSpec {
            version: Version::DEFAULT,
            scheduled_delay_ms: 20_000,
            access: Access::Plaintext,
            skew_ms: 0,
            settings: Properties::new(),
        }
    }
}

impl WorkerSpec {
    /// The same worker with one more setting.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> WorkerSpec {
        self.settings.insert(name.to_owned(), value.to_string());
        self
    }
}

impl GroupSpec {
    /// A group whose topics are named after it, with `workers` equal workers.
    pub fn new(group_id: &str, workers: Vec<WorkerSpec>) -> GroupSpec {
        GroupSpec {
            group_id: group_id.to_owned(),
            config_topic: format!("{group_id}-configs"),
            offset_topic: format!("{group_id}-offsets"),
            status_topic: format!("{group_id}-status"),
            workers,
        }
    }
}

impl BrokerSpec {
    /// Two brokers with two replicas of all topics: either may go.
    pub fn pair() -> BrokerSpec {
        let replicas = ("default.replication.factor".to_owned(), "2".to_owned());
        BrokerSpec {
            count: 2,
            offsets_replicas: 2,
            settings: Properties::from([replicas]),
            ..BrokerSpec::default()
        }
    }
}

impl ClusterSpec {
    /// One broker and one group `connect` of `workers` workers, all of the default release.
    pub fn of(workers: usize) -> ClusterSpec {
        ClusterSpec {
            brokers: BrokerSpec::default(),
            groups: vec![GroupSpec::new(
                "connect",
                vec![WorkerSpec::default(); workers],
            )],
            jmx: false,
        }
    }
}
