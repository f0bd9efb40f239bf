//! A simulated Kafka Connect group, with faults and the truth of what happened.
//!
//! The second opinion against the engine: it acts as Kafka's group coordinator, assignor
//! and workers do, from a seed, in virtual time, and writes Kafka's bytes. It shares
//! formats with the core, never its derivations. [`plan::Plan::of`] makes a world of a
//! seed, [`plan::Plan::run`] lets it happen; [`world::World::truth`] says what happened and
//! [`world::World::observer`] gives what one sidecar would have been fed.

pub mod assignor;
pub mod clock;
mod config;
pub mod coordinator;
pub mod item;
pub mod log;
pub mod observer;
pub mod plan;
pub mod protocol;
pub mod rng;
pub mod truth;
pub mod world;
