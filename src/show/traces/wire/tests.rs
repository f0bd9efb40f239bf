//! One request, over HTTP and gRPC, with and without TLS.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::ssl::{AlpnError, SslAcceptor, SslMethod, SslVerifyMode, select_next_proto};
use openssl::x509::extension::{BasicConstraints, SubjectAlternativeName};
use openssl::x509::{X509, X509NameBuilder};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use super::receiver::{Answer, Receiver, client, config, sample};
use super::{Client, SendError, Taken};
use crate::config::{Secret, TraceCompression, TraceProtocol, TracesConfig};

const BOTH: [TraceProtocol; 2] = [TraceProtocol::Http, TraceProtocol::Grpc];

#[tokio::test]
async fn a_request_arrives_as_it_was_meant() {
    for protocol in BOTH {
        for compression in [TraceCompression::None, TraceCompression::Gzip] {
            let receiver = Receiver::start(Answer::Take).await;
            let mut config = config(receiver.address, protocol);
            config.compression = compression;
            config.headers = [("x-tenant".to_owned(), Secret::new("orders"))].into();
            let client = Client::new(config).unwrap();
            let taken = client.send(&[sample(7, 3)]).await.unwrap();
            assert_eq!(taken, Taken::default());
            let [asked] = receiver.all().try_into().unwrap();
            assert_eq!(asked.headers.get("x-tenant").unwrap(), "orders");
            let agent = asked.headers.get("user-agent").unwrap().to_str().unwrap();
            assert!(agent.starts_with("evenkeel/"), "{agent}");
            match protocol {
                TraceProtocol::Http => {
                    assert_eq!(asked.path, "/v1/traces");
                    let kind = asked.headers.get("content-type").unwrap();
                    assert_eq!(kind, "application/x-protobuf");
                }
                TraceProtocol::Grpc => assert!(asked.path.ends_with(".TraceService/Export")),
            }
            let [resource] = asked.message.resource_spans.try_into().unwrap();
            let named = &resource.resource.unwrap().attributes[0];
            assert_eq!(named.key, "service.name");
            let spans = &resource.scope_spans[0].spans;
            assert_eq!(spans.len(), 3);
            assert_eq!(spans[0].trace_id, [7; 16]);
            assert_eq!(spans[0].start_time_unix_nano, 1_700_000_000_000_000_000);
            assert_eq!(spans[1].parent_span_id, spans[0].span_id);
            assert!(spans[0].parent_span_id.is_empty());
        }
    }
}

#[tokio::test]
async fn a_part_that_is_not_taken_is_told_with_its_reason() {
    for protocol in BOTH {
        let receiver = Receiver::start(Answer::Reject(2)).await;
        let taken = client(&receiver, protocol).send(&[sample(1, 3)]).await;
        let expected = Taken {
            rejected: 2,
            why: "too much".to_owned(),
        };
        assert_eq!(taken, Ok(expected));
    }
}

#[tokio::test]
async fn states_of_grpc_are_told_apart() {
    for (status, later) in [
        (14, true),
        (8, false),
        (4, true),
        (3, false),
        (7, false),
        (16, false),
    ] {
        let receiver = Receiver::start(Answer::Status(status)).await;
        let client = client(&receiver, TraceProtocol::Grpc);
        let error = client.send(&[sample(1, 1)]).await.unwrap_err();
        assert_eq!(error.retry_after().is_some(), later, "{error}");
        assert!(error.to_string().contains("as you asked"), "{error}");
    }
}

#[tokio::test]
async fn how_long_a_receiver_asks_to_wait_is_read() {
    let second = Some(Duration::from_secs(1));
    // Of gRPC a quarter more.
    let more = Some(Duration::from_millis(1_250));
    for (protocol, status, expected) in [
        (TraceProtocol::Http, 429, second),
        (TraceProtocol::Http, 503, second),
        (TraceProtocol::Http, 400, None),
        (TraceProtocol::Grpc, 14, more),
        // Exhausted for now, as it says when to come again.
        (TraceProtocol::Grpc, 8, more),
        (TraceProtocol::Grpc, 3, None),
    ] {
        let receiver = Receiver::start(Answer::Busy(status, 1)).await;
        let error = client(&receiver, protocol).send(&[sample(1, 1)]).await;
        let error = error.unwrap_err();
        assert_eq!(error.retry_after(), expected, "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    // Patience has its bounds.
    let receiver = Receiver::start(Answer::Busy(14, 100)).await;
    let error = client(&receiver, TraceProtocol::Grpc)
        .send(&[sample(1, 1)])
        .await;
    let wait = error.unwrap_err().retry_after();
    assert_eq!(wait, Some(Duration::from_secs(60)));
}

#[tokio::test]
async fn who_does_not_answer_is_given_up_in_time() {
    for protocol in BOTH {
        let receiver = Receiver::start(Answer::Silence).await;
        let mut config = config(receiver.address, protocol);
        config.timeout_ms = 200;
        let begun = Instant::now();
        let error = Client::new(config).unwrap().send(&[sample(1, 1)]).await;
        let error = error.unwrap_err();
        assert!(
            error.to_string().contains("did not answer within 200 ms"),
            "{error}"
        );
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn nobody_there_is_an_error_that_names_the_address() {
    for protocol in BOTH {
        let mut receiver = Receiver::start(Answer::Take).await;
        receiver.die();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let error = client(&receiver, protocol).send(&[sample(1, 1)]).await;
        let error = error.unwrap_err();
        assert!(
            error.to_string().contains(&receiver.address.to_string()),
            "{error}"
        );
        assert!(error.retry_after().is_some());
    }
}

#[test]
fn what_a_header_holds_is_not_printed() {
    let mut config = config(([127, 0, 0, 1], 4318).into(), TraceProtocol::Http);
    config.headers = [("authorization".to_owned(), Secret::new("Bearer hush"))].into();
    let client = Client::new(config).unwrap();
    assert!(!format!("{client} {client:?}").contains("hush"));
}

/// Somebody with a certificate.
struct Party {
    certificate: X509,
    key: PKey<Private>,
}

impl Party {
    /// Signed by `by`, or by itself.
    fn new(name: &str, by: Option<&Party>) -> Self {
        let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
        let mut subject = X509NameBuilder::new().unwrap();
        subject.append_entry_by_nid(Nid::COMMONNAME, name).unwrap();
        let subject = subject.build();
        let mut builder = X509::builder().unwrap();
        builder.set_version(2).unwrap();
        let serial = BigNum::from_u32(u32::from(name.as_bytes()[0])).unwrap();
        builder
            .set_serial_number(&serial.to_asn1_integer().unwrap())
            .unwrap();
        builder.set_subject_name(&subject).unwrap();
        builder.set_pubkey(&key).unwrap();
        builder
            .set_not_before(&Asn1Time::days_from_now(0).unwrap())
            .unwrap();
        builder
            .set_not_after(&Asn1Time::days_from_now(2).unwrap())
            .unwrap();
        match by {
            None => {
                builder.set_issuer_name(&subject).unwrap();
                let authority = BasicConstraints::new().critical().ca().build().unwrap();
                builder.append_extension(authority).unwrap();
                builder.sign(&key, MessageDigest::sha256()).unwrap();
            }
            Some(by) => {
                builder
                    .set_issuer_name(by.certificate.subject_name())
                    .unwrap();
                let context = builder.x509v3_context(Some(&by.certificate), None);
                let names = SubjectAlternativeName::new()
                    .dns(name)
                    .build(&context)
                    .unwrap();
                builder.append_extension(names).unwrap();
                builder.sign(&by.key, MessageDigest::sha256()).unwrap();
            }
        }
        Self {
            certificate: builder.build(),
            key,
        }
    }

    fn written(&self, folder: &Path, name: &str) -> (PathBuf, PathBuf) {
        let paths = (
            folder.join(format!("{name}.crt")),
            folder.join(format!("{name}.key")),
        );
        std::fs::write(&paths.0, self.certificate.to_pem().unwrap()).unwrap();
        std::fs::write(&paths.1, self.key.private_key_to_pem_pkcs8().unwrap()).unwrap();
        paths
    }
}

/// TLS before a receiver: on a port of its own, for clients of `authority` alone where one is
/// given.
async fn tls(receiver: &Receiver, server: &Party, authority: Option<&Party>) -> u16 {
    let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
    acceptor.set_certificate(&server.certificate).unwrap();
    acceptor.set_private_key(&server.key).unwrap();
    acceptor.set_alpn_select_callback(|_, offered| {
        select_next_proto(b"\x02h2", offered).ok_or(AlpnError::NOACK)
    });
    if let Some(authority) = authority {
        let certificate = authority.certificate.clone();
        acceptor.cert_store_mut().add_cert(certificate).unwrap();
        acceptor.set_verify(SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT);
    }
    let acceptor = acceptor.build();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let to = receiver.address;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let ssl = openssl::ssl::Ssl::new(acceptor.context()).unwrap();
            let mut stream = tokio_openssl::SslStream::new(ssl, stream).unwrap();
            if std::pin::Pin::new(&mut stream).accept().await.is_err() {
                continue;
            }
            let mut plain = TcpStream::connect(to).await.unwrap();
            drop(copy_bidirectional(&mut stream, &mut plain).await);
        }
    });
    port
}

fn over_tls(port: u16, protocol: TraceProtocol, ca: &Path) -> TracesConfig {
    let mut config = config(([127, 0, 0, 1], port).into(), protocol);
    config.endpoint.tls = true;
    config.endpoint.host = "localhost".to_owned();
    config.ca_file = Some(ca.to_owned());
    config
}

#[tokio::test]
async fn tls_trusts_whom_it_is_told_to_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let (authority, stranger) = (Party::new("authority", None), Party::new("stranger", None));
    let (ca, _) = authority.written(folder.path(), "ca");
    let (other, _) = stranger.written(folder.path(), "other");
    let server = Party::new("localhost", Some(&authority));
    for protocol in BOTH {
        let receiver = Receiver::start(Answer::Take).await;
        let port = tls(&receiver, &server, None).await;
        let well = Client::new(over_tls(port, protocol, &ca)).unwrap();
        assert_eq!(well.send(&[sample(1, 2)]).await, Ok(Taken::default()));
        assert_eq!(receiver.spans(), 2);
        let wrong = Client::new(over_tls(port, protocol, &other)).unwrap();
        let error = wrong.send(&[sample(1, 2)]).await.unwrap_err();
        assert!(error.to_string().contains("not trusted"), "{error}");
        let mut elsewhere = over_tls(port, protocol, &ca);
        elsewhere.endpoint.host = "127.0.0.1".to_owned();
        let error = Client::new(elsewhere).unwrap().send(&[sample(1, 2)]).await;
        let error = error.unwrap_err();
        assert!(error.to_string().contains("IP address mismatch"), "{error}");
        assert_eq!(receiver.spans(), 2);
    }
}

#[tokio::test]
async fn a_receiver_that_asks_who_is_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Party::new("authority", None);
    let (ca, _) = authority.written(folder.path(), "ca");
    let server = Party::new("localhost", Some(&authority));
    let own = Party::new("agent", Some(&authority));
    let (certificate, key) = own.written(folder.path(), "own");
    for protocol in BOTH {
        let receiver = Receiver::start(Answer::Take).await;
        let port = tls(&receiver, &server, Some(&authority)).await;
        let mut config = over_tls(port, protocol, &ca);
        let nobody = Client::new(config.clone()).unwrap();
        assert!(matches!(
            nobody.send(&[sample(1, 2)]).await,
            Err(SendError::Later(_))
        ));
        config.certificate_file = Some(certificate.clone());
        config.key_file = Some(key.clone());
        let known = Client::new(config).unwrap();
        assert_eq!(known.send(&[sample(1, 2)]).await, Ok(Taken::default()));
        assert_eq!(receiver.spans(), 2);
    }
}

#[test]
fn files_that_will_not_do_are_told_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (Party::new("own", None), Party::new("other", None));
    let (certificate, _) = own.written(folder.path(), "own");
    let (_, key) = other.written(folder.path(), "other");
    let mut config = over_tls(1, TraceProtocol::Http, &folder.path().join("none.pem"));
    let unfit = Client::new(config.clone()).unwrap_err();
    assert_eq!(unfit.key, "ca_file");
    config.ca_file = Some(key.clone());
    assert!(
        Client::new(config.clone())
            .unwrap_err()
            .reason
            .contains("no certificates")
    );
    config.ca_file = Some(certificate.clone());
    config.certificate_file = Some(certificate);
    config.key_file = Some(key);
    let unfit = Client::new(config).unwrap_err();
    assert!(unfit.reason.contains("is not the key of"), "{unfit}");
}
