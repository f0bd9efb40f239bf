//! What a world is made of, and what befalls it: drawn from a seed, or written by hand.

mod draw;

use std::fmt;

use crate::assignor::Rules;
use crate::clock::Clock;
use crate::coordinator::Manner;
use crate::world::World;

/// A world before it runs.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What all that is random in it comes from.
    pub seed: u64,
    /// Which assignor the workers have.
    pub rules: Rules,
    /// How the coordinator acts.
    pub manner: Manner,
    /// The clock of its first broker.
    pub broker_clock: Clock,
    /// The places that workers run in.
    pub slots: Vec<Slot>,
    /// The connectors that are created in the course of it.
    pub connectors: Vec<Connector>,
    /// What befalls it, in order, in ms from the beginning.
    pub deeds: Vec<(i64, Deed)>,
    /// When it ends, in ms from the beginning.
    pub end_ms: i64,
    /// In how many of a hundred cases offsets without a record precede a group record.
    pub gaps: i64,
    /// Whether the leader writes the config topic in transactions.
    pub transactions: bool,
    /// In how many of a hundred cases a status is written twice.
    pub doubled: i64,
}

/// A place that a worker runs in: one process at a time.
#[derive(Debug, Clone)]
pub struct Slot {
    /// The clock of its machine.
    pub clock: Clock,
    /// One way to the coordinator.
    pub latency_ms: i64,
    /// `session.timeout.ms`
    pub session_ms: i64,
    /// `heartbeat.interval.ms`
    pub heartbeat_ms: i64,
    /// `rebalance.timeout.ms`
    pub rebalance_ms: i64,
    /// `scheduled.rebalance.max.delay.ms`
    pub max_delay_ms: i64,
    /// `task.shutdown.graceful.timeout.ms`
    pub graceful_ms: i64,
    /// 0 eager, 1 compatible, 2 sessioned.
    pub version: i16,
    /// How long its leader computes, from and to.
    pub compute_ms: (i64, i64),
}

/// A connector.
#[derive(Debug, Clone)]
pub struct Connector {
    /// Its name.
    pub name: String,
    /// How many tasks it makes at first.
    pub tasks: i32,
    /// How long a piece of it takes to start, from and to.
    pub start_ms: (i64, i64),
    /// How long it takes to stop.
    pub stop_ms: (i64, i64),
    /// In how many of a hundred starts a task fails.
    pub fails: i64,
}

/// What befalls a world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// A process starts in a slot, if none runs there.
    Start {
        /// Which slot.
        slot: usize,
        /// Whether it has another address than the one before.
        moved: bool,
    },
    /// SIGTERM, and SIGKILL after a grace.
    Stop {
        /// Which slot.
        slot: usize,
        /// The grace.
        grace_ms: Option<i64>,
    },
    /// SIGKILL.
    Kill {
        /// Which slot.
        slot: usize,
    },
    /// SIGSTOP, and SIGCONT later.
    Freeze {
        /// Which slot.
        slot: usize,
        /// How much later.
        ms: i64,
    },
    /// The process that leads is killed.
    KillLeader,
    /// A connector is created, by its index.
    Create(usize),
    /// A connector is deleted.
    Delete(usize),
    /// A connector is told to make another number of tasks.
    Retask(usize, i32),
    /// A connector's target state.
    Target(usize, &'static str),
    /// A connector and its tasks are restarted where they are.
    Restart(usize),
    /// A session key is made.
    RotateKey,
    /// The coordinator's broker goes, and it or another takes over.
    Away {
        /// For how long nobody answers.
        ms: i64,
        /// The clock of the other broker, if it is another.
        moved: Option<Clock>,
    },
    /// A worker follows the config topic late.
    Lag {
        /// Which slot.
        slot: usize,
        /// How late.
        ms: i64,
        /// For how long.
        for_ms: i64,
    },
    /// Tasks of a connector ignore that they are told to stop.
    Stick(usize),
    /// Pieces of a connector take so long to stop.
    SlowStop(usize, i64),
    /// Pieces of a connector take so long to start.
    SlowStart(usize, i64),
}

// === impl Plan ===

impl Plan {
    /// The plan of a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        draw::plan(seed)
    }

    /// Lets it happen.
    #[must_use]
    pub fn run(self) -> World {
        World::of(self)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}: {:?}, {}, append {:?} ms, broker clock {:?}, gaps {} %, transactions {}, doubled {} %, ends at {} ms",
            self.seed,
            self.rules,
            if self.manner.java { "4.x" } else { "3.x" },
            self.manner.append_ms,
            self.broker_clock,
            self.gaps,
            self.transactions,
            self.doubled,
            self.end_ms
        )?;
        for (at, slot) in self.slots.iter().enumerate() {
            writeln!(f, "  slot {at}: {slot:?}")?;
        }
        for (at, connector) in self.connectors.iter().enumerate() {
            writeln!(f, "  connector {at}: {connector:?}")?;
        }
        for (at, deed) in &self.deeds {
            writeln!(f, "  {at:>7} ms {deed:?}")?;
        }
        Ok(())
    }
}
