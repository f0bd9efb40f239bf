//! The evenkeel agent.
fn main() {}
