//! What stands in the way of a connection, as both clients find it.

use evenkeel_core::facts::input::Topic;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::fake::Fake;
use super::secured::{Files, shown};
use super::*;
use crate::read::hitch::Hitch;
use crate::read::kafka::{self, ReadSettings};

/// A port of a Java broker: whoever speaks no TLS is sent an alert, `internal_error`.
async fn alerting() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut seen = [0; 64];
            drop(stream.read(&mut seen).await);
            drop(stream.write_all(&[0x15, 3, 3, 0, 2, 2, 80]).await);
        }
    });
    address
}

/// A port with TLS sends an alert to a client without, which is no length of an answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_with_tls_is_told_and_what_replaces_it_is_asked_at_once() {
    let files = Files::new("127.0.0.1");
    let fake = Fake::new();
    let address = files.serve(&fake, false).await;
    let mut polls = poll(connection(alerting().await, &[]));
    polls.until_failed(Trouble::Other).await;
    assert_eq!(polls.handle.counters().hitch(), Some(Hitch::SpeaksTls));
    // No answer was large, so questions go on.
    let began = Instant::now();
    while polls.handle.counters().failures.get() < 3 {
        assert!(began.elapsed() < DEADLINE, "nothing is asked any more");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let ca = shown(&files.path("ca.pem"));
    let known = [("security.protocol", "ssl"), ("ssl.ca.location", &*ca)];
    polls.handle.reconnect(connection(address, &known));
    let began = Instant::now();
    polls.until_described(PolledState::Stable).await;
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "it waits for long"
    );
    assert_eq!(polls.handle.counters().hitch(), None);
}

/// TLS to a port without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_without_tls_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        // As a broker does that takes a handshake for a length.
        while let Ok((stream, _)) = listener.accept().await {
            drop(stream);
        }
    });
    let mut polls = poll(connection(address, &[("security.protocol", "ssl")]));
    polls
        .until(|answer| matches!(answer, PollAnswer::Failed(_)))
        .await;
    let hitch = polls.handle.counters().hitch();
    assert!(matches!(hitch, Some(Hitch::SpeaksNoTls)), "{hitch:?}");
}

/// What the reader of the topics finds by itself, and the trouble that it tells.
async fn read(connection: Connection) -> (Hitch, Trouble) {
    let settings = ReadSettings {
        connection,
        group: GROUP.to_owned(),
        offsets_topic: "__consumer_offsets".to_owned(),
        config_topic: "configs".to_owned(),
        status_topic: "status".to_owned(),
        ..ReadSettings::default()
    };
    let (sender, mut inputs) = mpsc::channel(64);
    let handle = kafka::start(settings, now(), sender).unwrap();
    let mut told = None;
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < DEADLINE, "{told:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
        while let Ok(input) = inputs.try_recv() {
            if let InputKind::Access(access) = input.kind {
                told = access.trouble;
            }
        }
        if let (Some(trouble), Some(hitch)) = (told, handle.hitch(Topic::Config)) {
            handle.stop();
            return (hitch, trouble);
        }
    }
}

/// librdkafka says it in words.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn topics_are_not_read_from_a_broker_that_the_agent_does_not_trust() {
    let files = Files::new("127.0.0.1");
    let address = files.serve(&Fake::new(), false).await;
    let other = shown(&files.path("other.pem"));
    let known = [("security.protocol", "ssl"), ("ssl.ca.location", &*other)];
    let found = read(connection(address, &known)).await;
    let refused = (Hitch::Untrusted, Trouble::Unauthenticated);
    assert_eq!(found, refused);
}
