//! Whom the broker sees behind a connection, as Kafka names a principal, without its
//! `User:`: for messages about missing rights. The broker decides, not the agent.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

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
    subject::rfc2253(certificates.first()?)
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
