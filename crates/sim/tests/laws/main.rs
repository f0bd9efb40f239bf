//! Laws between the simulator, real recordings and the engine.
//!
//! `EVENKEEL_SIM_SEED=7` runs every law on that seed alone and tells its plan;
//! `EVENKEEL_SIM_SEEDS=1000` runs more of them than usual.

// A panic is the failure that is wanted.
#![allow(clippy::unwrap_used)]

mod captures;
mod costs;
mod coverage;
mod drive;
mod hand;
mod replay;
mod sound;
mod storm;
mod timelines;
mod truth;
mod whole;
