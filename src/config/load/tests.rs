//! Whole configurations: what they make, or every mistake they tell.

use super::*;
use crate::config::{LogFormat, LogLevel, Readiness};

const GOOD: &str = "
kafka:
  bootstrap: broker-1:9092, [::1]:9093
  properties:
    security.protocol: SASL_SSL
    sasl.password: ${env:PASSWORD}
    socket.timeout.ms: 1000
groups:
  - group: connect-a
    config_topic: a-configs
    status_topic: a-status
    worker_release: 3.10
  - group: connect-b
    config_topic: b-configs
    status_topic: b-status
    own_worker: worker-b:8083
metrics:
http:
  listen: :9999
  readiness: strict
";

fn vars(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn set(pairs: &[(&str, &str)]) -> Vec<Override> {
    let over = |(key, value): &(&str, &str)| Override {
        key: (*key).to_owned(),
        value: (*value).to_owned(),
        origin: "--set".to_owned(),
    };
    pairs.iter().map(over).collect()
}

#[track_caller]
fn good(file: &str, vars: &[(String, String)], flags: &[Override]) -> Config {
    match (Sources {
        file: Some(file),
        vars,
        flags,
    })
    .load()
    {
        Ok(loaded) => loaded.config,
        Err(mistakes) => panic!("{mistakes}"),
    }
}

/// The mistakes of a file, as a person reads them, without the head line.
#[track_caller]
fn mistakes(file: &str, vars: &[(String, String)], flags: &[Override]) -> String {
    match (Sources {
        file: Some(file),
        vars,
        flags,
    })
    .load()
    {
        Ok(loaded) => panic!("no mistake found in {:?}", loaded.tree),
        Err(mistakes) => {
            let text = mistakes.to_string();
            let (head, rest) = text.split_once('\n').unwrap();
            assert!(head.starts_with(&mistakes.0.len().to_string()), "{head}");
            format!("{rest}\n")
        }
    }
}

#[test]
fn a_file_becomes_a_configuration() {
    let config = good(GOOD, &vars(&[("PASSWORD", "hunter2")]), &[]);
    assert_eq!(config.kafka.bootstrap, "broker-1:9092, [::1]:9093");
    assert_eq!(config.http.listen.to_string(), "0.0.0.0:9999");
    assert_eq!(config.http.readiness, Readiness::Strict);
    assert_eq!(config.groups.len(), 2);
    assert_eq!(config.groups[0].offsets_topic, "__consumer_offsets");
    // Unquoted, and still what stands there.
    assert_eq!(config.groups[0].worker_release.as_deref(), Some("3.10"));
    assert_eq!(
        config.groups[1].own_worker.as_deref(),
        Some("worker-b:8083")
    );
    // A section without keys is one with all its defaults.
    assert_eq!(config.metrics.subjects_max, 50);
    let resolved = config
        .kafka
        .properties
        .resolved(&|name| (name == "PASSWORD").then(|| "hunter2".to_owned()));
    let resolved = resolved.unwrap();
    assert_eq!(resolved["sasl.password"].expose(), "hunter2");
    assert_eq!(resolved["socket.timeout.ms"].expose(), "1000");
}

#[test]
fn flags_go_over_variables_and_those_over_the_file() {
    let file = "
kafka: {bootstrap: file:1}
groups: [{group: file, config_topic: file-c, status_topic: file-s}]
log: {level: error, format: json}
";
    let env = vars(&[
        ("EVENKEEL_KAFKA_BOOTSTRAP", "env:2"),
        ("EVENKEEL_GROUP", "env"),
        ("EVENKEEL_CONFIG_TOPIC", "env-c"),
        ("EVENKEEL_LOG_LEVEL", "debug"),
        ("EVENKEEL_METRICS_SERIES_MAX", "2000"),
        ("EVENKEEL_KAFKA_PROPERTIES_SECURITY_PROTOCOL", "sasl_ssl"),
        ("EVENKEEL_KAFKA_PROPERTIES_SASL_PASSWORD", "from env"),
    ]);
    let flags = set(&[("kafka.bootstrap", "flag:3"), ("groups.group", "flag")]);
    let config = good(file, &env, &flags);
    assert_eq!(config.kafka.bootstrap, "flag:3");
    assert_eq!(config.groups[0].group, "flag");
    assert_eq!(config.groups[0].config_topic, "env-c");
    assert_eq!(config.groups[0].status_topic, "file-s");
    assert_eq!(config.log.level, LogLevel::Debug);
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!(config.metrics.series_max, 2000);
    let password = config
        .kafka
        .properties
        .iter()
        .find(|(name, _)| *name == "sasl.password");
    assert_eq!(password.unwrap().1.expose(), "from env");
}

#[test]
fn the_web_configuration_is_named_like_everything_else() {
    let named = |vars: &[(&str, &str)], flags: &[(&str, &str)]| {
        let http = good(GOOD, &self::vars(vars), &set(flags)).http;
        http.web_config_file.map(|path| path.display().to_string())
    };
    // GOOD needs its password.
    let password = ("PASSWORD", "x");
    let variable = ("EVENKEEL_HTTP_WEB_CONFIG_FILE", "env.yml");
    let flag = ("http.web_config_file", "flag.yml");
    assert_eq!(named(&[password], &[]), None);
    assert_eq!(
        named(&[password, variable], &[]).as_deref(),
        Some("env.yml")
    );
    assert_eq!(
        named(&[password, variable], &[flag]).as_deref(),
        Some("flag.yml")
    );
    // An empty variable is none.
    assert_eq!(named(&[password, (variable.0, "")], &[]), None);
}

#[test]
fn no_file_is_needed() {
    let flags = ConfigFlags {
        bootstrap: Some("b:9092".to_owned()),
        group: Some("connect".to_owned()),
        config_topic: Some("c".to_owned()),
        status_topic: Some("s".to_owned()),
        set: vec!["metrics.subjects_max=7".to_owned()],
        ..ConfigFlags::default()
    };
    let loaded = load(&flags, &[], |_| Vec::new(), |_| Vec::new()).unwrap();
    assert_eq!(loaded.config.groups[0].group, "connect");
    assert_eq!(loaded.config.metrics.subjects_max, 7);
    assert_eq!(loaded.file, None);
}

#[test]
fn an_empty_configuration_says_what_is_missing() {
    assert_eq!(
        mistakes("# nothing but a comment\n", &[], &[]),
        "\
kafka.bootstrap: found nothing, expected at least one broker as host:port
  hint: --bootstrap broker-1:9092, or --worker-properties FILE
groups: found nothing, expected at least one Connect group
  hint: --worker-properties connect-distributed.properties, or --group connect-cluster --config-topic connect-configs --status-topic connect-status
"
    );
}

#[test]
fn every_mistake_is_told_at_once() {
    let file = "
kafka:
  bootstrap: [broker]
  propertys: {a: b}
  properties:
    group.instance.id: topsecret
    test.mock.num.brokers: 3
    sasl.jaas.config: topsecret
    sasl.password: {nested: topsecret}
    ssl.key.password: ${env:NOT_SET}
groups:
  - group: a
    config_topic: same
    status_topic: same
    offsets_topic: ''
  - grp: a
    group: a
    config_topic: sl/ash
    own_worker: no-port
    worker_release: newest
http: 9790
metrics:
  series_max: 999
  subjects_max: many
log:
  level: inof
";
    assert_eq!(
        mistakes(file, &[], &[]),
        "\
kafka.propertys: found an unknown key, expected a key of the reference
  hint: did you mean properties?
kafka.bootstrap: found a list, expected a text
kafka.properties.sasl.password: found a section, expected a text
groups[1].grp: found an unknown key, expected a key of the reference
  hint: did you mean group?
http: found a text, expected keys: listen, readiness, web_config_file, probes
metrics.subjects_max: found \"many\", expected a whole number
log.level: found \"inof\", expected one of error, warn, info, debug, trace
  hint: did you mean info?
kafka.properties.group.instance.id: found a value, expected this property to be left alone
  hint: the agent never joins a group
kafka.properties.sasl.jaas.config: found a property of Java clients, expected one of librdkafka
  hint: set sasl.username and sasl.password
kafka.properties.test.mock.num.brokers: found a value, expected this property to be left alone
  hint: the agent watches a real cluster
kafka.properties.ssl.key.password: found a reference to NOT_SET, expected an environment variable that is set
groups[1].group: found \"a\" again, expected each group once
groups[0].offsets_topic: found nothing, expected the broker's topic for group records
groups[0].status_topic: found \"same\", which is config_topic too, expected a topic of its own
groups[1].config_topic: found \"sl/ash\", expected a topic name: letters, digits, dot, underscore, dash; at most 249
groups[1].status_topic: found nothing, expected the workers' status.storage.topic
groups[1].own_worker: found \"no-port\", expected host:port
groups[1].worker_release: found \"newest\", expected a Kafka release such as 3.9.1
metrics.series_max: found 999, expected 1000 to 1000000
"
    );
}

#[test]
fn variables_and_flags_are_checked_like_the_file() {
    let env = vars(&[
        ("EVENKEEL_KAFKA_BOOTSTRP", "b:1"),
        ("EVENKEEL_HTTP_LISTEN", "nowhere"),
        ("EVENKEEL_CONFIG_TOPIC", "one-of-two"),
        // What Kubernetes sets for a service called evenkeel.
        ("EVENKEEL_SERVICE_HOST", "10.0.0.1"),
        ("EVENKEEL_SERVICE_PORT_METRICS", "9790"),
        ("EVENKEEL_PORT", "tcp://10.0.0.1:9790"),
        ("EVENKEEL_PORT_9790_TCP_ADDR", "10.0.0.1"),
        // The file's name is no key.
        ("EVENKEEL_CONFIG", "/etc/evenkeel.yaml"),
        ("PASSWORD", "x"),
    ]);
    let flags = set(&[
        ("log.levle", "debug"),
        ("kafka", "b:1"),
        ("kafka.properties.", "x"),
        ("traces.headers", "x-tenant=orders"),
    ]);
    assert_eq!(
        mistakes(GOOD, &env, &flags),
        "\
EVENKEEL_KAFKA_BOOTSTRP: found nothing of that name, expected the name of a key
  hint: did you mean EVENKEEL_KAFKA_BOOTSTRAP?
groups.config_topic: found 2 groups in the file, expected one, where a flag or a variable names a key of the only group (set by EVENKEEL_CONFIG_TOPIC)
log.levle: found nothing of that name, expected a key (set by --set)
  hint: did you mean log.level?
kafka: found a section, expected one key of it, as kafka.bootstrap=VALUE (set by --set)
kafka.properties: found a map, expected one value of it, as kafka.properties.NAME=VALUE (set by --set)
traces.headers: found a map, expected one value of it, as traces.headers.NAME=VALUE (set by --set)
http.listen: found \"nowhere\", expected ADDR:PORT with an IP address (set by EVENKEEL_HTTP_LISTEN)
  hint: 0.0.0.0:9790, [::]:9790, 127.0.0.1:9790 or :9790
"
    );
}

#[test]
fn no_secret_is_ever_told() {
    let file = "
kafka:
  bootstrap: b:1
  properties:
    security.protocol: SASL_SSL
    sasl.username: evenkeel
    sasl.password: topsecret
    ssl.key.pem: topsecret
    unknown.thing: topsecret
    ssl.key.password: ${env:PASSWORD}
groups: [{group: a, config_topic: c, status_topic: s}]
";
    let env = vars(&[
        ("PASSWORD", "topsecret"),
        (
            "EVENKEEL_KAFKA_PROPERTIES_SASL_OAUTHBEARER_CONFIG",
            "topsecret",
        ),
    ]);
    let loaded = Sources {
        file: Some(file),
        vars: &env,
        flags: &[],
    }
    .load()
    .unwrap();
    let printed = serde_yaml::to_string(&loaded.tree).unwrap();
    let debug = format!("{loaded:?}");
    for text in [&printed, &debug] {
        assert!(!text.contains("topsecret"), "{text}");
        assert!(
            text.contains("[hidden]")
                && text.contains("evenkeel")
                && text.contains("${env:PASSWORD}"),
            "{text}"
        );
    }
    let principal = loaded.config.groups[0].principal.as_deref();
    assert_eq!(principal, Some("evenkeel"));
}

fn refused(flags: &ConfigFlags, vars: &[(String, String)]) -> String {
    let loaded = load(flags, vars, |_| Vec::new(), |_| Vec::new());
    loaded.unwrap_err().to_string()
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let path = std::env::temp_dir().join("evenkeel-no-such-file.yaml");
    let flags = ConfigFlags {
        config: Some(path.clone()),
        ..ConfigFlags::default()
    };
    let told = refused(&flags, &[]);
    assert!(
        told.contains(&path.display().to_string()) && told.contains("No such file"),
        "{told}"
    );
    // The variable names it as well; the flag goes first.
    let named = vars(&[("EVENKEEL_CONFIG", "other.yaml")]);
    let told = refused(&ConfigFlags::default(), &named);
    assert!(told.contains("other.yaml"), "{told}");

    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.yaml");
    std::fs::write(&large, "#".repeat(1024 * 1024 + 1)).unwrap();
    let flags = ConfigFlags {
        config: Some(large.clone()),
        ..ConfigFlags::default()
    };
    let told = refused(&flags, &[]);
    assert!(told.contains("more than 1 MiB"), "{told}");
    std::fs::write(&large, "#".repeat(1024 * 1024)).unwrap();
    let told = refused(&flags, &[]);
    assert!(
        told.contains("kafka.bootstrap"),
        "at the bound it is read: {told}"
    );
}

/// What would stand in a file that is not there is not missing.
#[test]
fn a_worker_file_that_cannot_be_read_is_the_only_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.properties");
    let path = file.to_str().unwrap();
    let flags = set(&[("groups.worker_properties", path)]);
    let told = mistakes("", &[], &flags);
    assert_eq!(told.matches(": found ").count(), 1, "{told}");
    assert!(
        told.starts_with("groups[0].worker_properties") && told.contains(path),
        "{told}"
    );
    // What a person wrote is looked at all the same.
    let flags = set(&[
        ("groups.worker_properties", path),
        ("groups.config_topic", "a b"),
    ]);
    assert_eq!(mistakes("", &[], &flags).matches(": found ").count(), 2);
}

#[test]
fn a_value_without_a_key_is_told_as_one() {
    let told = mistakes("", &[], &set(&[("", "x")]));
    let first = told.lines().next().unwrap();
    assert_eq!(
        first,
        "found a value without a key, expected KEY=VALUE (set by --set)"
    );
}
