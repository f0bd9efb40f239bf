//! The way to a receiver: its name, TCP, and TLS where it is asked for.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::pin::Pin;

use openssl::pkey::{PKey, Private};
use openssl::ssl::{SslConnector, SslConnectorBuilder, SslMethod};
use openssl::x509::store::{X509Store, X509StoreBuilder};
use openssl::x509::{X509, X509VerifyResult};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

use super::SendError;
use crate::config::authorities::{BUNDLE_DIRS, BUNDLES};
use crate::config::{TraceEndpoint, TraceFile, TraceProtocol, TracesConfig};

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
    /// The variable that names it, if the configuration does not.
    pub variable: Option<String>,
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
fn connector(config: &TracesConfig) -> Result<SslConnector, Unfit> {
    let mut builder = SslConnector::builder(SslMethod::tls_client())
        .map_err(|error| unusable("endpoint", "tls", &error))?;
    match &config.ca_file {
        None => usual_authorities(&mut builder)
            .map_err(|error| unusable("ca_file", "the system's authorities", &error))?,
        Some(file) => builder.set_cert_store(trusted(file)?),
    }
    if let (Some(file), Some(key_file)) = (&config.certificate_file, &config.key_file) {
        let key = "certificate_file";
        let mut chain = certificates(key, file)?.into_iter();
        let private = private(key_file)?;
        if let Some(own) = chain.next() {
            let set = builder.set_certificate(&own);
            set.map_err(|error| unfit(key, file, error.to_string()))?;
        }
        for above in chain {
            let added = builder.add_extra_chain_cert(above);
            added.map_err(|error| unfit(key, file, error.to_string()))?;
        }
        let fits = builder
            .set_private_key(&private)
            .and_then(|()| builder.check_private_key());
        fits.map_err(|_| {
            let reason = format!("is not the key of {}", file.path.display());
            unfit("key_file", key_file, reason)
        })?;
    }
    if config.protocol == TraceProtocol::Grpc {
        let offered = builder.set_alpn_protos(b"\x02h2");
        offered.map_err(|error| unusable("protocol", "tls", &error))?;
    }
    Ok(builder.build())
}

/// What is wrong with the files that TLS is made from, as they are now: of each what is wrong
/// with it, then of all together.
pub(super) fn unfits(config: &TracesConfig) -> Vec<Unfit> {
    let TracesConfig {
        ca_file,
        certificate_file,
        key_file,
        ..
    } = config;
    let trusted = ca_file.as_ref().and_then(|file| trusted(file).err());
    let shown = certificate_file.as_ref();
    let shown = shown.and_then(|file| certificates("certificate_file", file).err());
    let private = key_file.as_ref().and_then(|file| private(file).err());
    let each: Vec<Unfit> = [trusted, shown, private].into_iter().flatten().collect();
    match each.is_empty() {
        true => connector(config).err().into_iter().collect(),
        false => each,
    }
}

/// Who is trusted, and nobody else. The store that a connector begins with has what
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` name, too.
fn trusted(file: &TraceFile) -> Result<X509Store, Unfit> {
    let certificates = certificates("ca_file", file)?;
    let store = X509StoreBuilder::new().and_then(|mut store| {
        let mut certificates = certificates.into_iter();
        certificates.try_for_each(|one| store.add_cert(one))?;
        Ok(store.build())
    });
    store.map_err(|error| unfit("ca_file", file, error.to_string()))
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

fn certificates(key: &'static str, file: &TraceFile) -> Result<Vec<X509>, Unfit> {
    match X509::stack_from_pem(&read(key, file)?) {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(unfit(key, file, "holds no certificates in PEM".to_owned())),
    }
}

fn private(file: &TraceFile) -> Result<PKey<Private>, Unfit> {
    let pem = read("key_file", file)?;
    // Without a password at hand, one is not asked for on a terminal.
    let private = PKey::private_key_from_pem_callback(&pem, |_| Ok(0));
    private.map_err(|_| {
        let reason = "holds no key in PEM that opens without a password";
        unfit("key_file", file, reason.to_owned())
    })
}

fn read(key: &'static str, file: &TraceFile) -> Result<Vec<u8>, Unfit> {
    let mut bytes = Vec::new();
    let read = fs::File::open(&file.path).and_then(|file| {
        let mut file = file.take(FILE_BYTES_MAX);
        file.read_to_end(&mut bytes)
    });
    read.map_err(|error| unfit(key, file, error.to_string()))?;
    Ok(bytes)
}

fn unfit(key: &'static str, file: &TraceFile, reason: String) -> Unfit {
    Unfit {
        key,
        file: file.path.display().to_string(),
        variable: file.variable.clone(),
        reason,
    }
}

/// What is wrong with something that is no file of the configuration.
fn unusable(key: &'static str, what: &str, error: &dyn std::error::Error) -> Unfit {
    Unfit {
        key,
        file: what.to_owned(),
        variable: None,
        reason: error.to_string(),
    }
}
