//! The brain of evenkeel: bytes in, answers out.

pub mod wire;
