//! When a state is written, and what is shown of counters meanwhile.
