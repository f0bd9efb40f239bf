//! A real listener on a port of the system's choice, and requests as bytes.

mod auth;
mod crowd;
mod latency;
mod secure;

use std::net::SocketAddr;
use std::time::Instant;

use evenkeel_core::answers::Answers;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;
use crate::config::Readiness;
use crate::show::sample;
use crate::show::view::{Published, Pulse, SeriesLimits};

/// Longer than anything here takes; a test that waits for it fails.
const DEADLINE: Duration = Duration::from_secs(10);

struct Server {
    address: SocketAddr,
    published: watch::Sender<Arc<Published>>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Server {
    async fn start(groups: Vec<Answers>, limits: HttpLimits) -> Self {
        let (_, guards) = watch::channel(Arc::default());
        Self::guarded(groups, limits, guards).await
    }

    async fn guarded(
        groups: Vec<Answers>,
        limits: HttpLimits,
        guards: watch::Receiver<Arc<Guard>>,
    ) -> Self {
        let (published, receiver) = watch::channel(Arc::new(sample::published(groups)));
        let pulse = Arc::new(Pulse::of(1));
        pulse.beat(0, sample::NOW);
        let now: crate::show::routes::Now = Arc::new(|| sample::NOW);
        let site = Site::new(
            receiver,
            pulse,
            now,
            Readiness::Lenient,
            SeriesLimits::default(),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async { drop(stopped.await) };
        let task = tokio::spawn(serve(listener, Arc::new(site), guards, limits, shutdown));
        Self {
            address,
            published,
            stop: Some(stop),
            task,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes on a new connection; all that comes back until it is closed.
    async fn exchange(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        rest(&mut stream).await
    }

    async fn get(&self, path: &str) -> String {
        self.exchange(&request("GET", path, "connection: close\r\n"))
            .await
    }
}

fn request(method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n")
}

/// All that comes until the other side closes. A reset counts as closed.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut bytes));
    drop(read.await.expect("the server closes in time"));
    String::from_utf8(bytes).unwrap()
}

/// One answer with a length, on a connection that stays open.
async fn one(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let mut whole = None;
    let mut piece = vec![0; 64 * 1024];
    while whole.is_none_or(|whole| bytes.len() < whole) {
        let count = stream.read(&mut piece).await.unwrap();
        assert!(
            count > 0,
            "closed early: {}",
            String::from_utf8_lossy(&bytes)
        );
        bytes.extend_from_slice(&piece[..count]);
        if whole.is_none() {
            let text = String::from_utf8_lossy(&bytes);
            let head = text.split_once("\r\n\r\n").map(|(head, _)| head);
            whole = head.map(|head| head.len() + 4 + length(head));
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn length(head: &str) -> usize {
    let line = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    line.unwrap().parse().unwrap()
}

#[tokio::test]
async fn each_path_with_its_headers() {
    let server = Server::start(vec![sample::incident()], HttpLimits::default()).await;
    let metrics = server.get("/metrics").await;
    assert!(metrics.starts_with("HTTP/1.1 200 OK\r\n"), "{metrics}");
    assert!(metrics.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    assert!(metrics.contains("\r\ncache-control: no-store\r\n"));
    assert!(metrics.contains("\nevenkeel_generation{group=\"connect-orders\"} 8\n"));
    for path in [
        "/",
        "/livez",
        "/readyz",
        "/api/v1/state",
        "/api/v1/state?group=connect-orders",
    ] {
        let answer = server.get(path).await;
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n"),
            "{path}: {answer}"
        );
    }
    let page = server.get("/").await;
    assert!(
        page.contains("\r\ncontent-security-policy: default-src 'none'; style-src"),
        "{page}"
    );
    assert!(
        server
            .get("/nothing")
            .await
            .starts_with("HTTP/1.1 404 Not Found\r\n")
    );

    let accept =
        "accept: application/openmetrics-text\r\naccept: text/plain;q=0.5\r\nconnection: close\r\n";
    let open = server.exchange(&request("GET", "/metrics", accept)).await;
    assert!(
        open.contains("\r\ncontent-type: application/openmetrics-text; version=1.0.0"),
        "{open}"
    );
    assert!(open.ends_with("# EOF\n"));
}

#[tokio::test]
async fn a_scrape_sees_what_was_published_last() {
    let server = Server::start(vec![sample::incident()], HttpLimits::default()).await;
    let mut next = sample::incident();
    next.group.as_mut().unwrap().generation = Some(9);
    server
        .published
        .send_replace(Arc::new(sample::published(vec![next])));
    assert!(
        server
            .get("/metrics")
            .await
            .contains("evenkeel_generation{group=\"connect-orders\"} 9\n")
    );
}

#[tokio::test]
async fn head_has_the_length_and_no_body() {
    let server = Server::start(vec![sample::incident()], HttpLimits::default()).await;
    for path in ["/livez", "/readyz", "/api/v1/state", "/", "/nothing"] {
        let get = server.get(path).await;
        let head = server
            .exchange(&request("HEAD", path, "connection: close\r\n"))
            .await;
        let (get_head, get_body) = get.split_once("\r\n\r\n").unwrap();
        let (head_head, head_body) = head.split_once("\r\n\r\n").unwrap();
        assert_eq!(head_body, "", "{path}");
        assert_eq!(get_head.lines().next(), head_head.lines().next());
        assert_eq!(length(head_head), get_body.len(), "{path}");
    }
}

#[tokio::test]
async fn other_methods_are_refused_with_what_is_allowed() {
    let server = Server::start(vec![sample::incident()], HttpLimits::default()).await;
    let body = "content-length: 5\r\nconnection: close\r\n\r\nhello";
    let refused = server
        .exchange(&format!("POST /metrics HTTP/1.1\r\nhost: x\r\n{body}"))
        .await;
    assert!(
        refused.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"),
        "{refused}"
    );
    assert!(refused.contains("\r\nallow: GET, HEAD\r\n"), "{refused}");
}

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let server = Server::start(vec![sample::incident()], HttpLimits::default()).await;
    let mut stream = server.connect().await;
    for path in ["/livez", "/metrics", "/readyz", "/nothing", "/livez"] {
        stream
            .write_all(request("GET", path, "").as_bytes())
            .await
            .unwrap();
        let answer = one(&mut stream).await;
        let status = if path == "/nothing" {
            "HTTP/1.1 404"
        } else {
            "HTTP/1.1 200"
        };
        assert!(answer.starts_with(status), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_head_has_a_bound() {
    let limits = HttpLimits {
        head_bytes_max: 8 * 1024,
        ..HttpLimits::default()
    };
    let server = Server::start(vec![sample::incident()], limits).await;
    let long = |bytes: usize| {
        request(
            "GET",
            "/livez",
            &format!("x: {}\r\nconnection: close\r\n", "y".repeat(bytes)),
        )
    };
    let fits = server.exchange(&long(7 * 1024)).await;
    assert!(fits.starts_with("HTTP/1.1 200"), "{fits}");
    let refused = server.exchange(&long(9 * 1024)).await;
    assert!(refused.starts_with("HTTP/1.1 431 "), "{refused}");
    let many: String = (0..200).map(|index| format!("x-{index}: y\r\n")).collect();
    let refused = server.exchange(&request("GET", "/livez", &many)).await;
    assert!(refused.starts_with("HTTP/1.1 431 "), "{refused}");
    let nonsense = server.exchange("\u{0}\u{1} nonsense\r\n\r\n").await;
    assert!(nonsense.starts_with("HTTP/1.1 400 "), "{nonsense}");
}

#[tokio::test]
async fn who_sends_nothing_is_cut() {
    let limits = HttpLimits {
        head_time_max: Duration::from_millis(50),
        ..HttpLimits::default()
    };
    let server = Server::start(vec![sample::incident()], limits).await;
    for begun in ["", "GET /livez HTTP/1.1\r\nhos"] {
        let mut stream = server.connect().await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        let started = Instant::now();
        rest(&mut stream).await;
        assert!(started.elapsed() < DEADLINE / 2, "{begun}");
    }
    assert!(server.get("/livez").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn who_does_not_read_is_cut_at_the_greatest_age() {
    let limits = HttpLimits {
        connections_max: 1,
        connection_age_max: Duration::from_millis(100),
        drain_time_max: Duration::from_millis(100),
        ..HttpLimits::default()
    };
    let server = Server::start(vec![sample::incident()], limits).await;
    let mut stream = server.connect().await;
    // Far more answers than the buffers between the two hold, and none is read.
    let requests = request("GET", "/metrics", "").repeat(2_000);
    let writing = tokio::time::timeout(
        Duration::from_millis(300),
        stream.write_all(requests.as_bytes()),
    );
    drop(writing.await);
    // The only place is free again.
    let answer = tokio::time::timeout(DEADLINE, server.get("/livez"))
        .await
        .expect("in time");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn connections_are_bounded_and_the_first_leaves_for_the_next() {
    let limits = HttpLimits {
        connections_max: 2,
        ..HttpLimits::default()
    };
    let server = Server::start(vec![sample::incident()], limits).await;
    let mut first = server.connect().await;
    let mut second = server.connect().await;
    let request = request("GET", "/livez", "");
    for stream in [&mut first, &mut second] {
        stream.write_all(request.as_bytes()).await.unwrap();
        one(stream).await;
    }
    let answer = tokio::time::timeout(limits.head_time_max / 2, server.get("/livez"));
    let answer = answer.await.expect("a third does not wait for the others");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(rest(&mut first).await, "", "who came first had to leave");
    second.write_all(request.as_bytes()).await.unwrap();
    assert!(one(&mut second).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn an_orderly_end() {
    let mut server = Server::start(vec![sample::incident()], HttpLimits::default()).await;
    let mut idle = server.connect().await;
    idle.write_all(request("GET", "/livez", "").as_bytes())
        .await
        .unwrap();
    one(&mut idle).await;
    let begun = server.connect().await;
    server.stop.take().unwrap().send(()).unwrap();
    // An idle connection is closed at once, so nobody waits for it.
    assert_eq!(rest(&mut idle).await, "");
    drop(begun);
    tokio::time::timeout(DEADLINE, &mut server.task)
        .await
        .expect("ends in time")
        .unwrap();
    assert!(
        TcpStream::connect(server.address).await.is_err(),
        "nobody listens any more"
    );
}

#[tokio::test]
async fn the_end_does_not_wait_for_ever() {
    let limits = HttpLimits {
        drain_time_max: Duration::from_millis(100),
        ..HttpLimits::default()
    };
    let mut server = Server::start(vec![sample::incident()], limits).await;
    let mut stuck = server.connect().await;
    stuck
        .write_all(b"GET /livez HTTP/1.1\r\nhos")
        .await
        .unwrap();
    // The server has the connection once another one after it was answered.
    server.get("/livez").await;
    server.stop.take().unwrap().send(()).unwrap();
    tokio::time::timeout(DEADLINE, &mut server.task)
        .await
        .expect("ends in time")
        .unwrap();
}
