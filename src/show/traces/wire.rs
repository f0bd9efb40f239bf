//! One request to a receiver of OTLP, over HTTP or gRPC, and what came of it.
//!
//! A connection for each request: rebalances are rare, and so a receiver that moved, or a
//! certificate that was renewed, is met at once. TLS is the OpenSSL that librdkafka brings.
//! OpenTelemetry's exporter is not used: it tells neither why a request failed nor how many
//! spans the receiver refused, and its gRPC would bring a second stack of a dozen crates.

mod call;
mod grpc;
mod http;
mod reach;
mod retry_info;

use std::fmt;
use std::future::Future;
use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use thiserror::Error;
use tokio::time::Instant;

use super::form;
use super::tree::Trace;
use crate::config::{HIDDEN, TraceCompression, TraceProtocol, TracesConfig};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
pub use reach::Unfit;

/// What a receiver answers beyond this is no answer to OTLP.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Words of a receiver that are passed on.
const WORDS_CHARS_MAX: usize = 200;

/// Sends requests to one receiver.
pub struct Client {
    config: TracesConfig,
    headers: HeaderMap,
    timeout: Duration,
}

/// What a receiver took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// Spans that it did not take, of those it was sent.
    pub rejected: u64,
    /// Why.
    pub why: String,
}

/// Why spans did not arrive.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum SendError {
    /// It may be otherwise in a while.
    #[error("{0}")]
    Later(String),
    /// The receiver asks to wait so long.
    #[error("{why}")]
    After {
        /// What it said.
        why: String,
        /// How long.
        wait: Duration,
    },
    /// It will not be taken, however often it is sent.
    #[error("{0}")]
    Refused(String),
    /// Nothing will be: it is the wrong place, or the wrong sender.
    #[error("{0}")]
    Unwelcome(String),
}

// === impl SendError ===

impl SendError {
    /// Whether it makes sense to try again, and no sooner than when.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Later(_) => Some(Duration::ZERO),
            Self::After { wait, .. } => Some(*wait),
            Self::Refused(_) | Self::Unwelcome(_) => None,
        }
    }

    /// Whether something else might be taken.
    #[must_use]
    pub fn is_of_content(&self) -> bool {
        matches!(self, Self::Refused(_))
    }
}

// === impl Client ===

impl Client {
    /// A client for a receiver; nothing is connected.
    #[must_use]
    pub fn new(config: TracesConfig) -> Self {
        let mut headers = HeaderMap::new();
        let version = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));
        headers.insert(hyper::header::USER_AGENT, HeaderValue::from_static(version));
        for (name, value) in &config.headers {
            // The configuration holds none that cannot be sent.
            let name = HeaderName::from_bytes(name.as_bytes());
            let value = HeaderValue::from_str(value.expose());
            if let (Ok(name), Ok(mut value)) = (name, value) {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        Self {
            timeout: Duration::from_millis(config.timeout_ms),
            headers,
            config,
        }
    }

    /// What is wrong with the files that TLS is made from, as they are now. They are read again for
    /// each connection, and without them there is none.
    #[must_use]
    pub fn unfits(&self) -> Vec<Unfit> {
        match self.config.endpoint.tls {
            true => reach::unfits(&self.config),
            false => Vec::new(),
        }
    }

    /// Sends these traces in one request, and waits for the answer no longer than the timeout.
    ///
    /// # Errors
    /// They were not taken.
    pub async fn send<'a>(
        &self,
        traces: impl IntoIterator<Item = &'a Trace>,
    ) -> Result<Taken, SendError> {
        let by = Instant::now() + self.timeout;
        let message = self.message(traces);
        let gzip = self.config.compression == TraceCompression::Gzip;
        let body = if gzip { zipped(&message)? } else { message };
        match self.config.protocol {
            TraceProtocol::Http => http::exchange(self, body.into(), gzip, by).await,
            TraceProtocol::Grpc => self.within(by, grpc::exchange(self, &body, gzip)).await,
        }
    }

    /// What is waited for no longer than until then.
    async fn within<T>(
        &self,
        by: Instant,
        work: impl Future<Output = Result<T, SendError>>,
    ) -> Result<T, SendError> {
        match tokio::time::timeout_at(by, work).await {
            Ok(result) => result,
            Err(_) => Err(SendError::Later(format!(
                "{} did not answer within {} ms",
                self,
                self.timeout.as_millis()
            ))),
        }
    }

    /// What these traces are as one request of OTLP, to the last byte the same whenever it is
    /// made.
    #[must_use]
    pub fn message<'a>(&self, traces: impl IntoIterator<Item = &'a Trace>) -> Vec<u8> {
        form::request(traces, &self.config.resource).encode_to_vec()
    }

    /// What a receiver says, in one line, cut. It may quote what it was sent: values of headers
    /// are hidden.
    fn words(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in self.config.headers.values() {
            let value = value.expose();
            // Of `Bearer TOKEN` it may quote the token alone.
            let token = value.split_once(' ').map_or("", |(_, token)| token.trim());
            for secret in [value.trim(), token] {
                if !secret.is_empty() {
                    text = text.replace(secret, HIDDEN);
                }
            }
        }
        let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
        plain
            .take(WORDS_CHARS_MAX)
            .collect::<String>()
            .trim()
            .to_owned()
    }

    /// What a receiver did not take, from its answer.
    fn taken(&self, answer: &[u8]) -> Taken {
        use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
        // Some answer with an empty body or a text of their own: they took it all.
        let answer = ExportTraceServiceResponse::decode(answer).unwrap_or_default();
        let partial = answer.partial_success.unwrap_or_default();
        Taken {
            rejected: u64::try_from(partial.rejected_spans).unwrap_or(0),
            why: self.words(&partial.error_message),
        }
    }
}

impl fmt::Display for Client {
    /// Where it sends to.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = &self.config.endpoint;
        let scheme = if endpoint.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", reach::authority(endpoint))?;
        match self.config.protocol {
            TraceProtocol::Http => f.write_str(&endpoint.path),
            TraceProtocol::Grpc => f.write_str(" (grpc)"),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("config", &self.config)
            .finish()
    }
}

fn zipped(message: &[u8]) -> Result<Vec<u8>, SendError> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(message).and_then(|()| encoder.finish());
    written.map_err(|error| SendError::Refused(format!("spans not compressed: {error}")))
}

#[cfg(test)]
pub(super) mod receiver;

#[cfg(test)]
mod tests;
