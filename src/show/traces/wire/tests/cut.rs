//! Receivers that answer in part, answer something else, or hang up in the middle: whoever said
//! that it has the spans has them, and whoever did not is asked again.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::BOTH;
use crate::config::{Secret, TraceProtocol};
use crate::show::traces::wire::receiver::{config, sample};
use crate::show::traces::wire::{Client, SendError, Taken};

/// A port that answers each request with these bytes, and hangs up, or keeps still.
async fn answering(answer: &'static [u8], hangs_up: bool) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            read_whole(&mut stream).await;
            stream.write_all(answer).await.unwrap();
            stream.flush().await.unwrap();
            if !hangs_up {
                kept.push(stream);
            }
        }
    });
    address
}

/// A port that says this before it is asked.
async fn speaking_first(words: &'static [u8]) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            stream.write_all(words).await.unwrap();
            kept.push(stream);
        }
    });
    address
}

/// Whoever hangs up on what is not read yet resets the connection, and the answer may be lost.
async fn read_whole(stream: &mut TcpStream) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let read = stream.read(&mut chunk).await.unwrap();
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        let Some((head, _)) = text.split_once("\r\n\r\n") else {
            if read == 0 || bytes.starts_with(b"PRI * HTTP/2") {
                return;
            }
            continue;
        };
        let mut lines = head.lines();
        let length = lines.find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        let end = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap();
        if read == 0 || bytes.len() >= end + 4 + length {
            return;
        }
    }
}

async fn sent(address: std::net::SocketAddr, protocol: TraceProtocol) -> Result<Taken, SendError> {
    let mut config = config(address, protocol);
    config.timeout_ms = 300;
    config.headers = [(
        "authorization".to_owned(),
        Secret::new("Bearer canary-of-a-token"),
    )]
    .into();
    let begun = Instant::now();
    let sent = Client::new(config).send(&[sample(1, 2)]).await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    sent
}

#[tokio::test]
async fn who_said_that_it_has_them_has_them_however_the_answer_ends() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n",
        b"HTTP/1.1 202 Accepted\r\n\r\n<html>fine</html>",
        b"HTTP/1.1 204 No Content\r\n\r\n",
    ] {
        for hangs_up in [true, false] {
            let address = answering(answer, hangs_up).await;
            let said = String::from_utf8_lossy(answer);
            let taken = sent(address, TraceProtocol::Http).await;
            assert_eq!(taken, Ok(Taken::default()), "{said} {hangs_up}");
        }
    }
}

#[tokio::test]
async fn who_refused_has_refused_however_the_answer_ends() {
    for (answer, is_later) in [
        (
            &b"HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\nno"[..],
            false,
        ),
        (
            b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 9\r\n\r\nno",
            true,
        ),
    ] {
        for hangs_up in [true, false] {
            let address = answering(answer, hangs_up).await;
            let error = sent(address, TraceProtocol::Http).await.unwrap_err();
            assert_eq!(error.retry_after().is_some(), is_later, "{error}");
            // What it said until then is told.
            assert!(error.to_string().ends_with(": no"), "{error}");
        }
    }
}

#[tokio::test]
async fn who_says_nothing_of_them_is_asked_again() {
    for answer in [
        &b""[..],
        b"HTTP/1.1 20",
        b"what is this?\r\n\r\n",
        b"\x00\x00\x12\x04\x00\x00\x00\x00\x00",
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ] {
        for (protocol, hangs_up) in [
            (TraceProtocol::Http, true),
            (TraceProtocol::Http, false),
            (TraceProtocol::Grpc, true),
            (TraceProtocol::Grpc, false),
        ] {
            let address = answering(answer, hangs_up).await;
            let error = sent(address, protocol).await.unwrap_err();
            assert!(error.retry_after().is_some(), "{protocol:?} {error}");
        }
    }
}

#[tokio::test]
async fn what_a_receiver_quotes_of_a_header_is_hidden() {
    let answer = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 47\r\n\r\n\
                   token canary-of-a-token is no token\nof anybody.";
    let address = answering(answer, true).await;
    let error = sent(address, TraceProtocol::Http).await.unwrap_err();
    let told = error.to_string();
    assert!(
        told.ends_with("token [hidden] is no token of anybody."),
        "{told}"
    );
    for (message, told) in [
        (
            "no such token: canary-of-a-token",
            "no such token: [hidden]",
        ),
        ("%63anary-of-a-token%21 100% %zz", "[hidden]! 100% %zz"),
    ] {
        let address = grpc(&[("grpc-status", "16"), ("grpc-message", message)]).await;
        let error = sent(address, TraceProtocol::Grpc).await.unwrap_err();
        assert!(error.to_string().ends_with(told), "{error}");
    }
}

/// A port that answers in HTTP/2 with these headers and a body that is no message.
async fn grpc(headers: &[(&'static str, &'static str)]) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut response = Response::new(Full::new(Bytes::from_static(b"\x07 no message")));
    for (name, value) in headers {
        response.headers_mut().insert(*name, value.parse().unwrap());
    }
    let answer = move |request: Request<Incoming>| {
        let response = response.clone();
        async move {
            request.into_body().collect().await.unwrap();
            Ok::<_, Infallible>(response)
        }
    };
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            drop(
                server
                    .serve_connection(TokioIo::new(stream), service_fn(&answer))
                    .await,
            );
        }
    });
    address
}

#[tokio::test]
async fn a_status_of_grpc_that_is_none_says_nothing_of_them() {
    for headers in [
        &[][..],
        &[("grpc-status", "well")],
        &[("grpc-status", "-1")],
        &[("grpc-status", "99999999999")],
    ] {
        let error = sent(grpc(headers).await, TraceProtocol::Grpc).await;
        let error = error.unwrap_err();
        assert!(error.retry_after().is_some(), "{headers:?}: {error}");
    }
    // One that is unknown is no success, and no reason to ask again.
    let error = sent(grpc(&[("grpc-status", "42")]).await, TraceProtocol::Grpc).await;
    assert_eq!(error.unwrap_err().retry_after(), None);
    // Whoever has them has them, whatever else it says.
    let taken = sent(grpc(&[("grpc-status", "0")]).await, TraceProtocol::Grpc).await;
    assert_eq!(taken, Ok(Taken::default()));
}

#[tokio::test]
async fn the_port_of_the_other_protocol_is_told() {
    let h2_settings = b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00";
    for address in [
        answering(h2_settings, true).await,
        speaking_first(h2_settings).await,
    ] {
        let error = sent(address, TraceProtocol::Http).await.unwrap_err();
        assert!(
            error.to_string().ends_with("a port for grpc looks like"),
            "{error}"
        );
    }
    let address = answering(
        b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
        false,
    )
    .await;
    let error = sent(address, TraceProtocol::Grpc).await.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("a port for http/protobuf looks like"),
        "{error}"
    );
}

#[tokio::test]
async fn a_receiver_with_nothing_but_connections_is_given_up() {
    for protocol in BOTH {
        // Its queue of connections takes one, and nobody ever does.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let error = sent(address, protocol).await.unwrap_err();
        assert!(error.to_string().contains("did not answer"), "{error}");
    }
}
