//! What stands between the agent and a broker's port, where that is known. A kind of trouble
//! does not say it: those are a closed set that captures and labels hold.

/// Why no connection comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hitch {
    /// The agent does not believe the broker's certificate.
    Untrusted,
    /// The broker's certificate is for another host.
    OtherHost,
    /// The broker's certificate is not good at this time.
    OutOfDate,
    /// The port speaks TLS, which it was not asked for.
    SpeaksTls,
    /// The port speaks no TLS, which it was asked for.
    SpeaksNoTls,
    /// The two do not agree on how to speak TLS.
    Handshake,
}

/// What OpenSSL says of bytes that are no TLS.
const NO_TLS: [&str; 5] = [
    "wrong version number",
    "packet length too long",
    "http request",
    "record layer failure",
    // librdkafka's guess where the broker hangs up.
    "connecting to a PLAINTEXT broker listener",
];

/// Alerts (RFC 8446, 6.2) with which a broker refuses the certificate it is shown, or that
/// it is shown none: then the trouble itself says enough.
const OF_OUR_CERTIFICATE: [&str; 4] = ["certificate", "unknown ca", "access denied", "decrypt"];

// === impl Hitch ===

impl Hitch {
    /// In a sentence, with the setting to look at.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Untrusted => {
                "the agent does not trust the broker's certificate: ssl.ca.location \
                 (ssl.truststore.location in a worker's file) must hold the CA that signed it, and \
                 it must be in date and for the host that is connected to"
            }
            Self::OtherHost => {
                "the broker's certificate is for another host: connect by a name that it has, or \
                 set ssl.endpoint.identification.algorithm"
            }
            Self::OutOfDate => {
                "the agent does not trust the broker's certificate: it or one it depends on has \
                 expired or is not good yet"
            }
            Self::SpeaksTls => "the port speaks TLS: security.protocol is one without it",
            Self::SpeaksNoTls => {
                "the port does not answer in TLS: security.protocol is one with it"
            }
            Self::Handshake => {
                "no TLS handshake comes about: the broker may want a client certificate, or another \
                 version or cipher suite; the agent's log names the error"
            }
        }
    }

    /// What OpenSSL found of the broker's certificate, in its words.
    pub(super) fn of_verdict(text: &str) -> Self {
        if text.contains("mismatch") {
            Self::OtherHost
        } else if text.contains("expired") || text.contains("not yet valid") {
            Self::OutOfDate
        } else {
            Self::Untrusted
        }
    }

    /// What a failure of TLS means, in the words of OpenSSL or of librdkafka around them.
    /// `None` where the broker refuses who the agent is.
    pub(super) fn of_tls(reason: &str) -> Option<Self> {
        let has = |words: &[&str]| words.iter().any(|word| reason.contains(word));
        let alert = reason.find("alert").and_then(|at| reason.get(at..));
        let is_ours = |alert: &str| OF_OUR_CERTIFICATE.iter().any(|word| alert.contains(word));
        if has(&["certificate verify failed"]) {
            Some(Self::Untrusted)
        } else if has(&NO_TLS) {
            Some(Self::SpeaksNoTls)
        } else if alert.is_some_and(is_ours) {
            None
        } else {
            Some(Self::Handshake)
        }
    }

    /// Whether these bytes begin a record of TLS, an alert or a handshake (RFC 8446, 5.1),
    /// where a message of Kafka would have its length.
    pub(super) fn is_tls(bytes: [u8; 4]) -> bool {
        matches!(bytes, [0x15 | 0x16, 0x03, 0..=4, _])
    }
}

#[cfg(test)]
mod tests;
