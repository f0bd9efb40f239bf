//! The sender against receivers.
