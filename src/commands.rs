//! The verbs of the command line, one file each.

pub mod capture;
pub mod check;
pub mod config;
pub mod dashboards;
pub mod demo;
pub mod exit;
pub mod mask;
pub mod metrics;
pub mod replay;
pub mod rules;
pub mod run;
mod start;
pub mod wiring;
