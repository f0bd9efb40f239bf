//! One connection to one broker: frames with a bounded size, correlation ids, the
//! versions that both sides know, and a time limit on everything.

use std::time::Duration;

use bytes::{BufMut as _, BytesMut};
use evenkeel_core::facts::time::ArrivalTime;
use kafka_protocol::messages::{ApiKey, ApiVersionsRequest, RequestHeader};
use kafka_protocol::protocol::{Encodable, HeaderVersion, Request, StrBytes};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout};

use super::error::AskError;
use super::login;
use super::pace::ANSWER_BYTES_MAX;
use super::reach::{Address, Reach, Stream};
use super::reply::{self, ApiVersions, Reader};
use crate::read::hitch::Hitch;
use crate::read::kafka::Now;

/// Host name, TCP, TLS, versions and login together; and the files that TLS needs.
pub(super) const OPEN_TIMEOUT: Duration = Duration::from_secs(6);

/// One question and its answer.
const ASK_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes asked of the socket at a time, so that no memory is held for what was only told.
const READ_BYTES: usize = 64 * 1024;

/// What a broker may truly answer at length: it names groups, or members. Any other answer
/// that long is no broker's.
const LARGE: [&str; 2] = ["ListGroups", "DescribeGroups"];

/// Of `ApiVersions` the layout that says who asks (KIP-511).
const API_VERSIONS_VERSION: i16 = 3;

/// A connection that is ready for questions.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    address: Address,
    client_id: StrBytes,
    versions: ApiVersions,
    correlation_id: i32,
    /// When to use another one, since the broker closes this one (KIP-368).
    expires: Option<Instant>,
}

/// An answer's body, and how much of the wire it took.
#[derive(Debug)]
pub(super) struct Body {
    frame: BytesMut,
    /// Where the body begins in the frame.
    start: usize,
}

/// An answer and the moments around it.
#[derive(Debug)]
pub(super) struct Asked {
    /// When the question was about to be sent.
    pub(super) asked: ArrivalTime,
    /// When the answer was in hand.
    pub(super) at: ArrivalTime,
    pub(super) body: Body,
}

// === impl Connection ===

impl Connection {
    /// Connects and logs in.
    pub(super) async fn open(
        reach: &Reach,
        address: &Address,
        now: &Now,
    ) -> Result<Self, AskError> {
        let opening = Self::open_slowly(reach, address, now);
        let doing = "opening a connection";
        let timed_out = |_| AskError::Timeout { doing };
        timeout(OPEN_TIMEOUT, opening).await.map_err(timed_out)?
    }

    async fn open_slowly(reach: &Reach, address: &Address, now: &Now) -> Result<Self, AskError> {
        let mut connection = Self {
            stream: reach.connect(address).await?,
            address: address.clone(),
            client_id: StrBytes::from_string(reach.security.client_id.clone()),
            versions: ApiVersions::new(),
            correlation_id: 0,
            expires: None,
        };
        connection.learn_versions().await?;
        if let Some(login) = &reach.security.login {
            let began = Instant::now();
            let lifetime = login::log_in(&mut connection, login, reach.files(), now).await?;
            // Early enough for a question that is under way; Java's clients choose a moment
            // from 85 % on.
            connection.expires = lifetime.and_then(|all| began.checked_add(all.mul_f64(0.85)));
        }
        Ok(connection)
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn has_expired(&self) -> bool {
        self.expires
            .is_some_and(|expires| Instant::now() >= expires)
    }

    /// The highest version of an API that both sides know, from `least` to `highest`.
    pub(super) fn version(&self, api: ApiKey, least: i16, highest: i16) -> Option<i16> {
        let key = api as i16;
        let served = self.versions.iter().find(|(served, ..)| *served == key);
        let (_, broker_least, broker_highest) = *served?;
        let version = highest.min(broker_highest);
        (version >= least.max(broker_least)).then_some(version)
    }

    /// Asks one question. After an error the connection must not be used any more.
    pub(super) async fn ask<R>(
        &mut self,
        doing: &'static str,
        request: &R,
        version: i16,
        now: &Now,
    ) -> Result<Asked, AskError>
    where
        R: Request + Encodable + HeaderVersion + Sync,
    {
        let frame = self.frame(request, version)?;
        let asked = now();
        let body = self.exchange(doing, &frame, R::Response::header_version(version));
        let body = body.await?;
        let at = now();
        Ok(Asked { asked, at, body })
    }

    async fn learn_versions(&mut self) -> Result<(), AskError> {
        let mut version = API_VERSIONS_VERSION;
        loop {
            let mut request = ApiVersionsRequest::default();
            if version >= API_VERSIONS_VERSION {
                request.client_software_name = StrBytes::from_static_str("evenkeel");
                request.client_software_version =
                    StrBytes::from_static_str(env!("CARGO_PKG_VERSION"));
            }
            let frame = self.frame(&request, version)?;
            // Its header is that of version 0 always, so that old brokers can answer.
            let body = self.exchange("ApiVersions", &frame, 0).await?;
            match reply::api_versions(body.bytes(), version)? {
                Some(versions) => {
                    self.versions = versions;
                    return Ok(());
                }
                None => version = 0,
            }
        }
    }

    fn frame<R>(&mut self, request: &R, version: i16) -> Result<BytesMut, AskError>
    where
        R: Request + Encodable + HeaderVersion,
    {
        self.correlation_id = self.correlation_id.wrapping_add(1);
        let header = RequestHeader::default()
            .with_request_api_key(R::KEY)
            .with_request_api_version(version)
            .with_correlation_id(self.correlation_id)
            .with_client_id(Some(self.client_id.clone()));
        let mut frame = BytesMut::new();
        frame.put_i32(0);
        header
            .encode(&mut frame, R::header_version(version))
            .map_err(|_| AskError::Unencodable)?;
        request
            .encode(&mut frame, version)
            .map_err(|_| AskError::Unencodable)?;
        let len = i32::try_from(frame.len().saturating_sub(4));
        let len = len.map_err(|_| AskError::Unencodable)?;
        if let Some(place) = frame.first_chunk_mut::<4>() {
            *place = len.to_be_bytes();
        }
        Ok(frame)
    }

    async fn exchange(
        &mut self,
        doing: &'static str,
        frame: &[u8],
        header_version: i16,
    ) -> Result<Body, AskError> {
        let timed_out = |_| AskError::Timeout { doing };
        let exchange = async {
            self.stream.write_all(frame).await?;
            self.stream.flush().await?;
            self.read_frame(doing).await
        };
        let frame = timeout(ASK_TIMEOUT, exchange).await.map_err(timed_out)??;
        let rest = Reader::new(&frame, header_version >= 1).header(self.correlation_id)?;
        let start = frame.len().saturating_sub(rest.len());
        Ok(Body { frame, start })
    }

    async fn read_frame(&mut self, api: &'static str) -> Result<BytesMut, AskError> {
        let len = self.stream.read_i32().await?;
        // Such a length, of more than 350 MB, is none.
        if Hitch::is_tls(len.to_be_bytes()) {
            return Err(AskError::SpeaksTls);
        }
        let len = usize::try_from(len).map_err(|_| AskError::Nonsense("length"))?;
        if len > ANSWER_BYTES_MAX {
            let max = ANSWER_BYTES_MAX;
            return Err(match LARGE.contains(&api) {
                true => AskError::TooLarge { api, max },
                false => AskError::Nonsense("length"),
            });
        }
        let mut frame = BytesMut::new();
        while frame.len() < len {
            let left = len.saturating_sub(frame.len());
            frame.reserve(left.min(READ_BYTES));
            let limit = u64::try_from(left).unwrap_or(u64::MAX);
            let read = (&mut self.stream).take(limit).read_buf(&mut frame).await?;
            if read == 0 {
                return Err(AskError::Closed);
            }
        }
        Ok(frame)
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

// === impl Body ===

impl Body {
    pub(super) fn bytes(&self) -> &[u8] {
        self.frame.get(self.start..).unwrap_or_default()
    }

    /// Bytes that came over the wire for it.
    pub(super) fn wire_len(&self) -> usize {
        self.frame.len().saturating_add(4)
    }
}
