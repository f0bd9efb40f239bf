//! What is no file of settings, and what is in one that must not come out.

use std::fs;
use std::os::unix::fs::symlink;

use super::{FORMATS, check, folder, out, told};

/// Each is told with its name and its reason, in one go, with exit code 78.
#[test]
fn odd_files_are_refused_each_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let utf16: Vec<u8> = "group.id=g\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let many = "---\na: 1\n".repeat(1_001);
    let cases: [(&str, &[u8], &str); 18] = [
        ("many.yaml", many.as_bytes(), "more than 1000 documents"),
        (
            "mm2.properties",
            b"clusters=a,b\noffset.flush.interval.ms=1\n",
            "a dedicated MirrorMaker",
        ),
        ("empty.properties", b"", "an empty file"),
        ("blank.yaml", b"\n  \n\n", "an empty file"),
        (
            "large.properties",
            &vec![b'#'; 10 * 1024 * 1024],
            "more than 1 MiB",
        ),
        (
            "binary.properties",
            b"group.id=\0\x01\x02",
            "bytes that are no text",
        ),
        ("utf16.properties", &utf16, "bytes that are no text"),
        (
            "latin1.yaml",
            b"services: \xe9\n",
            "bytes that are no UTF-8",
        ),
        (
            "latin1.env",
            b"CONNECT_GROUP_ID=\xe9\n",
            "bytes that are no UTF-8",
        ),
        (
            "unclosed.yaml",
            b"services: {a: [1, 2\n",
            "what is no YAML at line",
        ),
        (
            "connector.json",
            br#"{"name": "c", "config": {"connector.class": "X"}}"#,
            "the configuration of a connector, not of a worker",
        ),
        (
            "properties.yaml",
            b"group.id: g\nsession.timeout.ms: 1\n",
            "settings of a worker in a form that no worker reads",
        ),
        (
            "connector.yaml",
            b"apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaConnector\n",
            "a resource of kind KafkaConnector: not read",
        ),
        ("list.yaml", b"- a\n- b\n", "YAML without keys"),
        (
            "template.yaml",
            b"{{- if .Values.x }}\nkind: KafkaConnect\n{{- end }}\n",
            "a template of Helm",
        ),
        (
            "other.yaml",
            b"kind: Service\napiVersion: v1\n",
            "no settings of a Connect worker",
        ),
        (
            "other.properties",
            b"log4j.rootLogger=INFO\n",
            "no setting of a Connect worker",
        ),
        (
            "standalone.properties",
            b"offset.storage.file.filename=/tmp/o\n",
            "a standalone worker",
        ),
    ];
    for (name, bytes, reason) in &cases {
        fs::write(path(name), bytes).unwrap();
        let output = check(folder.path(), &[name]);
        assert_eq!(output.status.code(), Some(78), "{name}: {}", told(&output));
        assert_eq!(out(&output), "", "{name}");
        let told = told(&output);
        assert!(
            told.contains(name) && told.contains(reason),
            "{name}: {told}"
        );
    }
    fs::create_dir(path("folder")).unwrap();
    symlink("loop.yaml", path("loop.yaml")).unwrap();
    for (name, reason) in [
        ("folder", "a folder"),
        ("loop.yaml", "os error"),
        ("absent", "os error"),
    ] {
        let output = check(folder.path(), &[name]);
        assert_eq!(output.status.code(), Some(78), "{name}");
        assert!(told(&output).contains(reason), "{name}: {}", told(&output));
    }
    let output = check(folder.path(), &["absent", "folder", "list.yaml"]);
    let told = told(&output);
    for name in ["absent", "folder", "list.yaml"] {
        assert!(told.contains(name), "{name}: {told}");
    }
}

/// What would take long, or fill the memory, ends in an answer soon.
#[test]
fn files_made_to_cost_are_refused_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let many: String = (0..60_000)
        .map(|n| format!("sesion.timeout.{n}=1\n"))
        .collect();
    fs::write(path("many.properties"), format!("group.id=g\n{many}")).unwrap();
    let some: String = (0..1_000)
        .map(|n| format!("sesion.timeout.{n}=1\n"))
        .collect();
    fs::write(path("some.properties"), format!("group.id=g\n{some}")).unwrap();
    let junk = format!("CONNECT_GROUP_ID=g\n{}", "junk\n".repeat(100_000));
    fs::write(path("junk.env"), junk).unwrap();
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for n in 1..30 {
        let before = format!("*a{}", n - 1);
        let items = [before.as_str(); 9].join(", ");
        bomb.push_str(&format!("a{n}: &a{n} [{items}]\n"));
    }
    bomb.push_str("services: *a29\n");
    fs::write(path("bomb.yaml"), bomb).unwrap();
    fs::write(path("deep.yaml"), "[".repeat(500_000)).unwrap();
    let nested: String = (0..500).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    fs::write(path("nested.yaml"), nested).unwrap();
    let cases = [
        ("many.properties", Some(78)),
        ("some.properties", Some(0)),
        ("junk.env", Some(0)),
        ("bomb.yaml", Some(78)),
        ("deep.yaml", Some(78)),
        ("nested.yaml", Some(78)),
    ];
    for (name, code) in cases {
        let began = std::time::Instant::now();
        let output = check(folder.path(), &[name]);
        assert_eq!(output.status.code(), code, "{name}: {}", told(&output));
        assert!(
            began.elapsed().as_secs() < 60,
            "{name} took {:?}",
            began.elapsed()
        );
        assert!(
            output.stdout.len() < 100_000,
            "{name}: {} bytes",
            output.stdout.len()
        );
    }
}

/// A file that ends in the middle of what it means to say is never half understood.
#[test]
fn every_beginning_of_a_file_ends_in_an_answer() {
    let temporary = tempfile::tempdir().unwrap();
    for name in [
        "compose.yaml",
        "strimzi.yaml",
        "worker.env",
        "sound.properties",
    ] {
        let whole = fs::read(folder().join(name)).unwrap();
        for end in (0..whole.len()).step_by(whole.len() / 25) {
            fs::write(temporary.path().join(name), &whole[..end]).unwrap();
            let output = check(temporary.path(), &[name]);
            let code = output.status.code();
            assert!(
                [Some(0), Some(1), Some(78)].contains(&code),
                "{name} to {end}: {code:?}"
            );
        }
    }
}

#[test]
fn no_password_comes_out_in_any_format() {
    let files = fs::read_dir(folder()).unwrap();
    let files = files.filter(|file| {
        let path = file.as_ref().unwrap().path();
        path.is_file() && path.extension().is_some_and(|extension| extension != "md")
    });
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 10, "{names:?}");
    let canaries = names.iter().filter(|name| {
        fs::read_to_string(folder().join(name))
            .unwrap()
            .contains("canary")
    });
    assert!(canaries.count() >= 8);
    for format in FORMATS {
        for name in &names {
            let output = check(&folder(), &[name, "--format", format]);
            let all = format!("{}{}", out(&output), told(&output));
            assert!(!all.contains("canary"), "{name} as {format}: {all}");
        }
    }
}

/// A password in the place of something else: where a number is expected, behind a slip of
/// the pen, after a backslash too many, under a name that nobody knows.
#[test]
fn passwords_in_wrong_places_stay_there() {
    let folder = tempfile::tempdir().unwrap();
    let properties = "\
group.id=g
bootstrap.servers=b:9092
session.timeout.ms=canary-number
connect.protocol=canary-word
consumer.session.timeout.ms=canary-client
exactly.once.source.support=canary-switch
ssl.keystore.pasword=canary-slip
my.own.secret=canary-unknown
max.poll.records=canary-scope
rest.port=canary-gone
config.storage.partitions=canary-overruled
group.instance.id=canary-instance
consumer.group.instance.id=canary-instance
heartbeat.interval.ms=3000\\
ssl.key.password=canary-swallowed
config.storage.topic=topic\\
sasl.jaas.config=canary-swallowed
ssl.key.password=canary-twice
ssl.key.password=canary-twice
";
    let document = "\
services:
  connect:
    image: x
    environment:
      CONNECT_GROUP_ID: g
      CONNECT_SESSION_TIMEOUT_MS: canary-number
      CONNECT_SSL_KEYSTORE_PASWORD: canary-slip
      CONNECT_STATUS_STORAGE_TOPIC: |
        topic
        ssl.key.password=canary-block
";
    std::fs::write(folder.path().join("worker.properties"), properties).unwrap();
    std::fs::write(folder.path().join("compose.yaml"), document).unwrap();
    std::fs::write(folder.path().join("broken.yaml"), "a: b: canary-broken\n").unwrap();
    for format in FORMATS {
        for file in ["worker.properties", "compose.yaml", "broken.yaml"] {
            let output = check(folder.path(), &[file, "--format", format]);
            let all = format!("{}{}", out(&output), told(&output));
            assert!(!all.contains("canary"), "{file} as {format}: {all}");
            assert!(!all.is_empty(), "{file} as {format}");
        }
    }
}

/// A line that lost its name: what stands there as one is not shown.
#[test]
fn a_secret_in_place_of_a_name_does_not_come_out() {
    let folder = tempfile::tempdir().unwrap();
    let text = "group.id=g\nconfig.storage.topic=c\nCanary-in-a-line\n\"canary\";\n";
    fs::write(folder.path().join("w.properties"), text).unwrap();
    for format in FORMATS {
        let output = check(folder.path(), &["w.properties", "--format", format]);
        let all = format!("{}{}", out(&output), told(&output));
        assert!(!all.to_lowercase().contains("canary"), "{format}: {all}");
    }
}

/// A mark that editors write and Java reads as letters.
#[test]
fn a_byte_order_mark_is_an_error_where_it_takes_a_setting_away() {
    let folder = tempfile::tempdir().unwrap();
    let stock = fs::read_to_string(super::folder().join("stock.properties")).unwrap();
    let marked = |before: &str| format!("\u{feff}{before}{stock}");
    let write = |text: &str| fs::write(folder.path().join("bom.properties"), text).unwrap();
    write(&marked(""));
    let args = ["bom.properties", "--kafka-release", "3.9.2"];
    let found = super::fired(folder.path(), &args);
    assert_eq!(found, ["error byte_order_mark bom.properties:1"]);
    let told = out(&check(folder.path(), &args));
    let said = "bootstrap.servers is not set: a mark stands before it";
    assert!(told.contains(said), "{told}");
    // Newer releases do without no brokers.
    let newer = ["bom.properties", "--kafka-release", "4.4.0"];
    let found = super::fired(folder.path(), &newer);
    let missing = "error setting_missing bom.properties:null".to_owned();
    assert!(found.contains(&missing), "{found:?}");
    for before in ["# Kafka Connect\n", "\n"] {
        write(&marked(before));
        let none: [String; 0] = [];
        assert_eq!(super::fired(folder.path(), &args), none, "{before:?}");
        let told = out(&check(folder.path(), &args));
        assert!(told.contains("a byte order mark begins it"), "{told}");
    }
}

/// What is large and no mistake is read in good time: many workers, many groups on one set of
/// topics, names that are nobody's.
#[test]
fn large_files_are_read_in_good_time() {
    let folder = tempfile::tempdir().unwrap();
    let services = |of: fn(usize) -> String| {
        let all: String = (0..600)
            .map(|n| format!("  c{n}:\n    environment: {{{}}}\n", of(n)))
            .collect();
        format!("services:\n{all}")
    };
    let cases = [
        (
            "workers.yaml",
            services(|n| {
                format!(
                    "CONNECT_GROUP_ID: g, CONNECT_SESSION_TIMEOUT_MS: {}",
                    10_000 + n
                )
            }),
            "timeouts_differ",
        ),
        (
            "groups.yaml",
            services(|n| {
                format!(
                    "CONNECT_GROUP_ID: g{n:03}, CONNECT_BOOTSTRAP_SERVERS: b, CONNECT_CONFIG_STORAGE_TOPIC: c"
                )
            }),
            "groups_share_topics",
        ),
        (
            "names.yaml",
            services(|n| format!("CONNECT_GROUP_ID: g, CONNECT_SESION_TIMEOUT_MS: {n}")),
            "setting_misspelt",
        ),
    ];
    for (name, text, found) in cases {
        fs::write(folder.path().join(name), text).unwrap();
        let began = std::time::Instant::now();
        let output = check(folder.path(), &[name]);
        let took = began.elapsed();
        assert!(out(&output).contains(found), "{name}: {}", told(&output));
        assert!(
            took < std::time::Duration::from_secs(30),
            "{name}: {took:?}"
        );
    }
}
