//! The agent as a whole: captures derived again, the demo, and real clusters.
#![allow(clippy::unwrap_used)]

mod accuracy;
mod alerts;
mod boards;
mod cases;
mod check;
mod cli;
mod clocks;
mod collector;
mod costs;
mod demo;
mod disagreements;
mod incidents;
mod late;
mod live;
mod masked;
mod moves;
mod polled;
mod replays;
mod traces;
