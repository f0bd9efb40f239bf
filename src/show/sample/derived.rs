//! What the sample looks like: its pattern, and how evenly its work is spread.

use std::sync::Arc;

use evenkeel_core::answers::{BalanceAnswer, KindBalance, Pattern, PatternAnswer, PatternNumber};
use evenkeel_core::facts::ids::Kind;

use super::RECORDED;

/// One worker crashes again and again.
pub(super) fn flapping() -> PatternAnswer {
    PatternAnswer {
        pattern: Pattern::Flapping,
        subjects: vec![Arc::from("worker-d:8083")],
        evidence: "worker-d:8083 left 3 times in the last 30 minutes: crashed, crashed, crashed"
            .to_owned(),
        numbers: vec![PatternNumber {
            pattern: Pattern::Flapping,
            what: "departures",
            counted: 3,
            needed: 3,
            window_ms: 1_800_000,
        }],
    }
}

/// Nothing is worth a word.
pub(super) fn quiet() -> PatternAnswer {
    PatternAnswer {
        pattern: Pattern::Quiet,
        subjects: Vec::new(),
        evidence: String::new(),
        numbers: Vec::new(),
    }
}

/// A task is above the best split.
pub(super) fn uneven() -> BalanceAnswer {
    BalanceAnswer {
        kinds: vec![spread(Kind::Connector, 2, 0), spread(Kind::Task, 4, 1)],
        ..even()
    }
}

/// Nothing is.
pub(super) fn even() -> BalanceAnswer {
    BalanceAnswer {
        generation: 8,
        recorded: RECORDED,
        frozen: false,
        kinds: vec![spread(Kind::Connector, 3, 0), spread(Kind::Task, 6, 0)],
        connectors: Vec::new(),
        connectors_left_out: 0,
    }
}

/// So many things on three members.
fn spread(kind: Kind, items: u64, imbalance: u64) -> KindBalance {
    let best_most = items.div_ceil(3);
    KindBalance {
        kind,
        members: 3,
        items,
        parked: 0,
        most: best_most + imbalance,
        least: 0,
        best_most,
        imbalance,
        survivor_most: Some(items.div_ceil(2)),
    }
}
