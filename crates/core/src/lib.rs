//! The brain of evenkeel: bytes in, answers out.

pub mod answers;
pub mod facts;
