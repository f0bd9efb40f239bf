//! The document is as the table; what is read of files cannot break a format.

use evenkeel_core::checks::source::Source;
use evenkeel_core::checks::{self, Judgement, Shown};

use serde_json::Value;

use super::*;
use crate::config::golden;

#[test]
fn the_document_is_up_to_date() {
    golden::committed("docs/checks.md", &markdown());
}

#[test]
fn every_check_has_an_anchor() {
    let document = markdown();
    for check in checks::all() {
        assert!(
            document.contains(&format!("\n### {}\n", check.id)),
            "{}",
            check.id
        );
        assert!(
            document.contains(&format!("](#{})", check.id)),
            "{}",
            check.id
        );
    }
}

/// A finding whose words hold all that formats are parted by.
fn nasty() -> Report {
    let source = Source::File {
        file: "a,b:c%d \u{1b}[31m.properties".to_owned(),
        line: Some(7),
    };
    let judgement = Judgement {
        subject: "s\n::error::x".to_owned(),
        outcome: Outcome::Fired,
        said: "one\r\ntwo % three".to_owned(),
        advice: None,
        values: vec![Shown {
            worker: "w".to_owned(),
            name: "name\u{1b}[0m".to_owned(),
            value: "va\nlue".to_owned(),
            source,
        }],
        missing: Vec::new(),
    };
    Report {
        files: vec![FileRead {
            file: "x\ny".to_owned(),
            format: "a file",
            notes: vec!["note\u{7}".to_owned()],
        }],
        groups: vec![(Some("g\u{1b}".to_owned()), 1), (None, 1)],
        release: Taken::OfFiles,
        live: vec![LiveRead {
            group: "g\n::x".to_owned(),
            principal: Some("p\u{1b}".to_owned()),
            workers: Some(2),
            troubles: vec!["t\r\nx may not be read: p needs READ on it".to_owned()],
            notes: vec!["n % 1".to_owned()],
        }],
        findings: vec![Finding {
            check: checks::all().next().unwrap(),
            judgement,
        }],
    }
}

#[test]
fn a_workflow_command_stays_one() {
    let text = github(&nasty());
    // What was read of the group, a right that is missing, then the finding.
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(!text.contains('\r'));
    assert!(
        text.starts_with("::error title=group g%0A%3A%3Ax::t%0D%0Ax may not"),
        "{text}"
    );
    assert!(
        text.contains("\n::notice title=group g%0A%3A%3Ax::n %25 1\n"),
        "{text}"
    );
    let text = text.lines().last().unwrap();
    let (command, message) = text[2..].split_once("::").unwrap();
    assert!(command.contains("file=a%2Cb%3Ac%25d"), "{command}");
    assert!(command.contains(",line=7,title="), "{command}");
    assert!(message.contains("one%0D%0Atwo %25 three"), "{message}");
}

#[test]
fn nothing_steers_a_terminal() {
    let text = text(&nasty());
    let steers = |letter: char| letter.is_control() && letter != '\n';
    assert!(!text.contains(steers), "{text:?}");
    assert!(!text.contains("\nlue"), "{text:?}");
    assert!(text.contains("va\\nlue"), "{text}");
}

#[test]
fn a_uri_is_a_uri() {
    assert_eq!(uri("./a b/ü.env"), "a%20b/%C3%BC.env");
    assert_eq!(
        uri("/etc/kafka/x.properties"),
        "file:///etc/kafka/x.properties"
    );
    let document: serde_json::Value = serde_json::from_str(&sarif(&nasty())).unwrap();
    let place = &document["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let uri = place["artifactLocation"]["uri"].as_str().unwrap();
    assert!(!uri.contains([' ', ':', '\u{1b}']), "{uri}");
    assert_eq!(place["region"]["startLine"], 7);
}

#[test]
fn json_is_json() {
    let document: serde_json::Value = serde_json::from_str(&json(&nasty())).unwrap();
    assert_eq!(document["findings"][0]["said"], "one\r\ntwo % three");
    assert_eq!(document["release"], serde_json::json!({}));
}

/// What could not be read is in every format: by words, as a value, as a notification.
#[test]
fn what_could_not_be_read_is_told_in_each_format() {
    let mut report = nasty();
    report.live[0].group = "orders".to_owned();
    report.live[0].troubles = vec!["t may not be read: evenkeel needs READ on it".to_owned()];
    let text = text(&report);
    assert!(
        text.contains("group orders: asked of its brokers as p"),
        "{text}"
    );
    assert!(
        text.contains("  ! t may not be read: evenkeel needs READ on it"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&json(&report)).unwrap();
    assert_eq!(json["live"][0]["troubles"][0], report.live[0].troubles[0]);
    assert_eq!(json["live"][0]["workers"], 2);
    let sarif: Value = serde_json::from_str(&sarif(&report)).unwrap();
    let told = &sarif["runs"][0]["invocations"][0];
    assert_eq!(told["executionSuccessful"], false);
    let notified = &told["toolExecutionNotifications"][0];
    assert_eq!(notified["level"], "error");
    let message = notified["message"]["text"].as_str().unwrap();
    assert!(
        message.starts_with("group orders: t may not be read"),
        "{message}"
    );
}
