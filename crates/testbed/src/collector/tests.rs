//! The collector as it is used: OTLP in, spans read back, through a stop and a kill.

use super::*;
use crate::rest;

/// A request with one span, as the specification writes it in JSON.
fn request(span_id: &str) -> Value {
    json!({ "resourceSpans": [{
        "resource": { "attributes": [
            { "key": "service.name", "value": { "stringValue": "a service" } },
        ] },
        "scopeSpans": [{
            "scope": { "name": "a scope" },
            "spans": [{
                "traceId": "5b8efff798038103d269b633813fc60c",
                "spanId": span_id,
                "parentSpanId": "eee19b7ec3c1b173",
                "name": "work",
                "kind": 1,
                "startTimeUnixNano": "1544712660000000001",
                "endTimeUnixNano": "1544712661000000002",
                "attributes": [
                    { "key": "count", "value": { "intValue": "7" } },
                    { "key": "list", "value": { "arrayValue": { "values": [
                        { "stringValue": "a" }, { "boolValue": true },
                    ] } } },
                ],
                "events": [{ "name": "seen", "timeUnixNano": "1544712660500000000" }],
                "links": [{
                    "traceId": "5b8efff798038103d269b633813fc60d",
                    "spanId": "eee19b7ec3c1b175",
                }],
                "status": { "code": 2 },
            }],
        }],
    }] })
}

fn send(collector: &Collector, span_id: &str) {
    rest::request(
        collector.http_port(),
        "POST",
        "/v1/traces",
        Some(&request(span_id)),
        Duration::from_secs(10),
    )
    .unwrap()
    .ok()
    .unwrap();
}

fn await_spans(collector: &Collector, count: usize) -> Vec<Span> {
    wait_until("the spans", Duration::from_secs(10), || {
        Ok(Some(collector.spans()?).filter(|spans| spans.len() == count))
    })
    .unwrap()
}

#[test]
fn what_is_sent_is_read_back_also_after_a_stop_and_a_kill() {
    if let Some(obstacle) = Collector::obstacle().unwrap() {
        println!("skipped: {obstacle}");
        return;
    }
    let mut collector = Collector::start().unwrap();
    send(&collector, "eee19b7ec3c1b174");
    let spans = await_spans(&collector, 1);
    let span = &spans[0];
    assert_eq!(span.trace_id, "5b8efff798038103d269b633813fc60c");
    assert_eq!(span.parent.as_deref(), Some("eee19b7ec3c1b173"));
    assert_eq!(
        (span.start_ns, span.end_ns),
        (1_544_712_660_000_000_001, 1_544_712_661_000_000_002)
    );
    assert_eq!(span.attributes["count"], 7);
    assert_eq!(span.attributes["list"], json!(["a", true]));
    assert_eq!(span.events[0].name, "seen");
    assert_eq!(span.links[0].span_id, "eee19b7ec3c1b175");
    assert_eq!(span.resource["service.name"], "a service");
    assert_eq!((span.scope.as_str(), span.status), ("a scope", 2));
    assert!(collector.resume().is_err(), "it runs already");

    collector.stop().unwrap();
    assert!(
        rest::request(
            collector.http_port(),
            "POST",
            "/v1/traces",
            Some(&request("eee19b7ec3c1b176")),
            Duration::from_secs(1),
        )
        .is_err()
    );
    collector.resume().unwrap();
    send(&collector, "eee19b7ec3c1b177");
    assert_eq!(await_spans(&collector, 2)[1].span_id, "eee19b7ec3c1b177");
    collector.kill().unwrap();
    collector.resume().unwrap();
    send(&collector, "eee19b7ec3c1b178");
    assert_eq!(await_spans(&collector, 3)[2].span_id, "eee19b7ec3c1b178");
    assert!(!collector.log().unwrap().is_empty());
}

#[test]
fn a_line_that_is_not_whole_is_left_out_and_nonsense_refused() {
    let line = request("eee19b7ec3c1b174").to_string();
    let twice = format!("{line}\n{line}\n");
    assert_eq!(otlp::spans(&twice).unwrap().len(), 2);
    assert_eq!(
        otlp::spans(&format!("{line}\n{}", &line[..40]))
            .unwrap()
            .len(),
        1
    );
    assert!(otlp::spans("{\"resourceSpans\": 1}\n").is_err());
    let no_id = line.replace("eee19b7ec3c1b174", "0000000000000000");
    assert!(otlp::spans(&format!("{no_id}\n")).is_err());
    let backwards = line.replace("1544712661000000002", "1544712650000000000");
    assert!(otlp::spans(&format!("{backwards}\n")).is_err());
}
