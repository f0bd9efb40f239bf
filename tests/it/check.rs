//! `evenkeel check` as a person or a script meets it: what it finds in files of every
//! format, what it refuses, how it ends, and that no password comes out.

mod formats;
mod live;
mod refused;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const FORMATS: [&str; 4] = ["text", "json", "sarif", "github"];

/// The files of `tests/fixtures/check`.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/check")
}

/// Runs it in a folder, so that files are named as a person there would.
fn check(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    command.arg("check").args(args).current_dir(folder);
    command.env_clear().stdin(Stdio::null()).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What fired: `severity check file:line`, by the first value that stands in a file.
fn fired(folder: &Path, args: &[&str]) -> Vec<String> {
    let output = check(folder, &[args, &["--format", "json"]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{args:?}: {error}: {}", told(&output));
    });
    let findings = report["findings"].as_array().unwrap().iter();
    let fired = findings.filter(|finding| finding["outcome"] == "fired");
    let mut lines: Vec<String> = fired.map(line).collect();
    lines.sort();
    lines
}

fn line(finding: &Value) -> String {
    let word = |key: &str| finding[key].as_str().unwrap().to_owned();
    let values = finding["values"].as_array().unwrap().iter();
    let mut places = values.filter(|value| value["source"]["from"] == "file");
    let place = places.next().map_or_else(String::new, |value| {
        let file = value["source"]["file"].as_str().unwrap();
        format!(" {file}:{}", value["source"]["line"])
    });
    format!("{} {}{place}", word("severity"), word("check"))
}

/// Kafka's own file, and two of a sound production group.
#[test]
fn sound_files_are_left_alone() {
    let none: [String; 0] = [];
    assert_eq!(fired(&folder(), &["stock.properties"]), none);
    let sound = ["sound.properties", "sound-2.properties"];
    assert_eq!(fired(&folder(), &sound), none);
    // One named twice shares its address with nobody.
    let twice = ["sound.properties", "./sound.properties"];
    assert_eq!(fired(&folder(), &twice), none);
    let report = out(&check(&folder(), &twice));
    let again = "named again as ./sound.properties: it is one worker";
    assert_eq!(report.matches(again).count(), 1, "{report}");
    for release in [
        "2.8.2", "3.0.2", "3.4.1", "3.7.2", "3.9.2", "4.1.1", "4.4.0",
    ] {
        let args = ["stock.properties", "--kafka-release", release];
        assert_eq!(fired(&folder(), &args), none, "{release}");
    }
    let args = [&sound[..], &["--fail-on", "warning"]].concat();
    let output = check(&folder(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", out(&output));
    assert_eq!(told(&output), "");
}

/// Each format, with the file and line of each finding.
#[test]
fn each_format_is_read_to_the_line() {
    let cases: [(&str, &[&str]); 8] = [
        (
            "worker.env",
            &[
                "info session_above_sinks worker.env:8",
                "warning graceful_near_rebalance worker.env:9",
                "warning session_reaches_rebalance worker.env:8",
                "warning setting_misspelt worker.env:14",
            ],
        ),
        (
            "debezium.env",
            &["warning graceful_below_flush debezium.env:6"],
        ),
        (
            "compose.yaml",
            &[
                "error advertised_shared compose.yaml:20",
                "error groups_share_topics compose.yaml:47",
                "warning heartbeats_sparse compose.yaml:8",
                "warning killed_while_stopping compose.yaml:35",
            ],
        ),
        (
            "strimzi.yaml",
            &[
                "error delay_zero_strands_work strimzi.yaml:19",
                "error deployments_share_group strimzi.yaml:9",
                "warning delay_differs strimzi.yaml:19",
                "warning killed_while_stopping strimzi.yaml:24",
                "warning timeouts_differ strimzi.yaml:35",
            ],
        ),
        (
            "deployment.yaml",
            &["warning graceful_near_rebalance deployment.yaml:26"],
        ),
        (
            "helm-cp.yaml",
            &[
                "error advertised_shared helm-cp.yaml:8",
                "warning catch_up_outlives_delay helm-cp.yaml:11",
                "warning heartbeats_sparse helm-cp.yaml:7",
                "warning session_above_delay helm-cp.yaml:6",
            ],
        ),
        (
            "helm-variables.yaml",
            &[
                "error topics_collide helm-variables.yaml:6",
                "info delay_of_one_worker helm-variables.yaml:2",
            ],
        ),
        (
            "helm-redpanda.yaml",
            &[
                "error heartbeat_reaches_session helm-redpanda.yaml:14",
                "warning internal_topic_single_replica helm-redpanda.yaml:7",
            ],
        ),
    ];
    for (file, expected) in cases {
        assert_eq!(fired(&folder(), &[file]), expected, "{file}");
    }
}

/// What Kafka demands and nobody sets, where nothing else can set it: told as whoever wrote the
/// file would write it.
#[test]
fn what_is_demanded_and_missing_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let missing = |name: &str| -> Vec<String> {
        let args = [name, "--format", "github", "--kafka-release", "3.9.2"];
        let told = out(&check(folder.path(), &args));
        let lines = told.lines().filter(|line| line.contains("setting_missing"));
        let names = lines.filter_map(|line| line.split_once("::")?.1.split("::").nth(1));
        names
            .filter_map(|told| told.split_once(':').map(|(said, _)| said.to_owned()))
            .collect()
    };
    let fixtures = super::check::folder();
    let stock = std::fs::read_to_string(fixtures.join("stock.properties")).unwrap();
    write("no-group.properties", &stock.replace("group.id", "#"));
    assert_eq!(missing("no-group.properties"), ["group.id is not set"]);
    let slip = stock.replace("group.id", "gruop.id");
    write(
        "slip.properties",
        &slip.replace("value.converter=", "value.converter=\nx="),
    );
    let both = ["group.id is not set", "value.converter is empty"];
    assert_eq!(missing("slip.properties"), both);

    let compose = |image: &str, env_file: &str| {
        format!(
            "services:\n  c:\n    image: {image}\n{env_file}    environment:\n      CONNECT_GROUP_ID: g\n      \
             CONNECT_BOOTSTRAP_SERVERS: b:9092\n      CONNECT_CONFIG_STORAGE_TOPIC: c\n      \
             CONNECT_OFFSET_STORAGE_TOPIC: o\n      CONNECT_KEY_CONVERTER: k\n      CONNECT_VALUE_CONVERTER: v\n"
        )
    };
    let known = "docker.io/confluentinc/cp-kafka-connect-base:7.6.0";
    write("compose.yaml", &compose(known, ""));
    let status = ["CONNECT_STATUS_STORAGE_TOPIC is not set"];
    assert_eq!(missing("compose.yaml"), status);
    let debezium = |more: &str| {
        format!(
            "services:\n  c:\n    image: debezium/connect:3.0\n    environment: {{BOOTSTRAP_SERVERS: b, \
             GROUP_ID: g, OFFSET_STORAGE_TOPIC: o{more}}}\n"
        )
    };
    for more in ["", ", CONNECT_ACCESS_CONTROL_ALLOW_ORIGIN: x"] {
        write("compose.yaml", &debezium(more));
        let topic = ["CONFIG_STORAGE_TOPIC is not set"];
        assert_eq!(missing("compose.yaml"), topic, "{more}");
    }
    // Nobody knows what these set.
    let none: [String; 0] = [];
    write("compose.yaml", &compose(known, "    env_file: more.env\n"));
    assert_eq!(missing("compose.yaml"), none);
    write("compose.yaml", &compose("registry.example/connect", ""));
    assert_eq!(missing("compose.yaml"), none);
    let derived = "registry.example/confluentinc/cp-kafka-connect-orders:3";
    write("compose.yaml", &compose(derived, ""));
    assert_eq!(missing("compose.yaml"), none);
    for more in ["extends: {service: base}", "command: ./run"] {
        write("compose.yaml", &compose(known, &format!("    {more}\n")));
        assert_eq!(missing("compose.yaml"), none, "{more}");
    }
    write("part.properties", "group.id=g\nbootstrap.servers=b:9092\n");
    assert_eq!(missing("part.properties"), none);
    assert_eq!(
        check(folder.path(), &["part.properties"]).status.code(),
        Some(0)
    );
    write("part.env", "CONNECT_GROUP_ID=g\n");
    assert_eq!(missing("part.env"), none);
    let told = out(&check(folder.path(), &["part.env"]));
    assert!(told.contains("what an image or a script sets"), "{told}");
}

/// Without a release the newest is taken, and older ones have a default for the brokers.
#[test]
fn what_only_some_releases_demand_is_no_error_where_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let stock = std::fs::read_to_string(super::check::folder().join("stock.properties")).unwrap();
    let text = stock.replace("bootstrap.servers", "#");
    std::fs::write(folder.path().join("w.properties"), text).unwrap();
    let none: [String; 0] = [];
    assert_eq!(fired(folder.path(), &["w.properties"]), none);
    let told = out(&check(folder.path(), &["w.properties", "--format", "json"]));
    assert!(told.contains("the release of Kafka"), "{told}");
    let named = fired(folder.path(), &["w.properties", "--kafka-release", "4.3.1"]);
    assert_eq!(named, ["error setting_missing w.properties:null"]);
}

/// What two files say of one group is compared; of two groups, and of one name in two
/// clusters, it is not.
#[test]
fn files_are_compared_within_their_group() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, brokers: &str, group: &str, delay: &str| {
        let text = format!(
            "bootstrap.servers={brokers}\ngroup.id={group}\nconfig.storage.topic={group}-c\n\
             offset.storage.topic={group}-o\nstatus.storage.topic={group}-s\n\
             key.converter=k\nvalue.converter=v\nscheduled.rebalance.max.delay.ms={delay}\n"
        );
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    write("a", "one:9092,two:9092", "g", "300000");
    write("b", "two:9092", "g", "60000");
    write("c", "two:9092", "other", "60000");
    write("d", "three:9092", "g", "60000");
    assert_eq!(
        fired(folder.path(), &["a", "b"]),
        ["warning delay_differs a:8"]
    );
    let none: [String; 0] = [];
    assert_eq!(fired(folder.path(), &["a", "c"]), none);
    assert_eq!(fired(folder.path(), &["a", "d"]), none);
}

#[test]
fn the_exit_code_says_what_was_found() {
    let code = |args: &[&str]| check(&folder(), args).status.code();
    let warnings = "deployment.yaml";
    assert_eq!(code(&[warnings]), Some(0));
    assert_eq!(code(&[warnings, "--fail-on", "warning"]), Some(1));
    assert_eq!(code(&["compose.yaml"]), Some(1));
    for format in FORMATS {
        assert_eq!(
            code(&["compose.yaml", "--format", format]),
            Some(1),
            "{format}"
        );
        assert_eq!(code(&[warnings, "--format", format]), Some(0), "{format}");
    }
    assert_eq!(code(&[]), Some(64));
    assert_eq!(code(&[warnings, "--format", "xml"]), Some(64));
    assert_eq!(code(&[warnings, "--kafka-release", "latest"]), Some(64));
    // One that cannot be read counts more than what is found in others.
    assert_eq!(code(&["compose.yaml", "absent"]), Some(78));
}

#[test]
fn the_release_is_said_or_told() {
    let text = |args: &[&str]| out(&check(&folder(), args));
    let assumed = text(&["stock.properties"]);
    assert!(
        assumed.contains("defaults are those of Kafka 4.4.0"),
        "{assumed}"
    );
    let said = text(&["stock.properties", "--kafka-release", "3.9.2"]);
    assert!(!said.contains("No release"), "{said}");
    let between = text(&["stock.properties", "--kafka-release", "3.5.0"]);
    assert!(between.contains("Kafka 3.5.0 are not known"), "{between}");
    // Two defaults that collided before 2.5.1.
    let args = ["stock.properties", "--kafka-release", "2.5.0"];
    assert_eq!(
        fired(&folder(), &args),
        ["error unsync_backoff_reaches_delay"]
    );
}
