//! Everything that comes in: Kafka's topics and capture files, both as [`Input`]s.
//!
//! [`Input`]: evenkeel_core::facts::input::Input

pub mod capture;
pub mod connection;
pub mod coordinator;
pub mod counters;
pub mod ffi;
pub mod group;
pub mod hitch;
pub mod kafka;
pub mod mask;
pub mod token;
pub mod wall;
