//! TLS on a real listener: who is let in, with what, and who holds up nobody.

use openssl::ssl::SslVersion;

use super::*;
use crate::config::web::{ClientAuth, Pem, TlsVersion, WebTls};
use crate::config::{Probes, Secret};
use crate::show::http::certs::{Client, Identity, Lifetime, ask};

/// A CA and a server of it.
pub(super) struct World {
    pub(super) ca: Identity,
    pub(super) server: Identity,
}

impl World {
    pub(super) fn new() -> Self {
        let ca = Identity::ca("ca");
        let server = ca.issue("server", &["localhost"], Lifetime::Month);
        Self { ca, server }
    }

    fn guard(&self, change: impl FnOnce(&mut WebTls)) -> Arc<Guard> {
        let tls = tls(&self.server, &self.ca, change).unwrap();
        let users = std::collections::BTreeMap::new();
        let checks = Arc::default();
        Arc::new(Guard::new(Some(tls), users, checks, Probes::Open, &[]))
    }

    async fn serve(&self, change: impl FnOnce(&mut WebTls)) -> Server {
        let (_, guards) = watch::channel(self.guard(change));
        Server::guarded(vec![sample::incident()], HttpLimits::default(), guards).await
    }

    pub(super) fn client(&self) -> Client {
        Client {
            ca: Some(self.ca.cert.clone()),
            ..Client::default()
        }
    }
}

fn settings() -> WebTls {
    WebTls {
        cert: Pem::Text(Secret::new("")),
        key: Pem::Text(Secret::new("")),
        client_ca: None,
        client_auth: ClientAuth::No,
        client_allowed_sans: Vec::new(),
        min_version: TlsVersion::Tls12,
        max_version: TlsVersion::Tls13,
        cipher_suites: Vec::new(),
        prefer_server_cipher_suites: true,
        curves: Vec::new(),
    }
}

pub(super) fn tls(
    server: &Identity,
    ca: &Identity,
    change: impl FnOnce(&mut WebTls),
) -> Result<Tls, Vec<TlsError>> {
    let mut config = settings();
    change(&mut config);
    let ca = ca.cert_pem();
    let material = Material {
        cert: &server.cert_pem(),
        key: &server.key_pem(),
        client_ca: config.client_auth.verifies().then_some(&ca[..]),
    };
    Tls::new(&config, material)
}

#[tokio::test]
async fn a_client_that_trusts_the_ca_is_answered() {
    let world = World::new();
    let server = world.serve(|_| ()).await;
    let answer = world.client().get(server.address, "/metrics", "").await;
    let answer = answer.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\nevenkeel_generation{"));
    // Another CA, and another name than the certificate's.
    let stranger = Client {
        ca: Some(Identity::ca("other").cert),
        ..Client::default()
    };
    let refused = stranger.get(server.address, "/metrics", "").await;
    assert!(refused.unwrap_err().contains("certificate verify failed"));
}

#[tokio::test]
async fn who_shows_which_certificate_is_let_in() {
    use ClientAuth::{No, Request, RequireAndVerify, RequireAny, VerifyIfGiven};
    let world = World::new();
    let identities = [
        None,
        Some(world.ca.issue("known", &[], Lifetime::Month)),
        Some(Identity::ca("other").issue("unknown", &[], Lifetime::Month)),
        Some(world.ca.issue("expired", &[], Lifetime::Over)),
    ];
    // None, known, of another CA, expired.
    for (client_auth, let_in) in [
        (No, [true, true, true, true]),
        (Request, [true, true, true, true]),
        (RequireAny, [false, true, true, true]),
        (VerifyIfGiven, [true, true, false, false]),
        (RequireAndVerify, [false, true, false, false]),
    ] {
        let server = world.serve(|tls| tls.client_auth = client_auth).await;
        for version_max in [SslVersion::TLS1_2, SslVersion::TLS1_3] {
            for (identity, expected) in identities.iter().zip(let_in) {
                let client = Client {
                    identity: identity.clone(),
                    version_max: Some(version_max),
                    ..world.client()
                };
                let answer = client.get(server.address, "/livez", "").await;
                let is_in = answer
                    .as_ref()
                    .is_ok_and(|answer| answer.contains(" 200 OK"));
                let name = identity
                    .as_ref()
                    .map(|identity| identity.cert.subject_name());
                assert_eq!(is_in, expected, "{client_auth:?} {name:?}: {answer:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_client_needs_an_allowed_name() {
    let world = World::new();
    let server = world
        .serve(|tls| {
            tls.client_auth = ClientAuth::RequireAndVerify;
            tls.client_allowed_sans = ["prometheus.example", "::1", "a@b", "spiffe://b/prom"]
                .map(str::to_owned)
                .to_vec();
        })
        .await;
    for (sans, is_in) in [
        (&["prometheus.example"][..], true),
        (&["other.example", "0:0:0:0:0:0:0:1"], true),
        (&["a@b"], true),
        (&["spiffe://b/prom"], true),
        (&["other.example", "127.0.0.1", "b@a"], false),
        (&["sub.prometheus.example"], false),
        (&[], false),
    ] {
        let client = Client {
            identity: Some(world.ca.issue("prometheus.example", sans, Lifetime::Month)),
            ..world.client()
        };
        let answer = client.get(server.address, "/livez", "").await;
        let found = answer
            .as_ref()
            .is_ok_and(|answer| answer.contains(" 200 OK"));
        assert_eq!(found, is_in, "{sans:?}: {answer:?}");
    }
}

#[tokio::test]
async fn versions_suites_and_curves_are_as_set() {
    let world = World::new();
    let client = |version| Client {
        version_max: Some(version),
        ..world.client()
    };
    let old = client(SslVersion::TLS1_2);
    let new = client(SslVersion::TLS1_3);
    let server = world.serve(|tls| tls.min_version = TlsVersion::Tls13).await;
    assert!(old.connect(server.address).await.is_err());
    let stream = new.connect(server.address).await.unwrap();
    assert_eq!(stream.ssl().version_str(), "TLSv1.3");

    let suite = "ECDHE-ECDSA-AES256-GCM-SHA384";
    let server = world
        .serve(|tls| {
            tls.max_version = TlsVersion::Tls12;
            tls.cipher_suites = vec![suite];
            tls.curves = vec!["P-384"];
        })
        .await;
    let stream = new.connect(server.address).await.unwrap();
    assert_eq!(stream.ssl().version_str(), "TLSv1.2");
    let used = stream.ssl().current_cipher().map(|cipher| cipher.name());
    assert_eq!(used, Some(suite));
    let curve = stream.ssl().peer_tmp_key().unwrap().bits();
    assert_eq!(curve, 384);

    // HTTP/2 is never agreed on, and no reason to end.
    let server = world.serve(|_| ()).await;
    for (offered, agreed) in [
        (&b"\x02h2\x08http/1.1"[..], Some(&b"http/1.1"[..])),
        (b"\x02h2", None),
    ] {
        let client = Client {
            alpn: Some(offered),
            ..world.client()
        };
        let mut stream = client.connect(server.address).await.unwrap();
        assert_eq!(stream.ssl().selected_alpn_protocol(), agreed);
        let answer = ask(&mut stream, "/livez", "connection: close\r\n").await;
        assert!(answer.unwrap().contains(" 200 OK"));
    }
}

#[tokio::test]
async fn plain_http_is_told_to_use_tls() {
    let world = World::new();
    let server = world.serve(|_| ()).await;
    let answer = server.get("/metrics").await;
    assert!(answer.starts_with("HTTP/1.0 400 "), "{answer}");
    assert!(answer.ends_with("ask with https\n"), "{answer}");
    // What is neither ends without a word.
    for nonsense in ["\u{0}\u{1}\u{2}", "ssh-2.0\r\n"] {
        let mut stream = server.connect().await;
        stream.write_all(nonsense.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!(rest(&mut stream).await, "");
    }
    // A handshake that is none.
    assert!(
        !server
            .exchange("\u{16}\u{3}\u{1}\u{0}\u{4}aaaa")
            .await
            .contains("200")
    );
    assert!(
        world
            .client()
            .get(server.address, "/livez", "")
            .await
            .is_ok()
    );
}

/// The beginning of a handshake, and no more.
const BEGUN: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";

#[tokio::test]
async fn handshakes_that_hang_hold_up_nobody() {
    let world = World::new();
    let (_, guards) = watch::channel(world.guard(|_| ()));
    let limits = HttpLimits {
        handshakes_max: 2,
        ..HttpLimits::default()
    };
    let server = Server::guarded(vec![sample::incident()], limits, guards).await;
    let mut hanging = Vec::new();
    for begun in [BEGUN, b"", b"", b"", b""] {
        let mut stream = server.connect().await;
        stream.write_all(begun).await.unwrap();
        hanging.push(stream);
    }
    let client = world.client();
    let answer = tokio::time::timeout(
        limits.handshake_time_max / 2,
        client.get(server.address, "/livez", ""),
    );
    let answer = answer.await.expect("others are answered meanwhile");
    assert!(answer.unwrap().contains(" 200 OK"));
}

#[tokio::test]
async fn handshakes_are_bounded_in_number_and_time() {
    let world = World::new();
    let (_, guards) = watch::channel(world.guard(|_| ()));
    let limits = HttpLimits {
        handshakes_max: 1,
        handshake_time_max: Duration::from_millis(300),
        ..HttpLimits::default()
    };
    let server = Server::guarded(vec![sample::incident()], limits, guards).await;
    let mut hanging = server.connect().await;
    hanging.write_all(BEGUN).await.unwrap();
    let mut silent = server.connect().await;
    // The only place is taken: this one waits, and is cut with its time.
    let started = Instant::now();
    let early = world.client().get(server.address, "/livez", "").await;
    rest(&mut hanging).await;
    rest(&mut silent).await;
    assert!(started.elapsed() < DEADLINE / 2, "{early:?}");
    let answer = world.client().get(server.address, "/livez", "").await;
    assert!(
        answer.unwrap().contains(" 200 OK"),
        "the place is free again"
    );
}

#[tokio::test]
async fn the_end_does_not_wait_for_handshakes() {
    let world = World::new();
    let mut server = world.serve(|_| ()).await;
    let mut hanging = server.connect().await;
    hanging.write_all(BEGUN).await.unwrap();
    world
        .client()
        .get(server.address, "/livez", "")
        .await
        .unwrap();
    server.stop.take().unwrap().send(()).unwrap();
    let limit = HttpLimits::default().drain_time_max / 2;
    tokio::time::timeout(limit, &mut server.task)
        .await
        .expect("ends at once")
        .unwrap();
}

#[tokio::test]
async fn a_new_guard_is_for_new_connections() {
    let world = World::new();
    let (sender, guards) = watch::channel(world.guard(|_| ()));
    let limits = HttpLimits::default();
    let server = Server::guarded(vec![sample::incident()], limits, guards).await;
    let mut old = world.client().connect(server.address).await.unwrap();
    let renewed = World {
        server: world.ca.issue("renewed", &["localhost"], Lifetime::Month),
        ca: world.ca.clone(),
    };
    sender.send_replace(renewed.guard(|_| ()));
    let new = world.client().connect(server.address).await.unwrap();
    let shown = new.ssl().peer_certificate().unwrap();
    assert_eq!(shown.to_pem().unwrap(), renewed.server.cert_pem());
    let answer = ask(&mut old, "/livez", "connection: close\r\n").await;
    assert!(answer.unwrap().contains(" 200 OK"), "the old one goes on");
}

#[test]
fn what_cannot_be_served_is_told() {
    let world = World::new();
    let other = Identity::ca("other");
    let (cert, key) = (world.server.cert_pem(), world.server.key_pem());
    let cipher = openssl::symm::Cipher::aes_256_cbc();
    let encrypted = world
        .server
        .key
        .private_key_to_pem_pkcs8_passphrase(cipher, b"topsecret");
    let of = |cert: &[u8], key: &[u8], client_ca: Option<&[u8]>| {
        let material = Material {
            cert,
            key,
            client_ca,
        };
        Tls::new(&settings(), material).map(|_| ()).unwrap_err()
    };
    assert_eq!(
        of(b"nonsense", b"-----BEGIN", Some(b"")),
        [TlsError::Cert, TlsError::Key, TlsError::ClientCa]
    );
    assert_eq!(
        of(&cert, &encrypted.unwrap(), None),
        [TlsError::KeyEncrypted]
    );
    assert_eq!(of(&cert, &other.key_pem(), None), [TlsError::KeyOther]);
    assert_eq!(of(&key, &cert, None), [TlsError::Cert, TlsError::Key]);
}

#[test]
fn the_first_certificate_to_expire_counts() {
    let world = World::new();
    let over = world.ca.issue("over", &[], Lifetime::Over);
    let expiry = |chain: &[&Identity]| {
        let server = chain[0];
        let cert: Vec<u8> = chain.iter().flat_map(|each| each.cert_pem()).collect();
        let material = Material {
            cert: &cert,
            key: &server.key_pem(),
            client_ca: None,
        };
        Tls::new(&settings(), material).unwrap().expires_seconds()
    };
    assert_eq!(expiry(&[&over]), 1_000_000_000);
    assert_eq!(expiry(&[&world.server, &over]), 1_000_000_000);
    assert!(expiry(&[&world.server, &world.ca]) > 1_700_000_000);
    let mut ended = Identity::ca("ended");
    ended = ended.issue("ended", &[], Lifetime::Over);
    assert!(expiry(&[&world.server, &ended]) > 1_700_000_000, "a root");
}

#[tokio::test]
async fn a_handshake_that_hangs_leaves_for_the_next() {
    let world = World::new();
    let (_, guards) = watch::channel(world.guard(|_| ()));
    let limits = HttpLimits {
        connections_max: 1,
        ..HttpLimits::default()
    };
    let server = Server::guarded(vec![sample::incident()], limits, guards).await;
    for begun in [BEGUN, b""] {
        let mut hanging = server.connect().await;
        hanging.write_all(begun).await.unwrap();
        let client = world.client();
        let answer = client.get(server.address, "/livez", "");
        let answer = tokio::time::timeout(limits.handshake_time_max / 2, answer).await;
        assert!(answer.expect("in time").unwrap().contains(" 200 OK"));
    }
}
