//! Release numbers of Kafka, comparable.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

/// A release of Apache Kafka, for example 4.4.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl Version {
    /// The release that runs when none is named.
    pub const DEFAULT: Version = Version::new(4, 4, 0);

    pub const fn new(major: u16, minor: u16, patch: u16) -> Version {
        Version {
            major,
            minor,
            patch,
        }
    }

    /// Whether this release is of the given line or a later one.
    pub fn at_least(self, major: u16, minor: u16) -> bool {
        (self.major, self.minor) >= (major, minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Version> {
        let numbers = text
            .split('.')
            .map(str::parse)
            .collect::<Result<Vec<u16>, _>>()
            .with_context(|| format!("release {text:?} is not of the form 4.4.0"))?;
        match numbers[..] {
            [major, minor, patch] => Ok(Version::new(major, minor, patch)),
            _ => bail!("release {text:?} is not of the form 4.4.0"),
        }
    }
}

impl TryFrom<String> for Version {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Version> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_by_number_not_by_text() {
        let of = |text: &str| text.parse::<Version>().unwrap();
        assert!(of("2.10.0") > of("2.9.9"));
        assert!(of("4.0.0").at_least(4, 0));
        assert!(!of("3.9.2").at_least(4, 0));
        assert_eq!(of("3.9.2").to_string(), "3.9.2");
    }

    #[test]
    fn refuses_what_is_no_release() {
        for text in ["", "4", "4.4", "4.4.0.1", "4.4.x", "v4.4.0"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
