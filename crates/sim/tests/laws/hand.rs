//! Worlds written by hand, for laws about one thing.

use evenkeel_sim::assignor::Rules;
use evenkeel_sim::clock::Clock;
use evenkeel_sim::coordinator::Manner;
use evenkeel_sim::plan::{Connector, Deed, Plan, Slot};

/// A plain world of these slots, in which nothing happens yet.
pub(crate) fn plan(slots: Vec<Slot>) -> Plan {
    Plan {
        seed: 1,
        rules: Rules::Since34,
        manner: Manner {
            java: true,
            initial_delay_ms: 0,
            append_ms: (2, 2),
        },
        broker_clock: Clock::default(),
        slots,
        connectors: Vec::new(),
        deeds: Vec::new(),
        end_ms: 60_000,
        gaps: 0,
        transactions: false,
        doubled: 0,
    }
}

/// A slot with Kafka's defaults.
pub(crate) fn slot() -> Slot {
    Slot {
        clock: Clock::default(),
        latency_ms: 5,
        session_ms: 10_000,
        heartbeat_ms: 3_000,
        rebalance_ms: 60_000,
        max_delay_ms: 300_000,
        graceful_ms: 5_000,
        version: 2,
        compute_ms: (1, 1),
    }
}

/// A connector that is quick.
pub(crate) fn connector(name: &str, tasks: i32) -> Connector {
    Connector {
        name: name.to_owned(),
        tasks,
        start_ms: (20, 20),
        stop_ms: (20, 20),
        fails: 0,
    }
}

/// A process starts.
pub(crate) fn start(at_ms: i64, slot: usize) -> (i64, Deed) {
    (at_ms, Deed::Start { slot, moved: false })
}
