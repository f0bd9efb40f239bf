//! What a scenario is run with.

use std::path::PathBuf;

use crate::version::Version;

/// How a scenario is run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The `evenkeel` program.
    pub program: PathBuf,
    /// Where the capture and its truth go; nothing is kept without it.
    pub keep: Option<PathBuf>,
    /// Releases of brokers and workers; the testbed's own without.
    pub releases: Option<(Version, Version)>,
    /// Whether all steps are made, or only those that a CI run has time for.
    pub whole: bool,
}
