//! As whom to log in: the mechanism and where its secrets come from. Secrets are looked up
//! anew for each login, so that a token that was renewed is used.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use evenkeel_core::facts::time::ArrivalTime;

use super::jws::Claims;
use super::{Unfit, Values};
use crate::read::connection::Hidden;

/// A token is a line.
const TOKEN_BYTES_MAX: u64 = 64 * 1024;

const TOKEN_FILE: &str = "token file";

/// A login by SASL.
#[derive(Debug, Clone)]
pub(in super::super) enum Login {
    /// PLAIN (`is_plain`) or one of the SCRAM mechanisms.
    Password {
        mechanism: &'static str,
        user: Hidden,
        password: Hidden,
    },
    /// OAUTHBEARER.
    Token(Token),
}

/// Where a token comes from.
#[derive(Debug, Clone)]
pub(in super::super) enum Token {
    /// A file that somebody else keeps current.
    File(PathBuf),
    /// Made here, without a signature: for tests and for brokers that do not check.
    Unsecured(Claims),
}

/// What goes into one login.
#[derive(Clone)]
pub(in super::super) enum Secrets {
    Password {
        user: String,
        password: String,
    },
    Token {
        token: String,
        extensions: Vec<(String, String)>,
    },
}

// === impl Login ===

impl Login {
    pub(super) fn of(values: Values<'_>, token_file: Option<&Path>) -> Result<Self, Unfit> {
        let name = "sasl.mechanism";
        let mechanism = values
            .text(name)
            .or_else(|| values.text("sasl.mechanisms"))
            .map(|mechanism| mechanism.trim().to_ascii_uppercase());
        match mechanism.as_deref() {
            Some("PLAIN") => Self::password("PLAIN", values),
            Some("SCRAM-SHA-256") => Self::password("SCRAM-SHA-256", values),
            Some("SCRAM-SHA-512") => Self::password("SCRAM-SHA-512", values),
            Some("OAUTHBEARER") => Self::token(values, token_file),
            // librdkafka's default.
            None | Some("GSSAPI") => Err(Unfit::NotDone {
                name,
                reason: "polls of the group's state cannot use Kerberos",
            }),
            Some(_) => Err(Unfit::NotDone {
                name,
                reason: "polls of the group's state know PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 \
                         and OAUTHBEARER",
            }),
        }
    }

    pub(in super::super) fn mechanism(&self) -> &'static str {
        match self {
            Self::Password { mechanism, .. } => mechanism,
            Self::Token(_) => "OAUTHBEARER",
        }
    }

    /// What goes into a login now. Reads a file: not for a thread that serves others.
    pub(in super::super) fn secrets(&self, now: ArrivalTime) -> Result<Secrets, Unfit> {
        match self {
            Self::Password { user, password, .. } => Ok(Secrets::Password {
                user: user.0.clone(),
                password: password.0.clone(),
            }),
            Self::Token(Token::File(path)) => Ok(Secrets::Token {
                token: read_token(path)?,
                extensions: Vec::new(),
            }),
            Self::Token(Token::Unsecured(claims)) => Ok(Secrets::Token {
                token: claims.token(now),
                extensions: claims.extensions.clone(),
            }),
        }
    }

    fn password(mechanism: &'static str, values: Values<'_>) -> Result<Self, Unfit> {
        let of = |name| {
            let value = values.owned(name).ok_or(Unfit::Missing { name })?;
            Ok(Hidden(value))
        };
        Ok(Self::Password {
            mechanism,
            user: of("sasl.username")?,
            password: of("sasl.password")?,
        })
    }

    fn token(values: Values<'_>, token_file: Option<&Path>) -> Result<Self, Unfit> {
        if let Some(path) = token_file {
            return Ok(Self::Token(Token::File(path.to_owned())));
        }
        if values.word("sasl.oauthbearer.method").as_deref() == Some("oidc") {
            return Err(Unfit::NotDone {
                name: "sasl.oauthbearer.method",
                reason: "polls of the group's state cannot fetch tokens (OIDC); a token file can \
                         be given",
            });
        }
        if !values.flag("enable.sasl.oauthbearer.unsecure.jwt", false)? {
            return Err(Unfit::Missing { name: TOKEN_FILE });
        }
        let name = "sasl.oauthbearer.config";
        let config = values.text(name).ok_or(Unfit::Missing { name })?;
        let claims = Claims::parse(config).ok_or(Unfit::Value { name })?;
        Ok(Self::Token(Token::Unsecured(claims)))
    }
}

fn read_token(path: &Path) -> Result<String, Unfit> {
    let name = TOKEN_FILE;
    let failed = |error: std::io::Error| Unfit::File {
        name,
        kind: error.kind(),
    };
    let file = File::open(path).map_err(failed)?;
    let mut token = String::new();
    file.take(TOKEN_BYTES_MAX)
        .read_to_string(&mut token)
        .map_err(failed)?;
    let token = token.trim();
    // RFC 6750: no white space and no control character can be in one.
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let reason = "holds no token";
        return Err(Unfit::Content { name, reason });
    }
    Ok(token.to_owned())
}

// === impl Secrets ===

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
