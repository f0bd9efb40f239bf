//! Traces: each rebalance that is over as one trace, and its way to a collector.
//!
//! What a trace holds is a function of what the engine says (`tree`), its ids of what every
//! sidecar reads alike (`ids`), and who sends it of who led the group (`share`). The rest is
//! transport: a bounded queue (`sender`), OTLP's messages (`form`), HTTP and gRPC (`wire`).

mod form;
pub mod ids;
mod named;
pub mod sender;
pub mod share;
pub mod tree;
pub mod wire;

pub use ids::of_episode;
pub use named::Named;
pub use tree::{Trace, trace};
