//! Real incidents against the whole program, beside the embedded broker. The name of a
//! test is the number of its case.

mod beside;
mod restarts;

use std::fs;
use std::io::Read;

use evenkeel::commands::demo::broker::{ApiKey, ResponseError, Target};
use evenkeel::commands::replay::replay;
use evenkeel_core::wire::encode::topics;
use evenkeel_core::wire::status_record::State;
use serde_json::Value;

use beside::{Beside, Cluster};

/// Topics hidden from the agent are answered like this to whatever is asked of them.
const TOPIC_APIS: [ApiKey; 3] = [ApiKey::Metadata, ApiKey::ListOffsets, ApiKey::Fetch];

/// The readiness of the only group.
fn ready(agent: &Beside) -> Value {
    let ready: Value = serde_json::from_str(&agent.get("/readyz")).unwrap();
    ready["groups"][0].clone()
}

fn lines(agent: &Beside, family: &str) -> Vec<String> {
    let metrics = agent.get("/metrics");
    let is_of = |line: &&str| line.split(['{', ' ']).next() == Some(family);
    metrics.lines().filter(is_of).map(str::to_owned).collect()
}

/// No right on the offsets topic: the agent says what it is missing and what for, and goes
/// on by descriptions; nothing that only records tell is shown as zero. When the right is
/// given it goes on by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o_51_no_right_on_the_offsets_topic() {
    let cluster = Cluster::start(&["cg"]).await;
    for api in TOPIC_APIS {
        let target = Target::Topic("__consumer_offsets".to_owned());
        cluster
            .broker
            .deny(api, target, ResponseError::TopicAuthorizationFailed);
    }
    cluster.connector("cg", "foo", 2, &[]);
    let owners: &[(&str, &[&str])] = &[("a", &["foo", "foo-0"]), ("c", &["foo-1"])];
    cluster.describe("cg", owners);
    let agent = Beside::run(&cluster, &["--group", "cg"]);
    agent.until("no_offsets_topic", || {
        ready(&agent)["mode"] == "no_offsets_topic"
    });
    agent.until("current", || ready(&agent)["current"] == true);
    let told = ready(&agent);
    assert_eq!(told["trusted"], false, "{told}");
    let reason = &told["reasons"][0];
    assert_eq!(reason["topic"], "__consumer_offsets", "{told}");
    assert_eq!(reason["reason"], "denied", "{told}");
    let text = reason["text"].as_str().unwrap();
    assert!(text.contains("needs READ and DESCRIBE on it"), "{text}");
    // Who is in it is known from the first description after the records were found hidden.
    agent.until("members", || {
        lines(&agent, "evenkeel_members") == ["evenkeel_members{group=\"cg\"} 2"]
    });
    assert_eq!(
        lines(&agent, "evenkeel_group_info"),
        ["evenkeel_group_info{group=\"cg\",protocol=\"sessioned\",leader=\"a:8083\"} 1"]
    );
    for absent in [
        "evenkeel_generations_total",
        "evenkeel_revocations_total",
        "evenkeel_recent_generations",
        "evenkeel_worker_timeout_seconds",
    ] {
        assert!(lines(&agent, absent).is_empty(), "{absent}");
    }
    // One worker goes: its work is lost, and who had it is told.
    cluster.describe("cg", &owners[..1]);
    let lost = r#"evenkeel_unassigned{group="cg",kind="task",reason="lost"} 1"#;
    agent.until("lost work", || agent.get("/metrics").contains(lost));
    // The right is given.
    cluster.record("cg", 7, &owners[..1]);
    cluster.broker.clear_faults();
    agent.until("full", || ready(&agent)["mode"] == "full");
    let generation = r#"evenkeel_generation{group="cg"} 7"#;
    agent.until("records", || agent.get("/metrics").contains(generation));
    assert!(!lines(&agent, "evenkeel_generations_total").is_empty());
    agent.until("nothing to complain of", || {
        ready(&agent)["reasons"] == Value::Array(Vec::new())
    });
}

/// One agent beside a process of MirrorMaker that runs a cluster for each direction: the
/// names of groups, topics and connectors are nothing special, and connectors of one name
/// stay apart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o_26_both_directions_of_mirror_maker() {
    let cluster = Cluster::start(&["A-mm2", "B-mm2"]).await;
    let source = "MirrorSourceConnector";
    let arrow = "src->dst.MirrorSourceConnector";
    cluster.connector("A-mm2", source, 1, &[]);
    cluster.connector("A-mm2", arrow, 1, &[]);
    cluster.connector("B-mm2", source, 3, &[]);
    cluster.record("A-mm2", 3, &[("a", &[source, "MirrorSourceConnector-0"])]);
    cluster.record("B-mm2", 5, &[("b", &[source, "MirrorSourceConnector-0"])]);
    let agent = Beside::run(&cluster, &[]);
    let expected = [
        r#"evenkeel_configured{group="A-mm2",kind="task"} 2"#.to_owned(),
        r#"evenkeel_configured{group="B-mm2",kind="task"} 3"#.to_owned(),
        r#"evenkeel_generation{group="A-mm2"} 3"#.to_owned(),
        r#"evenkeel_generation{group="B-mm2"} 5"#.to_owned(),
        format!(r#"evenkeel_unassigned_tasks{{group="A-mm2",connector="{arrow}",reason="new"}} 1"#),
        format!(
            r#"evenkeel_unassigned_tasks{{group="B-mm2",connector="{source}",reason="new"}} 2"#
        ),
    ];
    agent.until("both groups", || {
        let metrics = agent.get("/metrics");
        let missing: Vec<_> = expected
            .iter()
            .filter(|line| !metrics.contains(*line))
            .collect();
        missing.is_empty()
    });
    let page = agent.get("/");
    assert!(page.contains("src-&gt;dst.MirrorSourceConnector"), "{page}");
    assert!(!page.contains(arrow), "an arrow is no markup");
}

/// Parts of what the records below hold: none may come out anywhere.
const CANARIES: [&str; 9] = [
    "S3cret",
    "jdbc:x",
    "PlainLogin",
    "/run/s",
    "AKIA0123",
    "my.own.setting",
    "c2Vzc2lvbg",
    "HmacSHA256",
    "SELECT",
];

/// Credentials in the config topic and texts in the status topic, with everything logged:
/// no part of them is in the log, the metrics, the API, the page, a capture or what is
/// replayed of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o_57_credentials_in_clear_text() {
    let cluster = Cluster::start(&["cg"]).await;
    let settings = [
        ("connection.password", "S3cret!"),
        (
            "producer.override.sasl.jaas.config",
            "PlainLoginModule required password=\"S3cret\";",
        ),
        ("connection.url", "jdbc:x://h/db?user=u&password=S3cret"),
        ("x", "${file:/run/s:pw}"),
        ("aws.secret.key", "AKIA0123"),
        ("my.own.setting", "S3cret"),
        ("consumer.override.group.id", "S3cret and S3cret"),
        ("tasks.max", "${file:/run/s:S3cret}"),
    ];
    cluster.config(
        "cg",
        "session-key",
        topics::session_key("c2Vzc2lvbg==", 1_700_000_000_000),
    );
    cluster.connector("cg", "foo", 2, &settings);
    // Records that Connect would not read, or keys that nobody knows.
    cluster.config(
        "cg",
        "connector-bar",
        b"{\"properties\":{\"a\":\"S3cret\"".to_vec(),
    );
    cluster.config("cg", "unknown", b"S3cret".to_vec());
    let trace = "java.sql.SQLException: jdbc:x://h?password=S3cret\n\tat SELECT";
    let failed = topics::status(&State::Failed, "a:8083", 3, Some(trace));
    cluster.status("cg", "status-task-foo-0", failed);
    cluster.status(
        "cg",
        "status-task-foo-1",
        b"{\"state\":\"S3cret\",\"trace\":\"SELECT\"".to_vec(),
    );
    // A task without an owner: its connector is named everywhere.
    cluster.record("cg", 3, &[("a", &["foo", "foo-0"])]);
    let trace = ["--group", "cg", "--log-level", "trace"];
    let agent = Beside::run(&cluster, &trace);
    let configured = r#"evenkeel_configured{group="cg",kind="task"} 2"#;
    agent.until("the group", || agent.get("/metrics").contains(configured));
    let mut outputs: Vec<(String, String)> = ["/", "/metrics", "/readyz", "/api/v1/state"]
        .map(|path| (path.to_owned(), agent.get(path)))
        .into();
    outputs.push(("the log of run".to_owned(), agent.end()));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("canary.evk.gz");
    let recorder = Beside::capture(&cluster, &file, &trace);
    recorder.until("the end of the topics", || {
        recorder.log().contains("all inputs read")
    });
    outputs.push(("the log of capture".to_owned(), recorder.end()));
    let mut capture = String::new();
    let bytes = fs::File::open(&file).unwrap();
    flate2::read::MultiGzDecoder::new(bytes)
        .read_to_string(&mut capture)
        .unwrap();
    let mut replayed = Vec::new();
    replay(&file, false, &mut replayed).unwrap();
    outputs.push(("capture".to_owned(), capture));
    outputs.push(("replay".to_owned(), String::from_utf8(replayed).unwrap()));
    for (what, output) in &outputs {
        let is_there = what.starts_with("the log") || what == "/readyz" || output.contains("foo");
        assert!(is_there, "{what} tells nothing of the connector: {output}");
        for canary in CANARIES {
            assert!(!output.contains(canary), "{canary} in {what}:\n{output}");
        }
    }
}
