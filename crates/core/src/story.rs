//! Floor four: what happened and why.
