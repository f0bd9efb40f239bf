//! Floor three: what is so now.

pub mod balance;
pub mod configured;
pub mod counts;
pub mod effective;
pub mod own;
pub mod polled;
pub mod protocol;
pub mod statuses;
pub mod unassigned;
