//! Which of OpenTelemetry's variables say what the section `traces` does not.

use super::{Env, Lookup, variables};
use crate::config::groups::Origin;
use crate::config::secret::HIDDEN;
use crate::config::tree::{TraceCompression, TraceProtocol, TracesTree};

/// What they say, where traces go anywhere, or would.
pub(in crate::config) fn origins(tree: &TracesTree, env: Env<'_>) -> Vec<Origin> {
    let lookup = Lookup { env };
    let timeout_ms = tree.timeout_ms.map(|ms| ms.to_string());
    let endpoint = lookup.said("endpoint", tree.endpoint.as_deref(), &variables("ENDPOINT"));
    if endpoint.is_none() {
        return Vec::new();
    }
    let off = ["OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"];
    let off = off.into_iter().find(|name| {
        let one = |asked: &str| env(asked).filter(|_| asked == *name);
        Lookup { env: &one }.is_off(&mut Vec::new())
    });
    if let Some(off) = off {
        return vec![Origin {
            key: "traces".to_owned(),
            value: Some("not sent".to_owned()),
            source: off.to_owned(),
        }];
    }
    let set = [
        ("endpoint", tree.endpoint.as_deref(), "ENDPOINT"),
        (
            "protocol",
            tree.protocol.map(TraceProtocol::word),
            "PROTOCOL",
        ),
        ("timeout_ms", timeout_ms.as_deref(), "TIMEOUT"),
        (
            "compression",
            tree.compression.map(TraceCompression::word),
            "COMPRESSION",
        ),
        ("ca_file", tree.ca_file.as_deref(), "CERTIFICATE"),
        (
            "certificate_file",
            tree.certificate_file.as_deref(),
            "CLIENT_CERTIFICATE",
        ),
        ("key_file", tree.key_file.as_deref(), "CLIENT_KEY"),
    ];
    let each = set.into_iter();
    let mut origins: Vec<Origin> = each
        .filter_map(|(key, set, name)| {
            let said = lookup.said(key, set, &variables(name))?;
            origin(key, said.value, &said.path)
        })
        .collect();
    let named = ["OTEL_SERVICE_NAME".to_owned()];
    let named = lookup.said("service_name", tree.service_name.as_deref(), &named);
    origins.extend(named.and_then(|said| origin("service_name", said.value, &said.path)));
    let headers = lookup.variable(&variables("HEADERS"));
    origins.extend(headers.and_then(|said| origin("headers", HIDDEN.to_owned(), &said.path)));
    origins
}

/// Of what a variable says; what the tree says stands there.
fn origin(key: &str, value: String, path: &str) -> Option<Origin> {
    let key = format!("traces.{key}");
    (path != key).then(|| Origin {
        key,
        value: Some(value),
        source: path.to_owned(),
    })
}
