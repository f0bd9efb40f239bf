//! The evenkeel agent: it reads, runs, shows.
