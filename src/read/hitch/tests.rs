//! Words of OpenSSL and of librdkafka, as they came.

use super::*;

#[test]
fn each_failure_of_tls_is_told_from_the_others() {
    let told = [
        (
            "ssl://b:9093/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate \
             verify failed: broker certificate could not be verified, verify that ssl.ca.location \
             is correctly configured or root CA certificates are installed",
            Some(Hitch::Untrusted),
        ),
        ("certificate verify failed", Some(Hitch::Untrusted)),
        ("wrong version number", Some(Hitch::SpeaksNoTls)),
        (
            "SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?",
            Some(Hitch::SpeaksNoTls),
        ),
        ("tlsv13 alert certificate required", None),
        ("ssl/tls alert bad certificate: SSL alert number 42", None),
        ("tlsv1 alert unknown ca", None),
        (
            "ssl/tls alert handshake failure: SSL alert number 40",
            Some(Hitch::Handshake),
        ),
        ("tlsv1 alert protocol version", Some(Hitch::Handshake)),
        ("unsupported protocol", Some(Hitch::Handshake)),
    ];
    for (reason, hitch) in told {
        assert_eq!(Hitch::of_tls(reason), hitch, "{reason}");
    }
}

#[test]
fn records_of_tls_are_no_lengths() {
    assert!(Hitch::is_tls([0x15, 0x03, 0x03, 0x00]));
    assert!(Hitch::is_tls([0x16, 0x03, 0x01, 0x02]));
    for other in [[0, 0, 3, 0], [0x17, 3, 3, 0], [0x15, 3, 9, 0], *b"HTTP"] {
        assert!(!Hitch::is_tls(other));
    }
}
