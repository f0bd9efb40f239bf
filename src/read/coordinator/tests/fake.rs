//! A broker of few words, for what the embedded one cannot do: it serves any stream, and
//! each answer can be made wrong.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::messages::*;
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, StrBytes};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

use super::GROUP;

/// What it says; changed while it runs.
#[derive(Clone, Default)]
pub(super) struct Fake(Arc<Mutex<Says>>);

#[derive(Default)]
pub(super) struct Says {
    /// Least and highest version of each API.
    pub(super) versions: Vec<(ApiKey, i16, i16)>,
    /// Where the coordinator is said to be.
    pub(super) coordinator: Option<SocketAddr>,
    /// Whether this one knows that it is not the coordinator.
    pub(super) is_other: bool,
    /// Answers in place of the true ones, as whole frames behind the length.
    pub(super) frames: HashMap<i16, Vec<u8>>,
    /// Bytes in place of a frame and its length.
    pub(super) raw: HashMap<i16, Vec<u8>>,
    /// `SaslAuthenticate`: what to say to each message, and for how long it holds.
    pub(super) sasl: Option<Sasl>,
    /// What was asked, in order.
    pub(super) asked: Vec<(i16, i16)>,
    pub(super) connections: usize,
}

/// One side of an exchange: message to challenge, or an error.
pub(super) struct Sasl {
    pub(super) mechanism: &'static str,
    pub(super) lifetime_ms: i64,
    pub(super) make: Box<dyn Fn() -> Exchange + Send>,
}

pub(super) type Exchange = Box<dyn FnMut(&[u8]) -> Result<Vec<u8>, i16> + Send>;

impl Fake {
    pub(super) fn new() -> Self {
        let fake = Self::default();
        fake.set(|says| {
            says.versions = vec![
                (ApiKey::ApiVersions, 0, 4),
                (ApiKey::Metadata, 0, 13),
                (ApiKey::FindCoordinator, 0, 6),
                (ApiKey::DescribeGroups, 0, 6),
                (ApiKey::ListGroups, 0, 5),
                (ApiKey::SaslHandshake, 0, 1),
                (ApiKey::SaslAuthenticate, 0, 2),
            ];
        });
        fake
    }

    pub(super) fn set<T>(&self, change: impl FnOnce(&mut Says) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }

    /// Serves plain connections; gives where.
    pub(super) async fn listen(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let fake = self.clone();
        fake.set(|says| {
            says.coordinator.get_or_insert(address);
        });
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let fake = fake.clone();
                tokio::spawn(async move { fake.serve(stream).await });
            }
        });
        address
    }

    /// Serves one connection until it ends.
    pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(&self, mut stream: S) {
        self.set(|says| says.connections += 1);
        let mut exchange = None;
        while let Ok(len) = stream.read_i32().await {
            let mut frame = vec![0; usize::try_from(len).unwrap()];
            if stream.read_exact(&mut frame).await.is_err() {
                return;
            }
            let answer = self.answer(Bytes::from(frame), &mut exchange);
            if stream.write_all(&answer).await.is_err() {
                return;
            }
        }
    }

    fn answer(&self, mut frame: Bytes, exchange: &mut Option<Exchange>) -> Vec<u8> {
        let mut head = frame.clone();
        let (key, version) = (head.get_i16(), head.get_i16());
        let correlation_id = head.get_i32();
        let api = ApiKey::try_from(key).unwrap();
        let header = api.request_header_version(version);
        RequestHeader::decode(&mut frame, header).unwrap();
        let mut says = self.0.lock().unwrap();
        says.asked.push((key, version));
        if let Some(raw) = says.raw.get(&key) {
            return raw.clone();
        }
        if let Some(body) = says.frames.get(&key) {
            return framed(body);
        }
        let reply = Reply {
            version,
            correlation_id,
        };
        match api {
            ApiKey::ApiVersions => says.api_versions(&reply),
            ApiKey::Metadata => reply.of(&MetadataResponse::default()),
            ApiKey::FindCoordinator => says.coordinator(&reply),
            ApiKey::ListGroups => reply.of(&ListGroupsResponse::default()),
            ApiKey::DescribeGroups => says.describe(&reply),
            ApiKey::SaslHandshake => {
                let request = SaslHandshakeRequest::decode(&mut frame, version).unwrap();
                says.handshake(&reply, &request, exchange)
            }
            ApiKey::SaslAuthenticate => {
                let request = SaslAuthenticateRequest::decode(&mut frame, version).unwrap();
                says.authenticate(&reply, &request, exchange)
            }
            other => panic!("{other:?} was asked"),
        }
    }
}

impl Says {
    fn api_versions(&self, reply: &Reply) -> Vec<u8> {
        let highest = self
            .versions
            .iter()
            .find(|row| row.0 == ApiKey::ApiVersions);
        if reply.version > highest.unwrap().2 {
            let refused = ApiVersionsResponse::default().with_error_code(35);
            return reply.in_version(0).of(&refused);
        }
        let keys = self.versions.iter().map(|(api, min, max)| {
            ApiVersion::default()
                .with_api_key(*api as i16)
                .with_min_version(*min)
                .with_max_version(*max)
        });
        reply.of(&ApiVersionsResponse::default().with_api_keys(keys.collect()))
    }

    fn coordinator(&self, reply: &Reply) -> Vec<u8> {
        let address = self.coordinator.unwrap();
        let host = StrBytes::from_string(address.ip().to_string());
        let port = i32::from(address.port());
        if reply.version >= 4 {
            let found = find_coordinator_response::Coordinator::default()
                .with_key(StrBytes::from_static_str(GROUP))
                .with_host(host)
                .with_port(port);
            let answer = FindCoordinatorResponse::default().with_coordinators(vec![found]);
            return reply.of(&answer);
        }
        let answer = FindCoordinatorResponse::default();
        reply.of(&answer.with_host(host).with_port(port))
    }

    fn describe(&self, reply: &Reply) -> Vec<u8> {
        let mut group = describe_groups_response::DescribedGroup::default()
            .with_group_id(GroupId(StrBytes::from_static_str(GROUP)));
        if self.is_other {
            group.error_code = 16;
        } else {
            group.group_state = StrBytes::from_static_str("Stable");
        }
        reply.of(&DescribeGroupsResponse::default().with_groups(vec![group]))
    }

    fn handshake(
        &self,
        reply: &Reply,
        request: &SaslHandshakeRequest,
        exchange: &mut Option<Exchange>,
    ) -> Vec<u8> {
        let sasl = self.sasl.as_ref().unwrap();
        let mut answer = SaslHandshakeResponse::default();
        if request.mechanism.as_str() == sasl.mechanism {
            *exchange = Some((sasl.make)());
        } else {
            answer.error_code = 33;
        }
        reply.of(&answer)
    }

    fn authenticate(
        &self,
        reply: &Reply,
        request: &SaslAuthenticateRequest,
        exchange: &mut Option<Exchange>,
    ) -> Vec<u8> {
        let exchange = exchange.as_mut().expect("a handshake before");
        let mut answer = SaslAuthenticateResponse::default();
        match exchange(&request.auth_bytes) {
            Ok(challenge) => answer.auth_bytes = challenge.into(),
            Err(error) => {
                answer.error_code = error;
                answer.error_message = Some(StrBytes::from_static_str("no"));
            }
        }
        if reply.version >= 1 {
            answer.session_lifetime_ms = self.sasl.as_ref().unwrap().lifetime_ms;
        }
        reply.of(&answer)
    }
}

/// To which question an answer belongs.
struct Reply {
    version: i16,
    correlation_id: i32,
}

impl Reply {
    fn in_version(&self, version: i16) -> Self {
        Self {
            version,
            correlation_id: self.correlation_id,
        }
    }

    fn of<R: Encodable + HeaderVersion>(&self, body: &R) -> Vec<u8> {
        let mut frame = BytesMut::new();
        ResponseHeader::default()
            .with_correlation_id(self.correlation_id)
            .encode(&mut frame, R::header_version(self.version))
            .unwrap();
        body.encode(&mut frame, self.version).unwrap();
        framed(&frame)
    }
}

fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    frame.put_i32(i32::try_from(body.len()).unwrap());
    frame.extend_from_slice(body);
    frame
}
