//! What properties become, and what is refused without repeating a value.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::*;
use crate::read::connection::Hidden;
use crate::read::wall::WallTime;

fn connection(properties: &[(&str, &str)]) -> Connection {
    let mut connection = Connection::default();
    for (name, value) in properties {
        let value = Hidden((*value).to_owned());
        connection.properties.insert((*name).to_owned(), value);
    }
    let brokers = Hidden("b:1".to_owned());
    let properties = &mut connection.properties;
    properties
        .entry("bootstrap.servers".to_owned())
        .or_insert(brokers);
    connection
}

fn of(properties: &[(&str, &str)]) -> Result<Security, Unfit> {
    Security::of(&connection(properties))
}

fn hosts(list: &str) -> Option<Vec<(String, u16)>> {
    let security = of(&[("bootstrap.servers", list)]).ok()?;
    let brokers = security.brokers.into_iter();
    Some(brokers.map(|broker| (broker.host, broker.port)).collect())
}

#[test]
fn brokers_are_read_in_all_ways_of_writing_them() {
    let one = |host: &str, port| Some(vec![(host.to_owned(), port)]);
    assert_eq!(hosts("a:1"), one("a", 1));
    assert_eq!(hosts("a"), one("a", 9092));
    assert_eq!(hosts("SASL_SSL://a.b:443"), one("a.b", 443));
    assert_eq!(hosts("[::1]:5"), one("::1", 5));
    assert_eq!(hosts("[::1]"), one("::1", 9092));
    assert_eq!(hosts("fe80::1"), one("fe80::1", 9092));
    assert_eq!(hosts(" a:1, b:2 ,").unwrap().len(), 2);
    for bad in [
        "", ",", "a:", "a:0", "a:x", "a:70000", "[::1", "[::1]x", "a b:1", ":1",
    ] {
        let ok = hosts(bad);
        assert!(ok.is_none() || bad == "a:", "{bad:?} is {ok:?}");
    }
}

#[test]
fn the_client_id_and_its_default() {
    assert_eq!(of(&[]).unwrap().client_id, "evenkeel");
    assert_eq!(of(&[("client.id", "x")]).unwrap().client_id, "x");
}

#[test]
fn protocols_say_what_else_is_needed() {
    let plain = of(&[("security.protocol", "PLAINTEXT")]).unwrap();
    assert!(plain.tls.is_none() && plain.login.is_none());
    let ssl = of(&[("security.protocol", "SSL")]).unwrap();
    assert!(ssl.tls.is_some_and(|tls| tls.names_host) && ssl.login.is_none());
    let both = of(&[
        ("security.protocol", "sasl_ssl"),
        ("sasl.mechanism", "SCRAM-SHA-512"),
        ("sasl.username", "u"),
        ("sasl.password", "p"),
    ]);
    let both = both.unwrap();
    assert!(both.tls.is_some());
    assert_eq!(both.login.unwrap().mechanism(), "SCRAM-SHA-512");
}

/// Each with the property that must be named.
#[test]
fn what_polls_cannot_do_is_refused_by_name_and_never_by_value() {
    let sasl = ("security.protocol", "sasl_plaintext");
    let ssl = ("security.protocol", "ssl");
    let oauth = ("sasl.mechanism", "OAUTHBEARER");
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("security.protocol", "S3CRET")], "security.protocol"),
        (&[sasl], "sasl.mechanism"),
        (&[sasl, ("sasl.mechanisms", "GSSAPI")], "sasl.mechanism"),
        (&[sasl, ("sasl.mechanism", "S3CRET")], "sasl.mechanism"),
        (&[sasl, ("sasl.mechanism", "PLAIN")], "sasl.username"),
        (
            &[
                sasl,
                ("sasl.mechanism", "PLAIN"),
                ("sasl.username", "S3CRET"),
            ],
            "sasl.password",
        ),
        (&[sasl, oauth], "token file"),
        (
            &[sasl, oauth, ("sasl.oauthbearer.method", "OIDC")],
            "sasl.oauthbearer.method",
        ),
        (
            &[
                sasl,
                oauth,
                ("enable.sasl.oauthbearer.unsecure.jwt", "true"),
                ("sasl.oauthbearer.config", "S3CRET"),
            ],
            "sasl.oauthbearer.config",
        ),
        (
            &[ssl, ("ssl.engine.location", "S3CRET")],
            "ssl.engine.location",
        ),
        (&[ssl, ("ssl.providers", "S3CRET")], "ssl.providers"),
        (
            &[ssl, ("ssl.endpoint.identification.algorithm", "S3CRET")],
            "ssl.endpoint.identification.algorithm",
        ),
        (
            &[ssl, ("enable.ssl.certificate.verification", "S3CRET")],
            "enable.ssl.certificate.verification",
        ),
        (
            &[("broker.address.family", "S3CRET")],
            "broker.address.family",
        ),
        (&[("bootstrap.servers", "S3CRET:x")], "bootstrap.servers"),
    ];
    for (properties, name) in cases {
        let unfit = of(properties).unwrap_err();
        assert!(unfit.is_lasting(), "{unfit}");
        let text = unfit.to_string();
        assert!(text.starts_with(name), "{text}");
        assert!(!format!("{text} {unfit:?}").contains("S3CRET"), "{text}");
    }
}

#[test]
fn files_that_will_not_do_are_named_by_their_property_and_tried_again() {
    let wrong = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(wrong.path(), "S3CRET").unwrap();
    let wrong = wrong.path().to_str().unwrap();
    let ssl = ("security.protocol", "ssl");
    for name in [
        "ssl.ca.location",
        "ssl.crl.location",
        "ssl.certificate.location",
        "ssl.key.location",
        "ssl.keystore.location",
        "ssl.ca.pem",
        "ssl.certificate.pem",
        "ssl.key.pem",
        "ssl.cipher.suites",
        "ssl.curves.list",
        "ssl.sigalgs.list",
    ] {
        for value in [wrong, "/no/S3CRET"] {
            let security = of(&[ssl, (name, value)]).unwrap();
            let context = security.tls.unwrap().context();
            let Err(unfit) = context else {
                panic!("{name} is taken");
            };
            assert!(!unfit.is_lasting());
            let text = unfit.to_string();
            assert!(text.starts_with(name), "{text}");
            assert!(!text.contains("S3CRET") && !text.contains(wrong), "{text}");
        }
    }
}

fn claims(token: &str) -> serde_json::Value {
    let mut parts = token.split('.');
    let header = URL_SAFE_NO_PAD.decode(parts.next().unwrap()).unwrap();
    assert_eq!(header, br#"{"alg":"none"}"#);
    let claims = URL_SAFE_NO_PAD.decode(parts.next().unwrap()).unwrap();
    assert_eq!(parts.next(), Some(""));
    assert_eq!(parts.next(), None);
    serde_json::from_slice(&claims).unwrap()
}

#[test]
fn an_unsecured_token_says_what_is_configured() {
    let token = |config: &str| {
        let security = of(&[
            ("security.protocol", "sasl_plaintext"),
            ("sasl.mechanism", "OAUTHBEARER"),
            ("enable.sasl.oauthbearer.unsecure.jwt", "true"),
            ("sasl.oauthbearer.config", config),
        ]);
        let login = security.unwrap().login.unwrap();
        match login.secrets(WallTime(1_700_000_000_999)).unwrap() {
            Secrets::Token { token, extensions } => (claims(&token), extensions),
            Secrets::Password { .. } => panic!("a password"),
        }
    };
    let (claims, extensions) = token("principal=ada");
    let expected = serde_json::json!({"sub": "ada", "iat": 1_700_000_000, "exp": 1_700_003_600});
    assert_eq!(claims, expected);
    assert!(extensions.is_empty());
    let (claims, extensions) = token(
        "principalClaimName=name principal=ada scopeClaimName=roles scope=a,b lifeSeconds=60 \
         extension_cluster=x",
    );
    let expected = serde_json::json!({
        "name": "ada", "roles": ["a", "b"], "iat": 1_700_000_000, "exp": 1_700_000_060
    });
    assert_eq!(claims, expected);
    assert_eq!(extensions, [("cluster".to_owned(), "x".to_owned())]);
}

#[test]
fn what_an_unsecured_token_cannot_say_is_refused() {
    for config in [
        "",
        "scope=a",
        "principal=",
        "principal",
        "principal=a lifeSeconds=0",
        "principal=a lifeSeconds=x",
        "principal=a unknown=b",
        "principal=a extension_auth=b",
        "principal=a extension_=b",
        "principal=a extension_x1=b",
    ] {
        assert_eq!(crate::read::token::Claims::parse(config), None, "{config}");
    }
}

/// Opening a pipe waits for whoever writes to it.
#[test]
fn what_is_no_regular_file_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let pipe = pipe.to_str().unwrap();
    for name in [
        "ssl.ca.location",
        "ssl.crl.location",
        "ssl.certificate.location",
        "ssl.key.location",
        "ssl.keystore.location",
    ] {
        let security = of(&[("security.protocol", "ssl"), (name, pipe)]).unwrap();
        let unfit = security.tls.unwrap().context().err().unwrap();
        let reason = "is no regular file";
        assert_eq!(unfit, Unfit::Content { name, reason });
    }
}
