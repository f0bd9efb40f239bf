//! Why a question was not answered. No text repeats a property's value or a broker's words.

use std::io;

use evenkeel_core::facts::input::Trouble;
use kafka_protocol::ResponseError;
use thiserror::Error;

use super::security::Unfit;
use crate::read::hitch::Hitch;

/// Why a question was not answered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum AskError {
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error("{doing}: no answer in time")]
    Timeout { doing: &'static str },
    #[error("host name not resolved: {0}")]
    Resolve(io::ErrorKind),
    #[error("connection failed: {0}")]
    Io(io::ErrorKind),
    #[error("connection closed by the broker")]
    Closed,
    /// In OpenSSL's words; and what it means, unless that we are refused.
    #[error("tls: {reason}")]
    Tls {
        reason: String,
        hitch: Option<Hitch>,
    },
    #[error("{}", Hitch::SpeaksTls.text())]
    SpeaksTls,
    #[error("broker refuses the sasl mechanism")]
    Mechanism,
    #[error("broker refuses the credentials")]
    Credentials,
    #[error("sasl exchange failed: {0}")]
    Sasl(&'static str),
    #[error("broker answered {api} with {}", told(*code))]
    Code { api: &'static str, code: i16 },
    #[error("broker does not serve {api} in a version that is known")]
    Unsupported { api: &'static str },
    /// Of an API whose answers may be large.
    #[error("answer to {api} larger than {max} bytes")]
    TooLarge { api: &'static str, max: usize },
    #[error("answer not understood: {0}")]
    Nonsense(&'static str),
    #[error("request not encoded")]
    Unencodable,
}

/// Error codes of Kafka (`org.apache.kafka.common.protocol.Errors`).
pub(super) mod code {
    pub(in super::super) const NONE: i16 = 0;
    pub(in super::super) const UNKNOWN_TOPIC_OR_PARTITION: i16 = 3;
    pub(in super::super) const LEADER_NOT_AVAILABLE: i16 = 5;
    pub(in super::super) const COORDINATOR_LOAD_IN_PROGRESS: i16 = 14;
    pub(in super::super) const COORDINATOR_NOT_AVAILABLE: i16 = 15;
    pub(in super::super) const NOT_COORDINATOR: i16 = 16;
    pub(in super::super) const TOPIC_AUTHORIZATION_FAILED: i16 = 29;
    pub(in super::super) const GROUP_AUTHORIZATION_FAILED: i16 = 30;
    pub(in super::super) const CLUSTER_AUTHORIZATION_FAILED: i16 = 31;
    pub(in super::super) const UNSUPPORTED_SASL_MECHANISM: i16 = 33;
    pub(in super::super) const UNSUPPORTED_VERSION: i16 = 35;
    pub(in super::super) const SASL_AUTHENTICATION_FAILED: i16 = 58;
    /// KIP-1043: no such group, since `DescribeGroups` version 6.
    pub(in super::super) const GROUP_ID_NOT_FOUND: i16 = 69;
}

/// An error of a broker by the name it has in Kafka, and the right where one is missing.
fn told(code: i16) -> String {
    let error = match ResponseError::try_from_code(code) {
        Some(ResponseError::Unknown(_)) | None => return format!("error {code}"),
        Some(error) => error,
    };
    let mut name = String::new();
    for letter in format!("{error:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    if code == code::GROUP_AUTHORIZATION_FAILED {
        name.push_str(": the agent needs DESCRIBE on the group");
    }
    name
}

// === impl AskError ===

impl AskError {
    /// A failure of TLS in OpenSSL's words.
    pub(super) fn tls(reason: String) -> Self {
        // Without a reason nothing is known, as where a broker hangs up behind its alert.
        let is_told = reason != super::reach::NO_REASON;
        let hitch = Hitch::of_tls(&reason).filter(|_| is_told);
        Self::Tls { reason, hitch }
    }

    /// What it means to whoever wants the group's state.
    pub(super) fn trouble(&self) -> Trouble {
        match self {
            Self::Timeout { .. } | Self::Resolve(_) | Self::Io(_) | Self::Closed => {
                Trouble::Unreachable
            }
            Self::Tls { .. } | Self::Mechanism | Self::Credentials | Self::Sasl(_) => {
                Trouble::Unauthenticated
            }
            Self::Code { code, .. } => match *code {
                code::GROUP_AUTHORIZATION_FAILED | code::CLUSTER_AUTHORIZATION_FAILED => {
                    Trouble::Denied
                }
                // Nobody is the coordinator just now.
                code::COORDINATOR_LOAD_IN_PROGRESS
                | code::COORDINATOR_NOT_AVAILABLE
                | code::NOT_COORDINATOR => Trouble::Unreachable,
                _ => Trouble::Other,
            },
            Self::Unfit(_)
            | Self::SpeaksTls
            | Self::Unsupported { .. }
            | Self::TooLarge { .. }
            | Self::Nonsense(_)
            | Self::Unencodable => Trouble::Other,
        }
    }

    /// What stands in the way, where the kind of trouble does not say it.
    pub(super) fn hitch(&self) -> Option<Hitch> {
        match self {
            Self::Tls { hitch, .. } => *hitch,
            Self::SpeaksTls => Some(Hitch::SpeaksTls),
            _ => None,
        }
    }

    /// Whether only other settings can help.
    pub(super) fn is_lasting(&self) -> bool {
        matches!(self, Self::Unfit(unfit) if unfit.is_lasting())
    }

    /// Whether a connection that rested may simply have been closed meanwhile
    /// (`connections.max.idle.ms`, a restart): worth one more try at once.
    pub(super) fn is_stale_connection(&self) -> bool {
        matches!(self, Self::Io(_) | Self::Closed)
    }

    /// Whether every other broker would say the same, since they share users and rights.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Unfit(_) | Self::Mechanism | Self::Credentials)
            || self.trouble() == Trouble::Denied
    }

    /// Which of several brokers' failures is told: the one that explains most.
    pub(super) fn rank(&self) -> u8 {
        match self.trouble() {
            Trouble::Unreachable => 0,
            Trouble::Missing | Trouble::Other => 1,
            Trouble::Denied => 2,
            Trouble::Unauthenticated => 3,
        }
    }
}

impl From<io::Error> for AskError {
    fn from(error: io::Error) -> Self {
        // Under TLS 1.3 a client certificate is refused when the first answer is read.
        let tls = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<openssl::ssl::Error>());
        if let Some(reason) = tls.and_then(super::reach::tls_reason) {
            return Self::tls(reason);
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Closed,
            kind => Self::Io(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_brokers_have_their_names_and_a_missing_right_its_own() {
        let told = |code| {
            AskError::Code {
                api: "FindCoordinator",
                code,
            }
            .to_string()
        };
        let denied = told(code::GROUP_AUTHORIZATION_FAILED);
        assert_eq!(
            denied,
            "broker answered FindCoordinator with GROUP_AUTHORIZATION_FAILED: the agent needs \
             DESCRIBE on the group"
        );
        assert!(told(code::NOT_COORDINATOR).ends_with("with NOT_COORDINATOR"));
        assert!(told(-1).ends_with("with UNKNOWN_SERVER_ERROR"));
        assert!(told(9_999).ends_with("with error 9999"));
    }
}
