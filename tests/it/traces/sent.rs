//! `replay --otlp`: the program sends what a capture holds, and says what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use evenkeel::show::traces::ids::hex;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use serde_json::Value;

/// Answers so many requests with a status, each on a connection of its own; hands on what came.
fn receiver(status: &'static str, times: usize) -> (SocketAddr, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, bodies) = sync_channel(64);
    thread::spawn(move || {
        for _ in 0..times {
            let (stream, _) = listener.accept().unwrap();
            sender.send(answer(stream, status)).unwrap();
        }
    });
    (address, bodies)
}

fn answer(mut stream: TcpStream, status: &str) -> Vec<u8> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").unwrap();
    body
}

fn replay(url: &str) -> Output {
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/rollout.evk.gz");
    Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args(["replay", "--settle", "--otlp", url])
        .arg(capture)
        .env_clear()
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_captured_incident_is_sent_and_told() {
    let (address, bodies) = receiver("200 OK", usize::MAX);
    let output = replay(&format!("http://{address}"));
    assert!(output.status.success(), "{}", said(&output));
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let closed = lines.iter().filter(|line| line["line"] == "closed");
    let named: BTreeSet<&str> = closed
        .filter_map(|line| line["episode"]["trace_id"].as_str())
        .collect();
    let whole = named.len();
    let sent = lines.iter().find(|line| line["line"] == "sent").unwrap();
    assert_eq!(sent["traces"], whole);
    assert_eq!(sent["rejected"], 0);
    let (mut spans, mut ids) = (0, BTreeSet::new());
    for body in bodies.try_iter() {
        let request = ExportTraceServiceRequest::decode(&body[..]).unwrap();
        let scopes = request
            .resource_spans
            .iter()
            .flat_map(|all| &all.scope_spans);
        for span in scopes.flat_map(|scope| &scope.spans) {
            ids.insert(hex(&span.trace_id));
            spans += 1;
        }
    }
    // What is sent is what is named, where it closes, where it began, and in the end.
    assert_eq!(
        ids.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        named
    );
    let opened = lines.iter().filter(|line| line["line"] == "opened");
    let opened = opened.filter_map(|line| line["episode"]["trace_id"].as_str());
    assert!(named.is_subset(&opened.collect()));
    let episodes = lines
        .iter()
        .find(|line| line["line"] == "episodes")
        .unwrap();
    let kept = episodes["episodes"]["closed"].as_array().unwrap().iter();
    let kept = kept.filter_map(|episode| episode["trace_id"].as_str());
    assert_eq!(kept.collect::<BTreeSet<_>>(), named);
    assert_eq!(sent["spans"], spans);
    let told = format!("{spans} spans of {whole} rebalances sent to http://{address}/v1/traces");
    assert!(said(&output).contains(&told), "{}", said(&output));
}

#[test]
fn a_receiver_that_refuses_is_an_error_that_says_so() {
    let (address, _bodies) = receiver("401 Unauthorized", 1);
    let output = replay(&format!("http://{address}"));
    assert_eq!(output.status.code(), Some(1));
    let told = format!("traces not sent to http://{address}/v1/traces: {address} answered 401");
    assert!(said(&output).contains(&told), "{}", said(&output));
}

#[test]
fn an_address_that_makes_no_sense_is_a_mistake_in_the_configuration() {
    let output = replay("collector:4318");
    assert_eq!(output.status.code(), Some(78));
    assert!(
        said(&output).contains("without http:// or https://"),
        "{}",
        said(&output)
    );
}

#[test]
fn the_demo_sends_its_rebalances_too() {
    let (address, bodies) = receiver("200 OK", usize::MAX);
    let output = Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args(["demo", "--listen", "127.0.0.1:0", "--exit", "--otlp"])
        .arg(format!("http://{address}"))
        .env_clear()
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let requests: Vec<ExportTraceServiceRequest> = bodies
        .try_iter()
        .map(|body| ExportTraceServiceRequest::decode(&body[..]).unwrap())
        .collect();
    let spans = requests
        .iter()
        .flat_map(|request| &request.resource_spans)
        .flat_map(|all| &all.scope_spans)
        .flat_map(|scope| &scope.spans);
    // What is on its way when the demo ends is sent again: the same spans under the same ids.
    let mut sent = BTreeMap::new();
    for span in spans {
        let before = sent.insert(&span.span_id, span);
        assert!(before.is_none_or(|before| before == span), "{span:?}");
    }
    let roots = sent.values().filter(|span| span.parent_span_id.is_empty());
    let traces: BTreeSet<&[u8]> = roots.map(|root| &root.trace_id[..]).collect();
    assert!(traces.len() > 2, "{} traces", traces.len());
}

#[test]
fn a_demo_whose_receiver_makes_no_sense_does_not_begin() {
    let output = Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args([
            "demo",
            "--listen",
            "127.0.0.1:0",
            "--exit",
            "--otlp",
            "here",
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(78));
    assert!(output.stdout.is_empty());
    assert!(
        said(&output).contains("without http://"),
        "{}",
        said(&output)
    );
}
