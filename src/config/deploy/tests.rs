//! Each format to the last quirk: names, values, lines, and what is said to be unknown.

use evenkeel_core::checks::known::Unknown;
use evenkeel_core::checks::source::Source;

use super::*;

mod images;

fn deployed(name: &str, text: &str) -> Deployed {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    read(&path).unwrap_or_else(|mistake| panic!("{mistake}"))
}

/// A setting of the only worker: its text, or why it is unknown, and its line.
#[track_caller]
fn setting(deployed: &Deployed, name: &str) -> (Result<String, Unknown>, Option<usize>) {
    assert_eq!(deployed.workers.len(), 1, "{deployed:?}");
    of(&deployed.workers[0], name)
}

#[track_caller]
fn of(worker: &Worker, name: &str) -> (Result<String, Unknown>, Option<usize>) {
    let given = worker
        .settings
        .get(name)
        .unwrap_or_else(|| panic!("no {name}"));
    let line = match &given.source {
        Source::File { line, .. } => *line,
        _ => None,
    };
    (given.text.clone(), line)
}

fn known(text: &str, line: usize) -> (Result<String, Unknown>, Option<usize>) {
    (Ok(text.to_owned()), Some(line))
}

#[test]
fn a_properties_file_is_read_as_java_reads_it() {
    let text = "group.id = g\nsession.timeout.ms:1\\\n  0000\nsession.timeout.ms 20000\nconfig.storage.topic=${file:/s:t}\n";
    let deployed = deployed("worker.properties", text);
    assert_eq!(deployed.format, Format::Properties);
    assert!(deployed.workers[0].is_complete);
    assert_eq!(setting(&deployed, "group.id"), known("g", 1));
    assert_eq!(setting(&deployed, "session.timeout.ms"), known("20000", 4));
    assert_eq!(
        setting(&deployed, "config.storage.topic"),
        (Err(Unknown::Reference), Some(5))
    );
    assert_eq!(deployed.notes.len(), 1);
    assert!(deployed.notes[0].contains("line 4: session.timeout.ms again"));
    // Snippets are read as if they were all there is, and that is said.
    let part = self::deployed("part.properties", "group.id=g\n");
    assert!(part.notes[0].contains("is this all"), "{:?}", part.notes);
    // What is asked is not told.
    assert!(!part.workers[0].is_started_so && deployed.workers[0].is_started_so);
}

#[test]
fn variables_become_settings() {
    let text = "\
# CONNECT_GROUP_ID=comment
CONNECT_GROUP_ID=\"g\"
export CONNECT_SESSION_TIMEOUT_MS='30000'
CONNECT_KEY_CONVERTER_SCHEMA__REGISTRY___URL=u
CONNECT_CONFIG_STORAGE_TOPIC=$TOPIC
CONNECT_OFFSET_STORAGE_TOPIC={{ with secret }}
CONNECT_LOG4J_LOGGERS=x
CONNECT_REST_PORT=8083
CONNECT_SERVICE_PORT=1
KAFKA_HEAP_OPTS=-Xmx2g
no variable at all
";
    let deployed = deployed("worker.list", text);
    assert_eq!(deployed.format, Format::EnvFile);
    assert_eq!(setting(&deployed, "group.id"), known("g", 2));
    assert_eq!(setting(&deployed, "session.timeout.ms"), known("30000", 3));
    assert_eq!(
        setting(&deployed, "key.converter.schema-registry_url"),
        known("u", 4)
    );
    let unknown = |line| (Err(Unknown::Reference), Some(line));
    assert_eq!(setting(&deployed, "config.storage.topic"), unknown(5));
    assert_eq!(setting(&deployed, "offset.storage.topic"), unknown(6));
    assert_eq!(deployed.workers[0].settings.len(), 5, "{deployed:?}");
    assert_eq!(deployed.notes, ["line 11: no variable, not read"]);
}

#[test]
fn debezium_has_variables_and_defaults_of_its_own() {
    let text =
        "GROUP_ID=1\nCONFIG_STORAGE_TOPIC=c\nOFFSET_STORAGE_TOPIC=o\nSHUTDOWN_TIMEOUT=7000\n";
    let deployed = deployed(".env", text);
    let graceful = "task.shutdown.graceful.timeout.ms";
    assert_eq!(setting(&deployed, graceful), known("7000", 4));
    let flush = &deployed.workers[0].settings["offset.flush.timeout.ms"];
    assert_eq!(flush.source.to_string(), "default of Debezium's image");
    assert!(deployed.notes[0].contains("Debezium"));
}

#[test]
fn compose_services_are_workers() {
    let text = "\
services:
  database:
    image: postgres
    environment: {POSTGRES_PASSWORD: x}
  one:
    image: connect
    scale: 3
    stop_grace_period: 2m
    environment:
      CONNECT_GROUP_ID: g
      CONNECT_SESSION_TIMEOUT_MS: 30000
      CONNECT_CONFIG_STORAGE_TOPIC:
      CONNECT_OFFSET_STORAGE_TOPIC: a$$b
  two:
    image: connect
    env_file: secrets.env
    environment:
      - CONNECT_GROUP_ID=g
      - CONNECT_STATUS_STORAGE_TOPIC
";
    let deployed = deployed("docker-compose.yml", text);
    assert_eq!(deployed.format, Format::Compose);
    assert!(deployed.in_containers);
    let [one, two] = &deployed.workers[..] else {
        panic!("{deployed:?}")
    };
    assert!(
        one.name.ends_with("docker-compose.yml (one)"),
        "{}",
        one.name
    );
    assert_eq!(of(one, "session.timeout.ms"), known("30000", 11));
    assert_eq!(
        of(one, "config.storage.topic"),
        (Err(Unknown::Reference), Some(12))
    );
    assert_eq!(of(one, "offset.storage.topic"), known("a$$b", 13));
    assert_eq!(one.replicas.as_ref().unwrap().value, 3);
    assert_eq!(one.grace_ms.as_ref().unwrap().value, 120_000);
    assert!(one.is_complete);
    assert_eq!(of(two, "group.id"), known("g", 18));
    assert_eq!(of(two, "status.storage.topic").0, Err(Unknown::Reference));
    assert_eq!(two.grace_ms.as_ref().unwrap().value, 10_000);
    // Another file may set anything.
    assert!(!two.is_complete);
    assert!(deployed.notes[0].contains("service two: env_file is not read"));
}

#[test]
fn strimzi_names_settings_in_two_ways() {
    let text = "\
apiVersion: kafka.strimzi.io/v1
kind: KafkaConnect
metadata: {name: c, namespace: n}
spec:
  version: 4.1.1
  replicas: 3
  bootstrapServers: b:9092
  groupId: g
  configStorageTopic: c
  config:
    session.timeout.ms: 30000
    listeners: [1]
    config.providers: [1]
    rest.advertised.host.name: localhost
    Rest.Port: 1
    bootstrap.servers: other:9092
    ssl.protocol: TLSv1.3
    group.id: left-over
";
    let deployed = deployed("connect.yaml", text);
    assert_eq!(deployed.format, Format::Resource);
    assert_eq!(setting(&deployed, "group.id"), known("g", 8));
    assert_eq!(setting(&deployed, "session.timeout.ms"), known("30000", 11));
    let worker = &deployed.workers[0];
    assert_eq!(worker.release.as_ref().unwrap().value.to_string(), "4.1.1");
    assert_eq!(worker.deployment.as_ref().unwrap().value, "n/c");
    assert_eq!(worker.replicas.as_ref().unwrap().value, 3);
    assert_eq!(worker.grace_ms.as_ref().unwrap().value, 30_000);
    // Only versions before v1 have defaults for it.
    assert!(!worker.settings.contains_key("offset.storage.topic"));
    // What the operator ignores reaches no worker.
    let worker = &deployed.workers[0];
    assert_eq!(worker.advertised, None);
    assert_eq!(of_worker(worker, "bootstrap.servers"), "b:9092");
    assert_eq!(of_worker(worker, "ssl.protocol"), "TLSv1.3");
    let ignored = |key: &str| {
        format!("n/c: {key}: Strimzi's operator ignores it in spec.config and sets its own")
    };
    assert_eq!(
        deployed.notes,
        [
            ignored("listeners"),
            "config.providers: not a text, not read".to_owned(),
            ignored("rest.advertised.host.name"),
            ignored("Rest.Port"),
            ignored("bootstrap.servers"),
            "n/c: group.id: spec.groupId stands, not what spec.config says".to_owned(),
        ]
    );
    let before = text.replace("/v1", "/v1beta2");
    let deployed = self::deployed("connect.yaml", &before);
    let topic = &deployed.workers[0].settings["offset.storage.topic"];
    assert_eq!(topic.source.to_string(), "default of Strimzi");
    for worker in deployed.workers {
        let converter = &worker.settings["key.converter"];
        assert_eq!(converter.source.to_string(), "default of Strimzi");
        assert!(worker.is_started_so);
    }
}

/// Lists of brokers are often written so; what is no list of them may be a secret.
#[test]
fn a_list_of_brokers_may_go_on_with_the_next_line() {
    let of = |text: &str| {
        let deployed = deployed("w.properties", &format!("group.id=g\n{text}"));
        of(&deployed.workers[0], "bootstrap.servers").0
    };
    let list = of("bootstrap.servers=a:9092,\\\n   SSL://b-1.c:9093, \\\n   [::1]:9094\n");
    assert_eq!(list, Ok("a:9092,SSL://b-1.c:9093, [::1]:9094".to_owned()));
    for swallowed in [
        "ssl.key.password=canary",
        "ssl.key.password:canary",
        "pin:1234",
    ] {
        let text = format!("bootstrap.servers=a:9092\\\n{swallowed}\n");
        assert_eq!(of(&text), Err(Unknown::Swallowed), "{swallowed}");
    }
}

/// Services that talk to a worker, and charts of brokers, have settings in the same places.
#[test]
fn what_has_nothing_of_a_worker_is_passed_over() {
    let text = "\
services:
  keys:
    image: confluentinc/cp-server
    environment: {CONNECT_CLIENT_ID: a, CONNECT_SECRET_ID: b}
  connect:
    environment:
      CONNECT_GROUP_ID: g
";
    let read = deployed("compose.yaml", text);
    assert_eq!(setting(&read, "group.id"), known("g", 7));
    assert_eq!(read.notes.len(), 1);
    assert!(
        read.notes[0].ends_with("compose.yaml (keys): nothing of a Connect worker, passed over")
    );
    let alone = text.replace(
        "CONNECT_SECRET_ID: b",
        "CONNECT_OFFSET_STORAGE_FILE_FILENAME: f",
    );
    let read = deployed("compose.yaml", &alone);
    assert_eq!(read.workers.len(), 1);
    assert!(read.notes[0].contains("(keys): a standalone worker"));
    // Where a file is not read, or a group is named, its topics may stand elsewhere.
    for more in ["    env_file: topics.env\n", ""] {
        let group = if more.is_empty() {
            "CONNECT_GROUP_ID: g, "
        } else {
            ""
        };
        let text = format!(
            "services:\n  c:\n{more}    environment: {{{group}CONNECT_SESSION_TIMEOUT_MS: 9000, \
             CONNECT_OFFSET_STORAGE_FILE_FILENAME: f}}\n"
        );
        assert_eq!(deployed("compose.yaml", &text).workers.len(), 1, "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values.yaml");
    let broker = "configurationOverrides:\n  offsets.topic.replication.factor: 3\n";
    std::fs::write(&path, broker).unwrap();
    let told = super::read(&path).unwrap_err().to_string();
    assert!(told.contains("no settings of a Connect worker"), "{told}");
}

fn of_worker(worker: &Worker, name: &str) -> String {
    of(worker, name).0.unwrap()
}

#[test]
fn a_list_holds_resources_and_others_are_told() {
    let text = "\
kind: List
items:
- kind: Deployment
  metadata: {name: d}
  spec:
    template:
      spec:
        terminationGracePeriodSeconds: 5
        containers:
        - env:
          - {name: CONNECT_GROUP_ID, value: g}
          envFrom: []
- kind: Secret
- kind: Secret
";
    let deployed = deployed("all.json", text);
    let worker = &deployed.workers[0];
    assert_eq!(of(worker, "group.id").0, Ok("g".to_owned()));
    assert_eq!(worker.grace_ms.as_ref().unwrap().value, 5_000);
    assert!(!worker.is_complete);
    let told = [
        "d: envFrom is not read; what it may set is not known",
        "a resource of kind Secret: not read",
    ];
    assert_eq!(deployed.notes, told);
}

#[test]
fn addresses_are_those_that_workers_advertise() {
    let advertised = |text: &str| {
        let deployed = deployed("w.properties", &format!("group.id=g\n{text}"));
        deployed.workers[0]
            .advertised
            .clone()
            .map(|address| address.value)
    };
    assert_eq!(
        advertised("listeners=http://a:8080"),
        Some("a:8080".to_owned())
    );
    assert_eq!(
        advertised("rest.advertised.host.name=b\nlisteners=https://:8443\n"),
        Some("b:8443".to_owned())
    );
    assert_eq!(advertised(""), None);
    assert_eq!(advertised("listeners=http://0.0.0.0:8083"), None);
    assert_eq!(advertised("rest.advertised.host.name=${env:H}"), None);
}
