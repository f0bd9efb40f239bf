//! The way to a receiver: its name, TCP, and TLS where it is asked for.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::pin::Pin;

use openssl::pkey::PKey;
use openssl::ssl::{SslConnector, SslConnectorBuilder, SslMethod};
use openssl::x509::store::{X509Store, X509StoreBuilder};
use openssl::x509::{X509, X509VerifyResult};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

use super::SendError;
use crate::config::authorities::{BUNDLE_DIRS, BUNDLES};
use crate::config::{TraceEndpoint, TraceProtocol, TracesConfig};

/// A bundle of all public authorities has 250 kB.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A file for TLS that will not do.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[error("{file}: {reason}")]
pub struct Unfit {
    /// The key of the configuration that names it.
    pub key: &'static str,
    /// Which.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// What requests are written to.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// `HOST:PORT`, an IPv6 address in brackets.
pub(super) fn authority(endpoint: &TraceEndpoint) -> String {
    let TraceEndpoint { host, port, .. } = endpoint;
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// A connection to the receiver.
pub(super) async fn connected(config: &TracesConfig) -> Result<Box<dyn Wire>, SendError> {
    let endpoint = &config.endpoint;
    let place = authority(endpoint);
    let later = |what: String| SendError::Later(format!("{place}: {what}"));
    let tcp = TcpStream::connect((endpoint.host.as_str(), endpoint.port))
        .await
        .map_err(|error| later(error.to_string()))?;
    // Requests are written at once, and nothing follows them.
    tcp.set_nodelay(true)
        .map_err(|error| later(error.to_string()))?;
    if !endpoint.tls {
        return Ok(Box::new(tcp));
    }
    let (config, host) = (config.clone(), endpoint.host.clone());
    // It reads files, and a bundle takes a while to be understood.
    let made = tokio::task::spawn_blocking(move || connector(&config)).await;
    let connector = match made {
        Ok(made) => made.map_err(|unfit| later(unfit.to_string()))?,
        Err(_) => return Err(later("tls not prepared".to_owned())),
    };
    let configured = connector.configure().and_then(|tls| tls.into_ssl(&host));
    let mut stream = configured
        .and_then(|ssl| SslStream::new(ssl, tcp))
        .map_err(|error| later(format!("tls not prepared: {error}")))?;
    if let Err(error) = Pin::new(&mut stream).connect().await {
        let verdict = stream.ssl().verify_result();
        return Err(later(match verdict {
            X509VerifyResult::OK => format!("tls not agreed on: {error}"),
            verdict => format!("its certificate is not trusted: {}", verdict.error_string()),
        }));
    }
    Ok(Box::new(stream))
}

/// What TLS is made from: files are read now. OpenSSL's connector checks the certificate and
/// the name in it.
pub(super) fn connector(config: &TracesConfig) -> Result<SslConnector, Unfit> {
    let mut builder = SslConnector::builder(SslMethod::tls_client())
        .map_err(|error| unfit("endpoint", Path::new("tls"), &error))?;
    match &config.ca_file {
        None => usual_authorities(&mut builder)
            .map_err(|error| unfit("ca_file", Path::new("the system's authorities"), &error))?,
        Some(path) => {
            let pem = read("ca_file", path)?;
            let trusted = only(certificates("ca_file", path, &pem)?);
            builder.set_cert_store(trusted.map_err(|error| unfit("ca_file", path, &error))?);
        }
    }
    if let (Some(path), Some(key_path)) = (&config.certificate_file, &config.key_file) {
        let key = "certificate_file";
        let mut chain = certificates(key, path, &read(key, path)?)?.into_iter();
        if let Some(own) = chain.next() {
            let set = builder.set_certificate(&own);
            set.map_err(|error| unfit(key, path, &error))?;
        }
        for above in chain {
            let added = builder.add_extra_chain_cert(above);
            added.map_err(|error| unfit(key, path, &error))?;
        }
        let pem = read("key_file", key_path)?;
        // Without a password at hand, one is not asked for on a terminal.
        let private = PKey::private_key_from_pem_callback(&pem, |_| Ok(0));
        let private = private.map_err(|_| Unfit {
            key: "key_file",
            file: key_path.display().to_string(),
            reason: "holds no key in PEM that opens without a password".to_owned(),
        })?;
        let fits = builder
            .set_private_key(&private)
            .and_then(|()| builder.check_private_key());
        fits.map_err(|_| Unfit {
            key: "key_file",
            file: key_path.display().to_string(),
            reason: format!("is not the key of {}", path.display()),
        })?;
    }
    if config.protocol == TraceProtocol::Grpc {
        let offered = builder.set_alpn_protos(b"\x02h2");
        offered.map_err(|error| unfit("protocol", Path::new("tls"), &error))?;
    }
    Ok(builder.build())
}

/// A store of these and no others. The one that a connector begins with has what `SSL_CERT_FILE`
/// and `SSL_CERT_DIR` name, too.
fn only(certificates: Vec<X509>) -> Result<X509Store, openssl::error::ErrorStack> {
    let mut store = X509StoreBuilder::new()?;
    for certificate in certificates {
        store.add_cert(certificate)?;
    }
    Ok(store.build())
}

/// The first bundle there is, beside what `SSL_CERT_FILE` and `SSL_CERT_DIR` name.
fn usual_authorities(builder: &mut SslConnectorBuilder) -> Result<(), openssl::error::ErrorStack> {
    let is_dir = |path: &&&str| Path::new(path).is_dir();
    if let Some(file) = BUNDLES.iter().find(|path| Path::new(path).is_file()) {
        builder.load_verify_locations(Some(Path::new(file)), None)
    } else if let Some(dir) = BUNDLE_DIRS.iter().find(is_dir) {
        builder.load_verify_locations(None, Some(Path::new(dir)))
    } else {
        Ok(())
    }
}

fn certificates(key: &'static str, path: &Path, pem: &[u8]) -> Result<Vec<X509>, Unfit> {
    match X509::stack_from_pem(pem) {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(Unfit {
            key,
            file: path.display().to_string(),
            reason: "holds no certificates in PEM".to_owned(),
        }),
    }
}

fn read(key: &'static str, path: &Path) -> Result<Vec<u8>, Unfit> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| {
        let mut file = file.take(FILE_BYTES_MAX);
        file.read_to_end(&mut bytes)
    });
    read.map_err(|error| unfit(key, path, &error))?;
    Ok(bytes)
}

fn unfit(key: &'static str, path: &Path, error: &dyn std::error::Error) -> Unfit {
    Unfit {
        key,
        file: path.display().to_string(),
        reason: error.to_string(),
    }
}
