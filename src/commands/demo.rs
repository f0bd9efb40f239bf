//! `evenkeel demo`: a recorded incident, replayed through the real pipeline.

pub mod broker;
