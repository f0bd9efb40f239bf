//! The words of a web configuration: Go's names, and what they mean to OpenSSL.

/// `client_auth_type`: Go's `tls.ClientAuthType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuth {
    /// Nobody is asked.
    No,
    /// Asked, and not looked at.
    Request,
    /// Some certificate there must be.
    RequireAny,
    /// One that is shown must be known.
    VerifyIfGiven,
    /// A known one there must be.
    RequireAndVerify,
}

/// A version of TLS that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// 1.2.
    Tls12,
    /// 1.3.
    Tls13,
}

/// A cipher suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suite {
    /// Of TLS 1.2, by OpenSSL's name.
    Tls12(&'static str),
    /// Of TLS 1.3.
    Tls13,
}

pub(super) const CLIENT_AUTH: [(&str, ClientAuth); 6] = [
    ("NoClientCert", ClientAuth::No),
    ("RequestClientCert", ClientAuth::Request),
    ("RequireAnyClientCert", ClientAuth::RequireAny),
    ("VerifyClientCertIfGiven", ClientAuth::VerifyIfGiven),
    ("RequireAndVerifyClientCert", ClientAuth::RequireAndVerify),
    // What the toolkit called RequireAnyClientCert at first, and still takes.
    ("RequireClientCert", ClientAuth::RequireAny),
];

/// Known versions; those that are not offered have none.
pub(super) const VERSIONS: [(&str, Option<TlsVersion>); 4] = [
    ("TLS12", Some(TlsVersion::Tls12)),
    ("TLS13", Some(TlsVersion::Tls13)),
    ("TLS10", None),
    ("TLS11", None),
];

/// The suites that Go offers as safe (`tls.CipherSuites`).
pub(super) const CIPHER_SUITES: [(&str, Suite); 13] = [
    ("TLS_AES_128_GCM_SHA256", Suite::Tls13),
    ("TLS_AES_256_GCM_SHA384", Suite::Tls13),
    ("TLS_CHACHA20_POLY1305_SHA256", Suite::Tls13),
    (
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
        Suite::Tls12("ECDHE-ECDSA-AES128-SHA"),
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
        Suite::Tls12("ECDHE-ECDSA-AES256-SHA"),
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
        Suite::Tls12("ECDHE-RSA-AES128-SHA"),
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
        Suite::Tls12("ECDHE-RSA-AES256-SHA"),
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        Suite::Tls12("ECDHE-ECDSA-AES128-GCM-SHA256"),
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        Suite::Tls12("ECDHE-ECDSA-AES256-GCM-SHA384"),
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        Suite::Tls12("ECDHE-RSA-AES128-GCM-SHA256"),
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        Suite::Tls12("ECDHE-RSA-AES256-GCM-SHA384"),
    ),
    (
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        Suite::Tls12("ECDHE-RSA-CHACHA20-POLY1305"),
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        Suite::Tls12("ECDHE-ECDSA-CHACHA20-POLY1305"),
    ),
];

pub(super) const CURVES: [(&str, &str); 4] = [
    ("CurveP256", "P-256"),
    ("CurveP384", "P-384"),
    ("CurveP521", "P-521"),
    ("X25519", "X25519"),
];

// === impl ClientAuth ===

impl ClientAuth {
    /// Whether a certificate is held against a CA.
    #[must_use]
    pub fn verifies(self) -> bool {
        matches!(self, Self::VerifyIfGiven | Self::RequireAndVerify)
    }

    /// Whether there is no connection without a certificate.
    #[must_use]
    pub fn requires(self) -> bool {
        matches!(self, Self::RequireAny | Self::RequireAndVerify)
    }

    /// As it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        let word = CLIENT_AUTH.iter().find(|(_, known)| *known == self);
        word.map_or("", |(word, _)| word)
    }
}
