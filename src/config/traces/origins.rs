//! Which of OpenTelemetry's variables say what the section `traces` does not.

use super::lookup::{Env, Lookup, Said, variables};
use super::noted::Noted;
use super::read;
use crate::config::groups::Origin;
use crate::config::secret::HIDDEN;
use crate::config::tree::TracesTree;

/// What they say, where traces go anywhere, or would.
pub(in crate::config) fn origins(tree: &TracesTree, env: Env<'_>) -> Vec<Origin> {
    let lookup = Lookup { env };
    let Some((endpoint, _)) = lookup.endpoint(tree.endpoint.as_deref()) else {
        return Vec::new();
    };
    // What is passed over is told elsewhere.
    let passed_over = &mut Noted::default();
    let off = lookup.is_off(passed_over).map(|said| said.path);
    let stopped = || {
        let mut noted = Noted::default();
        read(tree, env, &mut noted);
        noted.stopped_by().map(str::to_owned)
    };
    if let Some(source) = off.or_else(stopped) {
        return vec![Origin {
            key: "traces".to_owned(),
            value: Some("not sent".to_owned()),
            source,
        }];
    }
    let word = |(word, said): (&str, Said)| (word.to_owned(), said);
    let protocol = lookup.protocol_said(tree.protocol, passed_over);
    let timeout = lookup.timeout_said(tree.timeout_ms, passed_over);
    let compression = lookup.compression_said(tree.compression, passed_over);
    let plain = |said: Said| (said.value.clone(), said);
    let text = |key: &str, set: &Option<String>, names: &[String]| {
        lookup.said(key, set.as_deref(), names).map(plain)
    };
    let set = [
        ("endpoint", Some(plain(endpoint))),
        ("protocol", protocol.map(word)),
        (
            "timeout_ms",
            timeout.map(|(ms, said)| (ms.to_string(), said)),
        ),
        ("compression", compression.map(word)),
        (
            "ca_file",
            text("ca_file", &tree.ca_file, &variables("CERTIFICATE")),
        ),
        (
            "certificate_file",
            text(
                "certificate_file",
                &tree.certificate_file,
                &variables("CLIENT_CERTIFICATE"),
            ),
        ),
        (
            "key_file",
            text("key_file", &tree.key_file, &variables("CLIENT_KEY")),
        ),
        (
            "service_name",
            text(
                "service_name",
                &tree.service_name,
                &["OTEL_SERVICE_NAME".to_owned()],
            ),
        ),
        (
            "headers",
            lookup
                .first(&variables("HEADERS"))
                .map(|said| (HIDDEN.to_owned(), said)),
        ),
    ];
    let each = set.into_iter();
    each.filter_map(|(key, found)| {
        let (value, said) = found.filter(|(_, said)| said.is_variable())?;
        // What the tree says stands there.
        Some(Origin {
            key: format!("traces.{key}"),
            value: Some(value),
            source: said.path,
        })
    })
    .collect()
}
