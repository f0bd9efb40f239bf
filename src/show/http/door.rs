//! Opens a connection: a handshake where there is TLS, bounded in time and number, and a
//! word for those who speak plain HTTP to it.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_openssl::SslStream;
use tracing::debug;

use crate::show::http::HttpLimits;
use crate::show::http::tls::{HandshakeError, Tls};

/// The first byte of a TLS record that begins a handshake (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;

/// What is read of a plain request, so that its client gets to read the answer.
const PLAIN_BYTES_MAX: u64 = 64 * 1024;

/// For a client that will not understand TLS, so without `hyper`.
const PLAIN_ANSWER: &str = "HTTP/1.0 400 Bad Request\r\n\
content-type: text/plain; charset=utf-8\r\n\
connection: close\r\n\
\r\n\
this port speaks TLS: ask with https\n";

/// Shakes hands with a client; nothing for one that does not in time.
pub(super) async fn open(
    stream: TcpStream,
    tls: &Tls,
    limits: HttpLimits,
    handshakes: &Semaphore,
) -> Option<SslStream<TcpStream>> {
    let opened = tokio::time::timeout(limits.handshake_time_max, shaken(stream, tls, handshakes));
    match opened.await {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            debug!(%error, cause, "tls connection not opened");
            None
        }
        Err(_) => {
            debug!("tls connection cut: no handshake in time");
            None
        }
    }
}

async fn shaken(
    mut stream: TcpStream,
    tls: &Tls,
    handshakes: &Semaphore,
) -> Result<Option<SslStream<TcpStream>>, HandshakeError> {
    let mut first = [0];
    // Who says nothing takes no place from those who do.
    match stream.peek(&mut first).await {
        Ok(1..) if first[0] == HANDSHAKE => {}
        Ok(1..) => {
            if let Err(error) = answer_plain(&mut stream, first[0]).await {
                debug!(%error, "plain http connection ended early");
            }
            return Ok(None);
        }
        Ok(0) | Err(_) => return Ok(None),
    }
    // Never closed.
    let Ok(_place) = handshakes.acquire().await else {
        return Ok(None);
    };
    tls.accept(stream).await.map(Some)
}

/// Says what is wrong, if it looks like HTTP, and ends.
async fn answer_plain(stream: &mut TcpStream, first: u8) -> io::Result<()> {
    if first.is_ascii_uppercase() {
        stream.write_all(PLAIN_ANSWER.as_bytes()).await?;
    }
    stream.shutdown().await?;
    // Closing with unread bytes would reset the connection, and the answer with it.
    let mut rest = stream.take(PLAIN_BYTES_MAX);
    tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
    Ok(())
}
