//! Derivations, as data: a scenario in, what the engine says of it out.
#![allow(clippy::unwrap_used)]

mod absences;
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
mod cases_why;
mod causes;
mod departures;
mod dsl;
mod episodes;
mod laws;
mod layout;
mod losses;
mod polls;
mod rounds;
mod switches;
mod unassigned;
