//! How to reach a cluster: what librdkafka and the connection to the coordinator are both
//! made from, so that whoever may read the topics may ask for the group's state.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Properties of librdkafka by their names.
pub type Properties = BTreeMap<String, Hidden>;

/// Everything that decides how a cluster is reached and as whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connection {
    /// Any librdkafka properties, `bootstrap.servers` among them.
    pub properties: Properties,
    /// A file that holds the token for OAUTHBEARER, read anew for each login. librdkafka
    /// has no property for it.
    pub token_file: Option<PathBuf>,
}

/// A property's value: it may be a password, so it is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(pub String);

/// Yes or no as librdkafka writes them, whatever the case; `None` for anything else.
#[must_use]
pub fn flag(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "t" | "1" => Some(true),
        "false" | "f" | "0" => Some(false),
        _ => None,
    }
}

// === impl Hidden ===

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
