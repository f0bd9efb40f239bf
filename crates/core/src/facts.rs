//! Floor two: Kafka's structs in our words. The only floor that sees both.

pub mod cluster;
pub mod config;
pub mod group;
pub mod ids;
pub mod input;
pub mod mask;
pub mod observation;
pub(crate) mod pairs;
pub mod partition;
pub mod poll;
pub mod sets;
pub mod status;
pub mod time;
