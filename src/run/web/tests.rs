//! Files that change below a running agent.

use std::fs;
use std::net::SocketAddr;

use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::*;
use crate::config::Readiness;
use crate::run::shutdown::Shutdown;
use crate::show::http::certs::{Client, Identity, Lifetime};
use crate::show::http::{self, HttpLimits};
use crate::show::routes::{Now, Site};
use crate::show::sample;
use crate::show::view::{Published, Pulse, ReloadStats, SeriesLimits};

const CONFIG: &str = "tls_server_config: {cert_file: tls.crt, key_file: tls.key}\n";

/// A folder with a web configuration, and the CA of its certificates.
struct World {
    folder: TempDir,
    ca: Identity,
}

impl World {
    fn new() -> Self {
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
            ca: Identity::ca("ca"),
        };
        world.put("web.yml", CONFIG);
        world.renew();
        world
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// A new certificate, and its key.
    fn renew(&self) -> Identity {
        let identity = self.ca.issue("server", &["localhost"], Lifetime::Month);
        self.put("tls.crt", identity.cert_pem());
        self.put("tls.key", identity.key_pem());
        identity
    }

    fn load(&self) -> Result<Web, Mistakes> {
        Web::load(&self.folder.path().join("web.yml"), Probes::Open)
    }

    /// The mistakes, with the folder's name taken out.
    #[track_caller]
    fn told(&self, mistakes: &Mistakes) -> String {
        let text = mistakes.to_string();
        assert!(
            !text.contains("topsecret") && !text.contains("$2y$"),
            "{text}"
        );
        let folder = format!("{}/", self.folder.path().display());
        let (_, rest) = text.split_once('\n').unwrap();
        rest.replace(&folder, "")
    }
}

fn hash(password: &str) -> String {
    let hash = bcrypt::hash_with_salt(password, 4, [3; 16]).unwrap();
    hash.format_for_version(bcrypt::Version::TwoY)
}

#[test]
fn what_is_wrong_is_told_all_at_once() {
    let world = World::new();
    assert!(world.load().unwrap().guard().has_tls());
    let more = "client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.crt}\n";
    world.put("web.yml", CONFIG.replace("}\n", &format!(", {more}")));
    world.put("tls.key", "topsecret");
    assert_eq!(
        world.told(&world.load().unwrap_err()),
        "\
tls_server_config.client_ca_file: found ca.crt: No such file or directory (os error 2), expected a PEM file (set by web.yml)
tls_server_config.key_file: found no private key in PEM, expected a private key in PEM, not encrypted (set by web.yml)"
    );
    world.put("web.yml", "basic_auth_users: {alice: topsecret}\nhttp: 1\n");
    let told = world.told(&world.load().unwrap_err());
    assert!(told.contains("basic_auth_users.alice: found") && told.contains("http: found"));
    world.put("web.yml", b"\xff");
    assert_eq!(
        world.told(&world.load().unwrap_err()),
        "found what is no UTF-8, expected a YAML file (set by web.yml)"
    );
    world.put("web.yml", vec![b'#'; 1024 * 1024 + 1]);
    assert!(
        world
            .told(&world.load().unwrap_err())
            .contains("web.yml: more than 1 MiB")
    );
    fs::remove_file(world.folder.path().join("web.yml")).unwrap();
    assert!(
        world
            .told(&world.load().unwrap_err())
            .contains("web.yml: No such file")
    );
}

#[test]
fn secrets_may_stand_in_the_file_itself() {
    let world = World::new();
    let identity = world.renew();
    let indented = |pem: Vec<u8>| String::from_utf8(pem).unwrap().replace('\n', "\n    ");
    let text = format!(
        "tls_server_config:\n  cert: |\n    {}\n  key: |\n    {}\n",
        indented(identity.cert_pem()),
        indented(identity.key_pem()),
    );
    world.put("web.yml", &text);
    assert!(world.load().unwrap().guard().has_tls());
    world.put(
        "web.yml",
        text.replace("cert: |\n    -", "cert: |\n    topsecret-"),
    );
    let told = world.told(&world.load().unwrap_err());
    assert!(
        told.starts_with("tls_server_config.cert: found no certificate"),
        "{told}"
    );
}

#[test]
fn a_change_is_taken_once_if_it_holds() {
    let world = World::new();
    let mut web = world.load().unwrap();
    assert!(web.reload().is_none());
    let before = web.guard();
    world.renew();
    let renewed = web.reload().unwrap().unwrap();
    assert!(!Arc::ptr_eq(&before, &renewed) && Arc::ptr_eq(&renewed, &web.guard()));
    assert!(web.reload().is_none());

    let protects = format!("{CONFIG}basic_auth_users: {{alice: {}}}\n", hash("right"));
    for (what, name, text, told) in [
        (
            "half a certificate",
            "tls.crt",
            "-----BEGIN",
            "cert_file: found no certificate",
        ),
        (
            "gone",
            "web.yml",
            "tls_server_config: {}\nx: 1\n",
            "x: found an unknown key",
        ),
        // No harm is done by a file that is half written.
        (
            "empty",
            "web.yml",
            "",
            "tls_server_config: found nothing, expected it to stay",
        ),
    ] {
        world.put(name, text);
        let mistakes = web.reload().unwrap().unwrap_err();
        assert!(world.told(&mistakes).contains(told), "{what}: {mistakes}");
        assert!(web.reload().is_none(), "{what}: told once");
        assert!(
            Arc::ptr_eq(&renewed, &web.guard()),
            "{what}: the one before stays"
        );
    }
    world.renew();
    world.put("web.yml", &protects);
    assert!(web.reload().unwrap().unwrap().has_users());
    world.put("web.yml", CONFIG);
    let mistakes = web.reload().unwrap().unwrap_err();
    assert!(
        world
            .told(&mistakes)
            .starts_with("basic_auth_users: found nothing")
    );
}

#[test]
fn what_is_wrong_in_the_file_and_in_those_it_names_is_told_together() {
    let world = World::new();
    world.put(
        "web.yml",
        "tls_server_config: {cert_file: none.crt, key_file: tls.key, min_version: TLS10}\n\
         basic_auth_users: {alice: 'topsecret'}\n",
    );
    let told = world.told(&world.load().unwrap_err());
    for each in ["cert_file", "min_version", "basic_auth_users.alice"] {
        assert!(told.contains(each), "{each}: {told}");
    }
    assert!(!told.contains("key_file"), "{told}");
}

#[test]
fn a_certificate_that_is_over_is_told() {
    let world = World::new();
    assert_eq!(world.load().unwrap().expired(), None);
    let over = world.ca.issue("server", &["localhost"], Lifetime::Over);
    world.put("tls.crt", over.cert_pem());
    world.put("tls.key", over.key_pem());
    let said = world.load().unwrap().expired().unwrap();
    assert!(said.contains("2001 GMT"), "{said}");
}

#[test]
fn files_that_a_change_names_are_watched_from_then_on() {
    let world = World::new();
    let mut web = world.load().unwrap();
    world.put("web.yml", CONFIG.replace("tls.", "next."));
    assert!(web.reload().unwrap().is_err(), "they are not there yet");
    for (from, to) in [("tls.crt", "next.crt"), ("tls.key", "next.key")] {
        world.put(to, fs::read(world.folder.path().join(from)).unwrap());
    }
    assert!(web.reload().unwrap().is_ok());
    world.renew();
    assert!(web.reload().is_none(), "the old ones no longer count");
}

/// A served agent that looks at its files all the time.
struct Served {
    address: SocketAddr,
    published: watch::Receiver<Arc<Published>>,
    shutdown: Shutdown,
}

impl Served {
    async fn new(web: Web) -> Self {
        let first = Arc::new(sample::published(vec![sample::incident()]));
        let (publisher, published) = watch::channel(first);
        let publisher = Arc::new(publisher);
        publisher.send_modify(|published| {
            Arc::make_mut(published).agent.reloads = ReloadStats::default();
        });
        let shutdown = Shutdown::new();
        let (sender, guards) = watch::channel(web.guard());
        let reloads = Reloads::new(publisher);
        let every = Duration::from_millis(10);
        tokio::spawn(follow(web, every, sender, reloads, shutdown.ending()));
        let pulse = Arc::new(Pulse::of(1));
        pulse.beat(0, sample::NOW);
        let now: Now = Arc::new(|| sample::NOW);
        let (lenient, limits) = (Readiness::Lenient, SeriesLimits::default());
        let site = Site::new(published.clone(), pulse, now, lenient, limits);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let ending = shutdown.ending().wait();
        let limits = HttpLimits::default();
        tokio::spawn(http::serve(
            listener,
            Arc::new(site),
            guards,
            limits,
            ending,
        ));
        Self {
            address,
            published,
            shutdown,
        }
    }

    /// Waits until reloads have come to this.
    #[track_caller]
    fn reloads(&self, ok: u64, failed: u64) -> impl Future<Output = ()> {
        let mut published = self.published.clone();
        let wanted = ReloadStats { ok, failed };
        async move {
            let reached = published.wait_for(|published| published.agent.reloads == wanted);
            let reached = tokio::time::timeout(Duration::from_secs(10), reached).await;
            assert!(reached.is_ok(), "{wanted:?}");
        }
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_served_without_a_restart() {
    let world = World::new();
    let first = world.renew();
    let served = Served::new(world.load().unwrap()).await;
    let client = Client {
        ca: Some(world.ca.cert.clone()),
        ..Client::default()
    };
    let shown = async || {
        let stream = client.connect(served.address).await.unwrap();
        stream.ssl().peer_certificate().unwrap().to_pem().unwrap()
    };
    assert_eq!(shown().await, first.cert_pem());
    let mut reloads = served.published.clone();
    let expires = reloads
        .wait_for(|published| published.agent.expiries[&CertificateUse::Server] > 1_702_592_000);
    drop(expires.await.unwrap());

    world.put("tls.crt", "-----BEGIN CERTIFICATE-----\ntopsecret");
    served.reloads(0, 1).await;
    assert_eq!(shown().await, first.cert_pem(), "the one before stays");
    let metrics = client.get(served.address, "/metrics", "").await.unwrap();
    for line in [
        "\nevenkeel_config_reloads_total{result=\"ok\"} 0\n",
        "\nevenkeel_config_reloads_total{result=\"failed\"} 1\n",
        "\nevenkeel_tls_certificate_expiry_timestamp_seconds{use=\"server\"} ",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }

    let expired = world.ca.issue("server", &["localhost"], Lifetime::Over);
    let both = [expired.cert_pem(), expired.key_pem()].concat();
    world.put("both.pem", both);
    world.put(
        "web.yml",
        CONFIG
            .replace("tls.crt", "both.pem")
            .replace("tls.key", "both.pem"),
    );
    served.reloads(1, 1).await;
    let told = &served.published.borrow().agent.expiries[&CertificateUse::Server];
    assert_eq!(*told, 1_000_000_000);
    let started = Instant::now();
    served.shutdown.begin();
    let mut published = served.published.clone();
    // Whoever counts reloads ends with the rest.
    while published.changed().await.is_ok() {}
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_new_password_counts_at_once() {
    let world = World::new();
    let users = |password| format!("basic_auth_users: {{alice: {}}}\n", hash(password));
    let config = |password| format!("{CONFIG}{}", users(password));
    world.put("web.yml", config("old"));
    let served = Served::new(world.load().unwrap()).await;
    let client = Client {
        ca: Some(world.ca.cert.clone()),
        ..Client::default()
    };
    // alice:old and alice:new.
    let said = ["YWxpY2U6b2xk", "YWxpY2U6bmV3"];
    let statuses = async || {
        let mut statuses = Vec::new();
        for said in said {
            let header = format!("authorization: Basic {said}\r\n");
            let answer = client
                .get(served.address, "/metrics", &header)
                .await
                .unwrap();
            statuses.push(answer[9..12].to_owned());
        }
        statuses
    };
    assert_eq!(statuses().await, ["200", "401"]);
    world.put("web.yml", config("new"));
    served.reloads(1, 0).await;
    assert_eq!(statuses().await, ["401", "200"]);
}
