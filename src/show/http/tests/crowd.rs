//! Clients that ask without end and never read.

use super::*;

/// As many as there are places, each with hundreds of questions at once.
async fn crowd(server: &Server) -> Vec<TcpStream> {
    let requests = request("GET", "/metrics", "").repeat(400);
    let mut crowd = Vec::new();
    for _ in 0..HttpLimits::default().connections_max {
        let mut stream = server.connect().await;
        let writing = stream.write_all(requests.as_bytes());
        drop(tokio::time::timeout(Duration::from_millis(2), writing).await);
        crowd.push(stream);
    }
    crowd
}

#[tokio::test]
async fn a_probe_is_answered_at_once_however_many_never_read() {
    let server = Server::start(vec![sample::incident()], HttpLimits::default()).await;
    let crowd = crowd(&server).await;
    for path in ["/livez", "/readyz", "/livez"] {
        let began = Instant::now();
        let answer = server.get(path).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let took = began.elapsed();
        assert!(took < Duration::from_millis(400), "{path} took {took:?}");
    }
    drop(crowd);
}

#[tokio::test]
async fn who_takes_nothing_of_an_answer_is_cut() {
    let limits = HttpLimits {
        write_time_max: Duration::from_millis(200),
        ..HttpLimits::default()
    };
    let server = Server::start(vec![sample::incident()], limits).await;
    let mut stream = server.connect().await;
    let requests = request("GET", "/metrics", "").repeat(5_000);
    // Whoever is cut with questions unread is reset.
    let asking = async {
        while stream.write_all(requests.as_bytes()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let cut = tokio::time::timeout(DEADLINE, asking).await;
    assert!(cut.is_ok(), "it is served on");
}
