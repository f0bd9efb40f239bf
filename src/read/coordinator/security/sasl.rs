//! As whom to log in: the mechanism and where its secrets come from. Secrets are looked up
//! anew for each login, so that a token that was renewed is used.

use std::fmt;
use std::path::Path;

use super::{Unfit, Values};
use crate::read::connection::Hidden;
use crate::read::token::{Claims, TokenError, TokenSource, UNSECURED, UNSECURED_CONFIG};
use crate::read::wall::WallTime;

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
    Token(TokenSource),
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
                reason: "this build has no Kerberos (GSSAPI, which is also the default)",
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
    pub(in super::super) fn secrets(&self, now: WallTime) -> Result<Secrets, Unfit> {
        match self {
            Self::Password { user, password, .. } => Ok(Secrets::Password {
                user: user.0.clone(),
                password: password.0.clone(),
            }),
            Self::Token(source) => {
                let token = source.token(now).map_err(Unfit::from)?;
                Ok(Secrets::Token {
                    token: token.text,
                    extensions: token.extensions,
                })
            }
        }
    }

    fn password(mechanism: &'static str, values: Values<'_>) -> Result<Self, Unfit> {
        let of = |name| {
            let value = values.owned(name).ok_or(Unfit::Missing { name })?;
            Ok::<_, Unfit>(Hidden(value))
        };
        Ok(Self::Password {
            mechanism,
            user: of("sasl.username")?,
            password: of("sasl.password")?,
        })
    }

    fn token(values: Values<'_>, token_file: Option<&Path>) -> Result<Self, Unfit> {
        if let Some(path) = token_file {
            return Ok(Self::Token(TokenSource::File(path.to_owned())));
        }
        if values.word("sasl.oauthbearer.method").as_deref() == Some("oidc") {
            return Err(Unfit::NotDone {
                name: "sasl.oauthbearer.method",
                reason: "polls of the group's state cannot fetch tokens (OIDC); a token file can \
                         be given",
            });
        }
        if !values.flag(UNSECURED, false)? {
            return Err(Unfit::Missing { name: TOKEN_FILE });
        }
        let name = UNSECURED_CONFIG;
        let config = values.text(name).ok_or(Unfit::Missing { name })?;
        let claims = Claims::parse(config).ok_or(Unfit::Value { name })?;
        Ok(Self::Token(TokenSource::Unsecured(claims)))
    }
}

impl From<TokenError> for Unfit {
    fn from(error: TokenError) -> Self {
        let name = TOKEN_FILE;
        match error {
            TokenError::File(kind) => Self::File { name, kind },
            TokenError::None => Self::Content {
                name,
                reason: "holds no token",
            },
            TokenError::Expired => Self::Content {
                name,
                reason: "holds a token that has expired",
            },
        }
    }
}

// === impl Secrets ===

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
