//! The SASL exchange: `SaslHandshake`, then `SaslAuthenticate` until both sides are done
//! (KIP-43, KIP-152, KIP-368).

#[cfg(test)]
mod tests;

use std::io::Cursor;
use std::time::Duration;

use bytes::Bytes;
use kafka_protocol::messages::{ApiKey, SaslAuthenticateRequest, SaslHandshakeRequest};
use kafka_protocol::protocol::StrBytes;
use rsasl::callback::{Context, Request, SessionCallback, SessionData};
use rsasl::config::SASLConfig;
use rsasl::mechname::Mechname;
use rsasl::prelude::{MessageSent, SASLClient, Session, SessionError, State};
use rsasl::property::{AuthId, OAuthBearerKV, OAuthBearerToken, Password};

use super::error::AskError;
use super::reach::{Files, Unread};
use super::reply::{self, Challenge};
use super::security::{Login, Secrets};
use super::socket::Connection;
use crate::read::kafka::Now;
use crate::read::wall::WallTime;

/// Messages of one exchange. SCRAM has two of ours.
const STEPS_MAX: usize = 4;

/// Rounds of a SCRAM hash that are computed; Kafka allows 16,384. A server that asks for
/// more would keep a core busy.
const SCRAM_ITERATIONS_MAX: u32 = 32_768;

/// Hands the secrets to rsasl, which asks for what the mechanism needs.
struct Hand(Secrets);

/// Logs in; gives how long the broker lets the connection live.
pub(super) async fn log_in(
    connection: &mut Connection,
    login: &Login,
    files: &Files,
    now: &Now,
) -> Result<Option<Duration>, AskError> {
    let secrets = secrets(login, files).await?;
    let mechanism = login.mechanism();
    let handshake =
        SaslHandshakeRequest::default().with_mechanism(StrBytes::from_static_str(mechanism));
    let version = connection.version(ApiKey::SaslHandshake, 1, 1);
    let api = "SaslHandshake";
    let version = version.ok_or(AskError::Unsupported { api })?;
    let answer = connection.ask(api, &handshake, version, now).await?;
    reply::sasl_handshake(answer.body.bytes())?;

    let mut session = session(mechanism, secrets)?;
    let mut challenge: Option<Vec<u8>> = None;
    let mut lifetime_ms = 0;
    for _ in 0..STEPS_MAX {
        let (message, is_last) = step(&mut session, challenge.as_deref())?;
        let Some(message) = message else {
            return Ok(lifetime(lifetime_ms));
        };
        let answer = authenticate(connection, message, now).await?;
        lifetime_ms = answer.lifetime_ms;
        if is_last {
            return Ok(lifetime(lifetime_ms));
        }
        if mechanism == "OAUTHBEARER" {
            // RFC 7628: a token that is refused is answered with a reason, and no error yet.
            return if answer.bytes.is_empty() {
                Ok(lifetime(lifetime_ms))
            } else {
                Err(AskError::Credentials)
            };
        }
        check_scram(&answer.bytes)?;
        challenge = Some(answer.bytes);
    }
    Err(AskError::Sasl("it does not end"))
}

/// Looks the secrets up on a thread that may wait; the caller bounds the time.
async fn secrets(login: &Login, files: &Files) -> Result<Secrets, AskError> {
    let login = login.clone();
    let looking = files.read(move || login.secrets(WallTime::now()));
    let secrets = looking
        .await
        .map_err(|Unread| AskError::Sasl("no secrets"))?;
    Ok(secrets?)
}

async fn authenticate(
    connection: &mut Connection,
    message: Vec<u8>,
    now: &Now,
) -> Result<Challenge, AskError> {
    let api = "SaslAuthenticate";
    let version = connection.version(ApiKey::SaslAuthenticate, 0, 2);
    let version = version.ok_or(AskError::Unsupported { api })?;
    let request = SaslAuthenticateRequest::default().with_auth_bytes(Bytes::from(message));
    let answer = connection.ask(api, &request, version, now).await?;
    reply::sasl_authenticate(answer.body.bytes(), version)
}

fn session(mechanism: &str, secrets: Secrets) -> Result<Session, AskError> {
    let failed = |_| AskError::Sasl("mechanism not started");
    let config = SASLConfig::builder()
        .with_default_mechanisms()
        .with_callback(Hand(secrets))
        .map_err(failed)?;
    let name = Mechname::parse(mechanism.as_bytes());
    let name = name.map_err(|_| AskError::Sasl("mechanism not started"))?;
    SASLClient::new(config)
        .start_suggested(&[name])
        .map_err(failed)
}

/// What to send next, and whether nothing but the broker's verdict may follow; `None`
/// when the exchange is over.
fn step(
    session: &mut Session,
    challenge: Option<&[u8]>,
) -> Result<(Option<Vec<u8>>, bool), AskError> {
    let mut out = Cursor::new(Vec::new());
    let state = session
        .step(challenge, &mut out)
        .map_err(|error| match error {
            SessionError::MutualAuthenticationFailed => {
                AskError::Sasl("the broker does not know the password")
            }
            _ => AskError::Sasl("the broker's message cannot be used"),
        })?;
    Ok(match state {
        State::Running => (Some(out.into_inner()), false),
        State::Finished(MessageSent::Yes) => (Some(out.into_inner()), true),
        State::Finished(MessageSent::No) => (None, true),
    })
}

/// What a broker may say in SCRAM (RFC 5802): `r=…,s=…,i=…` first, `v=…` at last. Looked
/// at before rsasl does, which takes the pieces for granted and any number of rounds.
fn check_scram(message: &[u8]) -> Result<(), AskError> {
    let nonsense = Err(AskError::Sasl("the broker's message cannot be used"));
    if message.starts_with(b"v=") {
        return Ok(());
    }
    if message.starts_with(b"e=") {
        return Err(AskError::Credentials);
    }
    let mut parts = message.split(|byte| *byte == b',');
    let mut part = |name: &[u8]| parts.next().and_then(|part| part.strip_prefix(name));
    let (Some(_), Some(_), Some(rounds)) = (part(b"r="), part(b"s="), part(b"i=")) else {
        return nonsense;
    };
    let rounds = std::str::from_utf8(rounds).ok();
    match rounds.and_then(|rounds| rounds.parse::<u32>().ok()) {
        Some(1..=SCRAM_ITERATIONS_MAX) => Ok(()),
        Some(_) => Err(AskError::Sasl("too many rounds of hashing are wanted")),
        None => nonsense,
    }
}

fn lifetime(ms: i64) -> Option<Duration> {
    let ms = u64::try_from(ms).ok().filter(|ms| *ms > 0)?;
    Some(Duration::from_millis(ms))
}

// === impl Hand ===

impl SessionCallback for Hand {
    fn callback(
        &self,
        _session: &SessionData,
        _context: &Context<'_>,
        request: &mut Request<'_>,
    ) -> Result<(), SessionError> {
        match &self.0 {
            Secrets::Password { user, password } => {
                request
                    .satisfy::<AuthId>(user)?
                    .satisfy::<Password>(password.as_bytes())?;
            }
            Secrets::Token { token, extensions } => {
                let extensions: Vec<(&str, &str)> = extensions
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect();
                request
                    .satisfy::<OAuthBearerKV>(&extensions)?
                    .satisfy::<OAuthBearerToken>(token)?;
            }
        }
        Ok(())
    }
}
