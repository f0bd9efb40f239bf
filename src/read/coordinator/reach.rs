//! Where a broker is and how it is reached: host names, TCP, TLS.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use openssl::ssl::{self, Ssl, SslContext};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_openssl::SslStream;

use super::error::AskError;
use super::security::{Family, Security, Unfit};
use super::socket::OPEN_TIMEOUT;
use crate::read::hitch::Hitch;

/// Kafka's port where none is said, as librdkafka has it.
const PORT: u16 = 9092;

/// RFC 1035 allows no longer name.
const HOST_BYTES_MAX: usize = 253;

/// Addresses of one host that are tried.
const ADDRESSES_MAX: usize = 8;

/// One address may take this long to accept, so that a dead one does not cost all the
/// time that opening a connection has.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(2);

/// Host and port of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
}

/// What is connected, with or without TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + Sync {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync> Stream for T {}

/// Everything that opening a connection needs; files were read already.
#[derive(Clone)]
pub(super) struct Reach {
    pub(super) security: Arc<Security>,
    pub(super) tls: Option<SslContext>,
    files: Files,
}

/// Reads files on threads that may wait, one at a time: a place that never answers holds
/// up one thread, not one more at each try.
#[derive(Debug, Clone)]
pub(super) struct Files(Arc<Semaphore>);

/// Files were not read: the thread panicked.
#[derive(Debug)]
pub(super) struct Unread;

// === impl Address ===

impl Address {
    /// `host`, `host:port`, `[::1]:port`, each with or without `PROTOCOL://`, as in
    /// `bootstrap.servers`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (host, rest) = rest.split_once(']')?;
            (
                host,
                rest.strip_prefix(':').or(rest.is_empty().then_some("")),
            )
        } else {
            match text.rsplit_once(':') {
                // More colons: an IPv6 address without a port.
                Some((host, _)) if host.contains(':') => (text, Some("")),
                Some((host, port)) => (host, Some(port)),
                None => (text, Some("")),
            }
        };
        let port = match port? {
            "" => PORT,
            port => port.parse().ok().filter(|port| *port > 0)?,
        };
        Self::new(host, port)
    }

    /// As a broker tells it.
    pub(super) fn told(host: &str, port: i32) -> Option<Self> {
        let port = u16::try_from(port).ok().filter(|port| *port > 0)?;
        Self::new(host, port)
    }

    fn new(host: &str, port: u16) -> Option<Self> {
        let host = host.trim();
        let is_host = !host.is_empty()
            && host.len() <= HOST_BYTES_MAX
            && host
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'/');
        let host = host.to_owned();
        is_host.then_some(Self { host, port })
    }
}

// === impl Reach ===

impl Reach {
    /// Reads the files that TLS needs, within the time of opening a connection.
    pub(super) async fn new(security: &Arc<Security>, files: &Files) -> Result<Self, AskError> {
        let named = Arc::clone(security);
        let making = files.read(move || named.tls.as_ref().map(|tls| tls.context()).transpose());
        let made = timeout(OPEN_TIMEOUT, making).await;
        let doing = "reading the files of tls";
        let made = made.map_err(|_| AskError::Timeout { doing })?;
        Ok(Self {
            security: Arc::clone(security),
            tls: made.map_err(|Unread| broken())??,
            files: files.clone(),
        })
    }

    /// Where files are read.
    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// Connects, with TLS where it is wanted. The caller bounds the time.
    pub(super) async fn connect(&self, address: &Address) -> Result<Box<dyn Stream>, AskError> {
        let stream = self.tcp(address).await?;
        match &self.tls {
            None => Ok(Box::new(stream)),
            Some(context) => Ok(Box::new(self.handshake(context, address, stream).await?)),
        }
    }

    async fn tcp(&self, address: &Address) -> Result<TcpStream, AskError> {
        let found = lookup_host((address.host.as_str(), address.port))
            .await
            .map_err(|error| AskError::Resolve(error.kind()))?;
        let family = self.security.family;
        let wanted = found.filter(|address| match family {
            Family::Any => true,
            Family::V4 => address.is_ipv4(),
            Family::V6 => address.is_ipv6(),
        });
        let mut failure = AskError::Resolve(std::io::ErrorKind::NotFound);
        for address in wanted.take(ADDRESSES_MAX) {
            failure = match timeout(ACCEPT_TIMEOUT, open(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => error.into(),
                Err(_) => AskError::Timeout {
                    doing: "connecting",
                },
            };
        }
        Err(failure)
    }

    async fn handshake(
        &self,
        context: &SslContext,
        address: &Address,
        stream: TcpStream,
    ) -> Result<SslStream<TcpStream>, AskError> {
        let names_host = self.security.tls.as_ref().is_some_and(|tls| tls.names_host);
        let session = session(context, &address.host, names_host)
            .map_err(|_| AskError::tls("session not made".to_owned()))?;
        let mut stream = SslStream::new(session, stream)
            .map_err(|_| AskError::tls("session not made".to_owned()))?;
        match std::pin::Pin::new(&mut stream).connect().await {
            Ok(()) => Ok(stream),
            Err(error) => Err(handshake_error(&error, stream.ssl())),
        }
    }
}

// === impl Files ===

impl Files {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }

    /// Reads. The caller bounds the time; what is read for nobody goes on until it ends.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Unread> {
        let turn = Arc::clone(&self.0).acquire_owned().await;
        let reading = tokio::task::spawn_blocking(move || {
            let read = read();
            drop(turn);
            read
        });
        reading.await.map_err(|_| Unread)
    }
}

impl std::fmt::Debug for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reach").finish_non_exhaustive()
    }
}

async fn open(address: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_keepalive(true)?;
    // Without it a question may wait 40 ms for the broker's delayed acknowledgement.
    socket.set_nodelay(true)?;
    socket.connect(address).await
}

/// A session that wants to see the host's name in the certificate, unless told not to.
fn session(
    context: &SslContext,
    host: &str,
    names_host: bool,
) -> Result<Ssl, openssl::error::ErrorStack> {
    let mut session = Ssl::new(context)?;
    match host.parse::<IpAddr>() {
        // RFC 6066: an address is no server name.
        Ok(ip) if names_host => session.param_mut().set_ip(ip)?,
        Ok(_) => {}
        Err(_) => {
            session.set_hostname(host)?;
            if names_host {
                session.param_mut().set_host(host)?;
            }
        }
    }
    Ok(session)
}

fn handshake_error(error: &ssl::Error, session: &ssl::SslRef) -> AskError {
    let verdict = session.verify_result();
    let Some(reason) = tls_reason(error) else {
        // The broker hung up, as one does that speaks no TLS or another version.
        return AskError::Tls {
            reason: "handshake broken off".to_owned(),
            hitch: Some(Hitch::SpeaksNoTls),
        };
    };
    if verdict == openssl::x509::X509VerifyResult::OK {
        return AskError::tls(reason);
    }
    AskError::Tls {
        reason: format!("{reason}: {}", verdict.error_string()),
        hitch: Some(Hitch::of_verdict(verdict.error_string())),
    }
}

/// Where OpenSSL gives none.
pub(super) const NO_REASON: &str = "failed";

/// OpenSSL's reason, which is one of its fixed texts.
pub(super) fn tls_reason(error: &ssl::Error) -> Option<String> {
    let stack = error.ssl_error()?;
    let reason = stack.errors().iter().find_map(|error| error.reason());
    Some(reason.unwrap_or(NO_REASON).to_owned())
}

/// The thread that reads files panicked.
fn broken() -> Unfit {
    Unfit::Content {
        name: "security.protocol",
        reason: "the settings of tls cannot be used",
    }
}
