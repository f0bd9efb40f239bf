//! The evenkeel agent: it reads, runs, shows.

pub mod commands;
pub mod config;
pub mod read;
pub mod run;
pub mod show;
