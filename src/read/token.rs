//! The token that OAUTHBEARER logs in with: from a file that somebody else keeps current,
//! or made here without a signature. Topics and polls take it from here alike, anew for
//! each login.

mod claims;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use thiserror::Error;

use crate::config::file::{self, Unread};
use crate::read::connection::{Connection, Properties, flag};
use crate::read::wall::WallTime;
pub use claims::Claims;

/// A token is a line.
const TOKEN_BYTES_MAX: u64 = 64 * 1024;

/// How long a token is used that does not say how long it is good, in milliseconds.
const LIFE_MS_UNSAID: i64 = 300_000;

/// The properties of librdkafka that make an unsecured token.
pub const UNSECURED: &str = "enable.sasl.oauthbearer.unsecure.jwt";
/// See [`UNSECURED`].
pub const UNSECURED_CONFIG: &str = "sasl.oauthbearer.config";

/// Where a token comes from.
#[derive(Debug, Clone)]
pub enum TokenSource {
    /// A file that somebody else keeps current.
    File(PathBuf),
    /// Made here, without a signature: for tests and for brokers that do not check.
    Unsecured(Claims),
}

/// A token, for one login.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The token itself.
    pub text: String,
    /// Names and values that go beside it (KIP-342).
    pub extensions: Vec<(String, String)>,
}

/// Why there is no token.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("token file cannot be read ({0})")]
    File(io::ErrorKind),
    /// What is in it is none.
    #[error("token file holds no token")]
    None,
    /// It says that it is not good any more.
    #[error("token file holds a token that has expired")]
    Expired,
}

/// What keeps a connection from ever having a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacking {
    /// Nothing says where one comes from.
    Source,
    /// [`UNSECURED_CONFIG`] does not say what is in one.
    Unsecured,
}

// === impl TokenSource ===

impl TokenSource {
    /// Where a connection's token comes from; `None` where librdkafka's properties have to
    /// say all there is.
    #[must_use]
    pub fn of(connection: &Connection) -> Option<Self> {
        match &connection.token_file {
            Some(path) => Some(Self::File(path.clone())),
            None => Self::unsecured(&connection.properties),
        }
    }

    fn unsecured(properties: &Properties) -> Option<Self> {
        let config = properties.get(UNSECURED_CONFIG);
        let config = config.filter(|_| is_unsecured(properties))?;
        Claims::parse(&config.0).map(Self::Unsecured)
    }

    /// Why a connection that logs in by a token can never have one; `None` for all others.
    #[must_use]
    pub fn lacking(connection: &Connection) -> Option<Lacking> {
        let properties = &connection.properties;
        let word = |name: &str| {
            let value = properties.get(name).map(|value| value.0.trim());
            value
                .filter(|value| !value.is_empty())
                .map(str::to_ascii_lowercase)
        };
        let is_sasl = word("security.protocol").is_some_and(|name| name.starts_with("sasl_"));
        let mechanism = word("sasl.mechanism").or_else(|| word("sasl.mechanisms"));
        // What librdkafka does by itself, it judges by itself.
        let fetches = word("sasl.oauthbearer.method").as_deref() == Some("oidc");
        let wants = is_sasl && mechanism.as_deref() == Some("oauthbearer") && !fetches;
        if !wants || Self::of(connection).is_some() {
            return None;
        }
        let is_told = properties.contains_key(UNSECURED_CONFIG) && is_unsecured(properties);
        Some(if is_told {
            Lacking::Unsecured
        } else {
            Lacking::Source
        })
    }

    /// A token for a login now. Reads a file: not for a thread that serves others.
    ///
    /// # Errors
    /// The file has none.
    pub fn token(&self, now: WallTime) -> Result<Token, TokenError> {
        match self {
            Self::File(path) => Ok(Token {
                text: read(path)?,
                extensions: Vec::new(),
            }),
            Self::Unsecured(claims) => Ok(Token {
                text: claims.token(now),
                extensions: claims.extensions.clone(),
            }),
        }
    }
}

fn is_unsecured(properties: &Properties) -> bool {
    let wanted = properties.get(UNSECURED);
    wanted.and_then(|value| flag(&value.0)) == Some(true)
}

fn read(path: &Path) -> Result<String, TokenError> {
    let bytes = file::bytes(path, TOKEN_BYTES_MAX).map_err(|unread| match unread {
        Unread::Io(error) => TokenError::File(error.kind()),
        Unread::Folder | Unread::NotRegular | Unread::TooLarge(_) => TokenError::None,
    })?;
    let token = String::from_utf8(bytes).map_err(|_| TokenError::None)?;
    let token = token.trim();
    // RFC 6750: no white space and no control character can be in one.
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(TokenError::None);
    }
    Ok(token.to_owned())
}

// === impl Token ===

impl Token {
    /// When it is to be replaced, by what it says of itself without being checked: the
    /// claim `exp` of a JWT (RFC 7519), else five minutes from `now`.
    ///
    /// # Errors
    /// It has expired.
    pub fn good_until(&self, now: WallTime) -> Result<WallTime, TokenError> {
        let Some(expires_s) = self.claim("exp").and_then(|claim| claim.as_i64()) else {
            return Ok(now.plus_ms(LIFE_MS_UNSAID));
        };
        let until = WallTime(expires_s.saturating_mul(1_000));
        if until <= now {
            return Err(TokenError::Expired);
        }
        Ok(until)
    }

    /// Whom it names. Where it does not say, any name will do: librdkafka wants one, and
    /// brokers do not look at it.
    #[must_use]
    pub fn subject(&self) -> String {
        let subject = self.claim("sub");
        let subject = subject.as_ref().and_then(Value::as_str);
        subject
            .filter(|name| !name.is_empty())
            .unwrap_or("evenkeel")
            .to_owned()
    }

    fn claim(&self, name: &str) -> Option<Value> {
        let claims = self.text.split('.').nth(1)?;
        let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?;
        let mut claims: Value = serde_json::from_slice(&claims).ok()?;
        claims.get_mut(name).map(Value::take)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
