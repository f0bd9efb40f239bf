//! Traces: each rebalance as one trace.

pub mod ids;
