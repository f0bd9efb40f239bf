//! A value that must never be seen stands in every secret place of a worker's file, and
//! everything in the file is broken in turn: no message, no debug output and no printed
//! configuration may hold it.

use super::{World, worker_store};
use crate::config::Loaded;

const CANARY: &str = "CANARY-7f3a";

/// Settings of a login by password over TLS, of one by certificate, of tokens: together
/// they hold every secret there is.
fn files() -> [Vec<(&'static str, String)>; 4] {
    let base = [
        ("bootstrap.servers", "b:1"),
        ("group.id", "g"),
        ("config.storage.topic", "c"),
        ("status.storage.topic", "s"),
        ("session.timeout.ms", "9"),
    ];
    let with = |more: &[(&'static str, String)]| {
        let base = base
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        base.chain(more.iter().cloned()).collect::<Vec<_>>()
    };
    let text = |name: &'static str, value: &str| (name, value.to_owned());
    let module = "org.apache.kafka.common.security";
    [
        with(&[
            text("security.protocol", "SASL_SSL"),
            text("sasl.mechanism", "SCRAM-SHA-256"),
            (
                "sasl.jaas.config",
                format!(
                    "{module}.scram.ScramLoginModule required username=u password=\"{CANARY}\";"
                ),
            ),
            ("ssl.truststore.location", worker_store("trust.pem")),
            text("ssl.truststore.password", CANARY),
            text("ssl.keystore.password", CANARY),
            text("ssl.key.password", CANARY),
            text("sasl.oauthbearer.client.credentials.client.secret", CANARY),
            text("sasl.oauthbearer.assertion.private.key.passphrase", CANARY),
        ]),
        with(&[
            text("security.protocol", "SSL"),
            text(
                "ssl.keystore.key",
                &format!("-----BEGIN PRIVATE KEY-----\\n{CANARY}\\n-----END PRIVATE KEY-----"),
            ),
            text("ssl.keystore.certificate.chain", CANARY),
            text("ssl.truststore.certificates", CANARY),
            text("ssl.key.password", CANARY),
        ]),
        with(&[
            text("security.protocol", "SSL"),
            ("ssl.keystore.location", worker_store("locked.pem")),
            text("ssl.key.password", CANARY),
            ("ssl.truststore.location", worker_store("trust.jks")),
            text("ssl.truststore.password", CANARY),
        ]),
        with(&[
            text("security.protocol", "SASL_PLAINTEXT"),
            text("sasl.mechanism", "OAUTHBEARER"),
            (
                "sasl.jaas.config",
                format!(
                    "{module}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=a unsecuredLoginExtension_x={CANARY} clientSecret={CANARY};"
                ),
            ),
        ]),
    ]
}

/// Ways to break a value.
fn broken(value: &str) -> Vec<String> {
    vec![
        String::new(),
        format!("{value}{CANARY}"),
        format!("{CANARY}{value}"),
        value.replace(['"', ';', '='], ""),
        value.replace("required", ""),
        format!("\\u12{value}"),
        format!("${{env:{CANARY}-not-declared}}"),
        format!("{value}\\"),
        format!("{CANARY} = {CANARY}: {CANARY},{CANARY}"),
    ]
}

fn seen(loaded: Result<Loaded, crate::config::Mistakes>) -> String {
    match loaded {
        Ok(loaded) => format!(
            "{}\n{loaded:?}\n{:?}\n{:?}",
            serde_yaml::to_string(&loaded.tree).unwrap(),
            loaded.origins,
            loaded.warnings
        ),
        Err(mistakes) => format!("{mistakes}\n{mistakes:?}"),
    }
}

/// Names, places and groups are shown as they stand: whoever writes a secret there shows
/// it. Those are broken without it.
fn is_shown(name: &str) -> bool {
    let shown = [
        "bootstrap.servers",
        "group.id",
        "config.storage.topic",
        "status.storage.topic",
        "session.timeout.ms",
    ];
    shown.contains(&name) || name.ends_with(".location")
}

#[test]
fn nobody_sees_a_secret() {
    let mut count = 0;
    for settings in files() {
        for index in 0..settings.len() {
            let (name, value) = &settings[index];
            for change in broken(value).iter().chain([value]) {
                if is_shown(name) && change.contains(CANARY) {
                    continue;
                }
                let lines = settings.iter().enumerate().map(|(at, (name, value))| {
                    let value = if at == index { change } else { value };
                    format!("{name}={value}\n")
                });
                let text = seen(World::new(&lines.collect::<String>()).load());
                assert!(!text.contains(CANARY), "{name}={change}\n{text}");
                assert!(!text.is_empty());
                count += 1;
            }
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn a_secret_in_place_of_a_name_is_not_told_as_one() {
    // A line that lost its name: the value stands where a name would.
    for line in [
        CANARY.to_owned(),
        format!("\"{CANARY}\";"),
        format!("password={CANARY}"),
    ] {
        let loaded = World::new(&format!("bootstrap.servers=b:1\ngroup.id=g\nconfig.storage.topic=c\nstatus.storage.topic=s\n{line}\n")).load();
        assert!(!seen(loaded).contains(CANARY));
    }
}
