//! Why a command ends, as an exit code.

use std::process::ExitCode;

/// How a command ended; the numbers follow `sysexits.h` where one fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Ok,
    /// Failed while running.
    Failed,
    /// A wrong command line (`EX_USAGE`).
    Usage,
    /// A mistake in the configuration (`EX_CONFIG`).
    Config,
}

// === impl Exit ===

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Usage => 64,
            Exit::Config => 78,
        })
    }
}
