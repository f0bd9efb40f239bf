//! Derivations, as data: a scenario in, what the engine says of it out.

mod barrier;
mod cases;
mod dsl;
mod laws;
mod rounds;
mod unassigned;
