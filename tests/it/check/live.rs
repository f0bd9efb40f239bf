//! `evenkeel check --live` without a broker that answers: how it ends, how soon, and that no
//! password comes out of what it is told to connect with.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{FORMATS, check, folder, out, told};

/// Nobody listens there any more.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A worker's file that names those brokers, with passwords in every place that has some.
fn worker_file(brokers: &str) -> String {
    let worker = fs::read_to_string(folder().join("sound.properties")).unwrap();
    let kept = worker.lines().filter(|line| {
        let name = line.split('=').next().unwrap();
        let is_of_connection = ["security.", "sasl.", "ssl."];
        name != "bootstrap.servers" && !is_of_connection.iter().any(|it| name.contains(it))
    });
    let mut text: String = kept.map(|line| format!("{line}\n")).collect();
    text.push_str(&format!(
        "bootstrap.servers={brokers}\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n\
         sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
         username=\"evenkeel\" password=\"canary-1\";\n\
         ssl.key.password=canary-2\nmy.own.secret=canary-3\n\
         consumer.sasl.jaas.config=x required password=\"canary-4\";\n\
         rest.advertised.host.name=canary-host\n"
    ));
    text
}

#[test]
fn without_a_broker_it_ends_with_its_code_and_says_why_in_each_format() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("worker.properties");
    fs::write(&file, worker_file(&closed())).unwrap();
    let began = Instant::now();
    let running: Vec<_> = FORMATS
        .iter()
        .map(|format| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
            command.args(["check", "--live", "--wait", "6", "--format", format]);
            command.arg("worker.properties").current_dir(folder.path());
            let command = command.env_clear().stdin(Stdio::null());
            let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for (format, child) in FORMATS.iter().zip(running) {
        let output: Output = child.wait_with_output().unwrap();
        let all = format!("{}{}", out(&output), told(&output));
        assert_eq!(output.status.code(), Some(69), "{format}: {all}");
        assert!(
            out(&output).contains("no broker answers"),
            "{format}: {all}"
        );
        assert!(told(&output).contains("reading"), "{format}: {all}");
        for canary in 1..=4 {
            assert!(
                !all.contains(&format!("canary-{canary}")),
                "{format}: {all}"
            );
        }
        if ["json", "sarif"].contains(format) {
            serde_json::from_slice::<Value>(&output.stdout).unwrap();
        }
        if *format == "json" {
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["live"][0]["principal"], "evenkeel");
            // The files were checked all the same.
            assert!(!report["findings"].as_array().unwrap().is_empty());
        }
    }
    assert!(
        began.elapsed() < Duration::from_secs(40),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn what_does_not_go_together_is_a_wrong_command_line() {
    let code = |args: &[&str]| {
        let output = check(&folder(), args);
        (output.status.code(), told(&output))
    };
    let (with_files, _) = code(&["stock.properties", "--bootstrap", "127.0.0.1:1"]);
    assert_eq!(with_files, Some(64));
    let (no_cluster, told) = code(&["--live"]);
    assert_eq!(no_cluster, Some(64));
    assert!(told.contains("nothing says where the group runs"), "{told}");
    // A Compose file says with what workers connect, and not how.
    let (no_connection, _) = code(&["--live", "compose.yaml"]);
    assert_eq!(no_connection, Some(64));
    for wait in ["0", "601", "x"] {
        let (code, _) = code(&["--live", "stock.properties", "--wait", wait]);
        assert_eq!(code, Some(64), "{wait}");
    }
    let (code, told) = code(&["--live", "--config", "absent.yaml"]);
    assert_eq!(code, Some(78), "{told}");
}
