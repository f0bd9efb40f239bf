//! Where traces go: the section `traces`, and OpenTelemetry's own variables where that says
//! nothing. Those with `TRACES` in their names come before those without
//! (<https://opentelemetry.io/docs/specs/otel/protocol/exporter/>).
//!
//! The configuration is held to what it says. Variables are set by others, too, and for other
//! programs: one that cannot be used is told and passed over, as OpenTelemetry has it
//! (<https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>). What
//! says where spans go, to whom and as whom (the endpoint, headers, files for TLS) is not
//! passed over: then nothing is sent, and everything else goes on.

mod endpoint;
mod headers;
mod lookup;
mod noted;
mod origins;
mod pairs;

use super::mistake::{Mistake, Mistakes, quoted};
use super::tree::{TraceProtocol, TracesTree};
use super::typed::{TraceEndpoint, TraceFile, TracesConfig};
use lookup::{Env, Lookup, Said};
use noted::{Noted, Then};
pub(super) use origins::origins;

/// The variables that are read.
pub const VARIABLES: [&str; 20] = [
    "OTEL_SDK_DISABLED",
    "OTEL_TRACES_EXPORTER",
    "OTEL_SERVICE_NAME",
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
    "OTEL_EXPORTER_OTLP_COMPRESSION",
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY",
];

/// The signal's own path (OTLP 1.x, "OTLP/HTTP Request").
const PATH: &str = "/v1/traces";

/// Where traces go that are sent by hand: to this address, everything else by OpenTelemetry's
/// variables; and what is to be said of variables that cannot be used.
///
/// # Errors
/// All mistakes. A variable that keeps traces from being sent is one of them here.
pub fn for_url(url: &str, env: Env<'_>) -> Result<(TracesConfig, Vec<String>), Mistakes> {
    let tree = TracesTree {
        endpoint: Some(url.to_owned()),
        ..TracesTree::default()
    };
    // Whoever names an address wants them sent, and there.
    let asked = |name: &str| match name {
        "OTEL_SDK_DISABLED"
        | "OTEL_TRACES_EXPORTER"
        | "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
        | "OTEL_EXPORTER_OTLP_ENDPOINT" => None,
        name => env(name),
    };
    let mut noted = Noted::default();
    let config = read(&tree, &asked, &mut noted);
    let mut mistakes = noted.all_that_stop();
    match config {
        Some(config) if mistakes.is_empty() => return Ok((config, noted.warnings())),
        None if mistakes.is_empty() => {
            let expected = "an address such as http://collector.example:4318";
            mistakes.push(Mistake::new("--otlp", quoted(url), expected));
        }
        _ => {}
    }
    for mistake in &mut mistakes {
        if mistake.path == "traces.endpoint" {
            "--otlp".clone_into(&mut mistake.path);
        }
    }
    Err(Mistakes(mistakes))
}

/// Where traces go. What a variable says that cannot be used is no mistake here: see
/// [`warnings`].
pub(super) fn of_traces(
    tree: &TracesTree,
    env: Env<'_>,
    mistakes: &mut Vec<Mistake>,
) -> Option<TracesConfig> {
    let mut noted = Noted::default();
    let config = read(tree, env, &mut noted);
    mistakes.append(&mut noted.mistakes);
    config
}

/// What is to be said of variables that cannot be used.
pub(super) fn warnings(tree: &TracesTree, env: Env<'_>) -> Vec<String> {
    let mut noted = Noted::default();
    read(tree, env, &mut noted);
    noted.warnings()
}

fn read(tree: &TracesTree, env: Env<'_>, noted: &mut Noted) -> Option<TracesConfig> {
    let TracesTree {
        endpoint,
        protocol,
        headers,
        timeout_ms,
        compression,
        ca_file,
        certificate_file,
        key_file,
        service_name,
        copies,
    } = tree;
    let lookup = Lookup { env };
    let (said, is_whole) = lookup.endpoint(endpoint.as_deref())?;
    if lookup.is_off(noted).is_some() {
        return None;
    }
    let protocol = lookup.protocol(*protocol, noted);
    let compression = lookup.compression(*compression, noted);
    let endpoint = endpoint_of(&said, protocol, is_whole, noted);
    let headers = headers::read(&lookup, headers, noted);
    let timeout_ms = lookup.timeout_ms(*timeout_ms, noted);
    let ca_file = lookup.file("ca_file", ca_file.as_deref(), "CERTIFICATE");
    let certificate_file = lookup.file(
        "certificate_file",
        certificate_file.as_deref(),
        "CLIENT_CERTIFICATE",
    );
    let key_file = lookup.file("key_file", key_file.as_deref(), "CLIENT_KEY");
    let own = [
        ("traces.certificate_file", &certificate_file),
        ("traces.key_file", &key_file),
    ];
    pair(own, noted);
    let resource = lookup.resource(service_name.as_deref(), noted);
    let endpoint = endpoint?;
    if !endpoint.tls {
        for (key, file) in [own[0], own[1], ("traces.ca_file", &ca_file)] {
            without_tls(key, file.as_ref(), noted);
        }
    }
    noted.is_sent().then_some(TracesConfig {
        endpoint,
        protocol,
        headers,
        timeout_ms,
        compression,
        ca_file,
        certificate_file,
        key_file,
        resource,
        copies: *copies,
    })
}

/// An address that cannot be used is never another one: nothing is sent.
fn endpoint_of(
    said: &Said,
    protocol: TraceProtocol,
    is_whole: bool,
    noted: &mut Noted,
) -> Option<TraceEndpoint> {
    let wrong = match endpoint::parse(&said.value, protocol, is_whole) {
        Ok(endpoint) => return Some(endpoint),
        Err(wrong) => wrong,
    };
    let expected = "http://HOST:PORT or https://HOST:PORT";
    let mistake = Mistake::new(said.path.as_str(), wrong, expected);
    let whole = format!("http://{}", said.value);
    // Whoever leaves out the scheme means that one; what else is wrong is no hint.
    let mistake = match endpoint::parse(&whole, protocol, is_whole) {
        Ok(_) => mistake.hint(format!("did you mean {whole}?")),
        Err(_) => mistake,
    };
    noted.wrong(mistake, Then::NotSent);
    None
}

/// A certificate without its key, or the other way round, proves nothing to a receiver, which
/// was to be shown one.
fn pair(files: [(&str, &Option<TraceFile>); 2], noted: &mut Noted) {
    let (there, missing, found) = match files {
        [(_, Some(there)), (missing, None)] => (there, missing, "a certificate without its key"),
        [(missing, None), (_, Some(there))] => (there, missing, "a key without its certificate"),
        _ => return,
    };
    // Told where it can be mended.
    let path = there.variable.as_deref().unwrap_or(missing);
    noted.wrong(Mistake::new(path, found, "both, or neither"), Then::NotSent);
}

/// Whoever names a file for TLS in the configuration thinks that TLS is spoken. A variable
/// may be there for others.
fn without_tls(key: &str, file: Option<&TraceFile>, noted: &mut Noted) {
    let Some(file) = file else { return };
    let path = file.variable.as_deref().unwrap_or(key);
    let found = format!("{}, a file for TLS", quoted(&file.path.to_string_lossy()));
    let mistake = Mistake::new(path, found, "an endpoint with https://")
        .hint("an endpoint with http:// is spoken to without TLS");
    noted.wrong(mistake, Then::Used("it is not used".to_owned()));
}

#[cfg(test)]
mod tests;
