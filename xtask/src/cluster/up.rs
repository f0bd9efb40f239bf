//! What `cluster up` can be asked for.

use clap::Args;
use evenkeel_testbed::security::{Access, Security};
use evenkeel_testbed::{BrokerSpec, ClusterSpec, GroupSpec, Version, WorkerSpec};

use super::{Place, setting};

#[derive(Args)]
pub(crate) struct Up {
    #[command(flatten)]
    pub(super) place: Place,
    /// Workers of each group
    #[arg(long, default_value_t = 3)]
    workers: usize,
    /// Brokers; with more than one the controller is a process of its own
    #[arg(long, default_value_t = 1)]
    brokers: u16,
    /// Release of the brokers
    #[arg(long, default_value_t = Version::DEFAULT)]
    broker_version: Version,
    /// Release of the workers
    #[arg(long, default_value_t = Version::DEFAULT)]
    worker_version: Version,
    /// Connect groups (group.id); give it again for more
    #[arg(long = "group", default_values_t = ["connect".to_owned()])]
    groups: Vec<String>,
    /// scheduled.rebalance.max.delay.ms of the workers
    #[arg(long, default_value_t = 20_000)]
    scheduled_delay_ms: u32,
    /// offsets.topic.num.partitions
    #[arg(long, default_value_t = 5)]
    offsets_partitions: u16,
    /// Replicas of the internal topics [default: 2 with several brokers, so that the loss of
    /// one is survived; else 1]
    #[arg(long)]
    replicas: Option<u16>,
    /// group.initial.rebalance.delay.ms
    #[arg(long, default_value_t = 0)]
    initial_rebalance_delay_ms: u32,
    /// A worker setting, name=value; may be given again
    #[arg(long = "worker-setting", value_parser = setting)]
    worker_settings: Vec<(String, String)>,
    /// A broker setting, name=value; may be given again
    #[arg(long = "broker-setting", value_parser = setting)]
    broker_settings: Vec<(String, String)>,
    /// Shows the workers' JMX over HTTP
    #[arg(long)]
    jmx: bool,
    /// Listeners with TLS and SASL, users, and ACLs; also makes certificates and files for
    /// clients
    #[arg(long)]
    pub(super) secure: bool,
    /// How workers reach the brokers, with --secure; given again, they take turns: plaintext,
    /// scram-512, scram-256, plain, oauth, mtls, mtls-pem, mtls-inline, sasl-plaintext
    #[arg(long, requires = "secure")]
    access: Vec<Access>,
    /// Each broker gets one more listener behind a proxy that makes faults
    #[arg(long)]
    proxied: bool,
    /// Workers get network namespaces and addresses of their own; needs root and iproute2
    #[arg(long)]
    pub(super) netns: bool,
}

impl Up {
    pub(super) fn spec(&self) -> anyhow::Result<ClusterSpec> {
        let worker = WorkerSpec {
            version: self.worker_version,
            scheduled_delay_ms: self.scheduled_delay_ms,
            access: Access::Plaintext,
            skew_ms: 0,
            settings: self.worker_settings.iter().cloned().collect(),
        };
        let mut forms = self.access.iter().copied().cycle();
        let mut workers = || -> Vec<WorkerSpec> {
            (0..self.workers)
                .map(|_| WorkerSpec {
                    access: forms.next().unwrap_or_default(),
                    ..worker.clone()
                })
                .collect()
        };
        Ok(ClusterSpec {
            brokers: BrokerSpec {
                count: self.brokers,
                version: self.broker_version,
                offsets_partitions: self.offsets_partitions,
                offsets_replicas: self.replicas.unwrap_or(self.brokers.clamp(1, 2)),
                initial_rebalance_delay_ms: self.initial_rebalance_delay_ms,
                security: self.secure.then(Security::new).transpose()?,
                proxied: self.proxied,
                namespaces: self.netns,
                settings: self.broker_settings.iter().cloned().collect(),
            },
            groups: self
                .groups
                .iter()
                .map(|group| GroupSpec::new(group, workers()))
                .collect(),
            jmx: self.jmx,
        })
    }
}
