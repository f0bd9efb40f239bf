//! Floor two: Kafka's structs in our words. The only floor that sees both.

pub mod ids;
pub mod input;
pub mod partition;
pub mod time;
