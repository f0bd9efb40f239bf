//! What is sent, to the last byte.

use std::collections::BTreeMap;
use std::path::Path;

use evenkeel_core::engine::{Change, Engine};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message;

use super::request;
use crate::read::capture::CaptureReader;
use crate::show::traces::{Scene, Trace, trace};

/// The traces of a recorded scenario, derived anew.
fn traces(scenario: &str) -> Vec<Trace> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/captures/{scenario}.evk.gz"));
    let mut engine = Engine::new();
    let mut traces = Vec::new();
    for input in CaptureReader::open(&path).unwrap() {
        for change in engine.apply(&input.unwrap()) {
            if let Change::Closed(episode) = change {
                traces.extend(trace(&episode, &Scene::of(&engine.answers())));
            }
        }
    }
    traces
}

fn resource() -> BTreeMap<String, String> {
    let names = [
        "service.name",
        "service.version",
        "k8s.pod.name",
        "a",
        "b",
        "c",
        "d",
        "e",
    ];
    names
        .map(|name| (name.to_owned(), format!("of {name}")))
        .into()
}

#[test]
fn the_same_capture_is_the_same_bytes() {
    for scenario in ["kill_back_inside", "rollout", "connector_changes"] {
        let bytes = || request(&traces(scenario), &resource()).encode_to_vec();
        let first = bytes();
        assert!(first.len() > 10_000, "{scenario}: {}", first.len());
        for _ in 0..3 {
            assert!(bytes() == first, "{scenario}");
        }
    }
}

#[test]
fn a_span_is_written_with_its_ids_and_times() {
    let traces = traces("kill_back_inside");
    let [all] = request(&traces, &resource())
        .resource_spans
        .try_into()
        .unwrap();
    let names: Vec<String> = all
        .resource
        .unwrap()
        .attributes
        .into_iter()
        .map(|of| of.key)
        .collect();
    assert!(names.is_sorted(), "{names:?}");
    let [scope] = all.scope_spans.try_into().unwrap();
    assert_eq!(scope.scope.unwrap().name, "evenkeel");
    let told: Vec<_> = traces.iter().flat_map(|trace| &trace.spans).collect();
    assert_eq!(scope.spans.len(), told.len());
    for (span, told) in scope.spans.iter().zip(told) {
        assert_eq!(span.trace_id, told.span_context.trace_id().to_bytes());
        assert_eq!(span.span_id, told.span_context.span_id().to_bytes());
        assert_eq!(span.parent_span_id.is_empty(), span.name == "rebalance");
        assert_eq!(span.attributes.len(), told.attributes.len());
        assert_eq!(span.events.len(), told.events.len());
        // Sampled, and of a parent that is known to be of this process.
        assert_eq!(span.flags, 0x0101);
        assert_eq!(span.status.as_ref().unwrap().code(), StatusCode::Unset);
        // Records have milliseconds.
        assert_eq!(span.start_time_unix_nano % 1_000_000, 0);
        assert!(span.start_time_unix_nano > 1_700_000_000_000_000_000);
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
    }
}
