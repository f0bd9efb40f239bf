//! Paths, methods, formats, statuses.

use super::*;
use crate::show::sample::{self, NOW};

fn site(readiness: Readiness, now: ArrivalTime) -> Site {
    let (_, receiver) = watch::channel(Arc::new(sample::published(vec![sample::incident()])));
    let pulse = Arc::new(Pulse::of(1));
    pulse.beat(0, NOW);
    let limits = SeriesLimits {
        subjects_max: 2,
        ..SeriesLimits::default()
    };
    Site::new(receiver, pulse, Arc::new(move || now), readiness, limits)
}

fn get<'a>(path: &'a str) -> Ask<'a> {
    Ask {
        method: "GET",
        path,
        ..Ask::default()
    }
}

#[test]
fn each_path_has_its_answer() {
    let site = site(Readiness::Lenient, NOW);
    for (path, content_type, says) in [
        ("/", "text/html; charset=utf-8", "<h2>connect-orders</h2>"),
        (
            "/metrics",
            "text/plain; version=0.0.4; charset=utf-8",
            "evenkeel_generation{",
        ),
        ("/livez", "text/plain; charset=utf-8", "ok\n"),
        (
            "/readyz",
            "application/json; charset=utf-8",
            "\"ready\":true",
        ),
        (
            "/api/v1/state",
            "application/json; charset=utf-8",
            "\"generation\":8",
        ),
    ] {
        let reply = site.answer(get(path));
        assert_eq!(
            (reply.status, reply.content_type),
            (200, content_type),
            "{path}"
        );
        assert!(reply.body.contains(says), "{path}: {}", reply.body);
        assert_eq!(reply.allow(), None);
        assert!(PATHS.contains(&format!("{path} ")), "{path} is listed");
    }
}

#[test]
fn other_paths_and_methods_are_told_what_there_is() {
    let site = site(Readiness::Lenient, NOW);
    for path in ["/metric", "/metrics/", "//", "", "/api/v1", "/../etc"] {
        let reply = site.answer(get(path));
        assert_eq!(reply.status, 404, "{path}");
        assert!(
            reply.body.contains("/api/v1/state") && reply.body.contains("/metrics"),
            "{}",
            reply.body
        );
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"] {
        let reply = site.answer(Ask {
            method,
            path: "/metrics",
            ..Ask::default()
        });
        assert_eq!(
            (reply.status, reply.allow()),
            (405, Some("GET, HEAD")),
            "{method}"
        );
        assert!(
            reply.body.contains("nothing can be changed"),
            "{}",
            reply.body
        );
    }
    let head = site.answer(Ask {
        method: "HEAD",
        path: "/livez",
        ..Ask::default()
    });
    assert_eq!(head.status, 200);
}

#[test]
fn the_format_is_negotiated() {
    use Format::{OpenMetrics, Text};
    // What Prometheus 2.42 and 3 send, curl, a browser, and odd ones.
    for (accept, format) in [
        (
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            OpenMetrics,
        ),
        (
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
            OpenMetrics,
        ),
        (
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
            OpenMetrics,
        ),
        ("text/plain;version=0.0.4;q=1,*/*;q=0.1", Text),
        ("*/*", Text),
        ("", Text),
        ("text/html,application/xhtml+xml,*/*;q=0.8", Text),
        ("application/openmetrics-text", OpenMetrics),
        (
            "APPLICATION/OPENMETRICS-TEXT; version=\"1.0.0\"",
            OpenMetrics,
        ),
        ("application/openmetrics-text;version=0.0.1", Text),
        ("application/openmetrics-text;version=2.0.0", Text),
        ("application/openmetrics-text;q=0", Text),
        ("application/openmetrics-text;q=0.2,text/plain;q=0.9", Text),
        ("application/openmetrics-text;q=nonsense", Text),
        ("application/json", Text),
        (";;,,;q=", Text),
    ] {
        assert_eq!(negotiate(accept), format, "{accept}");
    }
    let site = site(Readiness::Lenient, NOW);
    let reply = site.answer(Ask {
        accept: "application/openmetrics-text",
        ..get("/metrics")
    });
    assert!(
        reply
            .content_type
            .starts_with("application/openmetrics-text; version=1.0.0")
    );
    assert!(reply.body.ends_with("# EOF\n"));
}

#[test]
fn alive_while_the_loop_turns() {
    let at = |age_ms: i64| site(Readiness::Strict, NOW.plus_ms(age_ms)).answer(get("/livez"));
    assert_eq!(at(PULSE_AGE_MS_MAX).status, 200);
    let stuck = at(PULSE_AGE_MS_MAX + 1);
    assert_eq!(stuck.status, 503);
    assert!(
        stuck.body.contains("last turned 10 s ago"),
        "{}",
        stuck.body
    );
    // A clock that stepped back kills nobody.
    assert_eq!(at(-60_000).status, 200);

    let (_, receiver) = watch::channel(Arc::new(Published::default()));
    let pulse = Arc::new(Pulse::of(1));
    let now: Now = Arc::new(|| NOW);
    let site = Site::new(
        receiver,
        pulse,
        now,
        Readiness::Strict,
        SeriesLimits::default(),
    );
    assert_eq!(
        site.answer(get("/livez")).status,
        503,
        "before the first turn"
    );
}

#[test]
fn readiness_is_lenient_unless_told() {
    let late = NOW.plus_ms(60_000);
    for (readiness, now, status) in [
        (Readiness::Lenient, NOW, 200),
        (Readiness::Strict, NOW, 200),
        (Readiness::Lenient, late, 200),
        (Readiness::Strict, late, 503),
    ] {
        let reply = site(readiness, now).answer(get("/readyz"));
        assert_eq!(reply.status, status, "{readiness:?}");
        let ready = format!("\"ready\":{}", now == NOW);
        assert!(reply.body.contains(&ready), "{}", reply.body);
    }
}

#[test]
fn a_group_is_asked_for_by_name() {
    let site = site(Readiness::Lenient, NOW);
    let ask = |query| {
        site.answer(Ask {
            query,
            ..get("/api/v1/state")
        })
    };
    for query in [
        "",
        "group=",
        "other=1",
        "group=connect-orders",
        "x=1&group=connect%2Dorders",
        "group=connect-orders&group=x",
    ] {
        assert_eq!(ask(query).status, 200, "{query}");
    }
    let unknown = ask("group=connect-order");
    assert_eq!(unknown.status, 404);
    assert!(unknown.body.contains("connect-orders"), "{}", unknown.body);
    for (text, decoded) in [
        ("a%20b+c", "a b c"),
        ("%", "%"),
        ("%4", "%4"),
        ("%zz%41", "%zzA"),
        ("%C3%A9", "é"),
        ("%ff", "\u{fffd}"),
    ] {
        assert_eq!(super::query::percent_decoded(text), decoded);
    }
}

#[test]
fn what_scrapes_leave_out_adds_up() {
    let site = site(Readiness::Lenient, NOW);
    for total in [1, 2, 3] {
        let body = site.answer(get("/metrics")).body;
        assert!(
            body.contains(&format!("\nevenkeel_series_dropped_total {total}\n")),
            "{body}"
        );
    }
}
