//! What both transports do: wait for the answer while the connection does its work, and read
//! no more of it than an answer can have.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use bytes::BytesMut;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, RETRY_AFTER};

use super::{ANSWER_BYTES_MAX, SendError};

/// A receiver may ask for patience, not for oblivion.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(60);

/// An answer's body, and what came after it.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) body: BytesMut,
    pub(super) trailers: HeaderMap,
}

/// Drives the connection until the exchange over it is done.
pub(super) async fn driven<T>(
    connection: impl Future<Output = hyper::Result<()>>,
    exchange: impl Future<Output = Result<T, SendError>>,
) -> Result<T, SendError> {
    let (mut connection, mut exchange) = (pin!(connection), pin!(exchange));
    tokio::select! {
        biased;
        done = &mut exchange => done,
        // Whoever hangs up after the answer has answered.
        ended = &mut connection => match ended {
            Ok(()) => exchange.await,
            Err(error) => Err(failed(&error)),
        },
    }
}

/// Reads a body; what came before an error is there, too.
pub(super) async fn read(body: Incoming, into: &mut Answer) -> Result<(), SendError> {
    let mut body = Limited::new(body, ANSWER_BYTES_MAX);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| SendError::Later(format!("answer not read: {error}")))?;
        match frame.into_data() {
            Ok(data) => into.body.extend_from_slice(&data),
            Err(other) => into
                .trailers
                .extend(other.into_trailers().unwrap_or_default()),
        }
    }
    Ok(())
}

pub(super) fn failed(error: &hyper::Error) -> SendError {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    SendError::Later(text)
}

/// How long the receiver asks to wait, in whole seconds; dates are not taken.
pub(super) fn wait(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds).min(WAIT_MAX))
}
