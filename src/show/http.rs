//! The HTTP/1 server: connections, their bounds, an orderly end. What is answered is
//! `routes`, to whom is `guard`.

#[cfg(test)]
pub(crate) mod certs;
mod door;
mod gate;
mod guard;
mod paced;
mod tls;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY, RETRY_AFTER};
use hyper::header::{WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tracing::{debug, warn};

pub use crate::show::http::gate::Checks;
pub use crate::show::http::guard::Guard;
use crate::show::http::guard::Pass;
use crate::show::http::paced::Paced;
pub use crate::show::http::tls::{Material, Tls, TlsError, moment};
use crate::show::routes::{Ask, Reply, Site};

/// Bounds of the server. Scrapers, probes and a person's browser fit many times over.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// Connections served at once. For one more, the one that came first has to leave: a
    /// probe gets in, whoever else holds connections open.
    pub connections_max: usize,
    /// Time for a request's head, and for the pause between two requests.
    pub head_time_max: Duration,
    /// Size of a request's head.
    pub head_bytes_max: usize,
    /// Age at which a connection is closed after its current answer, so that a client
    /// that does not read cannot hold its place.
    pub connection_age_max: Duration,
    /// Time for a TLS handshake.
    pub handshake_time_max: Duration,
    /// Handshakes at once; further ones wait within their time.
    pub handshakes_max: usize,
    /// Time without a byte that the client takes, while an answer waits to be taken.
    pub write_time_max: Duration,
    /// Time that connections get to end at shutdown and at their greatest age.
    pub drain_time_max: Duration,
}

/// How long a connection that has to leave may finish the answer it is at.
const LEAVE_TIME_MAX: Duration = Duration::from_millis(500);

/// What a kubelet asks for: cheap, and never to wait for what is not.
const PROBES: [&str; 2] = ["/livez", "/readyz"];

/// Pause after a failed accept, usually for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Nothing is loaded from elsewhere, nothing runs: a page with styles of its own.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What a connection is served with.
#[derive(Clone)]
struct Desk {
    site: Arc<Site>,
    guards: watch::Receiver<Arc<Guard>>,
    limits: HttpLimits,
    handshakes: Arc<Semaphore>,
    /// Places for connections that have to leave and finish the answer they are at.
    leaving: Arc<Semaphore>,
    /// Answers that cost something are made one at a time, with a turn for everybody else
    /// in between: connections that ask without end hold up each other, and no probe.
    turn: Arc<Semaphore>,
}

/// How a connection has to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    /// It was there for long enough, or all end.
    Soon,
    /// Another one wants its place.
    Now,
}

/// Serves `site` on `listener` until `shutdown` is ready, then lets connections end. The
/// newest of `guards` stands before it.
pub async fn serve(
    listener: TcpListener,
    site: Arc<Site>,
    guards: watch::Receiver<Arc<Guard>>,
    limits: HttpLimits,
    shutdown: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(limits.connections_max));
    let desk = Desk {
        site,
        guards,
        limits,
        handshakes: Arc::new(Semaphore::new(limits.handshakes_max)),
        leaving: Arc::new(Semaphore::new(limits.connections_max)),
        turn: Arc::new(Semaphore::new(1)),
    };
    let (ending, _) = watch::channel(false);
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    // Those that are served, and perhaps some that ended, in the order they came.
    let mut guests: VecDeque<Arc<Notify>> = VecDeque::new();
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                pause_after(&error).await;
                continue;
            }
        };
        guests.retain(|leave| Arc::strong_count(leave) > 1);
        if places.available_permits() == 0
            && let Some(first) = guests.pop_front()
        {
            first.notify_one();
        }
        let place = tokio::select! {
            () = &mut shutdown => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        // Never closed; were it, there would be no more places.
        let Ok(place) = place else { break };
        let leave = Arc::new(Notify::new());
        guests.push_back(Arc::clone(&leave));
        let desk = desk.clone();
        let ending = ending.subscribe();
        connections.spawn(async move {
            connection(stream, desk, ending, &leave, place).await;
        });
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
    desk: Desk,
    mut ending: watch::Receiver<bool>,
    leave: &Notify,
    place: OwnedSemaphorePermit,
) {
    // An answer is written at once, so waiting to fill packets only delays it. A
    // socket that refuses the option is as good as one that is already closed.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let guard = newest(&desk.guards);
    let Some(tls) = &guard.tls else {
        return requests(stream, desk, ending, leave, place).await;
    };
    let opened = tokio::select! {
        opened = door::open(stream, tls, desk.limits, &desk.handshakes) => opened,
        _ = ending.wait_for(|ending| *ending) => None,
        () = leave.notified() => None,
    };
    // What replaced it meanwhile is for the next connection; nothing holds it longer.
    drop(guard);
    if let Some(stream) = opened {
        requests(stream, desk, ending, leave, place).await;
    }
}

fn newest(guards: &watch::Receiver<Arc<Guard>>) -> Arc<Guard> {
    Arc::clone(&guards.borrow())
}

/// Answers the requests of an open connection, which has this place.
async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    desk: Desk,
    mut ending: watch::Receiver<bool>,
    leave: &Notify,
    place: OwnedSemaphorePermit,
) {
    let limits = desk.limits;
    let leaving = Arc::clone(&desk.leaving);
    let stream = TokioIo::new(Paced::new(stream, limits.write_time_max));
    let service = service_fn(move |request: Request<Incoming>| {
        let desk = desk.clone();
        async move { Ok::<_, Infallible>(respond(&desk, &request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time_max)
        .max_buf_size(limits.head_bytes_max)
        .keep_alive(true)
        .serve_connection(stream, service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        result = connection.as_mut() => Ok(result),
        () = tokio::time::sleep(limits.connection_age_max) => Err(Leave::Soon),
        _ = ending.wait_for(|ending| *ending) => Err(Leave::Soon),
        () = leave.notified() => Err(Leave::Now),
    };
    // Whoever comes next need not wait for this one to leave; were too many about to, it
    // is cut.
    let left = matches!(&ended, Err(Leave::Now)).then(|| leaving.try_acquire());
    let ended = match ended {
        Ok(result) => Ok(result),
        Err(leave) => {
            let time_max = match (leave, &left) {
                (Leave::Now, Some(Ok(_))) => LEAVE_TIME_MAX.min(limits.drain_time_max),
                (Leave::Now, _) => Duration::ZERO,
                (Leave::Soon, _) => limits.drain_time_max,
            };
            if leave == Leave::Now {
                drop(place);
            }
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(time_max, connection).await
        }
    };
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "http connection ended early"),
        Err(_) => debug!("http connection cut: its client does not read"),
    }
}

async fn respond(desk: &Desk, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let guard = newest(&desk.guards);
    let path = request.uri().path();
    let said = request.headers().get_all(AUTHORIZATION).iter();
    let said: Vec<_> = said.map(HeaderValue::as_bytes).collect();
    let pass = guard.judge(path, &said).await;
    let mut response = match pass {
        Pass::All | Pass::Brief => {
            let accept = request.headers().get_all(ACCEPT).iter();
            let accept: Vec<_> = accept.filter_map(|value| value.to_str().ok()).collect();
            // Never closed.
            let turn = match PROBES.contains(&path) {
                true => None,
                false => desk.turn.acquire().await.ok(),
            };
            let response = response(desk.site.answer(Ask {
                method: request.method().as_str(),
                path,
                query: request.uri().query().unwrap_or_default(),
                accept: &accept.join(","),
                brief: pass == Pass::Brief,
            }));
            if turn.is_some() {
                tokio::task::yield_now().await;
            }
            response
        }
        Pass::Refused => refusal(
            Reply::plain(401, "a user and a password are needed here\n"),
            WWW_AUTHENTICATE,
            "Basic realm=\"evenkeel\", charset=\"UTF-8\"",
        ),
        Pass::Busy => refusal(
            Reply::plain(503, "too many passwords are being checked\n"),
            RETRY_AFTER,
            "1",
        ),
    };
    for (name, value) in &guard.headers {
        response.headers_mut().insert(name, value.clone());
    }
    response
}

/// An answer that says no, with the header that says what to do.
fn refusal(reply: Reply, name: HeaderName, value: &'static str) -> Response<Full<Bytes>> {
    let mut response = response(reply);
    response
        .headers_mut()
        .insert(name, HeaderValue::from_static(value));
    response
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
            handshake_time_max: Duration::from_secs(5),
            handshakes_max: 16,
            write_time_max: Duration::from_secs(10),
            drain_time_max: Duration::from_secs(5),
        }
    }
}

#[cfg(test)]
mod tests;
