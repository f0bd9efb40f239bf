//! OTLP over HTTP/1.1 with protobuf (`OTLP/HTTP`).

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::time::Instant;

use super::{Client, SendError, Taken, call, reach};

pub(super) async fn exchange(
    client: &Client,
    body: Bytes,
    gzip: bool,
    by: Instant,
) -> Result<Taken, SendError> {
    let endpoint = &client.config.endpoint;
    let authority = reach::authority(endpoint);
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = endpoint
        .path
        .parse()
        .map_err(|_| SendError::Refused(format!("{} is no path", endpoint.path)))?;
    let headers = request.headers_mut();
    headers.extend(client.headers.clone());
    let host = HeaderValue::from_str(&authority);
    headers.insert(HOST, host.unwrap_or(HeaderValue::from_static("")));
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/x-protobuf"),
    );
    if gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    let wire = client.within(by, reach::connected(&client.config)).await?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(wire)).await;
    let (mut sender, connection) = handshake.map_err(|error| call::failed(&error))?;
    let exchange = async {
        let answer = async {
            let answer = sender.send_request(request).await;
            answer.map_err(|error| call::failed(&error))
        };
        let (head, body) = client.within(by, answer).await?.into_parts();
        // What became of the spans is said by then.
        let mut answer = call::Answer::default();
        let read = client.within(by, call::read(body, &mut answer)).await;
        let body = (&answer.body[..], read.is_ok());
        judged(client, head.status, call::wait(&head.headers), body)
    };
    call::driven(connection, exchange).await.map_err(other_port)
}

/// A port for gRPC speaks first, and not HTTP/1.1: before a request is written, or after.
fn other_port(error: SendError) -> SendError {
    const SPOKE: [&str; 2] = [
        "received unexpected message from connection",
        "invalid HTTP version parsed",
    ];
    match error {
        SendError::Later(why) if SPOKE.iter().any(|spoke| why.ends_with(spoke)) => {
            SendError::Later(format!("{why}, which is what a port for grpc looks like"))
        }
        other => other,
    }
}

/// Which answers may be another one later ("OTLP/HTTP Response", "Retryable Response Codes").
fn judged(
    client: &Client,
    status: StatusCode,
    wait: Option<Duration>,
    (body, is_whole): (&[u8], bool),
) -> Result<Taken, SendError> {
    let authority = reach::authority(&client.config.endpoint);
    if status.is_success() {
        // Whatever it says, it has them: sent again, they would be there twice.
        return Ok(match is_whole {
            true => client.taken(body),
            false => Taken::default(),
        });
    }
    // A body may be a Status message, a page, or nothing: only plain text helps a person.
    let said = std::str::from_utf8(body).map(|text| client.words(text));
    let said = said
        .ok()
        .filter(|text| !text.is_empty() && !text.starts_with('<'));
    let why = match said {
        Some(said) => format!("{authority} answered {status}: {said}"),
        None => format!("{authority} answered {status}"),
    };
    let later = matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    );
    // Of who asks, and where, and not of what is sent.
    let unwelcome = matches!(
        status,
        StatusCode::UNAUTHORIZED
            | StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::PROXY_AUTHENTICATION_REQUIRED
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
    Err(match (later, wait) {
        (true, Some(wait)) => SendError::After { why, wait },
        (true, None) => SendError::Later(why),
        (false, _) if unwelcome || status.is_redirection() => SendError::Unwelcome(why),
        (false, _) => SendError::Refused(why),
    })
}
