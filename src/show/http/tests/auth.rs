//! Basic auth on a real listener: which paths, which headers, and no secret in any answer.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::config::{Probes, Secret};

/// In no answer and no debug output.
const CANARY: &str = "topsecret:with:colons";

pub(super) fn hash(password: &str) -> String {
    let hash = bcrypt::hash_with_salt(password, 4, [7; 16]).unwrap();
    hash.format_for_version(bcrypt::Version::TwoY)
}

fn guard(probes: Probes) -> Arc<Guard> {
    let users = BTreeMap::from([("alice".to_owned(), Secret::new(hash(CANARY)))]);
    let headers = [("X-Frame-Options".to_owned(), "deny".to_owned())];
    Arc::new(Guard::new(None, users, Arc::default(), probes, &headers))
}

async fn serve(probes: Probes) -> Server {
    let (_, guards) = watch::channel(guard(probes));
    Server::guarded(vec![sample::incident()], HttpLimits::default(), guards).await
}

pub(super) fn basic(said: impl AsRef<[u8]>) -> String {
    format!("authorization: Basic {}\r\n", STANDARD.encode(said))
}

async fn get(server: &Server, path: &str, headers: &str) -> String {
    let headers = format!("connection: close\r\n{headers}");
    let answer = server.exchange(&request("GET", path, &headers)).await;
    assert!(
        !answer.contains("topsecret") && !answer.contains("$2y$"),
        "{answer}"
    );
    answer
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap()
}

#[tokio::test]
async fn which_headers_are_let_in() {
    let server = serve(Probes::Open).await;
    let right = basic(format!("alice:{CANARY}"));
    let encoded = STANDARD.encode(format!("alice:{CANARY}"));
    for (headers, expected) in [
        (right.clone(), "200"),
        (right.replace("Basic", "bAsIc"), "200"),
        (right.replace("Basic ", "Basic   "), "200"),
        // Said once more, from memory.
        (right.clone(), "200"),
        (String::new(), "401"),
        (basic("alice:wrong"), "401"),
        (basic("alice:"), "401"),
        (basic(format!("alice:{CANARY} ")), "401"),
        (basic(format!("Alice:{CANARY}")), "401"),
        (basic(format!("bob:{CANARY}")), "401"),
        (basic(":"), "401"),
        (basic("no colon"), "401"),
        (basic(b"\xff\xfe:\xff"), "401"),
        (basic(format!("alice:{}", "x".repeat(8_000))), "401"),
        ("authorization: Basic %%%\r\n".to_owned(), "401"),
        ("authorization: Basic\r\n".to_owned(), "401"),
        ("authorization:\r\n".to_owned(), "401"),
        ("authorization: Basic \u{e9}\r\n".to_owned(), "401"),
        (format!("authorization: Bearer {encoded}\r\n"), "401"),
        (format!("authorization: {encoded}\r\n"), "401"),
        (format!("{right}{right}"), "401"),
        (format!("{right}{}", basic("alice:wrong")), "401"),
        // More than a head may have.
        (basic(format!("alice:{}", "x".repeat(20_000))), "431"),
    ] {
        let answer = get(&server, "/metrics", &headers).await;
        assert_eq!(status(&answer), expected, "{headers}");
        if expected == "401" {
            let asks = "\r\nwww-authenticate: Basic realm=\"evenkeel\", charset=\"UTF-8\"\r\n";
            assert!(answer.contains(asks), "{answer}");
            assert!(!answer.contains("evenkeel_generation"), "{answer}");
        }
        if expected != "431" {
            assert!(answer.contains("\r\nx-frame-options: deny\r\n"), "{answer}");
        }
    }
}

#[tokio::test]
async fn which_paths_are_open() {
    let right = basic(format!("alice:{CANARY}"));
    let wrong = basic("alice:wrong");
    for (probes, path, without, with_wrong, with_right) in [
        (Probes::Open, "/livez", "200", "200", "200"),
        (Probes::Open, "/readyz", "200", "200", "200"),
        (Probes::Protected, "/livez", "401", "401", "200"),
        (Probes::Protected, "/readyz", "401", "401", "200"),
        (Probes::Open, "/", "401", "401", "200"),
        (Probes::Open, "/metrics", "401", "401", "200"),
        (Probes::Open, "/api/v1/state", "401", "401", "200"),
        // Nobody learns which paths there are.
        (Probes::Open, "/nothing", "401", "401", "404"),
        (Probes::Open, "/livez/", "401", "401", "404"),
        (Probes::Open, "//readyz", "401", "401", "404"),
    ] {
        let server = serve(probes).await;
        for (headers, expected) in [("", without), (&wrong, with_wrong), (&right, with_right)] {
            let answer = get(&server, path, headers).await;
            assert_eq!(status(&answer), expected, "{probes:?} {path} {headers}");
        }
    }
    // An open probe tells its status and no names.
    let server = serve(Probes::Open).await;
    let known = get(&server, "/readyz", &right).await;
    assert!(known.contains("connect-orders"), "{known}");
    for headers in ["", &wrong] {
        let brief = get(&server, "/readyz", headers).await;
        assert!(brief.ends_with("\r\n\r\n{\"ready\":true}\n"), "{brief}");
    }
}

#[tokio::test]
async fn a_new_guard_is_for_the_next_request() {
    let (sender, guards) = watch::channel(guard(Probes::Open));
    let limits = HttpLimits::default();
    let server = Server::guarded(vec![sample::incident()], limits, guards).await;
    let mut stream = server.connect().await;
    let request = request("GET", "/metrics", &basic(format!("alice:{CANARY}")));
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(status(&one(&mut stream).await), "200");
    let users = BTreeMap::from([("bob".to_owned(), Secret::new("$2y$04$none"))]);
    let guard = Guard::new(None, users, Arc::default(), Probes::Open, &[]);
    sender.send_replace(Arc::new(guard));
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(status(&one(&mut stream).await), "401");
}

#[test]
fn a_guard_prints_no_secret() {
    let text = format!("{:?}", guard(Probes::Open));
    assert!(
        !text.contains("$2y$") && text.contains("[hidden]"),
        "{text}"
    );
}
