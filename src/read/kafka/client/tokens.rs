//! The tokens of one client for OAUTHBEARER, with the extensions that go beside them.

use std::error::Error;
use std::sync::{Mutex, PoisonError};

use rdkafka::ClientContext;
use rdkafka::client::{Client, OAuthToken};
use thiserror::Error;

use crate::read::connection::Connection;
use crate::read::ffi::{self, ExtendedToken};
use crate::read::token::{TokenError, TokenSource};
use crate::read::wall::WallTime;

/// Where a client's tokens come from.
#[derive(Debug)]
pub(super) struct Tokens {
    source: Option<TokenSource>,
    /// One with extensions, which rdkafka's own call leaves out: handed over by whoever
    /// polled, since a callback has no client.
    pending: Mutex<Option<ExtendedToken>>,
}

#[derive(Debug, Error)]
enum NotNow {
    #[error("no token source is set")]
    NoSource,
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Without a text, since librdkafka takes no failure then
    /// (`rd_kafka_oauthbearer_set_token_failure`), and goes on waiting for the token.
    #[error("")]
    HandedOverSoon,
}

// === impl Tokens ===

impl Tokens {
    pub(super) fn of(connection: &Connection) -> Self {
        Self {
            source: TokenSource::of(connection),
            pending: Mutex::default(),
        }
    }

    /// A token for rdkafka, or, where it has extensions, for [`Self::hand_over`].
    pub(super) fn make(&self) -> Result<OAuthToken, Box<dyn Error>> {
        Ok(self.make_at(WallTime::now())?)
    }

    fn make_at(&self, now: WallTime) -> Result<OAuthToken, NotNow> {
        let source = self.source.as_ref().ok_or(NotNow::NoSource)?;
        let token = source.token(now)?;
        let principal_name = token.subject();
        let lifetime_ms = token.good_until(now)?.0;
        if token.extensions.is_empty() {
            return Ok(OAuthToken {
                principal_name,
                lifetime_ms,
                token: token.text,
            });
        }
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        *pending = Some(ExtendedToken {
            token: token.text,
            principal: principal_name,
            lifetime_ms,
            extensions: token.extensions,
        });
        Err(NotNow::HandedOverSoon)
    }

    /// Gives the client the token that it asked for while it was polled, if any waits.
    pub(super) fn hand_over<C: ClientContext>(&self, client: &Client<C>) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = pending.take() {
            ffi::set_token(client, &token);
        }
    }
}
