//! Frames to requests and answers to frames: headers, versions, and the check before decoding.

use std::fmt::Display;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::{ApiKey, RequestHeader, ResponseHeader};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion};

use super::bounds;
use super::shapes::{Served, served};

/// Bytes of one request. A consumer of a thousand partitions needs 50 kB.
pub(super) const REQUEST_BYTES_MAX: usize = 1024 * 1024;

/// API key, version and correlation id.
const HEADER_BYTES_MIN: usize = 8;

/// Why a connection is closed. Kafka's own broker closes on the same occasions, without an answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestError {
    #[error("request of {0} bytes")]
    FrameSize(i32),
    #[error("api key {0} is not served")]
    UnknownApi(i16),
    #[error("version {version} of {api:?} is not served")]
    UnknownVersion { api: ApiKey, version: i16 },
    #[error("a length in the request does not fit its bytes")]
    Length,
    #[error("request not decoded: {0}")]
    Undecodable(String),
    #[error("answer not encoded: {0}")]
    Unencodable(String),
}

/// A request whose header is decoded and whose body is not.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) served: &'static Served,
    pub(super) version: i16,
    pub(super) correlation_id: i32,
    pub(super) client_id: String,
    body: Bytes,
}

/// Bytes of the frame whose length is `length`.
pub(super) fn frame_size(length: i32) -> Result<usize, RequestError> {
    usize::try_from(length)
        .ok()
        .filter(|size| (HEADER_BYTES_MIN..=REQUEST_BYTES_MAX).contains(size))
        .ok_or(RequestError::FrameSize(length))
}

impl Request {
    /// Reads the header of one frame (without its length).
    pub(super) fn parse(mut frame: Bytes) -> Result<Self, RequestError> {
        let mut head = frame.clone();
        let (Ok(api_key), Ok(version), Ok(correlation_id)) =
            (head.try_get_i16(), head.try_get_i16(), head.try_get_i32())
        else {
            return Err(RequestError::Length);
        };
        let served = served(api_key).ok_or(RequestError::UnknownApi(api_key))?;
        if !served.versions().contains(&version) {
            // ApiVersions is answered in any version, with the versions that are served (KIP-511).
            if served.api != ApiKey::ApiVersions {
                return Err(RequestError::UnknownVersion {
                    api: served.api,
                    version,
                });
            }
            return Ok(Self {
                served,
                version,
                correlation_id,
                client_id: String::new(),
                body: Bytes::new(),
            });
        }
        let header = RequestHeader::decode(&mut frame, served.api.request_header_version(version))
            .map_err(undecodable)?;
        Ok(Self {
            served,
            version,
            correlation_id,
            client_id: header
                .client_id
                .map(|id| id.to_string())
                .unwrap_or_default(),
            body: frame,
        })
    }

    /// The version is one that ApiVersions announces.
    pub(super) fn version_served(&self) -> bool {
        self.served.versions().contains(&self.version)
    }

    /// Decodes the body, after its lengths were checked.
    pub(super) fn body<R: Decodable>(&self) -> Result<R, RequestError> {
        let flexible = self.served.api.request_header_version(self.version) >= 2;
        bounds::check(self.served.shape, self.version, flexible, &self.body)?;
        R::decode(&mut self.body.clone(), self.version).map_err(undecodable)
    }

    /// The frame that answers this request.
    pub(super) fn answer<R: Encodable + HeaderVersion>(
        &self,
        body: &R,
    ) -> Result<BytesMut, RequestError> {
        self.answer_in(self.version, body)
    }

    /// The same, in another version than the request's.
    pub(super) fn answer_in<R: Encodable + HeaderVersion>(
        &self,
        version: i16,
        body: &R,
    ) -> Result<BytesMut, RequestError> {
        let header = ResponseHeader::default().with_correlation_id(self.correlation_id);
        let size = body.compute_size(version).map_err(unencodable)?;
        let mut frame = BytesMut::with_capacity(size.saturating_add(16));
        frame.put_i32(0);
        header
            .encode(&mut frame, R::header_version(version))
            .map_err(unencodable)?;
        body.encode(&mut frame, version).map_err(unencodable)?;
        let length = frame.len().saturating_sub(4);
        let length = i32::try_from(length).map_err(|_| unencodable(format!("{length} bytes")))?;
        if let Some(place) = frame.first_chunk_mut::<4>() {
            *place = length.to_be_bytes();
        }
        Ok(frame)
    }
}

fn undecodable(error: impl Display) -> RequestError {
    RequestError::Undecodable(error.to_string())
}

fn unencodable(error: impl Display) -> RequestError {
    RequestError::Unencodable(error.to_string())
}

/// A text of ours as the protocol crate wants it.
pub(super) fn text(value: &str) -> kafka_protocol::protocol::StrBytes {
    value.to_owned().into()
}
