//! OTLP over gRPC: one unary call, which is an HTTP/2 request whose body is a message with a
//! flag and a length before it, and whose status comes behind the answer
//! (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>).

use std::io::Read as _;

use bytes::{BufMut, Bytes, BytesMut};
use flate2::read::GzDecoder;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TE};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::{ANSWER_BYTES_MAX, Client, SendError, Taken, call, reach, retry_info};

/// The service and the method (`trace_service.proto`).
const PATH: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// Flag and length.
const PREFIX_BYTES: usize = 5;

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const GRPC_ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

pub(super) async fn exchange(
    client: &Client,
    message: &[u8],
    gzip: bool,
) -> Result<Taken, SendError> {
    let endpoint = &client.config.endpoint;
    let authority = reach::authority(endpoint);
    let scheme = if endpoint.tls { "https" } else { "http" };
    let mut request = Request::new(Full::new(framed(message, gzip)?));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = format!("{scheme}://{authority}{PATH}")
        .parse()
        .map_err(|_| SendError::Refused(format!("{authority} is no address")))?;
    let headers = request.headers_mut();
    headers.extend(client.headers.clone());
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(TE, HeaderValue::from_static("trailers"));
    if gzip {
        headers.insert(GRPC_ENCODING, HeaderValue::from_static("gzip"));
    }
    let wire = reach::connected(&client.config).await?;
    let io = TokioIo::new(wire);
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await;
    let (mut sender, connection) = handshake.map_err(|error| other_port(call::failed(&error)))?;
    let exchange = async {
        let answer = sender.send_request(request).await;
        let answer = answer.map_err(|error| other_port(call::failed(&error)))?;
        let (head, body) = answer.into_parts();
        if head.status != StatusCode::OK {
            return Err(not_grpc(head.status, &authority));
        }
        // A call that failed at once has its status in front.
        if let Some(status) = status(&head.headers) {
            return judged(client, status, &head.headers, &[]);
        }
        let mut answer = call::Answer::default();
        call::read(body, &mut answer).await?;
        match status(&answer.trailers) {
            Some(status) => judged(client, status, &answer.trailers, &answer.body),
            None => Err(SendError::Later(format!(
                "{authority} ended without a status"
            ))),
        }
    };
    call::driven(connection, exchange).await.map_err(other_port)
}

/// Says of what a port for HTTP/1.1 answers what it is: its first letters, read as a frame, are
/// the length of one that is too large.
fn other_port(error: SendError) -> SendError {
    const TOO_LARGE: &str = "frame with invalid size";
    match error {
        SendError::Later(why) if why.ends_with(TOO_LARGE) => SendError::Later(format!(
            "{why}, which is what a port for http/protobuf looks like"
        )),
        other => other,
    }
}

fn framed(message: &[u8], gzip: bool) -> Result<Bytes, SendError> {
    let length = u32::try_from(message.len())
        .map_err(|_| SendError::Refused("more than a message can hold".to_owned()))?;
    let mut framed = BytesMut::with_capacity(PREFIX_BYTES.saturating_add(message.len()));
    framed.put_u8(u8::from(gzip));
    framed.put_u32(length);
    framed.put_slice(message);
    Ok(framed.freeze())
}

fn status(headers: &HeaderMap) -> Option<u32> {
    headers.get(GRPC_STATUS)?.to_str().ok()?.trim().parse().ok()
}

/// Which states may be another one later ("OTLP/gRPC Response", failures).
fn judged(
    client: &Client,
    status: u32,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Taken, SendError> {
    const CANCELLED: u32 = 1;
    const DEADLINE_EXCEEDED: u32 = 4;
    const RESOURCE_EXHAUSTED: u32 = 8;
    const ABORTED: u32 = 10;
    const OUT_OF_RANGE: u32 = 11;
    const UNIMPLEMENTED: u32 = 12;
    const UNAVAILABLE: u32 = 14;
    const DATA_LOSS: u32 = 15;
    const UNAUTHENTICATED: u32 = 16;
    if status == 0 {
        return Ok(client.taken(&unframed(body)));
    }
    let authority = reach::authority(&client.config.endpoint);
    let said = headers.get(GRPC_MESSAGE);
    let said = said.map(|said| client.words(&decoded(said.as_bytes())));
    let why = match said.filter(|said| !said.is_empty()) {
        Some(said) => format!("{authority} answered with status {status}: {said}"),
        None => format!("{authority} answered with status {status}"),
    };
    let later = matches!(
        status,
        CANCELLED | DEADLINE_EXCEEDED | ABORTED | OUT_OF_RANGE | UNAVAILABLE | DATA_LOSS
    );
    Err(match retry_info::wait(headers) {
        Some(wait) if later || status == RESOURCE_EXHAUSTED => SendError::After { why, wait },
        None if later => SendError::Later(why),
        _ if matches!(status, UNIMPLEMENTED | UNAUTHENTICATED) => SendError::Unwelcome(why),
        // What is exhausted will not fit later, either: too large, or a quota that is used up.
        _ => SendError::Refused(why),
    })
}

/// Words of a status, in which bytes may be percent-encoded; what is none stays as it is.
fn decoded(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let digit = |place: usize| char::from(*after.get(place)?).to_digit(16);
        let encoded = digit(0).zip(digit(1));
        let encoded = encoded.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        rest = match (byte, encoded) {
            (b'%', Some(encoded)) => {
                bytes.push(encoded);
                after.get(2..).unwrap_or_default()
            }
            _ => {
                bytes.push(byte);
                after
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The message of an answer. Servers compress as the client did; what cannot be read says
/// nothing, and whatever was sent was taken.
fn unframed(body: &[u8]) -> Vec<u8> {
    let message = body.get(PREFIX_BYTES..).unwrap_or_default();
    match body.first() {
        Some(0) => message.to_vec(),
        Some(_) => {
            let mut plain = Vec::new();
            let most = u64::try_from(ANSWER_BYTES_MAX).unwrap_or(u64::MAX);
            match GzDecoder::new(message).take(most).read_to_end(&mut plain) {
                Ok(_) => plain,
                Err(_) => Vec::new(),
            }
        }
        None => Vec::new(),
    }
}

/// An answer that is not of gRPC: of a proxy, or of another kind of port
/// (`doc/http-grpc-status-mapping.md`).
fn not_grpc(status: StatusCode, authority: &str) -> SendError {
    let why = format!("{authority} answered {status}, as nothing does that speaks gRPC");
    match status.as_u16() {
        429 | 502 | 503 | 504 => SendError::Later(why),
        _ => SendError::Unwelcome(why),
    }
}
