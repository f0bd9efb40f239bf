//! What a node is told: its roles and listeners, small buffers, the offsets topic.

use std::net::Ipv4Addr;

use super::Role;
use crate::format::Quorum;
use crate::security::{Door, addresses};
use crate::spec::BrokerSpec;

pub(crate) fn node_settings(
    (role, node_id): (Role, u16),
    host: Ipv4Addr,
    doors: &[Door],
    quorum: &Quorum,
) -> Vec<(&'static str, String)> {
    let [bound, told, map] = addresses(host, doors);
    let controller = format!("CONTROLLER://127.0.0.1:{}", quorum.controller_port);
    let mut settings = vec![
        ("process.roles", role.process_roles().to_owned()),
        ("node.id", node_id.to_string()),
        (
            "controller.quorum.voters",
            format!(
                "{}@127.0.0.1:{}",
                quorum.controller_id, quorum.controller_port
            ),
        ),
        ("controller.listener.names", "CONTROLLER".to_owned()),
        (
            "listener.security.protocol.map",
            format!("{map},CONTROLLER:PLAINTEXT"),
        ),
    ];
    match role {
        Role::Combined => {
            settings.push(("listeners", format!("{bound},{controller}")));
            settings.push(("advertised.listeners", told));
        }
        Role::Broker => {
            settings.push(("listeners", bound));
            settings.push(("advertised.listeners", told));
        }
        Role::Controller => settings.push(("listeners", controller)),
    }
    settings
}

/// Fewer threads and buffers than a real broker needs: nothing here is measured for load.
pub(super) fn small_settings() -> Vec<(&'static str, String)> {
    [
        ("num.network.threads", "2"),
        ("num.io.threads", "2"),
        ("background.threads", "2"),
        ("num.recovery.threads.per.data.dir", "1"),
        ("group.coordinator.threads", "1"),
        // The default dedupe buffer, 128 MB, is taken from the heap at start.
        ("log.cleaner.threads", "1"),
        ("log.cleaner.dedupe.buffer.size", "2097152"),
        ("log.segment.bytes", "16777216"),
        ("metadata.log.segment.bytes", "8388608"),
        ("transaction.state.log.num.partitions", "1"),
        ("transaction.state.log.replication.factor", "1"),
        ("transaction.state.log.min.isr", "1"),
        ("share.coordinator.state.topic.num.partitions", "1"),
        ("share.coordinator.state.topic.replication.factor", "1"),
        ("share.coordinator.state.topic.min.isr", "1"),
        ("default.replication.factor", "1"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .to_vec()
}

pub(super) fn offsets_settings(spec: &BrokerSpec) -> [(&'static str, String); 3] {
    [
        (
            "offsets.topic.num.partitions",
            spec.offsets_partitions.to_string(),
        ),
        (
            "offsets.topic.replication.factor",
            spec.offsets_replicas.to_string(),
        ),
        (
            "group.initial.rebalance.delay.ms",
            spec.initial_rebalance_delay_ms.to_string(),
        ),
    ]
}
