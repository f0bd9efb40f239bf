//! The evenkeel agent: it reads, runs, shows.

pub mod commands;
