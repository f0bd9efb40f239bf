//! Where traces go: the section `traces`, and OpenTelemetry's own variables where that says
//! nothing. Those with `TRACES` in their names come before those without
//! (<https://opentelemetry.io/docs/specs/otel/protocol/exporter/>).

mod endpoint;
mod origins;
mod pairs;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::mistake::{Mistake, Mistakes, nearest, quoted};
use super::secret::Secret;
use super::tree::{TraceCompression, TraceProtocol, TracesTree};
use super::typed::TracesConfig;
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

const TIMEOUT_MS_DEFAULT: u64 = 10_000;
const TIMEOUT_MS: std::ops::RangeInclusive<u64> = 100..=60_000;

/// The signal's own path (OTLP 1.x, "OTLP/HTTP Request").
const PATH: &str = "/v1/traces";

type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Where traces go that are sent by hand: to this address, everything else by OpenTelemetry's
/// variables.
///
/// # Errors
/// All mistakes.
pub fn for_url(url: &str, env: Env<'_>) -> Result<TracesConfig, Mistakes> {
    let tree = TracesTree {
        endpoint: Some(url.to_owned()),
        ..TracesTree::default()
    };
    let mut mistakes = Vec::new();
    // Whoever names an address wants them sent.
    let asked = |name: &str| match name {
        "OTEL_SDK_DISABLED" | "OTEL_TRACES_EXPORTER" => None,
        name => env(name),
    };
    match of_traces(&tree, &asked, &mut mistakes) {
        Some(config) if mistakes.is_empty() => Ok(config),
        None if mistakes.is_empty() => {
            let expected = "an address such as http://collector.example:4318";
            let nothing = Mistake::new("--otlp", quoted(url), expected);
            Err(Mistakes(vec![nothing]))
        }
        _ => {
            for mistake in &mut mistakes {
                if mistake.path == "traces.endpoint" {
                    "--otlp".clone_into(&mut mistake.path);
                }
            }
            Err(Mistakes(mistakes))
        }
    }
}

/// A value with where it was read.
struct Said {
    value: String,
    path: String,
}

pub(super) fn of_traces(
    tree: &TracesTree,
    env: Env<'_>,
    mistakes: &mut Vec<Mistake>,
) -> Option<TracesConfig> {
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
    let base = lookup.said("endpoint", endpoint.as_deref(), &[]);
    let own = lookup.variable(&["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]);
    let general = lookup.variable(&["OTEL_EXPORTER_OTLP_ENDPOINT"]);
    // One that is for traces alone is taken as it is.
    let (said, is_whole) = match (base, own) {
        (Some(base), _) => (base, false),
        (None, Some(own)) => (own, true),
        (None, None) => (general?, false),
    };
    if lookup.is_off(mistakes) {
        return None;
    }
    let before = mistakes.len();
    let protocol = lookup.word(
        "protocol",
        protocol.map(TraceProtocol::word),
        "PROTOCOL",
        TraceProtocol::WORDS,
        mistakes,
    );
    let protocol = match protocol.as_deref() {
        Some("grpc") => TraceProtocol::Grpc,
        _ => TraceProtocol::Http,
    };
    let compression = lookup.word(
        "compression",
        compression.map(TraceCompression::word),
        "COMPRESSION",
        TraceCompression::WORDS,
        mistakes,
    );
    let endpoint = endpoint::parse(&said.value, protocol, is_whole);
    let endpoint = endpoint.map_err(|wrong| {
        let expected = "http://HOST:PORT or https://HOST:PORT";
        let mistake = Mistake::new(said.path.as_str(), wrong, expected);
        let whole = format!("http://{}", said.value);
        // Whoever leaves out the scheme means that one; what else is wrong is no hint.
        mistakes.push(match endpoint::parse(&whole, protocol, is_whole) {
            Ok(_) => mistake.hint(format!("did you mean {whole}?")),
            Err(_) => mistake,
        });
    });
    let headers = lookup.headers(headers, mistakes);
    let timeout_ms = lookup.timeout_ms(*timeout_ms, mistakes);
    let file = |key: &str, set: &Option<String>, name: &str| {
        let said = lookup.said(key, set.as_deref(), &variables(name));
        said.map(|said| PathBuf::from(said.value))
    };
    let ca_file = file("ca_file", ca_file, "CERTIFICATE");
    let certificate_file = file("certificate_file", certificate_file, "CLIENT_CERTIFICATE");
    let key_file = file("key_file", key_file, "CLIENT_KEY");
    if certificate_file.is_some() != key_file.is_some() {
        let (path, found) = match certificate_file {
            Some(_) => ("traces.key_file", "a certificate without its key"),
            None => ("traces.certificate_file", "a key without its certificate"),
        };
        mistakes.push(Mistake::new(path, found, "both, or neither"));
    }
    let resource = lookup.resource(service_name.as_deref(), mistakes);
    let endpoint = endpoint.ok()?;
    (mistakes.len() == before).then_some(TracesConfig {
        endpoint,
        protocol,
        headers,
        timeout_ms,
        compression: match compression.as_deref() {
            Some("gzip") => TraceCompression::Gzip,
            _ => TraceCompression::None,
        },
        ca_file,
        certificate_file,
        key_file,
        resource,
        copies: *copies,
    })
}

/// The two variables of an exporter's setting, that of traces first.
fn variables(name: &str) -> [String; 2] {
    [
        format!("OTEL_EXPORTER_OTLP_TRACES_{name}"),
        format!("OTEL_EXPORTER_OTLP_{name}"),
    ]
}

struct Lookup<'a> {
    env: Env<'a>,
}

// === impl Lookup ===

impl Lookup<'_> {
    /// An empty variable is one that is not set, says OpenTelemetry.
    fn variable(&self, names: &[impl AsRef<str>]) -> Option<Said> {
        names.iter().find_map(|name| {
            let value = (self.env)(name.as_ref())?;
            let value = value.trim();
            (!value.is_empty()).then(|| Said {
                value: value.to_owned(),
                path: name.as_ref().to_owned(),
            })
        })
    }

    /// What the tree says, else what the first of these variables says.
    fn said(&self, key: &str, set: Option<&str>, names: &[String]) -> Option<Said> {
        let set = set.map(str::trim).filter(|set| !set.is_empty());
        match set {
            Some(set) => Some(Said {
                value: set.to_owned(),
                path: format!("traces.{key}"),
            }),
            None => self.variable(names),
        }
    }

    fn is_off(&self, mistakes: &mut Vec<Mistake>) -> bool {
        let disabled = self.variable(&["OTEL_SDK_DISABLED"]);
        // Any other value is false, says OpenTelemetry.
        if disabled.is_some_and(|said| said.value.eq_ignore_ascii_case("true")) {
            return true;
        }
        let exporter = self.variable(&["OTEL_TRACES_EXPORTER"]);
        match exporter {
            None => false,
            Some(said) if said.value == "none" => true,
            Some(said) if said.value == "otlp" => false,
            Some(said) => {
                mistakes.push(Mistake::new(said.path, quoted(&said.value), "otlp or none"));
                false
            }
        }
    }

    /// One of a set of words; of the tree it is known to be.
    fn word(
        &self,
        key: &str,
        set: Option<&str>,
        name: &str,
        words: &[&str],
        mistakes: &mut Vec<Mistake>,
    ) -> Option<String> {
        let said = self.said(key, set, &variables(name))?;
        if words.contains(&said.value.as_str()) {
            return Some(said.value);
        }
        let expected = format!("one of {}", words.join(", "));
        let mistake = Mistake::new(said.path, quoted(&said.value), expected);
        mistakes.push(match nearest(&said.value, words.iter().copied()) {
            Some(near) => mistake.hint(format!("did you mean {near}?")),
            None => mistake,
        });
        None
    }

    fn timeout_ms(&self, set: Option<usize>, mistakes: &mut Vec<Mistake>) -> u64 {
        let set = set.map(|ms| ms.to_string());
        let Some(said) = self.said("timeout_ms", set.as_deref(), &variables("TIMEOUT")) else {
            return TIMEOUT_MS_DEFAULT;
        };
        match said.value.parse() {
            Ok(ms) if TIMEOUT_MS.contains(&ms) => ms,
            _ => {
                let expected = format!(
                    "milliseconds, {} to {}",
                    TIMEOUT_MS.start(),
                    TIMEOUT_MS.end()
                );
                mistakes.push(Mistake::new(said.path, quoted(&said.value), expected));
                TIMEOUT_MS_DEFAULT
            }
        }
    }

    fn headers(
        &self,
        set: &super::Headers,
        mistakes: &mut Vec<Mistake>,
    ) -> BTreeMap<String, Secret> {
        let mut headers = BTreeMap::new();
        if let Some(said) = self.variable(&variables("HEADERS")) {
            match pairs::read(&said.value) {
                Ok(pairs) => headers.extend(
                    pairs
                        .into_iter()
                        .map(|(name, value)| (name.to_ascii_lowercase(), Secret::new(value))),
                ),
                // What is wrong may be a secret.
                Err(nth) => mistakes.push(Mistake::new(
                    said.path.as_str(),
                    format!("something else in place {nth} [hidden]"),
                    "NAME=VALUE, separated by commas",
                )),
            }
            let wrong = headers
                .iter()
                .filter(|(name, value)| !is_header(name, value));
            mistakes.extend(wrong.map(|(name, _)| wrong_header(&said.path, name)));
        }
        let (resolved, wrong) = set.map().looked_up(self.env);
        mistakes.extend(wrong.into_iter().map(|mistake| {
            Mistake {
                path: mistake
                    .path
                    .replacen("kafka.properties", "traces.headers", 1),
                ..mistake
            }
        }));
        for (name, value) in resolved {
            let name = name.to_ascii_lowercase();
            if !is_header(&name, &value) {
                mistakes.push(wrong_header("traces.headers", &name));
            }
            headers.insert(name, value);
        }
        headers
    }

    fn resource(
        &self,
        service_name: Option<&str>,
        mistakes: &mut Vec<Mistake>,
    ) -> BTreeMap<String, String> {
        let mut resource =
            BTreeMap::from([("service.name".to_owned(), env!("CARGO_PKG_NAME").to_owned())]);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        resource.insert("service.version".to_owned(), version);
        if let Some(said) = self.variable(&["OTEL_RESOURCE_ATTRIBUTES"]) {
            match pairs::read(&said.value) {
                Ok(pairs) => resource.extend(pairs),
                Err(nth) => mistakes.push(Mistake::new(
                    said.path,
                    format!("something else in place {nth}"),
                    "NAME=VALUE, separated by commas",
                )),
            }
        }
        let names = ["OTEL_SERVICE_NAME".to_owned()];
        if let Some(said) = self.said("service_name", service_name, &names) {
            resource.insert("service.name".to_owned(), said.value);
        }
        resource
    }
}

fn wrong_header(path: &str, name: &str) -> Mistake {
    let found = format!("a header {} that cannot be sent", quoted(name));
    let expected = "letters, digits, dashes and the like as its name, one line of plain text as \
                    its value, and none that OTLP sets itself";
    Mistake::new(path, found, expected)
}

/// Whether a header can be sent (RFC 9110, 5.1 and 5.5), and is not one of the transport's own.
fn is_header(name: &str, value: &Secret) -> bool {
    const OURS: [&str; 9] = [
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "grpc-encoding",
        "grpc-timeout",
        "host",
        "te",
        "transfer-encoding",
    ];
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_text = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte);
    !name.is_empty()
        && name.bytes().all(is_token)
        && !OURS.contains(&name)
        && value.expose().bytes().all(is_text)
}

#[cfg(test)]
mod tests;
