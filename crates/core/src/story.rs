//! Floor four: what happened and why.

pub mod barrier;
pub mod findings;
pub mod recent;
pub mod rounds;
