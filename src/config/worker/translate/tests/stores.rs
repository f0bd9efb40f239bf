//! Connections over TLS: stores, keys, and what is spoken.

use super::*;
use crate::config::worker::tests::{store, store_path};

fn tls(lines: &str) -> String {
    let path = |text: &str, name: &str| text.replace(&format!("@{name}"), &store_path(name));
    let names = [
        "trust.jks",
        "real.jks",
        "old.p12",
        "trust.pem",
        "key.p12",
        "key.pem",
        "locked.pem",
    ];
    names
        .iter()
        .fold(format!("security.protocol=SSL\n{lines}\n"), |text, name| {
            path(&text, name)
        })
}

#[test]
fn stores_become_pem() {
    let pem = "-----BEGIN CERTIFICATE-----";
    let key = "-----BEGIN PRIVATE KEY-----";
    let from = |lines: &str| good(&tls(lines), &[]);
    let jks = from(
        "ssl.truststore.location=@trust.jks\nssl.truststore.password=changeit\nssl.truststore.type=JKS",
    );
    assert_eq!(
        jks,
        [
            "security.protocol=ssl".to_owned(),
            format!("ssl.ca.pem={pem}")
        ]
    );
    let file = from("ssl.truststore.location=@trust.pem\nssl.truststore.type=PEM");
    assert_eq!(
        file[1],
        format!("ssl.ca.location={}", store_path("trust.pem"))
    );
    let own = [
        format!("ssl.certificate.pem={pem}"),
        format!("ssl.key.pem={key}"),
    ];
    for lines in [
        "ssl.keystore.location=@key.p12\nssl.keystore.password=changeit\nssl.key.password=changeit",
        "ssl.keystore.location=@key.pem",
        "ssl.keystore.location=@locked.pem\nssl.key.password=changeit",
    ] {
        let found = from(lines);
        assert_eq!(found[2..], own, "{lines}");
    }
    let inline = |name: &str| {
        let text = String::from_utf8(store(name)).unwrap();
        text.trim_end().replace('\r', "").replace('\n', "\\n\\\n")
    };
    let found = from(&format!(
        "ssl.keystore.certificate.chain={}\nssl.keystore.key={}\nssl.key.password=changeit\nssl.truststore.certificates={}",
        inline("locked.pem"),
        inline("locked.pem"),
        inline("trust.pem")
    ));
    assert_eq!(
        found[1..],
        [&[format!("ssl.ca.pem={pem}")], &own[..]].concat()
    );
}

#[test]
fn stores_that_cannot_be_read_are_told() {
    let of = |lines: &str| wrong(&tls(lines)).join("; ");
    let trust = |file: &str, password: &str| {
        of(&format!(
            "ssl.truststore.location={file}\nssl.truststore.password={password}"
        ))
    };
    let told = trust("@real.jks", "changeit");
    assert!(
        told.starts_with("line 2 ssl.truststore.location: ") && told.ends_with("a JKS store"),
        "{told}"
    );
    assert!(trust("@old.p12", "changeit").contains("a JDK before 16"));
    assert!(trust("@trust.jks", "topsecret").contains("does not open"));
    assert!(trust("/none", "x").contains("/none: No such file"));
    assert!(trust("/", "x").contains("a folder"));
    let key = |lines: &str| of(lines);
    assert!(
        key("ssl.keystore.location=@locked.pem")
            .contains("a private key that its password does not open")
    );
    assert!(key("ssl.keystore.location=@trust.pem").contains("no private key"));
    assert!(key("ssl.keystore.key=x").contains("a key without its chain"));
    assert!(key("ssl.keystore.certificate.chain=x").contains("a chain without a key"));
    assert!(key("ssl.keystore.certificate.chain=x\nssl.keystore.key=y").contains("no certificate"));
    assert!(key("ssl.truststore.certificates=x").contains("no certificate"));
    assert!(
        key("ssl.truststore.certificates=x\nssl.truststore.location=@trust.jks")
            .contains("certificates and a location")
    );
    // The way out names the file.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("w.properties");
    std::fs::write(&file, tls("ssl.truststore.location=@real.jks")).unwrap();
    let mut settings = Settings::read(Some((&file, "file")), &[], &|_| None);
    let over = Over {
        properties: &BTreeMap::new(),
        has_token_file: false,
        has_brokers: false,
    };
    translate(&mut settings, over);
    let hint = settings.mistakes[0].hint.clone().unwrap();
    assert!(
        hint.contains("keytool -importkeystore")
            && hint.contains("real.jks")
            && hint.contains("ssl.ca.location"),
        "{hint}"
    );
}

#[test]
fn what_is_spoken() {
    let text = "ssl.endpoint.identification.algorithm=\nssl.enabled.protocols=TLSv1.2,TLSv1.3\nssl.cipher.suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";
    assert_eq!(
        good(&tls(text), &[])[1..],
        [
            "ssl.ca.location=probe",
            "ssl.cipher.suites=ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256",
            "ssl.endpoint.identification.algorithm=none",
        ]
    );
}

/// What the worker would refuse, the agent cannot: it is told.
#[test]
fn one_tls_version_alone_cannot_be_demanded() {
    let warnings = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("w.properties");
        std::fs::write(&file, tls(text)).unwrap();
        let mut settings = Settings::read(Some((&file, "file")), &[], &|_| None);
        let over = Over {
            properties: &BTreeMap::new(),
            has_token_file: false,
            has_brokers: false,
        };
        translate(&mut settings, over);
        assert_eq!(settings.mistakes, []);
        settings.warnings
    };
    assert_eq!(warnings("ssl.enabled.protocols=TLSv1.2, TLSv1.3"), [""; 0]);
    let told = warnings("ssl.enabled.protocols=TLSv1.3");
    assert!(
        matches!(&told[..], [line] if line.contains("ssl.enabled.protocols says TLSv1.3 alone")),
        "{told:?}"
    );
    let told = warnings("ssl.enabled.protocols=TLSv1.2");
    assert!(told[0].contains("TLSv1.2 alone"), "{told:?}");
    let told = warnings("ssl.cipher.suites=TLS_AES_256_GCM_SHA384");
    assert!(
        matches!(&told[..], [line] if line.contains("ssl.cipher.suites says none of TLSv1.2")),
        "{told:?}"
    );
}
