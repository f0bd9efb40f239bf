//! What is sent of a capture, to the last byte.

use std::path::Path;

use evenkeel::config::traces_for_url;
use evenkeel::show::traces::Trace;
use evenkeel::show::traces::wire::Client;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message;

use super::{id, inputs, parent, traces};

/// A receiver that knows of the sender what its environment says.
fn client() -> Client {
    let resource = "service.name=s,k8s.pod.name=p,z=1,y=2,x=3,w=4,v=5,u=6,t=7";
    let env = |name: &str| (name == "OTEL_RESOURCE_ATTRIBUTES").then(|| resource.to_owned());
    Client::new(traces_for_url("http://127.0.0.1:4318", &env).unwrap().0)
}

fn derived(scenario: &str) -> Vec<Trace> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    traces(&inputs(
        &root.join(format!("tests/captures/{scenario}.evk.gz")),
    ))
}

#[test]
fn the_same_capture_is_the_same_bytes() {
    for scenario in ["kill_back_inside", "rollout", "connector_changes"] {
        let bytes = || client().message(&derived(scenario));
        let first = bytes();
        assert!(first.len() > 10_000, "{scenario}: {}", first.len());
        for _ in 0..3 {
            assert!(bytes() == first, "{scenario}");
        }
    }
}

#[test]
fn a_span_is_written_with_its_ids_and_times() {
    let traces = derived("kill_back_inside");
    let bytes = client().message(&traces);
    let request = ExportTraceServiceRequest::decode(&bytes[..]).unwrap();
    let [all] = request.resource_spans.try_into().unwrap();
    let attributes = all.resource.unwrap().attributes.into_iter();
    let names: Vec<String> = attributes.map(|of| of.key).collect();
    assert!(names.len() > 9 && names.is_sorted(), "{names:?}");
    let [scope] = all.scope_spans.try_into().unwrap();
    assert_eq!(scope.scope.unwrap().name, "evenkeel");
    let told: Vec<_> = traces.iter().flat_map(|trace| &trace.spans).collect();
    assert_eq!(scope.spans.len(), told.len());
    for (span, told) in scope.spans.iter().zip(told) {
        assert_eq!(span.trace_id, told.span_context.trace_id().to_bytes());
        assert_eq!(span.span_id, id(told));
        assert_eq!(span.parent_span_id, parent(told).map_or(vec![], Vec::from));
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
