//! The brain of evenkeel: bytes in, answers out. No IO, no clock, no threads, no logs.
//!
//! Floors, each using only those below it: [`wire`] (bytes to Kafka's structs),
//! [`facts`] (Kafka's structs to our words), [`view`] (what is so now), [`story`] (what
//! happened and why), [`checks`] (do the clocks agree), [`engine`] (takes inputs, gives
//! answers).

pub mod answers;
pub mod checks;
pub mod engine;
pub mod facts;
pub mod limits;
pub mod story;
pub mod view;
pub mod wire;
