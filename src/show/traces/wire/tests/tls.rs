//! Over TLS: who is trusted, who the agent is, and what comes of files that will not do.

use std::path::{Path, PathBuf};

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

use super::BOTH;
use crate::config::{TraceFile, TraceProtocol, TracesConfig};
use crate::show::traces::wire::receiver::{Answer, Receiver, config, sample};
use crate::show::traces::wire::{Client, SendError, Taken};

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

fn named(path: &Path) -> TraceFile {
    TraceFile {
        path: path.to_owned(),
        variable: None,
    }
}

fn over_tls(port: u16, protocol: TraceProtocol, ca: &Path) -> TracesConfig {
    let mut config = config(([127, 0, 0, 1], port).into(), protocol);
    config.endpoint.tls = true;
    config.endpoint.host = "localhost".to_owned();
    config.ca_file = Some(named(ca));
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
        let well = Client::new(over_tls(port, protocol, &ca));
        assert_eq!(well.send(&[sample(1, 2)]).await, Ok(Taken::default()));
        assert_eq!(receiver.spans(), 2);
        let wrong = Client::new(over_tls(port, protocol, &other));
        let error = wrong.send(&[sample(1, 2)]).await.unwrap_err();
        assert!(error.to_string().contains("not trusted"), "{error}");
        let mut elsewhere = over_tls(port, protocol, &ca);
        elsewhere.endpoint.host = "127.0.0.1".to_owned();
        let error = Client::new(elsewhere).send(&[sample(1, 2)]).await;
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
        let nobody = Client::new(config.clone());
        assert!(matches!(
            nobody.send(&[sample(1, 2)]).await,
            Err(SendError::Later(_))
        ));
        config.certificate_file = Some(named(&certificate));
        config.key_file = Some(named(&key));
        let known = Client::new(config);
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
    let missing = folder.path().join("none.pem");
    let mut config = over_tls(1, TraceProtocol::Http, &missing);
    let told = |config: &TracesConfig| -> Vec<String> {
        let unfits = Client::new(config.clone()).unfits().into_iter();
        unfits
            .map(|unfit| format!("{} {}", unfit.key, unfit.reason))
            .collect()
    };
    assert_eq!(
        told(&config),
        ["ca_file No such file or directory (os error 2)"]
    );
    config.ca_file = Some(named(&key));
    config.certificate_file = Some(named(&missing));
    config.key_file = Some(named(&certificate));
    assert_eq!(
        told(&config),
        [
            "ca_file holds no certificates in PEM",
            "certificate_file No such file or directory (os error 2)",
            "key_file holds no key in PEM that opens without a password",
        ]
    );
    config.ca_file = Some(named(&certificate));
    config.certificate_file = Some(named(&certificate));
    config.key_file = Some(named(&key));
    let expected = format!("key_file is not the key of {}", certificate.display());
    assert_eq!(told(&config), [expected]);
    // Nothing of it matters to who speaks no TLS.
    config.endpoint.tls = false;
    assert!(told(&config).is_empty());
}

#[tokio::test]
async fn without_its_files_nothing_is_sent_and_with_them_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Party::new("authority", None);
    let server = Party::new("localhost", Some(&authority));
    for protocol in BOTH {
        let receiver = Receiver::start(Answer::Take).await;
        let port = tls(&receiver, &server, None).await;
        let late = folder.path().join("late.crt");
        let client = Client::new(over_tls(port, protocol, &late));
        let error = client.send(&[sample(1, 2)]).await.unwrap_err();
        assert!(error.to_string().contains("late.crt"), "{error}");
        assert!(error.retry_after().is_some(), "{error}");
        assert_eq!(receiver.requests(), 0);
        authority.written(folder.path(), "late");
        assert_eq!(client.send(&[sample(1, 2)]).await, Ok(Taken::default()));
        std::fs::remove_file(&late).unwrap();
    }
}
