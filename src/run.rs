//! Between reading and showing: owns the engines, the clock and the end of it all.

pub mod agent;
pub mod checkpoint;
pub mod clock;
pub mod connections;
pub mod expiry;
mod exporter;
pub mod files;
pub mod group;
pub mod reloads;
pub mod shutdown;
pub mod web;
