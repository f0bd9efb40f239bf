//! The brain of evenkeel: bytes in, answers out.

pub mod answers;
pub mod facts;
pub mod limits;
pub mod story;
pub mod view;
