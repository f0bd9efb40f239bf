//! The program as a person or a script meets it: what it refuses, how it ends, and that
//! its help is true.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn evenkeel(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn incident() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = folder.join("tests/captures/incident.evk.gz");
    file.to_str().unwrap().to_owned()
}

const GROUP: [&str; 8] = [
    "--bootstrap",
    "127.0.0.1:1",
    "--group",
    "g",
    "--config-topic",
    "c",
    "--status-topic",
    "s",
];

/// It may be the only recording of an incident.
#[test]
fn a_file_that_exists_is_not_recorded_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("before.evk.gz");
    fs::write(&file, "what was recorded before").unwrap();
    let output = evenkeel(&["capture", file.to_str().unwrap()])
        .args(GROUP)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let told = told(&output);
    assert!(told.contains("before.evk.gz"), "{told}");
    assert!(told.contains("exists"), "{told}");
    let kept = fs::read_to_string(&file).unwrap();
    assert_eq!(kept, "what was recorded before");
}

/// `evenkeel replay FILE | head`: whoever read it has seen enough.
#[test]
fn output_that_nobody_reads_is_no_failure() {
    let incident = incident();
    for args in [&["replay", incident.as_str()][..], &["metrics"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = evenkeel(args).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(told(&output), "", "{args:?}");
    }
}

/// The example asks for lines that there are, and every kind of line is told of.
#[test]
fn the_help_of_replay_is_true() {
    let help = evenkeel(&["replay", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let replayed = evenkeel(&["replay", &incident()]).output().unwrap();
    let text = String::from_utf8(replayed.stdout).unwrap();
    let mut kinds: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| line["line"].as_str().unwrap().to_owned())
        .collect();
    let (_, example) = help.split_once("select(.line == \"").unwrap();
    let (example, _) = example.split_once('"').unwrap();
    assert!(kinds.iter().any(|kind| kind == example), "{example}");
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        assert!(help.contains(&format!("`{kind}`")), "{kind}");
    }
}

/// Librdkafka's word on its properties comes with everything else, and no value is shown.
#[test]
fn the_check_tells_every_mistake_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evenkeel.yaml");
    let text = "
kafka:
  bootstrap: broker
  properties:
    no.such.property: canary-1
    security.protocol: canary-2
    client.rack: canary-3
    sasl.jaas.config: canary-4
    sasl.password: ${env:CANARY_5}
    socket.timeout.ms: 1000
groups:
  - {group: g, config_topic: c}
http: {listen: nowhere}
";
    fs::write(&file, text).unwrap();
    let output = evenkeel(&["config", "--check", "--config", file.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(78));
    let told = told(&output);
    let expected = [
        "kafka.bootstrap",
        "kafka.properties.client.rack",
        "kafka.properties.sasl.jaas.config",
        "kafka.properties.sasl.password",
        "groups[0].status_topic",
        "http.listen",
        "kafka.properties.no.such.property",
        "kafka.properties.security.protocol",
    ];
    let head = format!("{} mistakes in the configuration", expected.len());
    assert!(told.starts_with(&head), "{told}");
    for path in expected {
        let lines = told.lines().filter(|l| l.starts_with(&format!("{path}:")));
        assert_eq!(lines.count(), 1, "{path} in {told}");
    }
    assert!(!told.contains("canary"), "{told}");
}

#[test]
fn properties_that_do_not_fit_together_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evenkeel.yaml");
    let one = "1 mistake in the configuration\n";
    let together = "kafka.properties: found properties that do not fit together";
    let alone = "kafka.properties.ssl.ca.location: found what librdkafka does not take";
    let commands = [&["config", "--check"][..], &["run"]];
    for (text, expected) in [
        (
            "security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN",
            together,
        ),
        (
            "security.protocol: SSL, ssl.ca.location: /no/such/file",
            alone,
        ),
    ] {
        fs::write(&file, format!("kafka: {{properties: {{{text}}}}}")).unwrap();
        for check in commands {
            let output = evenkeel(check)
                .args(["--config", file.to_str().unwrap()])
                .args(GROUP)
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(78));
            let told = told(&output);
            assert!(told.starts_with(&format!("{one}{expected}")), "{told}");
        }
    }
}

/// The name that exporters give the flag works, every mistake is told, and no secret.
#[test]
fn the_web_configuration_is_checked_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("web.yml");
    let hash = format!("$2y$10${}", "topsecret".repeat(6));
    let check = |text: &str| {
        fs::write(&file, text).unwrap();
        ["config", "run"].map(|verb| {
            let mut command = evenkeel(&[verb, "--web.config.file", file.to_str().unwrap()]);
            let output = command.args(GROUP).output().unwrap();
            assert_eq!(output.status.code(), Some(78), "{verb}: {}", told(&output));
            assert!(output.stdout.is_empty());
            let told = told(&output);
            assert!(!told.contains("topsecret"), "{told}");
            told
        })
    };
    let text = format!(
        "tls_server_config: {{cert_file: a, key: topsecret, min_versio: TLS12}}\n\
         basic_auth_users: {{alice: {hash}}}\nrate_limit: {{burst: 1}}\n"
    );
    for told in check(&text) {
        for part in [
            "5 mistakes",
            "tls_server_config.cert_file: found ",
            "tls_server_config.key: found no private key",
            "did you mean min_version?",
            "basic_auth_users.alice: found a hash that is cut",
            "rate_limit: found a value",
            "(set by ",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    for told in check("tls_server_config: {cert_file: a, key: topsecret}\n") {
        assert!(told.contains("2 mistakes"), "{told}");
        assert!(
            told.contains("tls_server_config.cert_file: found "),
            "{told}"
        );
        assert!(
            told.contains("tls_server_config.key: found no private key"),
            "{told}"
        );
    }
}

/// The code is that of every other HMAC-SHA256, so that it can be computed elsewhere.
#[test]
fn whoever_has_the_key_is_told_the_code_of_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("mask.key");
    fs::write(&key, "0123456789abcdef0123456789abcdef\n").unwrap();
    let set = format!("privacy.mask_key_file={}", key.display());
    let mask = |with: &[&str]| {
        let output = evenkeel(&["mask", "orders", "naïve 🦀"])
            .args(GROUP)
            .args(with)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", told(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    // printf orders | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
    assert_eq!(
        mask(&["--set", &set]),
        "c-b7d555b4ccc2\tg\torders\nc-d6703ac4b34b\tg\tnaïve 🦀\n"
    );
    // printf orders | openssl dgst -sha256 -hmac g
    assert_eq!(
        mask(&[]),
        "c-0c9487c49554\tg\torders\nc-654755a9d5cc\tg\tnaïve 🦀\n"
    );
    fs::write(&key, "short").unwrap();
    let output = evenkeel(&["mask", "orders", "--set", &set])
        .args(GROUP)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(78));
    let told = told(&output);
    assert!(
        told.contains("privacy.mask_key_file") && told.contains("5 characters"),
        "{told}"
    );
    assert!(!told.contains("short"), "{told}");
}

/// The first way to use it: nothing but the worker's file, and where each value stands.
#[test]
fn the_workers_file_says_it_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("connect-distributed.properties");
    let text = "\
bootstrap.servers=127.0.0.1:1
group.id=from-the-file
config.storage.topic=c
status.storage.topic=s
security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"canary-9\";
session.timeout.ms=11000
sesion.timeout.ms=12000
";
    fs::write(&file, text).unwrap();
    let config = |variables: &[(&str, &str)]| {
        evenkeel(&["config", "--worker-properties", file.to_str().unwrap()])
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    };
    let output = config(&[("CONNECT_SESSION_TIMEOUT_MS", "13000")]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    for line in [
        "  group: from-the-file",
        "#   groups[0].group  (connect-distributed.properties:2)",
        "#   groups[0]: sasl.username = u  (connect-distributed.properties:7)",
        "#   groups[0]: sasl.password = [hidden]  (connect-distributed.properties:7)",
        "#   groups[0]: session.timeout.ms = 13000  (CONNECT_SESSION_TIMEOUT_MS)",
    ] {
        assert!(
            printed.lines().any(|each| each == line),
            "{line} in\n{printed}"
        );
    }
    let warned = told(&output);
    assert!(
        warned.contains("connect-distributed.properties:9")
            && warned.contains("did you mean session.timeout.ms?"),
        "{warned}"
    );
    assert!(!printed.contains("canary") && !warned.contains("canary"));
    // What is printed is a configuration again.
    let again = folder.path().join("evenkeel.yaml");
    fs::write(&again, &printed).unwrap();
    let check = evenkeel(&["config", "--check", "--config", again.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(check.status.code(), Some(0), "{}", told(&check));
    // What cannot be had is told by its name in the file.
    fs::write(&file, text.replace("=PLAIN\n", "=GSSAPI\n")).unwrap();
    let output = config(&[]);
    assert_eq!(output.status.code(), Some(78));
    let told = told(&output);
    assert!(told.starts_with("1 mistake"), "{told}");
    assert!(
        told.contains("sasl.mechanism: found GSSAPI")
            && told.contains("(set by connect-distributed.properties:6)"),
        "{told}"
    );
}
