//! What TLS needs, by librdkafka's property names, and the context made from it. Files are
//! read when the context is made: for each new connection, so that a renewed certificate
//! is used without a restart.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use openssl::error::ErrorStack;
use openssl::pkcs12::{ParsedPkcs12_2, Pkcs12};
use openssl::pkey::{PKey, Private};
use openssl::ssl::{SslContext, SslContextBuilder, SslMethod, SslVerifyMode};
use openssl::x509::X509;
use openssl::x509::store::X509Lookup;
use openssl::x509::verify::X509VerifyFlags;

use super::{Unfit, Values};
use crate::config::authorities::{BUNDLE_DIRS, BUNDLES};
use crate::config::file::{self, Unread};
use crate::read::connection::Hidden;

/// Certificates and keys are small; a bundle of all public authorities has 250 kB.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

const CA: &str = "ssl.ca.location";
const CA_PEM: &str = "ssl.ca.pem";
const CRL: &str = "ssl.crl.location";
const CERTIFICATE: &str = "ssl.certificate.location";
const CERTIFICATE_PEM: &str = "ssl.certificate.pem";
const KEY: &str = "ssl.key.location";
const KEY_PEM: &str = "ssl.key.pem";
const KEYSTORE: &str = "ssl.keystore.location";

/// What TLS needs.
#[derive(Debug, Clone)]
pub(in super::super) struct TlsFiles {
    authorities: Authorities,
    crl: Option<PathBuf>,
    certificate: Option<Source>,
    key: Option<Source>,
    key_password: Option<Hidden>,
    keystore: Option<(PathBuf, Hidden)>,
    verifies: bool,
    /// Whether the certificate must be for the host's name.
    pub(in super::super) names_host: bool,
    ciphers: Option<String>,
    curves: Option<String>,
    signatures: Option<String>,
}

#[derive(Debug, Clone)]
enum Authorities {
    /// Those of the system.
    Usual,
    Location(PathBuf),
    Pem(Hidden),
}

/// A PEM text, or the file that holds it.
#[derive(Debug, Clone)]
enum Source {
    File(&'static str, PathBuf),
    Pem(&'static str, Hidden),
}

// === impl TlsFiles ===

impl TlsFiles {
    pub(super) fn of(values: Values<'_>) -> Result<Self, Unfit> {
        const NO: &str = "polls of the group's state cannot use it";
        values.refuse("ssl.engine.location", NO)?;
        values.refuse("ssl.providers", NO)?;
        values.refuse("ssl.ca.certificate.stores", NO)?;
        let name = "ssl.endpoint.identification.algorithm";
        let names_host = match values.word(name).as_deref() {
            None | Some("https") => true,
            Some("none") => false,
            Some(_) => return Err(Unfit::Value { name }),
        };
        let authorities = match (values.owned(CA_PEM), values.text(CA)) {
            (Some(pem), _) => Authorities::Pem(Hidden(pem)),
            (None, None | Some("probe")) => Authorities::Usual,
            (None, Some(path)) => Authorities::Location(path.into()),
        };
        let keystore = values.text(KEYSTORE).map(|path| {
            let password = values.owned("ssl.keystore.password");
            (path.into(), Hidden(password.unwrap_or_default()))
        });
        Ok(Self {
            authorities,
            crl: values.text(CRL).map(PathBuf::from),
            certificate: Source::of(values, CERTIFICATE, CERTIFICATE_PEM),
            key: Source::of(values, KEY, KEY_PEM),
            key_password: values.owned("ssl.key.password").map(Hidden),
            keystore,
            verifies: values.flag("enable.ssl.certificate.verification", true)?,
            names_host,
            ciphers: values.owned("ssl.cipher.suites"),
            curves: values.owned("ssl.curves.list"),
            signatures: values.owned("ssl.sigalgs.list"),
        })
    }

    /// Makes the context. Reads files: not for a thread that serves others.
    pub(in super::super) fn context(&self) -> Result<SslContext, Unfit> {
        let mut context = SslContext::builder(SslMethod::tls_client())
            .map_err(content("security.protocol", "tls cannot be used"))?;
        // OpenSSL itself verifies nothing unless told to.
        context.set_verify(if self.verifies {
            SslVerifyMode::PEER
        } else {
            SslVerifyMode::NONE
        });
        if let Some(ciphers) = &self.ciphers {
            let wrong = content("ssl.cipher.suites", "not taken");
            context.set_cipher_list(ciphers).map_err(wrong)?;
        }
        if let Some(curves) = &self.curves {
            let wrong = content("ssl.curves.list", "not taken");
            context.set_groups_list(curves).map_err(wrong)?;
        }
        if let Some(signatures) = &self.signatures {
            let wrong = content("ssl.sigalgs.list", "not taken");
            context.set_sigalgs_list(signatures).map_err(wrong)?;
        }
        if self.verifies {
            self.trust(&mut context)?;
        }
        self.identify(&mut context)?;
        Ok(context.build())
    }

    /// Whom we believe.
    fn trust(&self, context: &mut SslContextBuilder) -> Result<(), Unfit> {
        match &self.authorities {
            Authorities::Usual => usual_authorities(context)?,
            Authorities::Location(path) => {
                let (file, dir) = if path.is_dir() {
                    (None, Some(path.as_path()))
                } else {
                    size(CA, path)?;
                    (Some(path.as_path()), None)
                };
                let wrong = content(CA, "holds no certificates in PEM");
                context.load_verify_locations(file, dir).map_err(wrong)?;
            }
            Authorities::Pem(pem) => {
                let wrong = "holds no certificates in PEM";
                for certificate in certificates(CA_PEM, pem.0.as_bytes())? {
                    let store = context.cert_store_mut();
                    store
                        .add_cert(certificate)
                        .map_err(content(CA_PEM, wrong))?;
                }
            }
        }
        if let Some(path) = &self.crl {
            size(CRL, path)?;
            let store = context.cert_store_mut();
            let wrong = || content(CRL, "holds no revocations in PEM");
            store
                .add_lookup(X509Lookup::file())
                .and_then(|lookup| lookup.load_crl_file(path, openssl::ssl::SslFiletype::PEM))
                .map_err(wrong())?;
            store
                .set_flags(X509VerifyFlags::CRL_CHECK)
                .map_err(wrong())?;
        }
        Ok(())
    }

    /// Who we are, where the broker asks for a certificate.
    fn identify(&self, context: &mut SslContextBuilder) -> Result<(), Unfit> {
        if let Some(source) = &self.certificate {
            let name = source.name();
            let mut chain = certificates(name, &source.read()?)?.into_iter();
            let wrong = || content(name, "holds no certificate that can be used");
            if let Some(own) = chain.next() {
                context.set_certificate(&own).map_err(wrong())?;
            }
            for above in chain {
                context.add_extra_chain_cert(above).map_err(wrong())?;
            }
        }
        if let Some(source) = &self.key {
            let key = private_key(source, self.key_password.as_ref())?;
            let wrong = content(source.name(), "does not fit the certificate");
            context.set_private_key(&key).map_err(wrong)?;
        }
        if let Some((path, password)) = &self.keystore {
            let wrong = || content(KEYSTORE, "is no PKCS#12 store that can be used");
            let store = Pkcs12::from_der(&read(KEYSTORE, path)?).map_err(wrong())?;
            let store = opened(&store, &password.0)?;
            let certificate = store.cert.ok_or(()).map_err(|()| no_key())?;
            let key = store.pkey.ok_or(()).map_err(|()| no_key())?;
            context.set_certificate(&certificate).map_err(wrong())?;
            context.set_private_key(&key).map_err(wrong())?;
            for above in store.ca.into_iter().flatten() {
                context.add_extra_chain_cert(above).map_err(wrong())?;
            }
        }
        Ok(())
    }
}

/// A store by its password, which is told apart from a store that is broken.
fn opened(store: &Pkcs12, password: &str) -> Result<ParsedPkcs12_2, Unfit> {
    const PASSWORD: &str = "ssl.keystore.password";
    let reason = "does not open ssl.keystore.location";
    // The crate makes a C string of it and would panic.
    if password.contains('\0') {
        let name = PASSWORD;
        return Err(Unfit::Content { name, reason });
    }
    store.parse2(password).map_err(|errors| {
        let mut reasons = errors.errors().iter().filter_map(|error| error.reason());
        let is_password =
            reasons.any(|text| text.contains("mac verify") || text.contains("bad decrypt"));
        match is_password {
            true => Unfit::Content {
                name: PASSWORD,
                reason,
            },
            false => Unfit::Content {
                name: KEYSTORE,
                reason: "is a PKCS#12 store that cannot be read: broken, or with a cipher of old",
            },
        }
    })
}

fn no_key() -> Unfit {
    let reason = "holds no key with its certificate";
    Unfit::Content {
        name: KEYSTORE,
        reason,
    }
}

/// The first bundle there is; the OpenSSL that is built in knows no place of the system.
fn usual_authorities(context: &mut SslContextBuilder) -> Result<(), Unfit> {
    let is_dir = |path: &&&str| Path::new(path).is_dir();
    let loaded = if let Some(file) = BUNDLES.iter().find(|path| Path::new(path).is_file()) {
        context.load_verify_locations(Some(Path::new(file)), None)
    } else if let Some(dir) = BUNDLE_DIRS.iter().find(is_dir) {
        context.load_verify_locations(None, Some(Path::new(dir)))
    } else {
        // What SSL_CERT_FILE and SSL_CERT_DIR name.
        context.set_default_verify_paths()
    };
    loaded.map_err(content(CA, "the system's certificates cannot be used"))
}

fn certificates(name: &'static str, pem: &[u8]) -> Result<Vec<X509>, Unfit> {
    let reason = "holds no certificates in PEM";
    let certificates = X509::stack_from_pem(pem).map_err(content(name, reason))?;
    if certificates.is_empty() {
        return Err(Unfit::Content { name, reason });
    }
    Ok(certificates)
}

fn private_key(source: &Source, password: Option<&Hidden>) -> Result<PKey<Private>, Unfit> {
    let pem = source.read()?;
    // With a callback OpenSSL never asks at the terminal.
    PKey::private_key_from_pem_callback(&pem, |buffer| {
        let password = password.map_or(&[][..], |password| password.0.as_bytes());
        match buffer.get_mut(..password.len()) {
            Some(place) => {
                place.copy_from_slice(password);
                Ok(password.len())
            }
            None => Ok(0),
        }
    })
    .map_err(content(
        source.name(),
        "holds no private key in PEM, or not with this password",
    ))
}

fn read(name: &'static str, path: &Path) -> Result<Vec<u8>, Unfit> {
    let content = |reason| Unfit::Content { name, reason };
    file::bytes(path, FILE_BYTES_MAX).map_err(|unread| match unread {
        Unread::Io(error) => unread_by(name)(error),
        Unread::Folder | Unread::NotRegular => content("is no regular file"),
        Unread::TooLarge(_) => content("file is too large"),
    })
}

/// How much a file holds. A pipe or a device may have no end, or never begin.
fn size(name: &'static str, path: &Path) -> Result<u64, Unfit> {
    let about = fs::metadata(path).map_err(unread_by(name))?;
    if !about.is_file() {
        let reason = "is no regular file";
        return Err(Unfit::Content { name, reason });
    }
    Ok(about.len())
}

fn unread_by(name: &'static str) -> impl FnOnce(io::Error) -> Unfit {
    move |error| Unfit::File {
        name,
        kind: error.kind(),
    }
}

/// OpenSSL's own words may hold a path.
fn content(name: &'static str, reason: &'static str) -> impl FnOnce(ErrorStack) -> Unfit {
    move |_| Unfit::Content { name, reason }
}

// === impl Source ===

impl Source {
    fn of(values: Values<'_>, location: &'static str, pem: &'static str) -> Option<Self> {
        match (values.owned(pem), values.text(location)) {
            (Some(text), _) => Some(Self::Pem(pem, Hidden(text))),
            (None, Some(path)) => Some(Self::File(location, path.into())),
            (None, None) => None,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::File(name, _) | Self::Pem(name, _) => name,
        }
    }

    fn read(&self) -> Result<Vec<u8>, Unfit> {
        match self {
            Self::File(name, path) => read(name, path),
            Self::Pem(_, pem) => Ok(pem.0.clone().into_bytes()),
        }
    }
}
