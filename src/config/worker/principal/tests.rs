//! Whom the brokers see.

use super::*;
use crate::config::worker::tests::store_path;

fn who(properties: &[(&str, &str)], token_file: Option<&Path>) -> Option<String> {
    let properties = properties
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)));
    of(&properties.collect(), token_file)
}

#[test]
fn the_login_names_the_principal() {
    let user = [
        ("security.protocol", "SASL_SSL"),
        ("sasl.username", "alice"),
    ];
    assert_eq!(who(&user, None).as_deref(), Some("alice"));
    let unused = [
        ("security.protocol", "plaintext"),
        ("sasl.username", "alice"),
    ];
    assert_eq!(who(&unused, None), None);
    let made = [
        ("security.protocol", "sasl_ssl"),
        ("sasl.oauthbearer.config", "lifeSeconds=6 principal=bob"),
    ];
    assert_eq!(who(&made, None).as_deref(), Some("bob"));
}

#[test]
fn a_certificate_names_its_subject() {
    let leaf = "CN=worker-a,OU=Data\\, and more,O=Example";
    let ssl = ("security.protocol", "ssl");
    let (store, pem) = (store_path("key.p12"), store_path("key.pem"));
    let text = std::fs::read_to_string(&pem).unwrap();
    for named in [
        &[
            ("ssl.keystore.location", store.as_str()),
            ("ssl.keystore.password", "changeit"),
        ][..],
        &[("ssl.certificate.location", pem.as_str())],
        &[("ssl.certificate.pem", text.as_str())],
    ] {
        let all = [&[ssl][..], named].concat();
        assert_eq!(who(&all, None).as_deref(), Some(leaf));
    }
    assert_eq!(who(&[ssl], None), None);
    assert_eq!(
        who(&[ssl, ("ssl.certificate.location", "/none")], None),
        None
    );
    // A login goes over the certificate.
    let sasl = [
        ("security.protocol", "sasl_ssl"),
        ("ssl.certificate.pem", &text),
        ("sasl.username", "u"),
    ];
    assert_eq!(who(&sasl, None).as_deref(), Some("u"));
}

#[test]
fn a_token_names_its_subject() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    let sasl = [
        ("security.protocol", "sasl_ssl"),
        ("sasl.mechanism", "OAUTHBEARER"),
    ];
    let token = |payload: &str| {
        let payload = URL_SAFE_NO_PAD.encode(payload);
        std::fs::write(&file, format!("e30.{payload}.sig\n")).unwrap();
        who(&sasl, Some(&file))
    };
    let account = "system:serviceaccount:kafka:evenkeel";
    assert_eq!(
        token(&format!("{{\"sub\":\"{account}\"}}")).as_deref(),
        Some(account)
    );
    assert_eq!(token("{\"sub\":7}"), None);
    assert_eq!(token("{}"), None);
    assert_eq!(token("nothing"), None);
    for text in ["", "a", "a.b", "a.%%.c", "\u{e9}"] {
        std::fs::write(&file, text).unwrap();
        assert_eq!(who(&sasl, Some(&file)), None);
    }
    assert_eq!(who(&sasl, Some(Path::new("/none"))), None);
}

/// `openssl x509 -enddate` says the same of the one of the two that ends first.
#[test]
fn a_certificate_expires() {
    let pem = store_path("key.pem");
    let expires = |protocol: &str, name: &str| {
        let properties = [("security.protocol", protocol), (name, &pem)];
        let properties = properties.map(|(name, value)| (name.to_owned(), Secret::new(value)));
        expires_seconds(&properties.into())
    };
    assert_eq!(expires("SSL", "ssl.certificate.location"), Some(4949594663));
    assert_eq!(
        expires("sasl_ssl", "ssl.certificate.location"),
        Some(4949594663)
    );
    assert_eq!(expires("plaintext", "ssl.certificate.location"), None);
    assert_eq!(expires("ssl", "ssl.ca.location"), None);
}
