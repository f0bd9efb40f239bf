//! From librdkafka's properties to what a connection of our own needs: to whom, over what,
//! as whom. Nothing is opened here; no reason repeats a value.

mod sasl;
#[cfg(test)]
mod tests;
mod tls;

use std::io;

use thiserror::Error;

use super::reach::Address;
use crate::read::connection::{Connection, Properties, flag};
pub(super) use sasl::{Login, Secrets};
pub(super) use tls::TlsFiles;

/// What the readers say they are when nobody says otherwise.
const CLIENT_ID: &str = "evenkeel";

/// What keeps polls from using a connection that is good enough for the topics.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unfit {
    /// It asks for what polls cannot do.
    #[error("{name}: {reason}")]
    NotDone {
        /// Which property.
        name: &'static str,
        /// What it asks for.
        reason: &'static str,
    },
    /// A value that cannot be taken.
    #[error("{name}: not understood")]
    Value {
        /// Of which property.
        name: &'static str,
    },
    /// A property that must be set.
    #[error("{name}: not set")]
    Missing {
        /// Which.
        name: &'static str,
    },
    /// A file that cannot be read.
    #[error("{name}: {}", unread(*.kind))]
    File {
        /// The property that names it.
        name: &'static str,
        /// Why.
        kind: io::ErrorKind,
    },
    /// What is in a file or a property is not what it should be.
    #[error("{name}: {reason}")]
    Content {
        /// The property.
        name: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// To whom, over what, as whom.
#[derive(Debug, Clone)]
pub(super) struct Security {
    /// `bootstrap.servers`.
    pub(super) brokers: Vec<Address>,
    pub(super) client_id: String,
    /// `broker.address.family`.
    pub(super) family: Family,
    pub(super) tls: Option<TlsFiles>,
    pub(super) login: Option<Login>,
}

/// Which addresses of a host are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Any,
    V4,
    V6,
}

/// Reads properties by name, in librdkafka's ways of writing values.
#[derive(Debug, Clone, Copy)]
struct Values<'a>(&'a Properties);

fn unread(kind: io::ErrorKind) -> String {
    match kind {
        io::ErrorKind::NotFound => "the file that it names is missing".to_owned(),
        kind => format!("file cannot be read ({kind})"),
    }
}

// === impl Unfit ===

impl Unfit {
    /// The property that is at fault, and what is wrong with it.
    #[must_use]
    pub fn parts(&self) -> (&'static str, String) {
        let name = match self {
            Self::NotDone { name, .. }
            | Self::Value { name }
            | Self::Missing { name }
            | Self::File { name, .. }
            | Self::Content { name, .. } => *name,
        };
        let text = self.to_string();
        let reason = text.strip_prefix(name).unwrap_or(&text);
        (name, reason.trim_start_matches(": ").to_owned())
    }

    /// Whether only other settings can help; files may change.
    pub(super) fn is_lasting(&self) -> bool {
        !matches!(self, Self::File { .. } | Self::Content { .. })
    }
}

// === impl Security ===

impl Security {
    pub(super) fn of(connection: &Connection) -> Result<Self, Unfit> {
        let values = Values(&connection.properties);
        let (is_tls, is_sasl) = match values.word("security.protocol").as_deref() {
            None | Some("plaintext") => (false, false),
            Some("ssl") => (true, false),
            Some("sasl_plaintext") => (false, true),
            Some("sasl_ssl") => (true, true),
            Some(_) => {
                let name = "security.protocol";
                return Err(Unfit::Value { name });
            }
        };
        let tls = is_tls.then(|| TlsFiles::of(values)).transpose()?;
        let token_file = connection.token_file.as_deref();
        let login = is_sasl.then(|| Login::of(values, token_file)).transpose()?;
        Ok(Self {
            brokers: brokers(values)?,
            client_id: values.text("client.id").unwrap_or(CLIENT_ID).to_owned(),
            family: family(values)?,
            tls,
            login,
        })
    }
}

fn brokers(values: Values<'_>) -> Result<Vec<Address>, Unfit> {
    let name = "bootstrap.servers";
    let list = values
        .text(name)
        .or_else(|| values.text("metadata.broker.list"))
        .ok_or(Unfit::Missing { name })?;
    let mut brokers = Vec::new();
    for entry in list.split(',').map(str::trim) {
        if !entry.is_empty() {
            brokers.push(Address::parse(entry).ok_or(Unfit::Value { name })?);
        }
    }
    if brokers.is_empty() {
        return Err(Unfit::Missing { name });
    }
    Ok(brokers)
}

fn family(values: Values<'_>) -> Result<Family, Unfit> {
    let name = "broker.address.family";
    Ok(match values.word(name).as_deref() {
        None | Some("any") => Family::Any,
        Some("v4") => Family::V4,
        Some("v6") => Family::V6,
        Some(_) => return Err(Unfit::Value { name }),
    })
}

// === impl Values ===

impl<'a> Values<'a> {
    /// A value; what is empty is not set.
    fn text(self, name: &str) -> Option<&'a str> {
        let value = self.0.get(name)?.0.as_str();
        (!value.is_empty()).then_some(value)
    }

    fn owned(self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// A value of a closed set, which librdkafka compares without case.
    fn word(self, name: &str) -> Option<String> {
        self.text(name).map(|word| word.trim().to_ascii_lowercase())
    }

    fn flag(self, name: &'static str, default: bool) -> Result<bool, Unfit> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => flag(text).ok_or(Unfit::Value { name }),
        }
    }

    /// A property that is refused where it is set.
    fn refuse(self, name: &'static str, reason: &'static str) -> Result<(), Unfit> {
        match self.text(name) {
            None => Ok(()),
            Some(_) => Err(Unfit::NotDone { name, reason }),
        }
    }
}
