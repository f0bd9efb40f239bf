//! Whom the broker sees behind a connection, as Kafka names a principal, without its
//! `User:`: for messages about missing rights. The broker decides, not the agent.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use openssl::asn1::Asn1Time;
use openssl::x509::X509;

use super::properties_file::{self, FILE_BYTES_MAX};
use super::stores::{self, STORE_BYTES_MAX};
use super::subject;
use crate::config::secret::Secret;

/// The principal, where the connection says so.
pub(in crate::config) fn of(
    properties: &BTreeMap<String, Secret>,
    token_file: Option<&Path>,
) -> Option<String> {
    let get = |name: &str| properties.get(name).map(Secret::expose);
    let protocol = get("security.protocol").unwrap_or_default().to_lowercase();
    if protocol.starts_with("sasl_") {
        if let Some(file) = token_file {
            let token = properties_file::bytes(file, FILE_BYTES_MAX).ok()?;
            return of_token(&token);
        }
        let of_config = || {
            let config = get("sasl.oauthbearer.config")?;
            let mut pairs = config.split_whitespace();
            pairs.find_map(|pair| pair.strip_prefix("principal="))
        };
        return get("sasl.username").or_else(of_config).map(str::to_owned);
    }
    if protocol != "ssl" {
        return None;
    }
    subject::rfc2253(certificates(properties)?.first()?)
}

/// When the first certificate of the connection's client chain expires, in seconds since
/// the epoch; `None` without one.
pub(in crate::config) fn expires_seconds(properties: &BTreeMap<String, Secret>) -> Option<i64> {
    let protocol = properties.get("security.protocol")?.expose();
    if !protocol.to_lowercase().ends_with("ssl") {
        return None;
    }
    let epoch = Asn1Time::from_unix(0).ok()?;
    let chain = certificates(properties)?;
    let ends = chain.iter().filter_map(|certificate| {
        let since = epoch.diff(certificate.not_after()).ok()?;
        Some(i64::from(since.days) * 86_400 + i64::from(since.secs))
    });
    ends.min()
}

/// The client's certificate and those that come with it.
fn certificates(properties: &BTreeMap<String, Secret>) -> Option<Vec<X509>> {
    let get = |name: &str| properties.get(name).map(Secret::expose);
    let certificates = if let Some(pem) = get("ssl.certificate.pem") {
        stores::certificates(pem).ok()?
    } else if let Some(file) = get("ssl.certificate.location") {
        let bytes = properties_file::bytes(Path::new(file), STORE_BYTES_MAX).ok()?;
        stores::certificates(&String::from_utf8_lossy(&bytes)).ok()?
    } else {
        let file = Path::new(get("ssl.keystore.location")?);
        let password = get("ssl.keystore.password").unwrap_or_default();
        let bytes = properties_file::bytes(file, STORE_BYTES_MAX).ok()?;
        stores::identity(&bytes, password, None).ok()?.certificates
    };
    Some(certificates)
}

/// Whom a token names: the claim `sub` of its middle part.
fn of_token(token: &[u8]) -> Option<String> {
    let token = std::str::from_utf8(token).ok()?.trim();
    let payload = token.split('.').nth(1)?.trim_end_matches('=');
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    let claims: serde_json::Value = serde_json::from_slice(&payload).ok()?;
    claims.get("sub")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
