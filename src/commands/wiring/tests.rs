//! What a worker's file becomes, as librdkafka takes it.

use std::path::Path;

use super::*;
use crate::config::Override;

const BASE: &str = "\
bootstrap.servers=b:1
group.id=g
config.storage.topic=c
status.storage.topic=s
rest.advertised.host.name=worker-a
request.timeout.ms=20000
";
const CANARY: &str = "canary-5d1f";

fn store(name: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/worker_file/stores"
    );
    format!("{folder}/{name}")
}

fn loaded(lines: &str, flags: &[Override]) -> Result<Loaded, Mistakes> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("w.properties");
    std::fs::write(&file, format!("{BASE}{lines}")).unwrap();
    let flags = ConfigFlags {
        worker_properties: Some(file.display().to_string()),
        set: flags
            .iter()
            .map(|over| format!("{}={}", over.key, over.value))
            .collect(),
        ..ConfigFlags::default()
    };
    load(&flags, &[], judged, |_| Vec::new())
}

fn jaas(module: &str, options: &str) -> String {
    format!("sasl.jaas.config=org.apache.kafka.common.security.{module} required {options};\n")
}

#[test]
fn librdkafka_takes_what_is_translated() {
    let trust = format!(
        "ssl.truststore.location={}\nssl.truststore.password=changeit\n",
        store("trust.jks")
    );
    let plain = jaas("plain.PlainLoginModule", "username=u password=p");
    let scram = jaas("scram.ScramLoginModule", "username=u password=p");
    let made = jaas(
        "oauthbearer.OAuthBearerLoginModule",
        "unsecuredLoginStringClaim_sub=a",
    );
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "a.b.c").unwrap();
    let read = jaas("oauthbearer.OAuthBearerLoginModule", "")
        + "sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler\n"
        + &format!(
            "sasl.oauthbearer.token.endpoint.url=file:{}\n",
            token.display()
        );
    let cases = [
        String::new(),
        format!("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n{plain}"),
        format!("security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n{scram}{trust}"),
        format!("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n{made}"),
        format!("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n{read}"),
        format!(
            "security.protocol=SSL\n{trust}ssl.keystore.location={}\nssl.keystore.password=changeit\n\
             ssl.endpoint.identification.algorithm=\nssl.cipher.suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256\n",
            store("key.p12")
        ),
        format!(
            "security.protocol=SSL\nssl.truststore.location={}\nssl.keystore.location={}\nssl.key.password=changeit\n",
            store("trust.pem"),
            store("locked.pem")
        ),
    ];
    for case in cases {
        let loaded = loaded(&case, &[]).unwrap_or_else(|mistakes| panic!("{case}\n{mistakes}"));
        let readers = readers(&loaded.config).unwrap();
        let [settings] = &readers[..] else {
            panic!("one group has one reader");
        };
        assert_eq!(settings.group, "g");
        assert_eq!(settings.own_worker.as_deref(), Some("worker-a:8083"));
        assert_eq!(settings.worker_settings[0].source, "w.properties:6");
        let connection = &settings.connection;
        assert_eq!(connection.properties["bootstrap.servers"].0, "b:1");
        assert_eq!(connection.token_file.is_some(), case.contains("file:"));
        assert_eq!(
            connection.token_file.as_deref().unwrap_or(Path::new("")),
            loaded.config.groups[0]
                .connection
                .token_file
                .as_deref()
                .unwrap_or(Path::new(""))
        );
    }
}

#[test]
fn what_librdkafka_says_is_told_without_values() {
    let set = |key: &str, value: &str| Override {
        key: key.to_owned(),
        value: value.to_owned(),
        origin: String::new(),
    };
    let scram = jaas(
        "scram.ScramLoginModule",
        &format!("username=u password={CANARY}"),
    );
    let lines = format!("security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n{scram}");
    for (flag, expected) in [
        (
            set("kafka.properties.no.such", CANARY),
            "kafka.properties.no.such: found",
        ),
        (
            set("kafka.properties.ssl.ca.location", "/none"),
            "kafka.properties.ssl.ca.location: found",
        ),
        (
            set("kafka.properties.ssl.cipher.suites", CANARY),
            "kafka.properties.ssl.cipher.suites: found",
        ),
    ] {
        let told = loaded(&lines, &[flag]).unwrap_err().to_string();
        assert!(
            told.starts_with("1 mistake") && told.contains(expected),
            "{told}"
        );
        assert!(!told.contains(CANARY), "{told}");
    }
}

#[test]
fn addresses_of_this_machine_are_those_others_see() {
    let found = own_addresses();
    assert!(found.is_sorted());
    for address in &found {
        let address: std::net::IpAddr = address.parse().unwrap();
        assert!(!address.is_loopback());
    }
}

/// Files and logins of `kafka.properties`, without a worker's file.
#[test]
fn files_of_tls_and_kerberos_are_told_in_words_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none.pem").display().to_string();
    let own = |pairs: &[(&str, &str)]| {
        let set = |(name, value): &(&str, &str)| format!("kafka.properties.{name}={value}");
        let flags = ConfigFlags {
            bootstrap: Some("b:1".to_owned()),
            group: Some("g".to_owned()),
            config_topic: Some("c".to_owned()),
            status_topic: Some("s".to_owned()),
            set: pairs.iter().map(set).collect(),
            ..ConfigFlags::default()
        };
        load(&flags, &[], judged, |_| Vec::new())
            .unwrap_err()
            .to_string()
    };
    let ssl = ("security.protocol", "ssl");
    let key = store("key.p12");
    for (pairs, name, reason) in [
        (
            &[ssl, ("ssl.ca.location", &*none)][..],
            "kafka.properties.ssl.ca.location: ",
            "the file that it names is missing",
        ),
        (
            &[
                ssl,
                ("ssl.keystore.location", &*key),
                ("ssl.keystore.password", CANARY),
            ],
            "kafka.properties.ssl.keystore.password: ",
            "does not open ssl.keystore.location",
        ),
        (
            &[
                ("security.protocol", "sasl_plaintext"),
                ("sasl.mechanism", "GSSAPI"),
            ],
            "kafka.properties.sasl.mechanism: ",
            "this build has no Kerberos",
        ),
    ] {
        let told = own(pairs);
        assert!(told.contains(name) && told.contains(reason), "{told}");
        assert!(!told.contains("error:") && !told.contains(CANARY), "{told}");
    }
}

/// Every file that is named is looked at, whatever else is wrong: nobody corrects one after the
/// other.
#[test]
fn files_are_told_with_all_other_mistakes() {
    let set = [
        "http.listen=x",
        "http.web_config_file=/no/web",
        "log.level=loud",
        "privacy.mask_key_file=/no/key",
        "state.dir=/no/state",
        "traces.endpoint=https://x:4318",
        "traces.ca_file=/no/ca",
    ];
    let flags = ConfigFlags {
        set: set.map(str::to_owned).to_vec(),
        ..ConfigFlags::default()
    };
    let told = load(&flags, &[], judged, all_files).unwrap_err();
    let mut paths: Vec<&str> = told.0.iter().map(|mistake| &*mistake.path).collect();
    paths.sort_unstable();
    let expected = [
        "groups",
        "http.listen",
        "http.web_config_file",
        "kafka.bootstrap",
        "log.level",
        "privacy.mask_key_file",
        "state.dir",
        "traces.ca_file",
    ];
    assert_eq!(paths, expected, "{told}");
    let named = told
        .0
        .iter()
        .filter(|mistake| mistake.found.contains("/no/"));
    assert_eq!(
        named.filter(|mistake| mistake.origin.is_some()).count(),
        4,
        "{told}"
    );
}
