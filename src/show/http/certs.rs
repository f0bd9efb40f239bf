//! For tests: certificates of their own CA, and a client that speaks TLS.

use std::net::SocketAddr;
use std::pin::Pin;

use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{SslConnector, SslMethod, SslVerifyMode, SslVersion};
use openssl::x509::extension::{BasicConstraints, ExtendedKeyUsage, SubjectAlternativeName};
use openssl::x509::{X509, X509Builder, X509NameBuilder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

/// A certificate with its key.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) cert: X509,
    pub(crate) key: PKey<Private>,
}

/// What a client of a test brings along.
#[derive(Clone, Default)]
pub(crate) struct Client {
    /// The CA it trusts; none, it takes any server.
    pub(crate) ca: Option<X509>,
    pub(crate) identity: Option<Identity>,
    pub(crate) version_max: Option<SslVersion>,
    pub(crate) alpn: Option<&'static [u8]>,
}

/// For how long a certificate is good.
#[derive(Clone, Copy)]
pub(crate) enum Lifetime {
    Month,
    /// Until 2001.
    Over,
}

// === impl Identity ===

impl Identity {
    /// A CA.
    pub(crate) fn ca(name: &str) -> Self {
        Self::new(name, None, &[], Lifetime::Month, true)
    }

    /// A certificate for servers and clients, signed by this CA.
    pub(crate) fn issue(&self, name: &str, sans: &[&str], lifetime: Lifetime) -> Self {
        Self::new(name, Some(self), sans, lifetime, false)
    }

    fn new(
        name: &str,
        issuer: Option<&Self>,
        sans: &[&str],
        lifetime: Lifetime,
        is_ca: bool,
    ) -> Self {
        let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
        let key = PKey::from_ec_key(EcKey::generate(&curve).unwrap()).unwrap();
        let mut subject = X509NameBuilder::new().unwrap();
        subject.append_entry_by_nid(Nid::COMMONNAME, name).unwrap();
        let subject = subject.build();
        let mut cert = X509Builder::new().unwrap();
        cert.set_version(2).unwrap();
        let mut serial = BigNum::new().unwrap();
        serial.rand(64, openssl::bn::MsbOption::ONE, false).unwrap();
        cert.set_serial_number(&serial.to_asn1_integer().unwrap())
            .unwrap();
        cert.set_subject_name(&subject).unwrap();
        let by = issuer.map_or(&*subject, |issuer| issuer.cert.subject_name());
        cert.set_issuer_name(by).unwrap();
        cert.set_pubkey(&key).unwrap();
        cert.set_not_before(&Asn1Time::from_unix(0).unwrap())
            .unwrap();
        let end = match lifetime {
            Lifetime::Month => Asn1Time::days_from_now(30),
            Lifetime::Over => Asn1Time::from_unix(1_000_000_000),
        };
        cert.set_not_after(&end.unwrap()).unwrap();
        if is_ca {
            let constraints = BasicConstraints::new().critical().ca().build().unwrap();
            cert.append_extension(constraints).unwrap();
        } else {
            let mut usage = ExtendedKeyUsage::new();
            let usage = usage.server_auth().client_auth().build().unwrap();
            cert.append_extension(usage).unwrap();
        }
        if !sans.is_empty() {
            let mut names = SubjectAlternativeName::new();
            for san in sans {
                match *san {
                    san if san.parse::<std::net::IpAddr>().is_ok() => names.ip(san),
                    san if san.contains("://") => names.uri(san),
                    san if san.contains('@') => names.email(san),
                    san => names.dns(san),
                };
            }
            let context = cert.x509v3_context(None, None);
            let names = names.build(&context).unwrap();
            cert.append_extension(names).unwrap();
        }
        let signer = issuer.map_or(&key, |issuer| &issuer.key);
        cert.sign(signer, MessageDigest::sha256()).unwrap();
        Self {
            cert: cert.build(),
            key,
        }
    }

    pub(crate) fn cert_pem(&self) -> Vec<u8> {
        self.cert.to_pem().unwrap()
    }

    pub(crate) fn key_pem(&self) -> Vec<u8> {
        self.key.private_key_to_pem_pkcs8().unwrap()
    }
}

// === impl Client ===

impl Client {
    /// Shakes hands.
    pub(crate) async fn connect(
        &self,
        address: SocketAddr,
    ) -> Result<SslStream<TcpStream>, String> {
        let mut builder = SslConnector::builder(SslMethod::tls_client()).unwrap();
        match &self.ca {
            Some(ca) => builder.cert_store_mut().add_cert(ca.clone()).unwrap(),
            None => builder.set_verify(SslVerifyMode::NONE),
        }
        if let Some(identity) = &self.identity {
            builder.set_certificate(&identity.cert).unwrap();
            builder.set_private_key(&identity.key).unwrap();
        }
        builder.set_max_proto_version(self.version_max).unwrap();
        if let Some(alpn) = self.alpn {
            builder.set_alpn_protos(alpn).unwrap();
        }
        let stream = TcpStream::connect(address).await.unwrap();
        let ssl = builder.build().configure().unwrap();
        let ssl = ssl.into_ssl("localhost").unwrap();
        let mut stream = SslStream::new(ssl, stream).unwrap();
        let shaken = Pin::new(&mut stream).connect().await;
        shaken.map_err(|error| error.to_string())?;
        Ok(stream)
    }

    /// Asks for `path` on a connection of its own; the whole answer.
    pub(crate) async fn get(
        &self,
        address: SocketAddr,
        path: &str,
        headers: &str,
    ) -> Result<String, String> {
        let mut stream = self.connect(address).await?;
        ask(
            &mut stream,
            path,
            &format!("connection: close\r\n{headers}"),
        )
        .await
    }
}

/// Asks for `path`, and reads until the server closes.
pub(crate) async fn ask(
    stream: &mut SslStream<TcpStream>,
    path: &str,
    headers: &str,
) -> Result<String, String> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    let mut answer = Vec::new();
    stream
        .write_all(request.as_bytes())
        .await
        .map_err(|error| error.to_string())?;
    // TLS 1.3 tells a client here, after its part of the handshake, that it is refused.
    stream
        .read_to_end(&mut answer)
        .await
        .map_err(|error| error.to_string())?;
    Ok(String::from_utf8(answer).unwrap())
}
