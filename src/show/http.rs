//! The HTTP/1 server: connections, their bounds, an orderly end. The only file that
//! knows hyper; what is answered is `routes`.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use hyper::header::{HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tracing::{debug, warn};

use crate::show::routes::{Ask, Reply, Site};

/// Bounds of the server. Scrapers, probes and a person's browser fit many times over.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// Connections served at once; further ones wait in the kernel's queue.
    pub connections_max: usize,
    /// Time for a request's head, and for the pause between two requests.
    pub head_time_max: Duration,
    /// Size of a request's head.
    pub head_bytes_max: usize,
    /// Age at which a connection is closed after its current answer, so that a client
    /// that does not read cannot hold its place.
    pub connection_age_max: Duration,
    /// Time that connections get to end at shutdown and at their greatest age.
    pub drain_time_max: Duration,
}

/// Pause after a failed accept, usually for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Nothing is loaded from elsewhere, nothing runs: a page with styles of its own.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Serves `site` on `listener` until `shutdown` is ready, then lets connections end.
pub async fn serve(
    listener: TcpListener,
    site: Arc<Site>,
    limits: HttpLimits,
    shutdown: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(limits.connections_max));
    let (ending, _) = watch::channel(false);
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        // A place first: without one, a further connection is not even accepted.
        let place = tokio::select! {
            () = &mut shutdown => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        // Never closed; were it, there would be no more places.
        let Ok(place) = place else { break };
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) => {
                let site = Arc::clone(&site);
                let ending = ending.subscribe();
                connections.spawn(async move {
                    connection(stream, site, limits, ending).await;
                    drop(place);
                });
            }
            Err(error) => {
                pause_after(&error).await;
            }
        }
    }
    drop(listener);
    ending.send_replace(true);
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.drain_time_max, all_ended)
        .await
        .is_err()
    {
        debug!("http connections cut at shutdown");
    }
}

async fn pause_after(error: &io::Error) {
    // A peer that gave up while it waited is its own business.
    if error.kind() != io::ErrorKind::ConnectionAborted {
        warn!(%error, "http connection not accepted");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

/// Serves one connection to its end.
async fn connection(
    stream: TcpStream,
    site: Arc<Site>,
    limits: HttpLimits,
    mut ending: watch::Receiver<bool>,
) {
    // An answer is written at once, so waiting to fill packets only delays it. A
    // socket that refuses the option is as good as one that is already closed.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let service = service_fn(move |request: Request<Incoming>| {
        let site = Arc::clone(&site);
        async move { Ok::<_, Infallible>(respond(&site, &request)) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time_max)
        .max_buf_size(limits.head_bytes_max)
        .keep_alive(true)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        result = connection.as_mut() => Some(result),
        () = tokio::time::sleep(limits.connection_age_max) => None,
        _ = ending.wait_for(|ending| *ending) => None,
    };
    let ended = match ended {
        Some(result) => Ok(result),
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(limits.drain_time_max, connection).await
        }
    };
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "http connection ended early"),
        Err(_) => debug!("http connection cut: its client does not read"),
    }
}

fn respond(site: &Site, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let accept = request.headers().get_all(ACCEPT).iter();
    let accept: Vec<_> = accept.filter_map(|value| value.to_str().ok()).collect();
    let reply = site.answer(Ask {
        method: request.method().as_str(),
        path: request.uri().path(),
        query: request.uri().query().unwrap_or_default(),
        accept: &accept.join(","),
    });
    response(reply)
}

fn response(reply: Reply) -> Response<Full<Bytes>> {
    let allow = reply.allow();
    let mut response = Response::new(Full::new(Bytes::from(reply.body)));
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    set(CONTENT_TYPE, reply.content_type);
    // Every answer is about now.
    set(CACHE_CONTROL, "no-store");
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(REFERRER_POLICY, "no-referrer");
    set(CONTENT_SECURITY_POLICY, PAGE_POLICY);
    if let Some(allow) = allow {
        set(ALLOW, allow);
    }
    response
}

// === impl HttpLimits ===

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections_max: 64,
            head_time_max: Duration::from_secs(5),
            head_bytes_max: 16 * 1024,
            connection_age_max: Duration::from_secs(300),
            drain_time_max: Duration::from_secs(5),
        }
    }
}

#[cfg(test)]
mod tests;
