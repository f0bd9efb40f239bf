//! Why a command ends, as an exit code.

use std::io;
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
    /// No broker answers, or none lets us in (`EX_UNAVAILABLE`).
    Unreachable,
}

// === impl Exit ===

impl Exit {
    /// For a command that could not write its result.
    #[must_use]
    pub fn of_output(error: &io::Error) -> Self {
        // Whoever read the output has seen enough: `evenkeel metrics | head`.
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Ok
        } else {
            Self::of_error(error)
        }
    }

    /// For a command that failed; says why.
    #[must_use]
    pub fn of_error(error: &dyn std::error::Error) -> Self {
        eprintln!("error: {}", chain(error));
        Self::Failed
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Usage => 64,
            Exit::Config => 78,
            Exit::Unreachable => 69,
        })
    }
}

/// An error and its causes, in one line.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
