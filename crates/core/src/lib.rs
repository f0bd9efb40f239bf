//! The brain of evenkeel: bytes in, answers out.
