//! TLS and SASL against a fake that speaks both, with certificates made here.

use std::path::{Path, PathBuf};

use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{Ssl, SslContext, SslMethod, SslVerifyMode};
use openssl::symm::Cipher;
use openssl::x509::extension::{BasicConstraints, SubjectAlternativeName};
use openssl::x509::{X509, X509NameBuilder};
use tokio::net::TcpListener;

use super::fake::{Exchange, Fake, Sasl};
use super::*;
use crate::read::hitch::Hitch;

type Pair = (X509, PKey<Private>);

/// A certificate for `name`, signed by `issuer` or by itself.
fn certificate(name: &str, issuer: Option<&Pair>) -> Pair {
    let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let key = PKey::from_ec_key(EcKey::generate(&curve).unwrap()).unwrap();
    let mut subject = X509NameBuilder::new().unwrap();
    subject.append_entry_by_nid(Nid::COMMONNAME, name).unwrap();
    let subject = subject.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    let mut serial = BigNum::new().unwrap();
    serial
        .rand(64, openssl::bn::MsbOption::MAYBE_ZERO, false)
        .unwrap();
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
    if let Some((authority, authority_key)) = issuer {
        builder.set_issuer_name(authority.subject_name()).unwrap();
        let mut names = SubjectAlternativeName::new();
        if name.parse::<std::net::IpAddr>().is_ok() {
            names.ip(name);
        } else {
            names.dns(name);
        }
        let names = names
            .build(&builder.x509v3_context(Some(authority), None))
            .unwrap();
        builder.append_extension(names).unwrap();
        builder
            .sign(authority_key, MessageDigest::sha256())
            .unwrap();
    } else {
        builder.set_issuer_name(&subject).unwrap();
        let ca = BasicConstraints::new().critical().ca().build().unwrap();
        builder.append_extension(ca).unwrap();
        builder.sign(&key, MessageDigest::sha256()).unwrap();
    }
    (builder.build(), key)
}

/// An authority, a broker's certificate for `host`, a client's, and files of all.
pub(super) struct Files {
    folder: tempfile::TempDir,
    server: SslContext,
}

impl Files {
    pub(super) fn new(host: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = certificate("authority", None);
        let client = certificate("client", Some(&authority));
        let (broker, key) = certificate(host, Some(&authority));
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        };
        write("ca.pem", &authority.0.to_pem().unwrap());
        write("other.pem", &certificate("other", None).0.to_pem().unwrap());
        write("client.pem", &client.0.to_pem().unwrap());
        let cipher = Cipher::aes_256_cbc();
        let sealed = client
            .1
            .private_key_to_pem_pkcs8_passphrase(cipher, b"pass");
        write("client.key", &sealed.unwrap());
        // The directory form: a file named by the hash of its subject.
        let hash = format!("{:08x}.0", authority.0.subject_name_hash());
        std::fs::create_dir(folder.path().join("hashed")).unwrap();
        write(&format!("hashed/{hash}"), &authority.0.to_pem().unwrap());
        let mut server = SslContext::builder(SslMethod::tls_server()).unwrap();
        server.set_certificate(&broker).unwrap();
        server.set_private_key(&key).unwrap();
        server.set_ca_file(folder.path().join("ca.pem")).unwrap();
        Files {
            folder,
            server: server.build(),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// A fake behind TLS; whether it wants a certificate.
    pub(super) async fn serve(&self, fake: &Fake, wants_client: bool) -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        fake.set(|says| says.coordinator = Some(address));
        let (fake, context) = (fake.clone(), self.server.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut session = Ssl::new(&context).unwrap();
                if wants_client {
                    let wants = SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT;
                    session.set_verify(wants);
                }
                let fake = fake.clone();
                tokio::spawn(async move {
                    let mut stream = tokio_openssl::SslStream::new(session, stream).unwrap();
                    if std::pin::Pin::new(&mut stream).accept().await.is_ok() {
                        fake.serve(stream).await;
                    }
                });
            }
        });
        address
    }
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_believes_whom_it_is_told_to_believe_and_no_other() {
    let files = Files::new("127.0.0.1");
    let fake = Fake::new();
    let address = files.serve(&fake, false).await;
    let ssl = ("security.protocol", "ssl");
    let ca = shown(&files.path("ca.pem"));
    let inline = files.text("ca.pem");
    let hashed = shown(&files.path("hashed"));
    let other = shown(&files.path("other.pem"));
    let well: [&[(&str, &str)]; 4] = [
        &[ssl, ("ssl.ca.location", &ca)],
        &[ssl, ("ssl.ca.pem", &inline)],
        &[ssl, ("ssl.ca.location", &hashed)],
        &[ssl, ("enable.ssl.certificate.verification", "false")],
    ];
    for properties in well {
        let mut polls = poll(connection(address, properties));
        polls.until_described(PolledState::Stable).await;
    }
    // The system's authorities, and another one.
    let ill: [&[(&str, &str)]; 2] = [&[ssl], &[ssl, ("ssl.ca.location", &other)]];
    for properties in ill {
        let mut polls = poll(connection(address, properties));
        let refused = PollAnswer::Failed(Trouble::Unauthenticated);
        assert_eq!(polls.next().await, refused);
        // It is the agent that refuses.
        assert_eq!(polls.handle.counters().hitch(), Some(Hitch::Untrusted));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_certificate_must_name_the_host_unless_told_otherwise() {
    let files = Files::new("broker.example");
    let fake = Fake::new();
    let address = files.serve(&fake, false).await;
    let ca = shown(&files.path("ca.pem"));
    let known = [
        ("security.protocol", "ssl"),
        ("ssl.ca.location", ca.as_str()),
    ];
    let mut polls = poll(connection(address, &known));
    assert_eq!(
        polls.next().await,
        PollAnswer::Failed(Trouble::Unauthenticated)
    );
    assert_eq!(polls.handle.counters().hitch(), Some(Hitch::OtherHost));
    let [one, two] = known;
    let any = [one, two, ("ssl.endpoint.identification.algorithm", "none")];
    let mut polls = poll(connection(address, &any));
    polls.until_described(PolledState::Stable).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_of_our_own_is_shown_where_it_is_wanted_and_read_anew() {
    let files = Files::new("127.0.0.1");
    let fake = Fake::new();
    let address = files.serve(&fake, true).await;
    let ca = shown(&files.path("ca.pem"));
    let (own, key) = (
        shown(&files.path("client.pem")),
        shown(&files.path("client.key")),
    );
    let ssl = ("security.protocol", "ssl");
    let ca = ("ssl.ca.location", ca.as_str());
    let pass = ("ssl.key.password", "pass");
    let mut polls = poll(connection(address, &[ssl, ca]));
    polls.until_failed(Trouble::Unauthenticated).await;
    // Here it is the broker.
    assert_eq!(polls.handle.counters().hitch(), None);
    let (own_text, key_text) = (files.text("client.pem"), files.text("client.key"));
    for [certificate, key] in [
        [
            ("ssl.certificate.location", &own),
            ("ssl.key.location", &key),
        ],
        [
            ("ssl.certificate.pem", &own_text),
            ("ssl.key.pem", &key_text),
        ],
    ] {
        let all = [
            ssl,
            ca,
            pass,
            (certificate.0, certificate.1.as_str()),
            (key.0, key.1.as_str()),
        ];
        let mut polls = poll(connection(address, &all));
        polls.until_described(PolledState::Stable).await;
    }
    // A file that is not there yet is waited for.
    std::fs::rename(files.path("client.key"), files.path("later.key")).unwrap();
    let all = [
        ssl,
        ca,
        pass,
        ("ssl.certificate.location", own.as_str()),
        ("ssl.key.location", key.as_str()),
    ];
    let mut polls = poll(connection(address, &all));
    assert_eq!(polls.next().await, PollAnswer::Failed(Trouble::Other));
    std::fs::rename(files.path("later.key"), files.path("client.key")).unwrap();
    polls.until_described(PolledState::Stable).await;
}

/// A fake that wants this login.
fn with_sasl(
    mechanism: &'static str,
    lifetime_ms: i64,
    make: impl Fn() -> Exchange + Send + 'static,
) -> Fake {
    let fake = Fake::new();
    fake.set(|says| {
        says.sasl = Some(Sasl {
            mechanism,
            lifetime_ms,
            make: Box::new(make),
        });
    });
    fake
}

/// Takes one message and no other.
fn wants(message: &'static [u8]) -> Exchange {
    Box::new(move |seen| {
        if seen == message {
            Ok(Vec::new())
        } else {
            Err(58)
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_sends_name_and_password() {
    let fake = with_sasl("PLAIN", 0, || wants(b"\0ada\0b=c d"));
    let address = fake.listen().await;
    let login = |password| {
        [
            ("security.protocol", "sasl_plaintext"),
            ("sasl.mechanisms", "plain"),
            ("sasl.username", "ada"),
            ("sasl.password", password),
        ]
    };
    let mut polls = poll(connection(address, &login("b=c d")));
    polls.until_described(PolledState::Stable).await;
    let mut polls = poll(connection(address, &login("wrong")));
    polls.until_failed(Trouble::Unauthenticated).await;
    let mut properties = login("b=c d");
    properties[1].1 = "SCRAM-SHA-256";
    let mut polls = poll(connection(address, &properties));
    polls.until_failed(Trouble::Unauthenticated).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_read_anew_for_each_login_and_a_refusal_is_understood() {
    let fake = with_sasl("OAUTHBEARER", 2_000, || {
        Box::new(|seen: &[u8]| match seen {
            b"n,,\x01auth=Bearer first\x01\x01" | b"n,,\x01auth=Bearer second\x01\x01" => {
                Ok(Vec::new())
            }
            // As Kafka does: a reason first, an error after one more message.
            _ => Ok(br#"{"status":"invalid_token"}"#.to_vec()),
        })
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "first\n").unwrap();
    let sasl = [
        ("security.protocol", "sasl_plaintext"),
        ("sasl.mechanism", "OAUTHBEARER"),
    ];
    let mut connection = connection(fake.listen().await, &sasl);
    connection.token_file = Some(file.path().to_owned());
    let mut polls = poll(connection);
    polls.until_described(PolledState::Stable).await;
    // The session lasts two seconds: another connection is there before it ends.
    std::fs::write(file.path(), "second").unwrap();
    let counters = std::sync::Arc::clone(polls.handle.counters());
    while fake.set(|says| says.connections) < 3 {
        polls.next().await;
    }
    assert_eq!(counters.failures.get(), 0);
    std::fs::write(file.path(), "forged").unwrap();
    polls.until_failed(Trouble::Unauthenticated).await;
    std::fs::write(file.path(), "").unwrap();
    polls.until_failed(Trouble::Other).await;
    std::fs::write(file.path(), "first").unwrap();
    polls.until_described(PolledState::Stable).await;
}
