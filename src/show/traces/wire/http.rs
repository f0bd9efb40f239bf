//! OTLP over HTTP/1.1 with protobuf (`OTLP/HTTP`).

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;

use super::{Client, SendError, Taken, call, reach, taken, words};

pub(super) async fn exchange(client: &Client, body: Bytes, gzip: bool) -> Result<Taken, SendError> {
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
    let wire = reach::connected(&client.config).await?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(wire)).await;
    let (mut sender, connection) = handshake.map_err(|error| call::failed(&error))?;
    let exchange = async {
        let answer = sender.send_request(request).await;
        let answer = answer.map_err(|error| call::failed(&error))?;
        let (head, body) = answer.into_parts();
        let body = call::read(body).await.map(|answer| answer.body);
        judged(head.status, call::wait(&head.headers), body, &authority)
    };
    call::driven(connection, exchange).await
}

/// Which answers may be another one later ("OTLP/HTTP Response", "Retryable Response Codes").
fn judged(
    status: StatusCode,
    wait: Option<std::time::Duration>,
    body: Result<Bytes, SendError>,
    authority: &str,
) -> Result<Taken, SendError> {
    if status.is_success() {
        // Whatever it says, it has them: sent again, they would be there twice.
        return Ok(body.map(|body| taken(&body)).unwrap_or_default());
    }
    // A body may be a Status message, a page, or nothing: only plain text helps a person.
    let said = body.unwrap_or_default();
    let said = std::str::from_utf8(&said).map(|text| words(text.as_bytes()));
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
    Err(match (later, wait) {
        (true, Some(wait)) => SendError::After { why, wait },
        (true, None) => SendError::Later(why),
        (false, _) => SendError::Refused(why),
    })
}
