//! What a client accepts, and that its errors repeat no value.

use std::collections::BTreeMap;

use evenkeel_core::facts::input::{Topic, Trouble};
use rdkafka::consumer::Consumer as _;
use rdkafka::error::RDKafkaErrorCode;

use super::super::{ReadError, ReadSettings, check, mistakes};
use super::{FORCED, config, refused, trouble};
use crate::read::connection::{Connection, Hidden};

fn settings(properties: &[(&str, &str)]) -> ReadSettings {
    let properties: BTreeMap<String, Hidden> = properties
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Hidden((*value).to_owned())))
        .collect();
    ReadSettings {
        connection: Connection {
            properties,
            token_file: None,
        },
        group: "connect".to_owned(),
        offsets_topic: "__consumer_offsets".to_owned(),
        config_topic: "connect-configs".to_owned(),
        status_topic: "connect-status".to_owned(),
        ..ReadSettings::default()
    }
}

#[test]
fn observes_whatever_the_user_says() {
    let settings = settings(&[("fetch.wait.max.ms", "100")]);
    for topic in Topic::ALL {
        let config = config(&settings.connection.properties, topic).unwrap();
        assert_eq!(config.get("enable.auto.commit"), Some("false"));
        assert_eq!(config.get("enable.auto.offset.store"), Some("false"));
        assert_eq!(config.get("allow.auto.create.topics"), Some("false"));
        assert_eq!(config.get("auto.offset.reset"), Some("error"));
        assert_eq!(config.get("enable.partition.eof"), Some("true"));
        assert_eq!(config.get("group.id"), Some("evenkeel-observer"));
        assert_eq!(config.get("fetch.wait.max.ms"), Some("100"), "the user's");
        let isolation = match topic {
            Topic::Config => "read_committed",
            Topic::Offsets | Topic::Status => "read_uncommitted",
        };
        assert_eq!(config.get("isolation.level"), Some(isolation));
    }
}

#[test]
fn looks_for_authorities_unless_told_which() {
    let plain = config(&settings(&[]).connection.properties, Topic::Config).unwrap();
    assert_eq!(plain.get("ssl.ca.location"), Some("probe"));
    let pem = config(
        &settings(&[("ssl.ca.pem", "x")]).connection.properties,
        Topic::Config,
    )
    .unwrap();
    assert_eq!(pem.get("ssl.ca.location"), None);
}

/// What is forced, and what each topic needs, nobody may set; the list is the one of the
/// configuration.
#[test]
fn refuses_what_would_not_be_observing() {
    let forced = FORCED.iter().map(|(name, _)| *name);
    let others = [
        "auto.commit.enable",
        "client.rack",
        "group.id",
        "group.instance.id",
        "group.protocol",
        "isolation.level",
        "metadata.broker.list",
        "plugin.library.paths",
        "test.mock.num.brokers",
    ];
    for name in forced.chain(others) {
        assert!(crate::config::refused(name).is_some(), "{name}");
        let error = check(&settings(&[(name, "1")])).unwrap_err();
        assert!(
            matches!(&error, ReadError::NotAllowed { name: found, .. } if found == name),
            "{error}"
        );
    }
}

#[test]
fn names_the_mistake_and_never_the_value() {
    let secret = "t0p-s3cret-value";
    let cases: &[&[(&str, &str)]] = &[
        &[("no.such.property", secret)],
        &[("sasl.mechanism.broker", secret)],
        &[("socket.timeout.ms", secret)],
        &[("security.protocol", secret)],
        &[("sasl.jaas.config", secret)],
        &[
            ("security.protocol", "SASL_SSL"),
            ("sasl.mechanism", "PLAIN"),
            ("sasl.username", "u"),
            ("sasl.password", secret),
            ("ssl.ca.location", "/no/such/file"),
        ],
        &[
            ("security.protocol", "SSL"),
            ("ssl.key.pem", secret),
            ("ssl.certificate.pem", secret),
        ],
        &[
            ("security.protocol", "SSL"),
            ("ssl.keystore.location", "/no/such/file"),
            ("ssl.keystore.password", secret),
        ],
    ];
    for properties in cases {
        let error = check(&settings(properties)).unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(!text.contains(secret), "{text}");
    }
    let unknown = check(&settings(&[("no.such.property", secret)])).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "property no.such.property: No such configuration property: \"no.such.property\""
    );
    let shown = format!("{:?}", settings(&[("sasl.password", secret)]));
    assert!(!shown.contains(secret), "{shown}");
}

#[test]
fn sorts_errors_into_troubles() {
    use RDKafkaErrorCode as Code;
    let cases = [
        (Code::TopicAuthorizationFailed, Some(Trouble::Denied)),
        (Code::UnknownTopicOrPartition, Some(Trouble::Missing)),
        (
            Code::SaslAuthenticationFailed,
            Some(Trouble::Unauthenticated),
        ),
        (Code::AllBrokersDown, Some(Trouble::Unreachable)),
        (Code::OperationTimedOut, Some(Trouble::Unreachable)),
        (Code::InvalidRecord, Some(Trouble::Other)),
        (Code::GroupAuthorizationFailed, None),
        (Code::PartitionEOF, None),
    ];
    for (code, expected) in cases {
        assert_eq!(trouble(code), expected, "{code:?}");
    }
}

/// Each that is wrong alone, at once; how they fit together only when none is.
#[test]
fn all_mistakes_are_told() {
    let secret = "t0p-s3cret-value";
    let wrong = settings(&[
        ("no.such.property", secret),
        ("security.protocol", secret),
        ("socket.timeout.ms", secret),
        ("sasl.username", "fits"),
        ("group.id", secret),
        ("ssl.ca.location", "/no/such/file"),
    ]);
    let told = mistakes(&wrong.connection);
    let names: Vec<&str> = told
        .iter()
        .map(|mistake| match mistake {
            ReadError::Property { name, .. } | ReadError::NotAllowed { name, .. } => name.as_str(),
            ReadError::Client { reason } => reason,
        })
        .collect();
    assert_eq!(
        names,
        [
            "group.id",
            "no.such.property",
            "security.protocol",
            "socket.timeout.ms"
        ]
    );
    assert!(!format!("{told:?}").contains(secret), "{told:?}");
    let together = settings(&[
        ("security.protocol", "SSL"),
        ("ssl.ca.location", "/no/such/file"),
    ]);
    let told = mistakes(&together.connection);
    assert!(matches!(told[..], [ReadError::Client { .. }]), "{told:?}");
    assert_eq!(mistakes(&settings(&[]).connection), []);
}

#[test]
fn an_alert_after_the_handshake_is_a_refusal() {
    let alert = "ssl://127.0.0.1:9093/bootstrap: Receive failed: error:0A000416:SSL routines::\
                 ssl/tls alert certificate unknown: SSL alert number 46 (after 14ms in state \
                 APIVERSION_QUERY)";
    let told = refused(Trouble::Unreachable, alert);
    assert_eq!(told, Trouble::Unauthenticated);
    let closed = "ssl://127.0.0.1:9093/bootstrap: Disconnected while requesting ApiVersion";
    assert_eq!(refused(Trouble::Unreachable, closed), Trouble::Unreachable);
    assert_eq!(refused(Trouble::Missing, alert), Trouble::Missing);
}

/// What librdkafka would accept and then wait for ever for a token.
#[test]
fn a_token_must_come_from_somewhere() {
    let sasl = |protocol: &str, more: &[(&str, &str)]| {
        let mut all = vec![
            ("security.protocol", protocol),
            ("sasl.mechanism", "OAUTHBEARER"),
        ];
        all.extend(more);
        mistakes(&settings(&all).connection)
    };
    let on = ("enable.sasl.oauthbearer.unsecure.jwt", "True");
    let config = "sasl.oauthbearer.config";
    let ada = (config, "principal=ada lifeSeconds=60");
    assert_eq!(sasl("sasl_plaintext", &[on, ada]), []);
    assert_eq!(sasl("plaintext", &[]), []);
    for none in [&[][..], &[on], &[ada], &[(on.0, "F"), ada]] {
        let told = sasl("SASL_PLAINTEXT", none);
        let [ReadError::Client { reason }] = &told[..] else {
            panic!("{told:?}");
        };
        assert!(reason.contains("kafka.token_file"), "{reason}");
    }
    for wrong in ["principal=S3CRET lifeSeconds=60.5", "sub=S3CRET"] {
        let told = sasl("sasl_ssl", &[on, (config, wrong)]);
        assert!(
            matches!(&told[..], [ReadError::Property { name, .. }] if name == config),
            "{told:?}"
        );
        assert!(!format!("{told:?}").contains("S3CRET"), "{told:?}");
    }
    let mut connection = settings(&[
        ("security.protocol", "sasl_ssl"),
        ("sasl.mechanism", "OAUTHBEARER"),
    ])
    .connection;
    connection.token_file = Some("/none/token".into());
    assert_eq!(mistakes(&connection), [], "it may be there later");
}

/// Cut out of a sentence, a short value would show by what is missing there.
#[test]
fn a_reason_is_whole_or_not_told() {
    let told = mistakes(&settings(&[("socket.timeout.ms", "5")]).connection);
    assert_eq!(
        told[0].to_string(),
        "property socket.timeout.ms: its value is not taken"
    );
    let told = mistakes(&settings(&[("no.such.property", "such")]).connection);
    assert_eq!(
        told[0].to_string(),
        "property no.such.property: no such property, or not in this build"
    );
    let file = ("ssl.ca.location", "/no/such/file");
    let ssl = ("security.protocol", "SSL");
    let whole = mistakes(&settings(&[ssl, file]).connection)[0].to_string();
    assert!(whole.contains("ssl.ca.location failed"), "{whole}");
    let short = ("ssl.key.password", "fail");
    let told = mistakes(&settings(&[ssl, file, short]).connection)[0].to_string();
    assert_eq!(told, "kafka client not created: not taken: ssl.ca.location");
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let ssl = ("security.protocol", "SSL");
    for name in ["ssl.ca.location", "ssl.key.location"] {
        let told = mistakes(&settings(&[ssl, (name, pipe.to_str().unwrap())]).connection);
        let expected = format!("property {name}: names no regular file");
        assert_eq!(told[0].to_string(), expected);
    }
}

/// librdkafka tells a failed handshake as an error of TLS and as one of the transport, in
/// turn and ten times a second.
#[test]
fn errors_that_take_turns_are_said_once_each() {
    let client = super::create(&settings(&[]).connection, Topic::Config).unwrap();
    let codes = [
        RDKafkaErrorCode::SSL,
        RDKafkaErrorCode::BrokerTransportFailure,
    ];
    let context = client.context();
    let news: Vec<bool> = (0..3)
        .flat_map(|_| codes)
        .map(|code| context.is_news(code))
        .collect();
    assert_eq!(news, [true, true, false, false, false, false]);
}
