//! The section `traces` and OpenTelemetry's variables: what is taken, what comes first, and
//! every mistake.

use std::collections::BTreeMap;

mod variables;

use super::endpoint::parse;
use super::{of_traces, pairs, warnings};
use crate::config::mistake::Mistake;
use crate::config::tree::{TraceCompression, TraceCopies, TraceProtocol, TracesTree};
use crate::config::{Headers, TracesConfig};

fn with(tree: &TracesTree, vars: &[(&str, &str)]) -> Result<Option<TracesConfig>, Vec<Mistake>> {
    let vars: BTreeMap<&str, &str> = vars.iter().copied().collect();
    let env = |name: &str| vars.get(name).map(|value| (*value).to_owned());
    let mut mistakes = Vec::new();
    let config = of_traces(tree, &env, &mut mistakes);
    if mistakes.is_empty() {
        Ok(config)
    } else {
        Err(mistakes)
    }
}

fn at(endpoint: &str) -> TracesTree {
    TracesTree {
        endpoint: Some(endpoint.to_owned()),
        ..TracesTree::default()
    }
}

/// What is said of variables.
fn told(tree: &TracesTree, vars: &[(&str, &str)]) -> Vec<String> {
    let vars: BTreeMap<&str, &str> = vars.iter().copied().collect();
    warnings(tree, &|name| {
        vars.get(name).map(|value| (*value).to_owned())
    })
}

fn found(tree: &TracesTree, vars: &[(&str, &str)]) -> TracesConfig {
    with(tree, vars).unwrap().unwrap()
}

#[test]
fn without_an_endpoint_nothing_is_sent_whatever_else_is_set() {
    let vars = [("OTEL_EXPORTER_OTLP_PROTOCOL", "smoke signals")];
    assert_eq!(with(&TracesTree::default(), &vars), Ok(None));
    // An empty variable is none.
    let vars = [("OTEL_EXPORTER_OTLP_ENDPOINT", "")];
    assert_eq!(with(&TracesTree::default(), &vars), Ok(None));
}

#[test]
fn opentelemetry_can_be_switched_off_in_two_ways() {
    for off in [
        ("OTEL_SDK_DISABLED", "True"),
        ("OTEL_TRACES_EXPORTER", "none"),
        ("OTEL_TRACES_EXPORTER", "NONE"),
        ("OTEL_TRACES_EXPORTER", "zipkin"),
    ] {
        assert_eq!(with(&at("http://c:4318"), &[off]), Ok(None), "{off:?}");
    }
    for on in [
        ("OTEL_SDK_DISABLED", "yes"),
        ("OTEL_TRACES_EXPORTER", "otlp"),
        ("OTEL_TRACES_EXPORTER", "console, OTLP"),
    ] {
        assert!(
            with(&at("http://c:4318"), &[on]).unwrap().is_some(),
            "{on:?}"
        );
    }
}

#[test]
fn the_tree_comes_first_then_the_variable_of_traces_then_the_general_one() {
    let vars = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://general:1"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces:2/own"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1000"),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "2000"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
    ];
    let tree = TracesTree {
        timeout_ms: Some(3_000),
        ..at("http://tree:3")
    };
    let config = found(&tree, &vars);
    assert_eq!(
        (config.endpoint.host.as_str(), config.timeout_ms),
        ("tree", 3_000)
    );
    let config = found(&TracesTree::default(), &vars);
    // What is for traces alone is asked for as it stands.
    assert_eq!(
        (config.endpoint.path.as_str(), config.timeout_ms),
        ("/own", 2_000)
    );
    let config = found(&TracesTree::default(), &[vars[0], vars[2], vars[4]]);
    assert_eq!(
        (config.endpoint.path.as_str(), config.timeout_ms),
        ("/v1/traces", 1_000)
    );
    assert_eq!(config.compression, TraceCompression::Gzip);
    assert_eq!(config.copies, TraceCopies::One);
}

#[test]
fn addresses_are_taken_apart() {
    use TraceProtocol::{Grpc, Http};
    for (text, protocol, whole, expected) in [
        ("http://c:4318", Http, false, "false c 4318 /v1/traces"),
        ("http://c:4318/", Http, false, "false c 4318 /v1/traces"),
        (
            "HTTPS://c.example/otlp/",
            Http,
            false,
            "true c.example 443 /otlp/v1/traces",
        ),
        ("http://c/v1/traces", Http, false, "false c 80 /v1/traces"),
        ("http://c:1", Http, true, "false c 1 /"),
        (
            "http://[::1]:4318",
            Http,
            false,
            "false ::1 4318 /v1/traces",
        ),
        ("https://c", Grpc, false, "true c 4317 /v1/traces"),
        ("http://10.0.0.1:55/", Grpc, true, "false 10.0.0.1 55 /"),
    ] {
        let found = parse(text, protocol, whole).unwrap();
        let found = format!("{} {} {} {}", found.tls, found.host, found.port, found.path);
        assert_eq!(found, expected, "{text}");
    }
    for (text, protocol) in [
        ("c:4318", Http),
        ("ftp://c", Http),
        ("http://", Http),
        ("http://c:0", Http),
        ("http://c:70000", Http),
        ("http://[::1", Http),
        ("http://c d", Http),
        ("http://c/a b", Http),
        ("http://c:4317/v1/traces", Grpc),
    ] {
        assert!(parse(text, protocol, false).is_err(), "{text}");
    }
}

#[test]
fn what_may_be_a_secret_is_not_quoted() {
    for text in [
        "http://me:hush@c:4318",
        "me:hush@c:4318",
        "http://c:4318/?key=hush",
    ] {
        let wrong = parse(text, TraceProtocol::Http, false).unwrap_err();
        assert!(!wrong.contains("hush"), "{wrong}");
    }
    for headers in [
        "a=1,hush",
        "a=%zzhush",
        "authorization=hush%0Ahush",
        "a=hush,b c=hush",
        // A colon for an equals sign, and a comma within a value.
        "Authorization: Basic hushOnB3MTIzNDU2Nw==",
        "api-key: hush4e5f=x",
        "api-key=0a1b,hush3d 4e5f=",
        "api-key=0a1b,hush3d=%0A",
    ] {
        let told = told(
            &at("http://c:1"),
            &[("OTEL_EXPORTER_OTLP_HEADERS", headers)],
        );
        assert_eq!(told.len(), 1, "{headers}");
        assert!(!told[0].to_lowercase().contains("hush"), "{told:?}");
        assert!(told[0].contains("[hidden]"), "{told:?}");
    }
    for value in ["x", "${env:NONE}"] {
        let tree = TracesTree {
            headers: [("Authorization: Bearer hush", value)]
                .into_iter()
                .collect(),
            ..at("http://c:4318")
        };
        let mistakes = with(&tree, &[]).unwrap_err();
        assert_eq!(mistakes[0].path, "traces.headers");
        assert!(!format!("{mistakes:?}").contains("hush"), "{mistakes:?}");
    }
    let vars = [("OTEL_EXPORTER_OTLP_HEADERS", "a=1,,te=x")];
    let told = told(&at("http://c:1"), &vars);
    assert!(told[0].contains("a header \"te\" that"), "{told:?}");
}

#[test]
fn headers_of_the_tree_come_over_those_of_variables() {
    let headers = [("X-Tenant", "tree"), ("authorization", "${env:TOKEN}")];
    let tree = TracesTree {
        headers: headers.into_iter().collect::<Headers>(),
        ..at("http://c:4318")
    };
    let vars = [
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=var,x-more=a%20b%2C"),
        ("TOKEN", "Bearer hush"),
    ];
    let config = found(&tree, &vars);
    let shown: Vec<_> = config
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.expose()))
        .collect();
    assert_eq!(
        shown,
        [
            "authorization: Bearer hush",
            "x-more: a b,",
            "x-tenant: tree"
        ]
    );
    assert!(!format!("{config:?}").contains("hush"));
    let wrong = with(&tree, &[]).unwrap_err();
    assert_eq!(wrong[0].path, "traces.headers.authorization");
    for header in [
        ("a b", "1"),
        ("x", "1\n2"),
        ("content-type", "x"),
        ("TE", "x"),
    ] {
        let tree = TracesTree {
            headers: [header].into_iter().collect(),
            ..at("http://c:4318")
        };
        assert_eq!(
            with(&tree, &[]).unwrap_err()[0].path,
            "traces.headers",
            "{header:?}"
        );
    }
}

#[test]
fn a_resource_has_a_name_and_what_the_variable_says() {
    let vars = [(
        "OTEL_RESOURCE_ATTRIBUTES",
        "service.name=x,k8s.pod.name=p%2D1,",
    )];
    let config = found(&at("http://c:4318"), &vars);
    assert_eq!(config.resource["service.name"], "x");
    assert_eq!(config.resource["k8s.pod.name"], "p-1");
    assert_eq!(
        config.resource["service.version"],
        env!("CARGO_PKG_VERSION")
    );
    let vars = [vars[0], ("OTEL_SERVICE_NAME", "y")];
    assert_eq!(
        found(&at("http://c:4318"), &vars).resource["service.name"],
        "y"
    );
    let tree = TracesTree {
        service_name: Some("z".to_owned()),
        ..at("http://c:4318")
    };
    assert_eq!(found(&tree, &vars).resource["service.name"], "z");
    assert_eq!(
        found(&at("http://c:4318"), &[]).resource["service.name"],
        "evenkeel"
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    let tree = TracesTree {
        timeout_ms: Some(99),
        headers: [("a b", "1")].into_iter().collect(),
        key_file: Some("/key.pem".to_owned()),
        ..at("collector")
    };
    let mistakes = with(&tree, &[]).unwrap_err();
    let mut paths: Vec<_> = mistakes
        .iter()
        .map(|mistake| mistake.path.as_str())
        .collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "traces.certificate_file",
            "traces.endpoint",
            "traces.headers",
            "traces.timeout_ms",
        ]
    );
    for (ms, is_well) in [(99, false), (100, true), (60_000, true), (60_001, false)] {
        let tree = TracesTree {
            timeout_ms: Some(ms),
            ..at("http://c:4318")
        };
        assert_eq!(with(&tree, &[]).is_ok(), is_well, "{ms}");
    }
}

#[test]
fn pairs_are_read_as_they_are_written() {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(pairs::read(""), Ok(Vec::new()));
    let expected = vec![pair("a", "1"), pair("b", "x=y,é")];
    assert_eq!(pairs::read(" a = 1 ,b=x=y%2C%C3%A9,"), Ok(expected));
    for (text, place) in [
        ("a=1,b", 2),
        ("=1", 1),
        ("a=%2", 1),
        ("a=%zz", 1),
        ("a=%ff", 1),
    ] {
        assert_eq!(pairs::read(text), Err(place), "{text}");
    }
}

#[test]
fn a_scheme_that_was_left_out_is_hinted_at() {
    let wrong = with(&at("collector:4318"), &[]).unwrap_err();
    let hint = wrong[0].hint.as_deref();
    assert_eq!(hint, Some("did you mean http://collector:4318?"));
    // No secret in a hint, either.
    let wrong = with(&at("me:hush@collector:4318"), &[]).unwrap_err();
    assert_eq!(wrong[0].hint, None);
}
