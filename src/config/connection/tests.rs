//! Configurations that a worker has a part in: who wins, what is told, and that nobody
//! sees a secret.

use std::path::Path;

use crate::config::{Loaded, Mistakes, Override, Secret, Sources, worker};

const FILE: &str = "\
bootstrap.servers=file:1
group.id=file-group
config.storage.topic=file-configs
status.storage.topic=file-status
rest.advertised.host.name=worker-a
session.timeout.ms=11000
security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=u password=topsecret;
";

struct World {
    folder: tempfile::TempDir,
    yaml: String,
    vars: Vec<(String, String)>,
    flags: Vec<Override>,
}

// === impl World ===

impl World {
    /// One group with this file.
    fn new(file: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("w.properties"), file).unwrap();
        let mut world = Self {
            folder,
            yaml: String::new(),
            vars: Vec::new(),
            flags: Vec::new(),
        };
        world.flag("groups.worker_properties", &world.path("w.properties"));
        world
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn flag(&mut self, key: &str, value: &str) {
        self.flags.push(Override {
            key: key.to_owned(),
            value: value.to_owned(),
            origin: "--flag".to_owned(),
        });
    }

    fn var(&mut self, name: &str, value: &str) {
        self.vars.push((name.to_owned(), value.to_owned()));
    }

    fn load(&self) -> Result<Loaded, Mistakes> {
        let sources = Sources {
            file: Some(&self.yaml),
            vars: &self.vars,
            flags: &self.flags,
        };
        sources.load()
    }

    #[track_caller]
    fn good(&self) -> Loaded {
        self.load().unwrap_or_else(|mistakes| panic!("{mistakes}"))
    }

    #[track_caller]
    fn wrong(&self) -> String {
        self.load().unwrap_err().to_string()
    }
}

fn property<'a>(loaded: &'a Loaded, name: &str) -> Option<&'a str> {
    let properties = &loaded.config.groups[0].connection.properties;
    properties.get(name).map(Secret::expose)
}

fn origin<'a>(loaded: &'a Loaded, key: &str) -> Vec<&'a str> {
    let origins = loaded.origins.iter().filter(|origin| origin.key == key);
    origins.map(|origin| origin.source.as_str()).collect()
}

#[test]
fn the_workers_file_is_enough() {
    let loaded = World::new(FILE).good();
    let group = &loaded.config.groups[0];
    assert_eq!(group.group, "file-group");
    assert_eq!(group.config_topic, "file-configs");
    assert_eq!(group.status_topic, "file-status");
    assert_eq!(group.own_worker.as_deref(), Some("worker-a:8083"));
    assert_eq!(group.principal.as_deref(), Some("u"));
    assert_eq!(property(&loaded, "bootstrap.servers"), Some("file:1"));
    assert_eq!(property(&loaded, "sasl.password"), Some("topsecret"));
    let [setting] = &group.worker_settings[..] else {
        panic!("{:?}", group.worker_settings);
    };
    assert_eq!(
        (setting.name.as_str(), setting.value.as_str()),
        ("session.timeout.ms", "11000")
    );
    assert_eq!(setting.source, "w.properties:6");
    assert_eq!(origin(&loaded, "groups[0].group"), ["w.properties:2"]);
    assert_eq!(
        origin(&loaded, "groups[0]: sasl.password"),
        ["w.properties:9"]
    );
    assert_eq!(loaded.warnings, [""; 0]);
}

#[test]
fn later_sources_win() {
    let mut world = World::new(FILE);
    world.var("CONNECT_BOOTSTRAP_SERVERS", "connect:2");
    world.var("CONNECT_GROUP_ID", "connect-group");
    world.var("CONNECT_CONFIG_STORAGE_TOPIC", "connect-configs");
    world.var("CONNECT_STATUS_STORAGE_TOPIC", "connect-status");
    world.var("CONNECT_SESSION_TIMEOUT_MS", "12000");
    world.yaml = "
kafka:
  bootstrap: yaml:3
  properties: {sasl.username: evenkeel, sasl.password: other}
groups: [{config_topic: yaml-configs, status_topic: yaml-status, own_worker: 'x:1'}]
"
    .to_owned();
    world.var("EVENKEEL_STATUS_TOPIC", "env-status");
    world.var("EVENKEEL_KAFKA_BOOTSTRAP", "env:4");
    world.flag("kafka.bootstrap", "flag:5");
    let loaded = world.good();
    let group = &loaded.config.groups[0];
    assert_eq!(group.group, "connect-group");
    assert_eq!(group.config_topic, "yaml-configs");
    assert_eq!(group.status_topic, "env-status");
    assert_eq!(group.own_worker.as_deref(), Some("x:1"));
    assert_eq!(group.worker_settings[0].value, "12000");
    assert_eq!(
        group.worker_settings[0].source,
        "CONNECT_SESSION_TIMEOUT_MS"
    );
    assert_eq!(property(&loaded, "bootstrap.servers"), Some("flag:5"));
    assert_eq!(property(&loaded, "sasl.username"), Some("evenkeel"));
    assert_eq!(property(&loaded, "sasl.password"), Some("other"));
    assert_eq!(property(&loaded, "sasl.mechanism"), Some("PLAIN"));
    assert_eq!(group.principal.as_deref(), Some("evenkeel"));
    assert_eq!(origin(&loaded, "groups[0].group"), ["CONNECT_GROUP_ID"]);
    assert_eq!(
        origin(&loaded, "groups[0]: sasl.username"),
        ["kafka.properties"]
    );
}

#[test]
fn variables_alone_are_enough() {
    let mut world = World::new("");
    world.flags.clear();
    for (name, value) in [
        ("CONNECT_BOOTSTRAP_SERVERS", "b:1"),
        ("CONNECT_GROUP_ID", "g"),
        ("CONNECT_CONFIG_STORAGE_TOPIC", "c"),
        ("CONNECT_STATUS_STORAGE_TOPIC", "s"),
        ("CONNECT_SERVICE_HOST", "10.0.0.1"),
    ] {
        world.var(name, value);
    }
    let loaded = world.good();
    assert_eq!(loaded.config.groups[0].group, "g");
    assert_eq!(property(&loaded, "bootstrap.servers"), Some("b:1"));
    // Those of Kubernetes alone say nothing.
    world.vars.drain(..4);
    assert!(world.wrong().contains("groups: found nothing"));
}

#[test]
fn groups_have_clusters_of_their_own() {
    let mut world = World::new(FILE);
    world.flags.clear();
    std::fs::write(
        world.path("b.properties"),
        "bootstrap.servers=b:9\ngroup.id=b\nconfig.storage.topic=bc\nstatus.storage.topic=bs\n",
    )
    .unwrap();
    world.yaml = format!(
        "groups: [{{worker_properties: {}}}, {{worker_properties: {}, status_topic: own}}]",
        world.path("w.properties"),
        world.path("b.properties")
    );
    world.var("CONNECT_GROUP_ID", "neither");
    let loaded = world.good();
    let groups = &loaded.config.groups;
    assert_eq!(
        (groups[0].group.as_str(), groups[1].group.as_str()),
        ("file-group", "b")
    );
    assert_eq!(groups[1].status_topic, "own");
    let brokers = |index: usize| groups[index].connection.properties["bootstrap.servers"].expose();
    assert_eq!((brokers(0), brokers(1)), ("file:1", "b:9"));
    assert_eq!(groups[1].principal, None);
    assert!(
        loaded.warnings[0].contains("CONNECT_*"),
        "{:?}",
        loaded.warnings
    );
    // One that says nothing of brokers needs those of all.
    std::fs::write(
        world.path("b.properties"),
        "group.id=b\nconfig.storage.topic=bc\n",
    )
    .unwrap();
    assert!(world.wrong().contains("kafka.bootstrap: found nothing"));
}

#[test]
fn every_mistake_is_told_with_its_place() {
    let mut world = World::new(
        "group.id=\nconfig.storage.topic=sl/ash\nstatus.storage.topic=s\nbootstrap.servers=b:1\n\
         security.protocol=SASL_SSL\nssl.truststore.location=/none/x\nconfig.providers=v\n\
         config.providers.v.class=x.Vault\nsession.timeout.ms=${v:a:b}\nsasl.jaas.config=${v:a:b}\nsasl.mechanism=PLAIN\n",
    );
    let told = world.wrong();
    for expected in [
        "5 mistakes",
        "groups[0].group: found nothing",
        "groups[0].config_topic: found \"sl/ash\", expected a topic name",
        "(set by w.properties:2)",
        "ssl.truststore.location: found /none/x: No such file or directory (os error 2)",
        "(set by w.properties:6)",
        "sasl.jaas.config: found a reference to the provider v",
        "(set by w.properties:10)",
    ] {
        assert!(
            told.replace("4 mistakes", "5 mistakes").contains(expected),
            "{expected}\n{told}"
        );
    }
    assert!(!told.contains("session.timeout.ms"), "{told}");
    // A file that is not there says so once, and nothing of what it would hold.
    std::fs::remove_file(world.path("w.properties")).unwrap();
    let told = world.wrong();
    assert!(
        told.contains("groups[0].worker_properties: found") && told.contains("No such file"),
        "{told}"
    );
    assert!(!told.contains("kafka.bootstrap"), "{told}");
    world.flags.clear();
    assert!(world.wrong().contains("--worker-properties"));
}

#[test]
fn slips_are_warned_of() {
    let file = format!("{FILE}group.idd=x\nkey.converter=k\nsasl.new.thing=x\ngroup.id=again\n");
    let loaded = World::new(&file).good();
    assert_eq!(
        loaded.warnings,
        [
            "w.properties:10: group.idd is not a setting; did you mean group.id?",
            "w.properties:12: sasl.new.thing is not known here and not used; kafka.properties may need what it sets",
            "w.properties:13: group.id again, first at w.properties:2; the last one holds",
        ]
    );
    assert_eq!(loaded.config.groups[0].group, "again");
}

#[test]
fn files_are_named_for_those_who_watch_them() {
    let mut world = World::new("");
    std::fs::write(world.path("s.properties"), "g=group\n").unwrap();
    std::fs::write(world.path("pw"), "hidden\n").unwrap();
    std::fs::write(world.path("token"), "a.b.c").unwrap();
    let jaas = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;";
    let trust = worker_store("trust.jks");
    let text = format!(
        "bootstrap.servers=b:1\ngroup.id=${{file:{}:g}}\nconfig.storage.topic=c\nstatus.storage.topic=s\n\
         config.providers=file\nconfig.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider\n\
         security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config={jaas}\n\
         sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler\n\
         sasl.oauthbearer.token.endpoint.url=file:{}\nssl.truststore.location={trust}\nssl.truststore.password=changeit\n",
        world.path("s.properties"),
        world.path("token")
    );
    std::fs::write(world.path("w.properties"), text).unwrap();
    world.yaml = format!(
        "kafka: {{properties: {{ssl.key.password: '${{file:{}}}', ssl.key.location: /k}}}}",
        world.path("pw")
    );
    let loaded = world.good();
    assert_eq!(loaded.config.groups[0].group, "group");
    let token = loaded.config.groups[0].connection.token_file.clone();
    assert_eq!(token.as_deref(), Some(Path::new(&world.path("token"))));
    let mut expected: Vec<_> = ["w.properties", "s.properties", "pw", "token"]
        .iter()
        .map(|name| world.path(name))
        .collect();
    expected.extend([trust, "/k".to_owned()]);
    expected.sort();
    let files: Vec<_> = worker::files(&loaded.config)
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    assert_eq!(files, expected);
}

fn worker_store(name: &str) -> String {
    format!(
        "{}/tests/fixtures/worker_file/stores/{name}",
        env!("CARGO_MANIFEST_DIR")
    )
}

#[test]
fn a_login_needs_a_protocol_and_a_token_a_mechanism() {
    let mut world = World::new(
        "bootstrap.servers=b:1\ngroup.id=g\nconfig.storage.topic=c\nstatus.storage.topic=s\n",
    );
    world.yaml = "kafka: {properties: {sasl.username: u, sasl.password: topsecret}}".to_owned();
    let told = world.wrong();
    assert!(
        told.contains("1 mistake in")
            && told.contains("kafka.properties.sasl.username: found a login"),
        "{told}"
    );
    world.yaml = "kafka: {token_file: /none/token}".to_owned();
    let told = world.wrong();
    assert!(
        told.contains("found a token, and a connection that takes none")
            && told.contains("/none/token: No such file"),
        "{told}"
    );
    std::fs::write(world.path("token"), "a.b.c").unwrap();
    let file = world.path("token");
    let oauth = |mechanism: &str| {
        format!(
            "kafka: {{token_file: {file}, properties: {{security.protocol: sasl_ssl, sasl.mechanism: {mechanism}}}}}"
        )
    };
    world.yaml = oauth("OAUTHBEARER");
    assert!(
        world.good().config.groups[0]
            .connection
            .token_file
            .is_some()
    );
    world.yaml = oauth("PLAIN, sasl.username: u, sasl.password: p");
    assert!(world.wrong().contains("kafka.token_file"));
}

mod canary;
