//! Spans in OTLP's own messages, as OpenTelemetry's own code writes them.
//!
//! A resource of the SDK is not used: it is a hash map, and the same attributes would be
//! written in another order by each process.

use std::collections::BTreeMap;

use opentelemetry::KeyValue;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;

use super::tree::Trace;

/// One request with all these traces.
pub(super) fn request<'a>(
    traces: impl IntoIterator<Item = &'a Trace>,
    resource: &BTreeMap<String, String>,
) -> ExportTraceServiceRequest {
    let named = resource.iter();
    let named = named.map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
    let resource = ResourceAttributesWithSchema {
        attributes: named.into(),
        schema_url: None,
    };
    let spans = traces.into_iter().flat_map(|trace| trace.spans.clone());
    ExportTraceServiceRequest {
        resource_spans: group_spans_by_resource_and_scope(spans.collect(), &resource),
    }
}
