//! Clients that ask without end and never read.

use std::io::{Read, Write};

use super::*;

/// As many as there are places, each with hundreds of questions at once, from a thread of
/// its own: the server has the runtime to itself.
fn crowd(address: SocketAddr) -> Vec<std::net::TcpStream> {
    let requests = request("GET", "/metrics", "").repeat(400);
    let places = HttpLimits::default().connections_max;
    let join = |_| {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        // What does not fit at once is not needed.
        stream.set_nonblocking(true).unwrap();
        drop(stream.write(requests.as_bytes()));
        stream
    };
    (0..places).map(join).collect()
}

/// The answer to a probe, and how long it took.
fn probe(address: SocketAddr, path: &str) -> (String, Duration) {
    let began = Instant::now();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let close = request("GET", path, "Connection: close\r\n");
    stream.write_all(close.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer, began.elapsed())
}

#[tokio::test]
async fn a_probe_is_answered_at_once_however_many_never_read() {
    let server = Server::start(vec![sample::incident()], HttpLimits::default()).await;
    let address = server.address;
    let asked = tokio::task::spawn_blocking(move || {
        let crowd = crowd(address);
        let answers = ["/livez", "/readyz", "/livez"].map(|path| probe(address, path));
        drop(crowd);
        answers
    });
    for (answer, took) in asked.await.unwrap() {
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        println!("a probe took {took:?}");
        assert!(took < Duration::from_millis(500), "a probe took {took:?}");
    }
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
