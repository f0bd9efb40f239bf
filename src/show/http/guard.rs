//! What stands before the endpoints, as one value that a reload replaces: TLS, the users,
//! what probes may know, and headers.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyper::header::{HeaderName, HeaderValue};

use crate::config::{Probes, Secret};
use crate::show::http::gate::{Checks, Gate, Verdict};
use crate::show::http::tls::Tls;

/// What stands before the endpoints.
#[derive(Debug)]
pub struct Guard {
    /// TLS; without it the port speaks plain HTTP.
    pub(super) tls: Option<Tls>,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    gate: Gate,
    probes: Probes,
}

/// What a request may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// Everything.
    All,
    /// The status of a probe.
    Brief,
    /// Nothing before it is known who asks.
    Refused,
    /// Nothing now.
    Busy,
}

// === impl Guard ===

impl Default for Guard {
    /// Nothing stands before the endpoints.
    fn default() -> Self {
        let users = BTreeMap::new();
        Self::new(None, users, Arc::default(), Probes::Open, &[])
    }
}

impl Guard {
    /// `headers` are known names with printable values; others are left out.
    #[must_use]
    pub fn new(
        tls: Option<Tls>,
        users: BTreeMap<String, Secret>,
        checks: Arc<Checks>,
        probes: Probes,
        headers: &[(String, String)],
    ) -> Self {
        let headers = headers.iter().filter_map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        });
        Self {
            tls,
            headers: headers.collect(),
            gate: Gate::new(users, checks),
            probes,
        }
    }

    /// When the first of the served certificates expires, in seconds since the epoch.
    #[must_use]
    pub fn expires_seconds(&self) -> Option<i64> {
        self.tls.as_ref().map(Tls::expires_seconds)
    }

    /// Whether there is TLS.
    #[must_use]
    pub fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether users are asked who they are.
    #[must_use]
    pub fn has_users(&self) -> bool {
        !self.gate.is_open()
    }

    /// What a request for `path` with these `Authorization` headers may have.
    pub(super) async fn judge(&self, path: &str, authorization: &[&[u8]]) -> Pass {
        if self.gate.is_open() {
            return Pass::All;
        }
        let is_probe = matches!(path, "/livez" | "/readyz") && self.probes == Probes::Open;
        // A probe has no time to wait for a check, and liveness nothing to hide.
        if is_probe && (path == "/livez" || authorization.is_empty()) {
            return Pass::Brief;
        }
        match self.gate.judge(authorization).await {
            Verdict::Known => Pass::All,
            Verdict::Unknown | Verdict::Busy if is_probe => Pass::Brief,
            Verdict::Unknown => Pass::Refused,
            Verdict::Busy => Pass::Busy,
        }
    }
}
