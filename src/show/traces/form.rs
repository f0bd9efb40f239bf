//! Spans in OTLP's own messages.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};

use super::tree::{self, Attributes, Trace, Value};

/// That the trace was sampled (`SpanFlags`: the low byte holds W3C trace flags), and that it is
/// known that a parent is of this process.
const FLAGS: u32 = 0x0101;

const NANOS_PER_MS: u64 = 1_000_000;

/// One request with all these traces.
pub(super) fn request(
    traces: &[Trace],
    resource: &BTreeMap<String, String>,
) -> ExportTraceServiceRequest {
    let named = resource.iter();
    let attributes = named.map(|(name, value)| pair(name, &Value::Text(value.clone())));
    let spans = traces
        .iter()
        .flat_map(|trace| trace.spans.iter().map(|one| span(trace, one)));
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(Resource {
                attributes: attributes.collect(),
                ..Resource::default()
            }),
            scope_spans: vec![ScopeSpans {
                scope: Some(InstrumentationScope {
                    name: env!("CARGO_PKG_NAME").to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    ..InstrumentationScope::default()
                }),
                spans: spans.collect(),
                ..ScopeSpans::default()
            }],
            ..ResourceSpans::default()
        }],
    }
}

fn span(trace: &Trace, span: &tree::Span) -> Span {
    let link = |link: &tree::Link| Link {
        trace_id: link.trace.to_vec(),
        span_id: link.span.to_vec(),
        attributes: pairs(
            &Attributes::default()
                .text("evenkeel.episode", &link.episode)
                .into_list(),
        ),
        flags: FLAGS,
        ..Link::default()
    };
    let event = |event: &tree::Event| Event {
        time_unix_nano: nanos(event.at_ms),
        name: event.name.to_owned(),
        attributes: pairs(&event.attributes),
        ..Event::default()
    };
    let status = span.error.map(|why| Status {
        message: why.to_owned(),
        code: StatusCode::Error.into(),
    });
    Span {
        trace_id: trace.id.to_vec(),
        span_id: span.id.to_vec(),
        parent_span_id: span
            .parent
            .map(|parent| parent.to_vec())
            .unwrap_or_default(),
        flags: FLAGS,
        name: span.name.to_owned(),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: nanos(span.start_ms),
        end_time_unix_nano: nanos(span.end_ms),
        attributes: pairs(&span.attributes),
        events: span.events.iter().map(event).collect(),
        dropped_events_count: span.events_left_out,
        links: span.links.iter().map(link).collect(),
        status,
        ..Span::default()
    }
}

fn pairs(list: &[(String, Value)]) -> Vec<KeyValue> {
    list.iter().map(|(name, value)| pair(name, value)).collect()
}

fn pair(name: &str, value: &Value) -> KeyValue {
    let text = |text: &String| AnyValue {
        value: Some(Any::StringValue(text.clone())),
    };
    let value = match value {
        Value::Text(text) => Any::StringValue(text.clone()),
        Value::Number(number) => Any::IntValue(*number),
        Value::Real(number) => Any::DoubleValue(*number),
        Value::Truth(truth) => Any::BoolValue(*truth),
        Value::Texts(texts) => Any::ArrayValue(ArrayValue {
            values: texts.iter().map(text).collect(),
        }),
    };
    KeyValue {
        key: name.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

/// An instant before 1970 is one that no record of Kafka has.
fn nanos(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0).saturating_mul(NANOS_PER_MS)
}
