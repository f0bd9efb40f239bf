//! Security of a cluster: who may come in, through which listener, and what they may do.

mod access;
mod certificates;
mod listeners;
mod rights;

pub use access::Access;
pub use certificates::Certificates;
pub use listeners::Listener;
pub use rights::{DATA_TOPICS, Resource, Right};

pub(crate) use listeners::{Door, addresses, settings};
pub(crate) use rights::{Change, change};

use crate::format::random_id;

/// The user of the workers.
pub const WORKER_USER: &str = "connect";
/// The user of evenkeel.
pub const AGENT_USER: &str = "evenkeel";

/// A user of SCRAM and PLAIN, and the subject of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub name: String,
    pub password: String,
}

/// What a secured cluster has beside its listener without security.
#[derive(Clone, Debug)]
pub struct Security {
    pub users: Vec<User>,
    /// Whether only what was granted is allowed.
    pub acls: bool,
}

impl Security {
    /// Workers and evenkeel as users with passwords that nobody else has, and with ACLs.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn new() -> anyhow::Result<Security> {
        let user = |name: &str| -> anyhow::Result<User> {
            Ok(User {
                name: name.to_owned(),
                password: random_id()?,
            })
        };
        Ok(Security {
            users: vec![user(WORKER_USER)?, user(AGENT_USER)?],
            acls: true,
        })
    }
}
