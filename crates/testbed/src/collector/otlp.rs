//! OTLP as JSON, as a collector writes it: a request a line, read into spans.
//!
//! The form is that of OTLP 1 (`opentelemetry/proto/trace/v1/trace.proto` and the section
//! "JSON Protobuf Encoding" of its specification): ids in hexadecimal, 64-bit numbers as text.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

/// Attributes by name; numbers, texts, truths and lists as JSON has them.
pub type Attributes = BTreeMap<String, Value>;

/// A span, with what it was sent under.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// 32 hexadecimal digits.
    pub trace_id: String,
    /// 16 hexadecimal digits.
    pub span_id: String,
    /// The span above it; none at the root.
    pub parent: Option<String>,
    pub name: String,
    /// `SpanKind` of the protocol: 1 is internal.
    pub kind: u32,
    /// Since 1970, in nanoseconds.
    pub start_ns: u64,
    pub end_ns: u64,
    pub attributes: Attributes,
    pub events: Vec<SpanEvent>,
    pub links: Vec<Link>,
    /// `StatusCode` of the protocol: 0 is unset, 2 an error.
    pub status: u32,
    /// Attributes of the resource.
    pub resource: Attributes,
    /// Name of the instrumentation scope.
    pub scope: String,
}

/// Something at an instant of a span.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanEvent {
    pub name: String,
    pub at_ns: u64,
    pub attributes: Attributes,
}

/// A link to another span.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub trace_id: String,
    pub span_id: String,
    pub attributes: Attributes,
}

/// The spans of all lines; a last line that is not whole yet is left out.
pub(super) fn spans(text: &str) -> anyhow::Result<Vec<Span>> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut spans = Vec::new();
    for line in whole.lines().filter(|line| !line.is_empty()) {
        let request: Request =
            serde_json::from_str(line).with_context(|| format!("no OTLP: {line}"))?;
        for of_resource in request.resource_spans {
            for of_scope in of_resource.scope_spans {
                for raw in of_scope.spans {
                    let resource = of_resource.resource.attributes.clone();
                    spans.push(raw.span(resource.0, of_scope.scope.name.clone())?);
                }
            }
        }
    }
    Ok(spans)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    #[serde(default)]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans {
    #[serde(default)]
    resource: Resource,
    #[serde(default)]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Default, Deserialize)]
struct Resource {
    #[serde(default)]
    attributes: Pairs,
}

#[derive(Deserialize)]
struct ScopeSpans {
    #[serde(default)]
    scope: Scope,
    #[serde(default)]
    spans: Vec<RawSpan>,
}

#[derive(Default, Deserialize)]
struct Scope {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawSpan {
    trace_id: String,
    span_id: String,
    #[serde(default)]
    parent_span_id: String,
    name: String,
    #[serde(default)]
    kind: u32,
    #[serde(deserialize_with = "number")]
    start_time_unix_nano: u64,
    #[serde(deserialize_with = "number")]
    end_time_unix_nano: u64,
    #[serde(default)]
    attributes: Pairs,
    #[serde(default)]
    events: Vec<RawEvent>,
    #[serde(default)]
    links: Vec<RawLink>,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawEvent {
    name: String,
    #[serde(deserialize_with = "number")]
    time_unix_nano: u64,
    #[serde(default)]
    attributes: Pairs,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawLink {
    trace_id: String,
    span_id: String,
    #[serde(default)]
    attributes: Pairs,
}

#[derive(Default, Deserialize)]
struct Status {
    #[serde(default)]
    code: u32,
}

/// Attributes as the protocol has them: a list of key and value.
#[derive(Clone, Default)]
struct Pairs(Attributes);

impl RawSpan {
    fn span(self, resource: Attributes, scope: String) -> anyhow::Result<Span> {
        let what = format!("span {:?}", self.name);
        hexadecimal(&self.trace_id, 32).with_context(|| what.clone())?;
        hexadecimal(&self.span_id, 16).with_context(|| what.clone())?;
        ensure!(
            self.start_time_unix_nano <= self.end_time_unix_nano,
            "{what} ends before it starts"
        );
        Ok(Span {
            trace_id: self.trace_id,
            span_id: self.span_id,
            parent: Some(self.parent_span_id).filter(|parent| !parent.is_empty()),
            name: self.name,
            kind: self.kind,
            start_ns: self.start_time_unix_nano,
            end_ns: self.end_time_unix_nano,
            attributes: self.attributes.0,
            events: self.events.into_iter().map(RawEvent::event).collect(),
            links: self.links.into_iter().map(RawLink::link).collect(),
            status: self.status.code,
            resource,
            scope,
        })
    }
}

impl RawEvent {
    fn event(self) -> SpanEvent {
        SpanEvent {
            name: self.name,
            at_ns: self.time_unix_nano,
            attributes: self.attributes.0,
        }
    }
}

impl RawLink {
    fn link(self) -> Link {
        Link {
            trace_id: self.trace_id,
            span_id: self.span_id,
            attributes: self.attributes.0,
        }
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Pairs, D::Error> {
        #[derive(Deserialize)]
        struct Pair {
            key: String,
            #[serde(default)]
            value: Value,
        }
        let mut all = Attributes::new();
        for pair in Vec::<Pair>::deserialize(from)? {
            let value = plain(&pair.value).map_err(de::Error::custom)?;
            if all.insert(pair.key.clone(), value).is_some() {
                return Err(de::Error::custom(format!("{} twice", pair.key)));
            }
        }
        Ok(Pairs(all))
    }
}

/// An `AnyValue` as JSON has it.
fn plain(value: &Value) -> anyhow::Result<Value> {
    let Some(fields) = value.as_object() else {
        return Ok(Value::Null);
    };
    let Some((kind, inner)) = fields.iter().next() else {
        return Ok(Value::Null);
    };
    match kind.as_str() {
        "stringValue" | "boolValue" | "doubleValue" => Ok(inner.clone()),
        "intValue" => match inner {
            Value::String(text) => Ok(text.parse::<i64>()?.into()),
            number => Ok(number.clone()),
        },
        "arrayValue" => {
            let values = inner["values"].as_array();
            values.into_iter().flatten().map(plain).collect()
        }
        other => anyhow::bail!("a value of kind {other}"),
    }
}

fn hexadecimal(id: &str, digits: usize) -> anyhow::Result<()> {
    let is_id = id.len() == digits && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    ensure!(is_id && id.bytes().any(|byte| byte != b'0'), "id {id:?}");
    Ok(())
}

/// A 64-bit number, which JSON of protobuf writes as text.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    match Value::deserialize(from)? {
        Value::String(text) => text.parse().map_err(de::Error::custom),
        Value::Number(number) => number.as_u64().ok_or_else(|| de::Error::custom("negative")),
        other => Err(de::Error::custom(format!("no number: {other}"))),
    }
}
