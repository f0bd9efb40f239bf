//! Certificates and keys as a Java worker keeps them, as PEM: recognised by their bytes,
//! since `ssl.truststore.type` may be wrong and works all the same (a JDK from 9 on writes
//! PKCS12 into files named `.jks`).

use std::sync::Once;

use openssl::error::ErrorStack;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private};
use openssl::x509::{X509, X509Ref};

/// A store holds certificates, not data.
pub(super) const STORE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Why a store gives nothing. Holds nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum StoreError {
    #[error("a JKS store")]
    Jks,
    #[error("a JCEKS store")]
    Jceks,
    #[error("neither PEM nor a PKCS12 store")]
    Unknown,
    #[error("a store that its password does not open")]
    Password,
    #[error("a store with a cipher that OpenSSL no longer has, as a JDK before 16 writes it")]
    OldCipher,
    #[error("a broken PKCS12 store")]
    Broken,
    #[error("no certificate")]
    NoCertificate,
    #[error("a certificate that cannot be read")]
    Certificate,
    #[error("no private key")]
    NoKey,
    #[error("a private key that its password does not open")]
    KeyPassword,
    #[error("a private key of another certificate")]
    Strangers,
}

/// What a store is, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Pem,
    Pkcs12,
}

/// A client's certificate, the chain that proves it, and its key.
pub(super) struct Identity {
    /// Leaf first.
    pub(super) certificates: Vec<X509>,
    pub(super) key: PKey<Private>,
}

/// Tells the kinds apart, or which it is that cannot be read.
pub(super) fn kind(bytes: &[u8]) -> Result<Kind, StoreError> {
    match bytes {
        [0xfe, 0xed, 0xfe, 0xed, ..] => Err(StoreError::Jks),
        [0xce, 0xce, 0xce, 0xce, ..] => Err(StoreError::Jceks),
        // A DER sequence with a long length: a store has more than 127 bytes.
        [0x30, length, ..] if *length > 0x7f => Ok(Kind::Pkcs12),
        _ if text(bytes).contains("-----BEGIN ") => Ok(Kind::Pem),
        _ => Err(StoreError::Unknown),
    }
}

/// All certificates of a trust store.
pub(super) fn trusted(bytes: &[u8], password: &str) -> Result<Vec<X509>, StoreError> {
    match kind(bytes)? {
        Kind::Pem => certificates(&text(bytes)),
        Kind::Pkcs12 => {
            let parsed = opened(bytes, password)?;
            let others = parsed.ca.into_iter().flatten();
            let all: Vec<X509> = parsed.cert.into_iter().chain(others).collect();
            some(all)
        }
    }
}

/// The key of a key store, with its certificates.
pub(super) fn identity(
    bytes: &[u8],
    password: &str,
    key_password: Option<&str>,
) -> Result<Identity, StoreError> {
    match kind(bytes)? {
        Kind::Pem => identity_of(&text(bytes), &text(bytes), key_password),
        Kind::Pkcs12 => {
            let parsed = opened(bytes, password)?;
            let key = parsed.pkey.ok_or(StoreError::NoKey)?;
            let leaf = parsed.cert.ok_or(StoreError::NoCertificate)?;
            let others: Vec<X509> = parsed.ca.into_iter().flatten().collect();
            Ok(Identity {
                certificates: chain(leaf, &others),
                key,
            })
        }
    }
}

/// A key and its certificates from texts.
pub(super) fn identity_of(
    chain: &str,
    key: &str,
    key_password: Option<&str>,
) -> Result<Identity, StoreError> {
    let certificates = certificates(chain)?;
    let key = private_key(key, key_password)?;
    let leaf = certificates.first().ok_or(StoreError::NoCertificate)?;
    let is_own = leaf.public_key().is_ok_and(|own| own.public_eq(&key));
    if !is_own {
        return Err(StoreError::Strangers);
    }
    Ok(Identity { certificates, key })
}

/// All certificates of a text.
pub(super) fn certificates(text: &str) -> Result<Vec<X509>, StoreError> {
    let read = |block: String| X509::from_pem(block.as_bytes());
    let blocks = blocks(text, |label| label == "CERTIFICATE");
    let all: Result<Vec<_>, _> = blocks.into_iter().map(read).collect();
    some(all.map_err(|_| StoreError::Certificate)?)
}

/// Certificates as one text.
pub(super) fn to_pem(certificates: &[X509]) -> Result<String, StoreError> {
    let mut out = String::new();
    for certificate in certificates {
        let pem = certificate.to_pem().map_err(|_| StoreError::Certificate)?;
        out.push_str(&text(&pem));
    }
    Ok(out)
}

/// A key as text, open: it stays in memory.
pub(super) fn key_to_pem(key: &PKey<Private>) -> Result<String, StoreError> {
    let pem = key.private_key_to_pem_pkcs8();
    pem.map(|pem| text(&pem)).map_err(|_| StoreError::NoKey)
}

fn private_key(text: &str, password: Option<&str>) -> Result<PKey<Private>, StoreError> {
    let blocks = blocks(text, |label| label.ends_with("PRIVATE KEY"));
    let block = blocks.into_iter().next().ok_or(StoreError::NoKey)?;
    // Without a callback OpenSSL would ask on the terminal.
    let key = PKey::private_key_from_pem_callback(block.as_bytes(), |buffer| {
        let password = password.unwrap_or_default().as_bytes();
        match buffer.get_mut(..password.len()) {
            Some(room) => room.copy_from_slice(password),
            None => return Err(ErrorStack::get()),
        }
        Ok(password.len())
    });
    key.map_err(|_| StoreError::KeyPassword)
}

/// The PEM blocks with a label that is wanted, written as OpenSSL wants them: Java takes
/// them in one line, too, with blanks for line ends.
fn blocks(text: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("-----BEGIN ") {
        let Some((label, after)) = after.split_once("-----") else {
            break;
        };
        let Some((body, after)) = after.split_once(&format!("-----END {label}-----")) else {
            rest = after;
            continue;
        };
        rest = after;
        if !is_wanted(label) {
            continue;
        }
        // Lines with a colon tell how an old kind of key is encrypted, and stay lines.
        let mut block = format!("-----BEGIN {label}-----\n");
        let headers = body.lines().filter(|line| line.contains(':'));
        let headers: Vec<_> = headers.map(str::trim).collect();
        if !headers.is_empty() {
            block.push_str(&headers.join("\n"));
            block.push_str("\n\n");
        }
        let data = body.lines().filter(|line| !line.contains(':'));
        let data: String = data.flat_map(str::split_whitespace).collect();
        let mut column = 0;
        for letter in data.chars() {
            block.push(letter);
            column += 1;
            if column == 64 {
                block.push('\n');
                column = 0;
            }
        }
        if column > 0 {
            block.push('\n');
        }
        block.push_str(&format!("-----END {label}-----\n"));
        blocks.push(block);
    }
    blocks
}

fn opened(bytes: &[u8], password: &str) -> Result<openssl::pkcs12::ParsedPkcs12_2, StoreError> {
    static INIT: Once = Once::new();
    INIT.call_once(openssl::init);
    let store = Pkcs12::from_der(bytes).map_err(|_| StoreError::Broken)?;
    // The crate makes a C string of it and would panic.
    if password.contains('\0') {
        return Err(StoreError::Password);
    }
    store.parse2(password).map_err(|errors| {
        let has = |reason: &str| {
            let mut reasons = errors.errors().iter().filter_map(|error| error.reason());
            reasons.any(|found| found.contains(reason))
        };
        if has("unsupported") || has("unknown pbe") || has("unknown cipher") {
            StoreError::OldCipher
        } else if has("mac verify failure") || has("bad decrypt") {
            StoreError::Password
        } else {
            StoreError::Broken
        }
    })
}

/// The leaf and, one by one, who signed the one before; the others of a store are no part
/// of what is shown to a broker.
fn chain(leaf: X509, others: &[X509]) -> Vec<X509> {
    let mut chain = vec![leaf];
    while let Some(last) = chain.last() {
        let is_next = |other: &&X509| {
            let is_issuer = same_name(last.issuer_name().to_der(), other.subject_name().to_der());
            is_issuer && !chain.iter().any(|known| is_same(known, other))
        };
        match others.iter().find(is_next) {
            Some(next) => chain.push(next.clone()),
            None => break,
        }
    }
    chain
}

fn same_name(one: Result<Vec<u8>, ErrorStack>, other: Result<Vec<u8>, ErrorStack>) -> bool {
    matches!((one, other), (Ok(one), Ok(other)) if one == other)
}

fn is_same(one: &X509Ref, other: &X509Ref) -> bool {
    same_name(one.to_der(), other.to_der())
}

fn some(certificates: Vec<X509>) -> Result<Vec<X509>, StoreError> {
    if certificates.is_empty() {
        Err(StoreError::NoCertificate)
    } else {
        Ok(certificates)
    }
}

/// PEM is ASCII; what is not cannot be a part of it.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
