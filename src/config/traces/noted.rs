//! What is wrong with what was said of traces: mistakes in the configuration, and variables that
//! cannot be used.

use std::fmt;

use crate::config::mistake::Mistake;

/// All of it, in the order in which it was found.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// Of the configuration.
    pub(super) mistakes: Vec<Mistake>,
    /// Of variables.
    slips: Vec<Slip>,
}

/// A variable that cannot be used, and what comes of it.
#[derive(Debug)]
struct Slip {
    mistake: Mistake,
    then: Then,
}

/// What comes of a variable that cannot be used.
#[derive(Debug)]
pub(super) enum Then {
    /// Something else is used, in words.
    Used(String),
    /// No trace is sent.
    NotSent,
}

// === impl Noted ===

impl Noted {
    /// By its path it is the configuration's, or a variable's.
    pub(super) fn wrong(&mut self, mistake: Mistake, then: Then) {
        if mistake.path.starts_with("traces.") {
            self.mistakes.push(mistake);
        } else {
            self.slips.push(Slip { mistake, then });
        }
    }

    /// Whether nothing keeps traces from being sent.
    pub(super) fn is_sent(&self) -> bool {
        let mut slips = self.slips.iter();
        self.mistakes.is_empty() && !slips.any(Slip::stops)
    }

    /// The variable that keeps them from being sent.
    pub(super) fn stopped_by(&self) -> Option<&str> {
        let slip = self.slips.iter().find(|slip| slip.stops())?;
        Some(&slip.mistake.path)
    }

    /// What keeps traces from being sent: of the configuration, and of variables.
    pub(super) fn all_that_stop(&self) -> Vec<Mistake> {
        let slips = self.slips.iter().filter(|slip| slip.stops());
        let slips = slips.map(|slip| &slip.mistake);
        self.mistakes.iter().chain(slips).cloned().collect()
    }

    /// What is to be said of variables.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.slips.iter().map(Slip::to_string).collect()
    }
}

// === impl Slip ===

impl Slip {
    fn stops(&self) -> bool {
        matches!(self.then, Then::NotSent)
    }
}

impl fmt::Display for Slip {
    /// In one line: it stands in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake {
            path,
            found,
            expected,
            hint,
            ..
        } = &self.mistake;
        write!(f, "{path}: found {found}, expected {expected}; ")?;
        match &self.then {
            Then::Used(used) => f.write_str(used)?,
            Then::NotSent => f.write_str("no trace is sent")?,
        }
        match hint {
            Some(hint) => write!(f, " (hint: {hint})"),
            None => Ok(()),
        }
    }
}
