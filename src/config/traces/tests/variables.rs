//! OpenTelemetry's variables: one that cannot be used keeps the agent from nothing, is told, and
//! never makes spans go elsewhere, or to somebody else, or as somebody else.

use std::collections::BTreeMap;
use std::path::Path;

use super::{at, found, told, with};
use crate::config::TraceFile;
use crate::config::traces::{for_url, origins};
use crate::config::tree::{TraceCompression, TraceProtocol, TracesTree};

const HERE: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");

#[test]
fn what_cannot_be_used_is_told_and_passed_over() {
    for (vars, expected) in [
        (
            &[("OTEL_EXPORTER_OTLP_TIMEOUT", "10s")][..],
            &[
                "OTEL_EXPORTER_OTLP_TIMEOUT: found \"10s\", expected milliseconds, 100 to 60000; \
               10000 is used",
            ][..],
        ),
        (
            &[("OTEL_EXPORTER_OTLP_TIMEOUT", "0")],
            &[
                "OTEL_EXPORTER_OTLP_TIMEOUT: found \"0\", expected milliseconds, 100 to 60000; \
               10000 is used",
            ],
        ),
        (
            &[
                ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "soon"),
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "7000"),
            ],
            &[
                "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: found \"soon\", expected milliseconds, 100 to \
               60000; OTEL_EXPORTER_OTLP_TIMEOUT is used",
            ],
        ),
        (
            &[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")],
            &[
                "OTEL_EXPORTER_OTLP_PROTOCOL: found \"http/json\", expected one of http/protobuf, \
               grpc; http/protobuf is used",
            ],
        ),
        (
            &[("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "gzp")],
            &[
                "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: found \"gzp\", expected one of none, \
               gzip; none is used (hint: did you mean gzip?)",
            ],
        ),
        (
            &[("OTEL_RESOURCE_ATTRIBUTES", "a=1,=x")],
            &[
                "OTEL_RESOURCE_ATTRIBUTES: found something else in place 2, expected NAME=VALUE, \
               separated by commas; none of it is used",
            ],
        ),
        (
            &[("OTEL_SDK_DISABLED", "yes")],
            &["OTEL_SDK_DISABLED: found \"yes\", expected true or false; false is used"],
        ),
        (
            &[("OTEL_TRACES_EXPORTER", "oltp")],
            &[
                "OTEL_TRACES_EXPORTER: found \"oltp\", expected otlp or none; otlp is used \
               (hint: did you mean otlp?)",
            ],
        ),
        (
            &[("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem")],
            &[
                "OTEL_EXPORTER_OTLP_CERTIFICATE: found \"/ca.pem\", a file for TLS, expected an \
               endpoint with https://; it is not used (hint: an endpoint with http:// is spoken \
               to without TLS)",
            ],
        ),
    ] {
        let vars: Vec<_> = vars.iter().copied().chain([HERE]).collect();
        assert_eq!(told(&TracesTree::default(), &vars), expected);
        let config = found(&TracesTree::default(), &vars);
        assert_eq!(config.endpoint.host, "c");
        assert_eq!(config.protocol, TraceProtocol::Http);
        assert_eq!(config.compression, TraceCompression::None);
        let own = vars.iter().any(|(_, value)| *value == "7000");
        assert_eq!(config.timeout_ms, if own { 7_000 } else { 10_000 });
        assert_eq!(config.resource.get("a"), None);
    }
    // All of them at once, too.
    let vars = [
        HERE,
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "pigeons"),
    ];
    assert_eq!(told(&TracesTree::default(), &vars).len(), 2);
}

#[test]
fn upper_case_and_spaces_are_no_mistakes() {
    let vars = [
        HERE,
        ("OTEL_EXPORTER_OTLP_PROTOCOL", " GRPC "),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "GZip"),
        ("OTEL_TRACES_EXPORTER", "OTLP"),
        ("OTEL_SDK_DISABLED", "FALSE"),
    ];
    assert!(told(&TracesTree::default(), &vars).is_empty());
    let config = found(&TracesTree::default(), &vars);
    assert_eq!(config.protocol, TraceProtocol::Grpc);
    assert_eq!(config.compression, TraceCompression::Gzip);
}

#[test]
fn what_says_where_and_as_whom_is_not_passed_over_nothing_is_sent() {
    let general = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://other:4318");
    let secure = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://c:4318");
    for (vars, expected) in [
        // Not to the general one in its place.
        (
            &[general, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "c:4318")][..],
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: found \"c:4318\", without http:// or https://, \
             expected http://HOST:PORT or https://HOST:PORT; no trace is sent (hint: did you mean \
             http://c:4318?)",
        ),
        (
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://c")],
            "OTEL_EXPORTER_OTLP_ENDPOINT: found \"ftp://c\", with another scheme, expected \
             http://HOST:PORT or https://HOST:PORT; no trace is sent",
        ),
        // Not without the header that says whose they are.
        (
            &[HERE, ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a,hush")],
            "OTEL_EXPORTER_OTLP_HEADERS: found something else in place 2 [hidden], expected \
             NAME=VALUE, separated by commas; no trace is sent",
        ),
        // Not as nobody.
        (
            &[secure, ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key.pem")],
            "OTEL_EXPORTER_OTLP_CLIENT_KEY: found a key without its certificate, expected both, \
             or neither; no trace is sent",
        ),
        (
            &[secure, ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/c.pem")],
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: found a certificate without its key, expected \
             both, or neither; no trace is sent",
        ),
        // They are wanted elsewhere.
        (
            &[HERE, ("OTEL_TRACES_EXPORTER", "zipkin")],
            "OTEL_TRACES_EXPORTER: found \"zipkin\", expected otlp or none; no trace is sent",
        ),
    ] {
        let tree = TracesTree::default();
        assert_eq!(with(&tree, vars), Ok(None), "{expected}");
        assert_eq!(told(&tree, vars), [expected]);
    }
    // Whoever sends by hand is told, and nothing is done.
    let vars = BTreeMap::from([("OTEL_EXPORTER_OTLP_HEADERS", "hush")]);
    let env = |name: &str| vars.get(name).map(|value| (*value).to_owned());
    let wrong = for_url("http://c:4318", &env).unwrap_err();
    assert_eq!(wrong.0[0].path, "OTEL_EXPORTER_OTLP_HEADERS");
}

#[test]
fn the_configuration_is_held_to_what_it_says_whatever_variables_say() {
    let tree = TracesTree {
        certificate_file: Some("/own.crt".to_owned()),
        ..at("https://c:4318")
    };
    assert_eq!(
        with(&tree, &[]).unwrap_err()[0].path,
        "traces.key_file",
        "its other half is nowhere"
    );
    let vars = [("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/own.key")];
    let config = found(&tree, &vars);
    let file = |path: &str, variable: Option<&str>| TraceFile {
        path: Path::new(path).to_owned(),
        variable: variable.map(str::to_owned),
    };
    assert_eq!(config.certificate_file, Some(file("/own.crt", None)));
    assert_eq!(config.key_file, Some(file("/own.key", Some(vars[0].0))));
    // Whoever names a file for TLS is not to be without it and think otherwise.
    let tree = TracesTree {
        ca_file: Some("/ca.pem".to_owned()),
        ..at("http://c:4318")
    };
    assert_eq!(with(&tree, &[]).unwrap_err()[0].path, "traces.ca_file");
    // A variable never stands in for what is wrong in the file.
    let tree = TracesTree {
        timeout_ms: Some(1),
        ..at("http://c:4318")
    };
    let vars = [("OTEL_EXPORTER_OTLP_TIMEOUT", "7000")];
    assert_eq!(with(&tree, &vars).unwrap_err()[0].path, "traces.timeout_ms");
}

#[test]
fn whoever_names_an_address_by_hand_wants_it_sent() {
    let vars = BTreeMap::from([
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_EXPORTER", "zipkin"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://other:1"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
    ]);
    let env = |name: &str| vars.get(name).map(|value| (*value).to_owned());
    let (config, warnings) = for_url("https://c:4318", &env).unwrap();
    assert_eq!(config.endpoint.host, "c");
    let ca = config.ca_file.map(|file| file.path);
    assert_eq!(ca.as_deref(), Some(Path::new("/ca.pem")));
    assert_eq!(warnings.len(), 1);
    let wrong = for_url("c:4318", &env).unwrap_err();
    assert_eq!(wrong.0[0].path, "--otlp");
    assert_eq!(for_url(" ", &env).unwrap_err().0[0].path, "--otlp");
}

#[test]
fn what_variables_say_is_told_with_their_names() {
    let of = |tree: &TracesTree, vars: &[(&str, &str)]| -> Vec<String> {
        let vars: BTreeMap<&str, &str> = vars.iter().copied().collect();
        let env = |name: &str| vars.get(name).map(|value| (*value).to_owned());
        let origins = origins(tree, &env).into_iter();
        origins
            .map(|of| format!("{} = {} ({})", of.key, of.value.unwrap(), of.source))
            .collect()
    };
    let vars = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x=hush"),
        ("OTEL_SERVICE_NAME", "own"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", ""),
    ];
    assert_eq!(
        of(&TracesTree::default(), &vars),
        [
            "traces.endpoint = http://c:1 (OTEL_EXPORTER_OTLP_ENDPOINT)",
            "traces.protocol = grpc (OTEL_EXPORTER_OTLP_TRACES_PROTOCOL)",
            "traces.service_name = own (OTEL_SERVICE_NAME)",
            "traces.headers = [hidden] (OTEL_EXPORTER_OTLP_HEADERS)",
        ]
    );
    // What the file says stands there, and variables are read of what goes nowhere.
    let tree = TracesTree {
        protocol: Some(TraceProtocol::Http),
        service_name: Some("tree".to_owned()),
        ..at("http://d:1")
    };
    let headers = ["traces.headers = [hidden] (OTEL_EXPORTER_OTLP_HEADERS)"];
    assert_eq!(of(&tree, &vars), headers);
    assert!(of(&TracesTree::default(), &vars[1..]).is_empty());
    let off = [vars[0], ("OTEL_TRACES_EXPORTER", "none")];
    let expected = ["traces = not sent (OTEL_TRACES_EXPORTER)"];
    assert_eq!(of(&TracesTree::default(), &off), expected);
    // What cannot be used is not said to be used, nor what does not come to be.
    let vars = [
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "pigeons"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "GRPC"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
    ];
    let expected = ["traces.protocol = grpc (OTEL_EXPORTER_OTLP_PROTOCOL)"];
    assert_eq!(of(&at("http://c:1"), &vars), expected);
    let vars = [("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317")];
    let expected = ["traces = not sent (OTEL_EXPORTER_OTLP_ENDPOINT)"];
    assert_eq!(of(&TracesTree::default(), &vars), expected);
}
