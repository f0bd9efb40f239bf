//! Certificates that are over: told with the date, since whoever is shown one hangs up.

use evenkeel_core::facts::time::ArrivalTime;

use crate::show::http::moment;
use crate::show::view::CertificateUse;

/// What is to be said of a certificate that is good until then, in seconds since the epoch;
/// nothing where that is to come.
#[must_use]
pub fn told(
    usage: CertificateUse,
    expires_seconds: Option<i64>,
    now: ArrivalTime,
) -> Option<String> {
    let at = expires_seconds.filter(|at| at.saturating_mul(1_000) <= now.0)?;
    let (whose, who) = match usage {
        CertificateUse::Server => ("the agent's own port", "clients"),
        CertificateUse::Client => ("the connection to Kafka", "brokers"),
    };
    Some(format!(
        "the certificate of {whose}, or one in its chain, expired at {}: {who} refuse it",
        moment(at)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_over_is_told_with_its_date() {
        let now = ArrivalTime(1_000_000_000_000);
        let told = |at| told(CertificateUse::Server, at, now);
        assert_eq!(told(None), None);
        assert_eq!(told(Some(1_000_000_001)), None);
        let said = told(Some(946_684_799)).unwrap();
        assert!(
            said.contains("expired at Dec 31 23:59:59 1999 GMT"),
            "{said}"
        );
    }
}
