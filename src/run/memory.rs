//! Bounds the allocator: a sidecar must stay small beside its worker.
