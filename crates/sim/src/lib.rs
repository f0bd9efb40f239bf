//! A simulated Kafka Connect group, with faults and the truth of what happened.
//!
//! The second opinion against the engine: it acts as Kafka's group coordinator, assignor
//! and workers do, from a seed, in virtual time, and writes Kafka's bytes. It shares
//! formats with the core, never its derivations. `Plan::of(seed).run()` gives a
//! [`world::World`] whose `truth()` says what happened and whose `observer(..)` gives what one
//! sidecar would have been fed.

pub mod assignor;
pub mod item;
pub mod rng;
