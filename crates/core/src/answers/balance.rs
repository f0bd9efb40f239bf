//! How evenly work is spread over the members, and what the loss of one would make of it.

use std::sync::Arc;

use serde::Serialize;

use crate::facts::ids::Kind;
use crate::facts::time::EventTime;

/// How evenly the work of a group is spread (D15).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BalanceAnswer {
    /// The confirmed generation that is weighed.
    pub generation: i32,
    /// When its record was written.
    pub recorded: EventTime,
    /// Whether an episode is active: then this is how it was before.
    pub frozen: bool,
    /// Connectors and tasks: Kafka balances each kind for itself.
    pub kinds: Vec<KindBalance>,
    /// Connectors whose tasks are bunched, the worst first, at most
    /// `limits::BALANCE_CONNECTORS_SHOWN_MAX`. Kafka does not balance a connector: this is
    /// no fault of anybody.
    pub connectors: Vec<ConnectorBalance>,
    /// How many more there are.
    pub connectors_left_out: u64,
}

/// How evenly one kind of work is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KindBalance {
    /// Which.
    pub kind: Kind,
    /// Members that it is spread over.
    pub members: u64,
    /// How much they have together.
    pub items: u64,
    /// How much is parked until a scheduled delay ends: it will be theirs.
    pub parked: u64,
    /// The most that one of them has.
    pub most: u64,
    /// The least.
    pub least: u64,
    /// The most that one would have in the best split.
    pub best_most: u64,
    /// Items above that, all members together: 0 is as good as Kafka's assignor makes it.
    pub imbalance: u64,
    /// The most that a survivor would carry if the worst one to lose were gone; absent where
    /// nobody would be left.
    pub survivor_most: Option<u64>,
}

/// How the tasks of one connector are spread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConnectorBalance {
    /// Its name.
    pub connector: Arc<str>,
    /// Its tasks that have an owner.
    pub tasks: u64,
    /// The most of them that one member has.
    pub most: u64,
    /// The most that one would have in the best split.
    pub best_most: u64,
    /// Tasks above that, all members together.
    pub above: u64,
}
