//! Brokers that answer nonsense: nothing panics, hangs or grows.

use kafka_protocol::messages::ApiKey;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::super::error::AskError;
use super::super::pace::ANSWER_BYTES_MAX;
use super::super::polls::GroupSource as _;
use super::super::reach::{Files, Reach};
use super::super::reply;
use super::super::security::Security;
use super::super::session::Session;
use super::fake::Fake;
use super::*;

/// A fake whose answers to one API are these bytes, length and all.
async fn raw(api: ApiKey, bytes: &[u8]) -> (Fake, Polled) {
    let fake = Fake::new();
    fake.set(|says| says.raw.insert(api as i16, bytes.to_vec()));
    let polls = poll(connection(fake.listen().await, &[]));
    (fake, polls)
}

const APIS: [ApiKey; 4] = [
    ApiKey::ApiVersions,
    ApiKey::FindCoordinator,
    ApiKey::Metadata,
    ApiKey::DescribeGroups,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_lengths_and_correlation_ids_are_failures_that_pass() {
    let frames: [&'static [u8]; 5] = [
        // Negative, empty, shorter than a header, another correlation id, no body.
        &[0xff, 0xff, 0xff, 0xff],
        &[0, 0, 0, 0],
        &[0, 0, 0, 2, 0, 0],
        &[0, 0, 0, 6, 0x7f, 0, 0, 0, 0, 0],
        &[0, 0, 0, 4, 0, 0, 0, 1],
    ];
    let mut all = tokio::task::JoinSet::new();
    for (api, frame) in APIS
        .into_iter()
        .flat_map(|api| frames.map(|frame| (api, frame)))
    {
        all.spawn(async move {
            let (fake, mut polls) = raw(api, frame).await;
            polls.until_failed(Trouble::Other).await;
            fake.set(|says| says.raw.clear());
            polls.until_described(PolledState::Stable).await;
            polls.handle.stop();
        });
    }
    all.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_too_large_is_not_read_and_lists_go_on() {
    let len = i32::try_from(ANSWER_BYTES_MAX + 1).unwrap();
    let (_fake, mut polls) = raw(ApiKey::DescribeGroups, &len.to_be_bytes()).await;
    polls.until_failed(Trouble::Other).await;
    polls.until_listed(None).await;
    assert_eq!(polls.handle.counters().failures.get(), 1);
}

/// A length is told, and nothing follows: it costs the time of a question, not memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_never_comes_is_given_up() {
    let len = i32::try_from(ANSWER_BYTES_MAX).unwrap();
    let (fake, mut polls) = raw(ApiKey::DescribeGroups, &len.to_be_bytes()).await;
    polls.until_failed(Trouble::Unreachable).await;
    fake.set(|says| says.raw.clear());
    polls.until_described(PolledState::Stable).await;
}

/// Neither Kafka nor anything: a server that sends what it likes and closes when it likes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_that_is_no_broker_is_unreachable_or_nonsense() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut seed = 7u64;
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = [0u8; 512];
            for byte in &mut bytes {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = u8::try_from(seed >> 56).unwrap();
            }
            // Small lengths, so that what follows is looked at.
            bytes[..3].fill(0);
            let mut seen = [0u8; 64];
            if stream.read(&mut seen).await.is_ok() {
                drop(stream.write_all(&bytes).await);
            }
        }
    });
    let mut polls = poll(connection(address, &[]));
    let is_failed = |answer: &PollAnswer| matches!(answer, PollAnswer::Failed(_));
    polls.until(is_failed).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(polls.handle.counters().failures.get() >= 3);
    polls.handle.stop();
}

/// As many as there may be: a failure is told all the same, and the next look begins with
/// another.
#[tokio::test]
async fn brokers_that_accept_and_say_nothing_cost_a_bounded_time() {
    let mut mute = Vec::new();
    for _ in 0..8 {
        mute.push(TcpListener::bind("127.0.0.1:0").await.unwrap());
    }
    let mute: Vec<String> = mute
        .iter()
        .map(|listener| listener.local_addr().unwrap().to_string())
        .collect();
    let group: Arc<str> = GROUP.into();
    let connection = connection(mute.join(","), &[]);
    let mut session = Session::new(&connection, &group, Vec::new(), &now(), &Arc::default());
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    assert!(matches!(
        session.describe().await,
        Err(AskError::Timeout { .. })
    ));
    let took = began.elapsed();
    assert!(took <= Duration::from_millis(15_100), "{took:?}");
    assert!(took >= Duration::from_secs(5), "{took:?}");
}

/// A file system that never answers: one thread waits for it, and a failure is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_never_read_are_a_failure() {
    let files = Files::new();
    let (stuck, until) = std::sync::mpsc::sync_channel::<()>(0);
    let reader = files.clone();
    let hung = tokio::spawn(async move { reader.read(move || until.recv().is_ok()).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let tls = connection("127.0.0.1:1", &[("security.protocol", "ssl")]);
    let security = Arc::new(Security::of(&tls).unwrap());
    let reach = tokio::time::timeout(DEADLINE, Reach::new(&security, &files)).await;
    let reach = reach.expect("given up");
    assert!(matches!(reach, Err(AskError::Timeout { .. })), "{reach:?}");
    drop(stuck);
    assert!(hung.await.unwrap().is_ok());
    assert!(Reach::new(&security, &files).await.is_ok());
}

/// Every reader on every prefix, every flipped byte and random bytes: a value or an error.
#[test]
fn no_bytes_break_a_reader() {
    let read = |bytes: &[u8]| {
        for version in 0..=6 {
            drop(reply::api_versions(bytes, version));
            drop(reply::sasl_handshake(bytes));
            drop(reply::sasl_authenticate(bytes, version.min(2)));
            drop(reply::brokers(bytes, version * 2));
            drop(reply::coordinator(bytes, version.min(4)));
            drop(reply::listed(bytes, version.clamp(4, 5), GROUP));
            drop(reply::described(bytes, version, GROUP));
            drop(reply::cluster::shapes(bytes, (version * 2).max(4)));
            drop(reply::cluster::settings(bytes, version.clamp(1, 4)));
        }
    };
    let mut seed = 1u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        seed >> 33
    };
    let good: &[&[u8]] = &[
        // DescribeGroups, version 5: one group with one member.
        &[
            0, 0, 0, 0, 2, 0, 0, 8, b'c', b'o', b'n', b'n', b'e', b'c', b't', 3, b'o', b'k', 1, 1,
            2, 2, b'm', 0, 2, b'c', 2, b'h', 2, 9, 2, 9, 0, 0, 0, 0, 0, 0, 0,
        ],
        // ListGroups, version 4: one group.
        &[
            0, 0, 0, 0, 0, 0, 2, 8, b'c', b'o', b'n', b'n', b'e', b'c', b't', 1, 3, b'o', b'k', 0,
            0,
        ],
    ];
    assert!(reply::described(good[0], 5, GROUP).unwrap().members.len() == 1);
    assert_eq!(
        reply::listed(good[1], 4, GROUP),
        Ok(Some(PolledState::Other))
    );
    for bytes in good {
        for len in 0..bytes.len() {
            read(&bytes[..len]);
        }
        for place in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = bytes.to_vec();
                bytes[place] = value;
                read(&bytes);
            }
        }
    }
    for _ in 0..20_000 {
        let len = usize::try_from(random() % 64).unwrap();
        let bytes: Vec<u8> = (0..len)
            .map(|_| u8::try_from(random() % 256).unwrap())
            .collect();
        read(&bytes);
    }
}

#[test]
fn a_count_beyond_the_bytes_is_refused_before_anything_is_made_of_it() {
    // DescribeGroups, version 0: two thousand million groups.
    let bytes = [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    assert!(reply::described(&bytes, 0, GROUP).is_err());
    let bytes = [0, 0, 0x7f, 0xff, 0xff, 0xff];
    assert!(reply::api_versions(&bytes, 0).is_err());
}
