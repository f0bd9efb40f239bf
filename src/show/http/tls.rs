//! TLS of the agent's own port: from PEM and settings to what answers a handshake.

use std::net::IpAddr;
use std::pin::Pin;

use openssl::asn1::Asn1Time;
use openssl::error::ErrorStack;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{
    self, AlpnError, Ssl, SslAcceptor, SslContext, SslContextBuilder, SslMethod, SslMode,
    SslOptions, SslSessionCacheMode, SslVerifyMode, SslVersion,
};
use openssl::stack::Stack;
use openssl::x509::store::X509StoreBuilder;
use openssl::x509::{X509, X509Ref};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

use crate::config::web::{ClientAuth, TlsVersion, WebTls};

/// The one protocol that is spoken, as ALPN writes it (RFC 7301).
const ALPN: &[u8] = b"\x08http/1.1";

/// What the files hold.
#[derive(Clone, Copy)]
pub struct Material<'a> {
    /// The certificate and those between it and a known CA, in PEM.
    pub cert: &'a [u8],
    /// Its key, in PEM.
    pub key: &'a [u8],
    /// Certificates of the CA whose clients are known, in PEM.
    pub client_ca: Option<&'a [u8]>,
}

/// What answers handshakes.
pub struct Tls {
    context: SslContext,
    sans: Vec<String>,
    expires_seconds: i64,
}

/// Why no handshake can be answered with what was given. Never a word of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// Not a certificate.
    #[error("no certificate in PEM")]
    Cert,
    /// OpenSSL does not serve it.
    #[error("a certificate that OpenSSL refuses: {0}")]
    CertRefused(&'static str),
    /// Not a key.
    #[error("no private key in PEM")]
    Key,
    /// A key that needs a password.
    #[error("an encrypted key, for which there is no password")]
    KeyEncrypted,
    /// A key of another certificate.
    #[error("the key of another certificate")]
    KeyOther,
    /// Not certificates.
    #[error("no certificate in PEM")]
    ClientCa,
    /// The settings do not go together.
    #[error("settings that OpenSSL refuses: {0}")]
    Settings(&'static str),
}

/// Why a connection was not opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum HandshakeError {
    #[error("handshake refused")]
    Refused(#[from] ssl::Error),
    #[error("no handshake to be had")]
    Unready(#[from] ErrorStack),
    #[error("client certificate without an allowed name")]
    OtherName,
}

impl std::fmt::Debug for Material<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Material").finish_non_exhaustive()
    }
}

// === impl TlsError ===

impl TlsError {
    /// The key of `tls_server_config` at which it was given, without `_file`.
    #[must_use]
    pub fn key(self) -> Option<&'static str> {
        match self {
            Self::Cert | Self::CertRefused(_) => Some("cert"),
            Self::Key | Self::KeyEncrypted | Self::KeyOther => Some("key"),
            Self::ClientCa => Some("client_ca"),
            Self::Settings(_) => None,
        }
    }
}

// === impl Tls ===

impl Tls {
    /// Makes what answers handshakes.
    ///
    /// # Errors
    /// Everything that stands in the way.
    pub fn new(config: &WebTls, material: Material<'_>) -> Result<Self, Vec<TlsError>> {
        let chain = certificates(material.cert).ok_or(TlsError::Cert);
        let key = private_key(material.key);
        let clients = match material.client_ca.map(certificates) {
            Some(None) => Err(TlsError::ClientCa),
            Some(Some(clients)) => Ok(clients),
            None => Ok(Vec::new()),
        };
        match (chain, key, clients) {
            (Ok(chain), Ok(key), Ok(clients)) => {
                Self::of(config, &chain, &key, &clients).map_err(|error| vec![error])
            }
            (chain, key, clients) => {
                let wrong = [chain.err(), key.err(), clients.err()];
                Err(wrong.into_iter().flatten().collect())
            }
        }
    }

    fn of(
        config: &WebTls,
        chain: &[X509],
        key: &PKey<Private>,
        clients: &[X509],
    ) -> Result<Self, TlsError> {
        let settings = |error: ErrorStack| TlsError::Settings(reason(&error));
        let refused = |error: ErrorStack| TlsError::CertRefused(reason(&error));
        let (leaf, between) = chain.split_first().ok_or(TlsError::Cert)?;
        // Mozilla's middle way: what every client of the last years speaks.
        let mut builder =
            SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).map_err(settings)?;
        common(&mut builder, config).map_err(settings)?;
        builder.set_certificate(leaf).map_err(refused)?;
        for certificate in between {
            let certificate = certificate.clone();
            builder.add_extra_chain_cert(certificate).map_err(refused)?;
        }
        let is_its_key = leaf.public_key().is_ok_and(|public| public.public_eq(key));
        if !is_its_key {
            return Err(TlsError::KeyOther);
        }
        builder.set_private_key(key).map_err(settings)?;
        ask_clients(&mut builder, config.client_auth, clients).map_err(settings)?;
        Ok(Self {
            context: builder.build().into_context(),
            sans: config.client_allowed_sans.clone(),
            expires_seconds: expiry(chain).map_err(refused)?,
        })
    }

    /// When the first of the served certificates expires, in seconds since the epoch.
    #[must_use]
    pub fn expires_seconds(&self) -> i64 {
        self.expires_seconds
    }

    /// Shakes hands. It takes as long as the client does.
    pub(super) async fn accept(
        &self,
        stream: TcpStream,
    ) -> Result<SslStream<TcpStream>, HandshakeError> {
        let mut stream = SslStream::new(Ssl::new(&self.context)?, stream)?;
        Pin::new(&mut stream).accept().await?;
        if self.sans.is_empty() {
            return Ok(stream);
        }
        let certificate = stream.ssl().peer_certificate();
        match certificate.is_some_and(|certificate| has_name(&certificate, &self.sans)) {
            true => Ok(stream),
            false => Err(HandshakeError::OtherName),
        }
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls")
            .field("expires_seconds", &self.expires_seconds)
            .finish_non_exhaustive()
    }
}

fn common(builder: &mut SslContextBuilder, config: &WebTls) -> Result<(), ErrorStack> {
    builder.set_min_proto_version(Some(version(config.min_version)))?;
    builder.set_max_proto_version(Some(version(config.max_version)))?;
    if !config.cipher_suites.is_empty() {
        builder.set_cipher_list(&config.cipher_suites.join(":"))?;
    }
    if config.prefer_server_cipher_suites {
        builder.set_options(SslOptions::CIPHER_SERVER_PREFERENCE);
    }
    if !config.curves.is_empty() {
        builder.set_groups_list(&config.curves.join(":"))?;
    }
    // A resumed session would be held against the CA of its first handshake. Scrapers
    // keep their connection, so little is lost.
    builder.set_session_cache_mode(SslSessionCacheMode::OFF);
    builder.set_options(SslOptions::NO_TICKET);
    builder.set_num_tickets(0)?;
    builder.set_mode(SslMode::RELEASE_BUFFERS);
    builder.set_alpn_select_callback(|_, offered| {
        ssl::select_next_proto(ALPN, offered).ok_or(AlpnError::NOACK)
    });
    Ok(())
}

fn ask_clients(
    builder: &mut SslContextBuilder,
    client_auth: ClientAuth,
    clients: &[X509],
) -> Result<(), ErrorStack> {
    let mut mode = match client_auth {
        ClientAuth::No => return Ok(()),
        _ => SslVerifyMode::PEER,
    };
    if client_auth.requires() {
        mode |= SslVerifyMode::FAIL_IF_NO_PEER_CERT;
    }
    if client_auth.verifies() {
        let mut store = X509StoreBuilder::new()?;
        let mut names = Stack::new()?;
        for certificate in clients {
            names.push(certificate.subject_name().to_owned()?)?;
            store.add_cert(certificate.clone())?;
        }
        builder.set_verify_cert_store(store.build())?;
        builder.set_client_ca_list(names);
        builder.set_verify(mode);
    } else {
        // Any certificate will do: its key is proven, its issuer is not looked at.
        builder.set_verify_callback(mode, |_, _| true);
    }
    Ok(())
}

fn version(version: TlsVersion) -> SslVersion {
    match version {
        TlsVersion::Tls12 => SslVersion::TLS1_2,
        TlsVersion::Tls13 => SslVersion::TLS1_3,
    }
}

/// At least one certificate.
fn certificates(pem: &[u8]) -> Option<Vec<X509>> {
    let certificates = X509::stack_from_pem(pem).ok()?;
    (!certificates.is_empty()).then_some(certificates)
}

fn private_key(pem: &[u8]) -> Result<PKey<Private>, TlsError> {
    // Without a callback of ours OpenSSL would ask the terminal for a password.
    let mut is_encrypted = false;
    let key = PKey::private_key_from_pem_callback(pem, |_| {
        is_encrypted = true;
        Ok(0)
    });
    key.map_err(|_| match is_encrypted {
        true => TlsError::KeyEncrypted,
        false => TlsError::Key,
    })
}

/// The first end among the certificates that clients need: the served one, and those
/// below a root. A root that is sent along is not looked at by anybody.
fn expiry(chain: &[X509]) -> Result<i64, ErrorStack> {
    let epoch = Asn1Time::from_unix(0)?;
    let mut first = i64::MAX;
    for (index, certificate) in chain.iter().enumerate() {
        if index == 0 || !is_root(certificate) {
            let since = epoch.diff(certificate.not_after())?;
            first = first.min(i64::from(since.days) * 86_400 + i64::from(since.secs));
        }
    }
    Ok(first)
}

/// An instant in seconds since the epoch, as certificates tell it.
#[must_use]
pub fn moment(seconds: i64) -> String {
    Asn1Time::from_unix(seconds).map_or_else(|_| format!("{seconds} s"), |at| at.to_string())
}

fn is_root(certificate: &X509Ref) -> bool {
    let order = certificate
        .subject_name()
        .try_cmp(certificate.issuer_name());
    order.is_ok_and(|order| order.is_eq())
}

/// Whether a certificate has one of the names: a DNS name, an address, a mail address or
/// a URI, each as it is written.
fn has_name(certificate: &X509Ref, allowed: &[String]) -> bool {
    let Some(names) = certificate.subject_alt_names() else {
        return false;
    };
    names.iter().any(|name| {
        let text = name
            .dnsname()
            .or_else(|| name.email())
            .or_else(|| name.uri());
        let address = name.ipaddress().and_then(address);
        allowed.iter().any(|allowed| {
            let is_address = || address.is_some() && allowed.parse().ok() == address;
            text == Some(allowed) || is_address()
        })
    })
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .ok()
}

/// OpenSSL's own words, which know no data.
fn reason(error: &ErrorStack) -> &'static str {
    let first = error.errors().first();
    first
        .and_then(|error| error.reason())
        .unwrap_or("no reason")
}
