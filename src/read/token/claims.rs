//! The unsecured token of `enable.sasl.oauthbearer.unsecure.jwt`, from the settings in
//! `sasl.oauthbearer.config`. Shape: RFC 7515, appendix A.5, and KIP-255.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use crate::read::wall::WallTime;

/// librdkafka's default, in seconds.
const LIFE_S: i64 = 3_600;

/// What the token says.
#[derive(Clone, PartialEq, Eq)]
pub struct Claims {
    principal_claim: String,
    principal: String,
    scope_claim: String,
    scope: Option<String>,
    life_s: i64,
    /// Names and values that go beside the token.
    pub(super) extensions: Vec<(String, String)>,
}

// === impl Claims ===

impl Claims {
    /// `principal=admin scope=a,b lifeSeconds=60 extension_x=y`, split at spaces.
    #[must_use]
    pub fn parse(config: &str) -> Option<Self> {
        let mut claims = Self {
            principal_claim: "sub".to_owned(),
            principal: String::new(),
            scope_claim: "scope".to_owned(),
            scope: None,
            life_s: LIFE_S,
            extensions: Vec::new(),
        };
        for pair in config.split_ascii_whitespace() {
            let (name, value) = pair.split_once('=')?;
            if value.is_empty() {
                return None;
            }
            let text = value.to_owned();
            match name {
                "principalClaimName" => claims.principal_claim = text,
                "principal" => claims.principal = text,
                "scopeClaimName" => claims.scope_claim = text,
                "scope" => claims.scope = Some(text),
                "lifeSeconds" => claims.life_s = value.parse().ok().filter(|life| *life > 0)?,
                _ => {
                    let name = name.strip_prefix("extension_")?;
                    // KIP-342: letters only; `auth` is the token itself.
                    let is_name = !name.is_empty()
                        && name != "auth"
                        && name.bytes().all(|byte| byte.is_ascii_alphabetic());
                    if !is_name || !value.bytes().all(|byte| byte.is_ascii_graphic()) {
                        return None;
                    }
                    claims.extensions.push((name.to_owned(), text));
                }
            }
        }
        (!claims.principal.is_empty()).then_some(claims)
    }

    /// A token that is good from `now` on.
    #[must_use]
    pub fn token(&self, now: WallTime) -> String {
        // Whole seconds, rounded down, so that no broker sees a token of the future.
        let issued_s = now.0.div_euclid(1_000);
        let mut claims = Map::new();
        claims.insert(self.principal_claim.clone(), json!(self.principal));
        claims.insert("iat".to_owned(), json!(issued_s));
        let expires_s = issued_s.saturating_add(self.life_s);
        claims.insert("exp".to_owned(), json!(expires_s));
        if let Some(scope) = &self.scope {
            let scopes: Vec<&str> = scope.split(',').filter(|scope| !scope.is_empty()).collect();
            claims.insert(self.scope_claim.clone(), json!(scopes));
        }
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#);
        let claims = URL_SAFE_NO_PAD.encode(Value::Object(claims).to_string());
        format!("{header}.{claims}.")
    }
}

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
