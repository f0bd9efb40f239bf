//! Derivations, as data: a scenario in, what the engine says of it out.
#![allow(clippy::unwrap_used)]

mod absences;
mod balance;
mod barrier;
mod beginnings;
mod cases;
mod cases_config;
mod cases_doubt;
mod cases_groups;
mod cases_hidden;
mod cases_left;
mod cases_lost;
mod cases_more;
mod cases_moved;
mod cases_patterns;
mod cases_why;
mod causes;
mod departures;
mod disagreements;
mod disagreements_seen;
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
mod states;
mod subtle;
mod switches;
mod unassigned;
