//! Laws between the simulator, real recordings and the engine.
//!
//! `EVENKEEL_SIM_SEED=7` runs every law on that seed alone and tells its plan;
//! `EVENKEEL_SIM_SEEDS=1000` runs more of them than usual.

mod captures;
mod coverage;
mod drive;
mod replay;
mod story;
mod truth;
mod whole;
