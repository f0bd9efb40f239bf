//! Whole files: what a connection becomes, or what is told.

use std::collections::BTreeSet;

use super::*;
use crate::config::worker::properties_file;

const PLAIN: &str = "\
security.protocol=SASL_SSL
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  username=\"al\\\\\"ice\" password=\"top;secret\";
";
const SCRAM: &str = "\
security.protocol=SASL_PLAINTEXT
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username=a password='b';
";
const OAUTH: &str = "\
security.protocol=sasl_plaintext
sasl.mechanism=OAUTHBEARER
sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required";
const FROM_URL: &str = "\
sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler
";

struct Told {
    translated: Translated,
    mistakes: Vec<String>,
    asked: BTreeSet<String>,
}

fn tell(text: &str, own: &[(&str, &str)]) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("w.properties");
    std::fs::write(&file, text).unwrap();
    let mut settings = Settings::read(Some((&file, "file")), &[], &|_| None);
    let own: BTreeMap<String, Secret> = own
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)))
        .collect();
    let over = Over {
        properties: &own,
        has_token_file: false,
        has_brokers: false,
    };
    let translated = translate(&mut settings, over);
    let mistakes = settings.mistakes.iter().map(|mistake| {
        let origin = mistake.origin.as_deref().unwrap_or("-");
        format!(
            "{} {}: {}",
            origin.replace("w.properties:", "line "),
            mistake.path,
            mistake.found
        )
    });
    Told {
        translated,
        mistakes: mistakes.collect(),
        asked: settings.asked,
    }
}

/// The properties, in order, `name=value`; certificates and keys by their first line.
#[track_caller]
fn good(text: &str, own: &[(&str, &str)]) -> Vec<String> {
    let told = tell(text, own);
    assert_eq!(told.mistakes, [""; 0]);
    let properties = told.translated.properties.iter();
    let shown = properties.map(|(name, (value, _))| {
        let first = value.expose().lines().next().unwrap_or_default();
        format!("{name}={first}")
    });
    shown.collect()
}

#[track_caller]
fn wrong(text: &str) -> Vec<String> {
    tell(text, &[]).mistakes
}

#[test]
fn nothing_is_plaintext() {
    assert_eq!(good("", &[]), [""; 0]);
    assert_eq!(
        good("bootstrap.servers= PLAINTEXT://a:1 , [::1]:2", &[]),
        ["bootstrap.servers=a:1,[::1]:2"]
    );
    assert_eq!(
        wrong("bootstrap.servers=a"),
        ["line 1 bootstrap.servers: what is no list of brokers"]
    );
    // A store that no connection uses is nobody's business.
    assert_eq!(
        good(
            "ssl.truststore.location=/none\nsecurity.protocol=PLAINTEXT",
            &[]
        ),
        ["security.protocol=plaintext"]
    );
    assert_eq!(
        wrong("security.protocol=TLS"),
        ["line 1 security.protocol: another protocol"]
    );
}

#[test]
fn passwords_log_in() {
    assert_eq!(
        good(PLAIN, &[]),
        [
            "sasl.mechanism=PLAIN",
            "sasl.password=top;secret",
            "sasl.username=al\"ice",
            "security.protocol=sasl_ssl",
            "ssl.ca.location=probe",
        ]
    );
    assert_eq!(
        good(SCRAM, &[]),
        [
            "sasl.mechanism=SCRAM-SHA-512",
            "sasl.password=b",
            "sasl.username=a",
            "security.protocol=sasl_plaintext",
        ]
    );
    let swapped = SCRAM.replace("SCRAM-SHA-512", "PLAIN");
    assert_eq!(
        wrong(&swapped),
        ["line 3 sasl.jaas.config: another login module"]
    );
    let token = SCRAM.replace("password='b'", "password=b tokenauth=true");
    assert_eq!(
        wrong(&token),
        ["line 3 sasl.jaas.config: a delegation token (tokenauth)"]
    );
    let nameless = SCRAM.replace("username=a", "");
    assert_eq!(
        wrong(&nameless),
        ["line 3 sasl.jaas.config: a login module without username"]
    );
    let gone = SCRAM.replace("sasl.jaas.config", "#");
    assert_eq!(wrong(&gone), ["- sasl.jaas.config: nothing"]);
    let plain = SCRAM.replace("SASL_PLAINTEXT", "PLAINTEXT");
    assert_eq!(
        wrong(&plain),
        ["line 3 sasl.jaas.config: a login, and security.protocol PLAINTEXT"]
    );
    let unsaid = SCRAM.replace("security.protocol", "#");
    assert_eq!(
        wrong(&unsaid),
        ["line 3 sasl.jaas.config: a login, and security.protocol PLAINTEXT"]
    );
}

#[test]
fn what_cannot_be_had_is_refused_by_name() {
    let kerberos = "security.protocol=SASL_SSL\n";
    assert_eq!(
        wrong(kerberos),
        ["- sasl.mechanism: nothing, which is GSSAPI"]
    );
    assert_eq!(
        wrong(&format!("{kerberos}sasl.mechanism=GSSAPI")),
        ["line 2 sasl.mechanism: GSSAPI"]
    );
    assert_eq!(
        wrong(&format!("{kerberos}sasl.mechanism=AWS_MSK_IAM")),
        ["line 2 sasl.mechanism: another mechanism"]
    );
    for name in [
        "sasl.login.class",
        "sasl.client.callback.handler.class",
        "sasl.login.callback.handler.class",
    ] {
        let text = format!("{SCRAM}{name}=com.example.Own\n");
        assert_eq!(wrong(&text), [format!("line 4 {name}: a Java class")]);
    }
    let engine = "security.protocol=SSL\nssl.engine.factory.class=com.example.Own\n";
    assert_eq!(
        wrong(engine),
        ["line 2 ssl.engine.factory.class: a Java class"]
    );
    assert_eq!(
        good(
            &engine.replace(
                "com.example.Own",
                crate::config::worker::tls::ENGINE_DEFAULT
            ),
            &[]
        )
        .len(),
        2
    );
    let old = "security.protocol=SSL\nssl.enabled.protocols=TLSv1,TLSv1.1\nssl.protocol=SSLv3\nssl.cipher.suites=TLS_NONE\nssl.endpoint.identification.algorithm=ldap";
    assert_eq!(
        wrong(old),
        [
            "line 5 ssl.endpoint.identification.algorithm: another algorithm",
            "line 2 ssl.enabled.protocols: neither of these",
            "line 3 ssl.protocol: neither of these",
            "line 4 ssl.cipher.suites: a suite that OpenSSL does not have",
        ]
    );
}

#[test]
fn what_kafka_properties_set_is_not_looked_at() {
    let bad = "security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\nssl.engine.factory.class=x\nssl.truststore.location=/none\nssl.keystore.location=/none\n";
    assert_eq!(wrong(bad).len(), 4);
    let own = [
        ("sasl.mechanisms", "PLAIN"),
        ("sasl.username", "a"),
        ("sasl.password", "b"),
        ("ssl.ca.location", "/ca"),
        ("ssl.key.location", "/key"),
    ];
    assert_eq!(good(bad, &own), ["security.protocol=sasl_ssl"]);
    // Another user with the worker's mechanism.
    let own = [("sasl.username", "evenkeel"), ("sasl.password", "b")];
    let jaas = SCRAM.replace("ScramLoginModule", "Own");
    assert_eq!(
        good(&jaas, &own),
        [
            "sasl.mechanism=SCRAM-SHA-512",
            "security.protocol=sasl_plaintext"
        ]
    );
    let own = [("security.protocol", "plaintext")];
    assert_eq!(good(bad, &own), [""; 0]);
}

#[test]
fn unsecured_tokens_are_made_alike() {
    let text = format!(
        "{OAUTH} unsecuredLoginStringClaim_sub=\"alice\" unsecuredLoginLifetimeSeconds=\"600\" unsecuredLoginListClaim_scope=\"|a|b\" unsecuredLoginExtension_trace=\"1x\";\n"
    );
    assert_eq!(
        good(&text, &[]),
        [
            "enable.sasl.oauthbearer.unsecure.jwt=true",
            "sasl.mechanism=OAUTHBEARER",
            "sasl.oauthbearer.config=extension_trace=1x lifeSeconds=600 principal=alice principalClaimName=sub scope=a,b",
            "security.protocol=sasl_plaintext",
        ]
    );
    let none = wrong(&format!("{OAUTH};"));
    assert_eq!(
        none,
        ["line 3 sasl.jaas.config: a login module without a token"]
    );
    let other = wrong(&format!(
        "{OAUTH} unsecuredLoginStringClaim_sub=a unsecuredLoginNumberClaim_x=\"1\";"
    ));
    assert_eq!(
        other,
        ["line 3 sasl.jaas.config: an option that librdkafka's tokens do not have"]
    );
    for lifetime in ["60.5", "0", "-1", "soon", ""] {
        let told = wrong(&format!(
            "{OAUTH} unsecuredLoginStringClaim_sub=a unsecuredLoginLifetimeSeconds=\"{lifetime}\";"
        ));
        let expected = "line 3 sasl.jaas.config: an unsecuredLoginLifetimeSeconds that is no whole number above 0";
        assert_eq!(told, [expected], "{lifetime}");
    }
    let blank = wrong(&format!("{OAUTH} unsecuredLoginStringClaim_sub=\"a b\";"));
    assert_eq!(
        blank,
        ["line 3 sasl.jaas.config: a value with a blank or a sign in it, or an empty one"]
    );
}

#[test]
fn tokens_come_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("to ken");
    std::fs::write(&token, "a.b.c").unwrap();
    let url = token.display().to_string().replace(' ', "%20");
    for prefix in ["file:", "file://", "file://localhost"] {
        let text =
            format!("{OAUTH};\n{FROM_URL}sasl.oauthbearer.token.endpoint.url={prefix}{url}\n");
        let told = tell(&text, &[]);
        assert_eq!(told.mistakes, [""; 0]);
        let (file, source) = told.translated.token_file.unwrap();
        assert_eq!((file, source.as_str()), (token.clone(), "w.properties:5"));
    }
    let retriever = |class: &str| {
        wrong(&format!(
            "{OAUTH};\n{FROM_URL}sasl.oauthbearer.token.endpoint.url=file:{url}\nsasl.oauthbearer.jwt.retriever.class=org.apache.kafka.common.security.oauthbearer.{class}\n"
        ))
    };
    assert_eq!(retriever("FileJwtRetriever"), [""; 0]);
    assert_eq!(
        retriever("ClientCredentialsJwtRetriever"),
        ["line 6 sasl.oauthbearer.jwt.retriever.class: another class"]
    );
    let at = |url: &str| {
        wrong(&format!(
            "{OAUTH};\n{FROM_URL}sasl.oauthbearer.token.endpoint.url={url}"
        ))
    };
    assert_eq!(
        at("https://idp/token"),
        ["line 5 sasl.oauthbearer.token.endpoint.url: no file: URL"]
    );
    assert_eq!(
        at("file://host/x"),
        ["line 5 sasl.oauthbearer.token.endpoint.url: no file: URL"]
    );
    assert!(at("file:/none/x")[0].contains("/none/x: No such file"));
    assert_eq!(
        wrong(&format!("{OAUTH};\n{FROM_URL}")),
        ["- sasl.oauthbearer.token.endpoint.url: nothing"]
    );
    let more = wrong(&format!(
        "{OAUTH} extension_x=y;\n{FROM_URL}sasl.oauthbearer.token.endpoint.url=file:{url}"
    ));
    assert_eq!(more, ["line 3 sasl.jaas.config: extensions of the login"]);
}

#[test]
fn every_translated_setting_is_looked_at() {
    let mut asked = BTreeSet::new();
    let token = format!("{OAUTH};\n{FROM_URL}").replace("plaintext", "ssl");
    for text in ["", PLAIN, &token] {
        asked.extend(tell(text, &[]).asked);
    }
    for (name, verdict) in security::SETTINGS {
        let is_harmless = matches!(verdict, Verdict::Harmless(_));
        assert_eq!(asked.contains(name), !is_harmless, "{name}");
    }
    assert!(properties_file::parse(PLAIN).is_ok());
}

mod stores;
