//! What topics and polls log in with by OAUTHBEARER: the same token, made by the wall
//! clock, with the same extensions.

use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::fake::{Fake, Sasl};
use super::*;
use crate::read::kafka::{self, ReadSettings};
use crate::read::wall::WallTime;

/// A fake that takes every token, and what it was told.
fn listening() -> (Fake, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let heard = Arc::clone(&seen);
    let fake = Fake::new();
    fake.set(|says| {
        says.sasl = Some(Sasl {
            mechanism: "OAUTHBEARER",
            lifetime_ms: 0,
            make: Box::new(move || {
                let heard = Arc::clone(&heard);
                Box::new(move |message| {
                    let message = String::from_utf8_lossy(message).into_owned();
                    heard.lock().unwrap().push(message);
                    Ok(Vec::new())
                })
            }),
        });
    });
    (fake, seen)
}

async fn first(seen: &Mutex<Vec<String>>) -> String {
    let began = Instant::now();
    loop {
        if let Some(message) = seen.lock().unwrap().pop() {
            return message;
        }
        assert!(began.elapsed() < DEADLINE, "nobody logged in");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[track_caller]
fn check(message: &str) {
    assert!(message.contains("\x01trace=x1\x01"), "{message:?}");
    let claims = message.split('.').nth(1).unwrap();
    let claims = URL_SAFE_NO_PAD.decode(claims).unwrap();
    let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
    let issued_ms = claims["iat"].as_i64().unwrap() * 1_000;
    let off_ms = WallTime::now().0 - issued_ms;
    // The agent's clock of these tests is years away from it.
    assert!((0..60_000).contains(&off_ms), "{off_ms} ms off");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn topics_and_polls_say_the_same_by_the_wall_clock() {
    let (fake, seen) = listening();
    let sasl = [
        ("security.protocol", "sasl_plaintext"),
        ("sasl.mechanism", "OAUTHBEARER"),
        ("enable.sasl.oauthbearer.unsecure.jwt", "True"),
        (
            "sasl.oauthbearer.config",
            "principal=ada extension_trace=x1",
        ),
    ];
    let _polls = poll(connection(fake.listen().await, &sasl));
    check(&first(&seen).await);

    let (fake, seen) = listening();
    let (sender, _inputs) = mpsc::channel(64);
    let settings = ReadSettings {
        connection: connection(fake.listen().await, &sasl),
        group: GROUP.to_owned(),
        offsets_topic: "__consumer_offsets".to_owned(),
        config_topic: "connect-configs".to_owned(),
        status_topic: "connect-status".to_owned(),
        ..ReadSettings::default()
    };
    let readers = kafka::start(settings, now(), sender).unwrap();
    check(&first(&seen).await);
    readers.stop();
}
