//! Derivations, as data: a scenario in, what the engine says of it out.
#![allow(clippy::unwrap_used)]

mod absences;
mod asking;
mod balance;
mod barrier;
mod beginnings;
mod cases;
mod cases_config;
mod cases_groups;
mod cases_hidden;
mod cases_left;
mod cases_lost;
mod cases_more;
mod cases_moved;
mod cases_patterns;
mod cases_why;
mod causes;
mod checks;
mod departures;
mod downtime;
mod dsl;
mod episodes;
mod habits;
mod laws;
mod layout;
mod losses;
mod patterns;
mod polls;
mod rounds;
mod sampled;
mod subtle;
mod switches;
mod unassigned;
