//! A release of Apache Kafka, as people write it.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A release of Apache Kafka.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// The first number.
    pub major: u16,
    /// The second.
    pub minor: u16,
    /// The third.
    pub patch: u16,
}

/// A text that is no release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no release of Kafka: a release is written as 3.9.1")]
pub struct NoRelease;

// === impl Release ===

impl Release {
    /// `major.minor.patch`.
    #[must_use]
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }
}

impl FromStr for Release {
    type Err = NoRelease;

    fn from_str(text: &str) -> Result<Self, NoRelease> {
        let mut parts = text.split('.');
        let mut next = |is_needed: bool| match parts.next() {
            None if !is_needed => Ok(0),
            None => Err(NoRelease),
            Some(part) if part.bytes().all(|byte| byte.is_ascii_digit()) => {
                part.parse().map_err(|_| NoRelease)
            }
            Some(_) => Err(NoRelease),
        };
        let release = Self::new(next(true)?, next(true)?, next(false)?);
        match parts.next() {
            None => Ok(release),
            Some(_) => Err(NoRelease),
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Serialize for Release {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
