//! A real listener on a port of the system's choice, and requests as bytes.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;
use crate::config::Readiness;
use crate::show::sample;
use crate::show::view::{Pulse, SeriesLimits};

struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

async fn start(limits: HttpLimits) -> Server {
    let (published, receiver) =
        watch::channel(Arc::new(sample::published(vec![sample::incident()])));
    let pulse = Arc::new(Pulse::default());
    pulse.beat(sample::NOW);
    let site = Site::new(
        receiver,
        pulse,
        Arc::new(|| sample::NOW),
        Readiness::Lenient,
        SeriesLimits::default(),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(async move {
        serve(listener, Arc::new(site), limits, async {
            drop(stopped.await)
        })
        .await;
        drop(published);
    });
    Server {
        address,
        stop: Some(stop),
        task,
    }
}

/// Sends bytes, returns all that comes back until the server closes.
async fn exchange(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn get(address: SocketAddr, path: &str) -> String {
    exchange(
        address,
        &format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"),
    )
    .await
}

#[tokio::test]
async fn serves_each_path() {
    let server = start(HttpLimits::default()).await;
    let metrics = get(server.address, "/metrics").await;
    assert!(metrics.starts_with("HTTP/1.1 200 OK\r\n"), "{metrics}");
    assert!(metrics.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    assert!(
        metrics.contains("\nevenkeel_generation{group=\"connect-orders\"} 8\n"),
        "{metrics}"
    );
    for path in ["/", "/livez", "/readyz", "/api/v1/state"] {
        let answer = get(server.address, path).await;
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n"),
            "{path}: {answer}"
        );
    }
}
