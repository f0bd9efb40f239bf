//! For tests: a small receiver of OTLP over HTTP and gRPC, which answers as it is told.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use bytes::{BufMut, Bytes, BytesMut};
use flate2::read::GzDecoder;
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, Incoming};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use opentelemetry::InstrumentationScope;
use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use prost::Message;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::Client;
use crate::config::{TraceCompression, TraceCopies, TraceEndpoint, TraceProtocol, TracesConfig};
use crate::show::traces::tree::Trace;

/// What it answers.
#[derive(Debug, Clone, Copy)]
pub(in crate::show::traces) enum Answer {
    Take,
    /// Takes all but so many.
    Reject(i64),
    /// Takes requests of up to so many spans, and refuses larger ones (HTTP).
    TakeUpTo(usize),
    /// A status of HTTP, or of gRPC.
    Status(u16),
    /// Such a status, and that it wants to be left alone for so many seconds.
    Busy(u16, u8),
    /// Takes them, after so many milliseconds.
    TakeLate(u64),
    /// Nothing, ever.
    Silence,
}

/// One request as it came.
#[derive(Debug, Clone)]
pub(in crate::show::traces) struct Asked {
    pub(in crate::show::traces) path: String,
    pub(in crate::show::traces) headers: HeaderMap,
    pub(in crate::show::traces) message: ExportTraceServiceRequest,
    pub(in crate::show::traces) answer: Answer,
}

impl Asked {
    /// The first byte of the trace of each span.
    pub(in crate::show::traces) fn traces(&self) -> impl Iterator<Item = u8> {
        let scopes = self.message.resource_spans.iter();
        let scopes = scopes.flat_map(|resource| &resource.scope_spans);
        let spans = scopes.flat_map(|scope| &scope.spans);
        spans.map(|span| span.trace_id[0])
    }

    pub(in crate::show::traces) fn spans(&self) -> usize {
        self.traces().count()
    }
}

#[derive(Debug)]
struct Shared {
    answer: Mutex<Answer>,
    /// What is answered before that, each once.
    first: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<Asked>>,
}

/// A receiver on a port of its own.
#[derive(Debug)]
pub(in crate::show::traces) struct Receiver {
    pub(in crate::show::traces) address: SocketAddr,
    shared: Arc<Shared>,
    task: Option<JoinHandle<()>>,
}

// === impl Receiver ===

impl Receiver {
    pub(in crate::show::traces) async fn start(answer: Answer) -> Self {
        let shared = Arc::new(Shared {
            answer: Mutex::new(answer),
            first: Mutex::default(),
            asked: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = Some(tokio::spawn(serve(listener, Arc::clone(&shared))));
        Self {
            address,
            shared,
            task,
        }
    }

    pub(in crate::show::traces) fn answer(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap() = answer;
    }

    /// Answers these first, each once.
    pub(in crate::show::traces) fn answer_first(&self, answers: impl IntoIterator<Item = Answer>) {
        self.shared.first.lock().unwrap().extend(answers);
    }

    /// Refuses connections from now on.
    pub(in crate::show::traces) fn die(&mut self) {
        self.task.take().unwrap().abort();
    }

    pub(in crate::show::traces) async fn return_to_life(&mut self, answer: Answer) {
        self.answer(answer);
        let listener = loop {
            // The one before may still be on its way out.
            match TcpListener::bind(self.address).await {
                Ok(listener) => break listener,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        self.task = Some(tokio::spawn(serve(listener, Arc::clone(&self.shared))));
    }

    pub(in crate::show::traces) fn all(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    pub(in crate::show::traces) fn requests(&self) -> usize {
        self.all().len()
    }

    pub(in crate::show::traces) fn spans_of_requests(&self) -> Vec<usize> {
        self.all().iter().map(Asked::spans).collect()
    }

    pub(in crate::show::traces) fn spans(&self) -> usize {
        self.spans_of_requests().iter().sum()
    }

    /// Waits until it was asked so often.
    pub(in crate::show::traces) async fn asked(&self, times: usize) {
        let reached = async {
            while self.requests() < times {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(20), reached).await;
        assert!(waited.is_ok(), "asked {} times only", self.requests());
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        tokio::spawn(connection(stream, Arc::clone(&shared)));
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let mut first = [0; 3];
    let read = stream.peek(&mut first).await.unwrap_or(0);
    let is_grpc = first.get(..read) == Some(b"PRI");
    let service = service_fn(move |request| answered(request, Arc::clone(&shared)));
    // A client that hangs up is what some tests are about.
    let io = TokioIo::new(stream);
    if is_grpc {
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        drop(server.serve_connection(io, service).await);
    } else {
        let server = hyper::server::conn::http1::Builder::new();
        drop(server.serve_connection(io, service).await);
    }
}

type Body = http_body_util::combinators::BoxBody<Bytes, Infallible>;

async fn answered(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Body>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let is = |name: &str, value: &str| head.headers.get(name).is_some_and(|known| known == value);
    let is_grpc = is("content-type", "application/grpc");
    let message = if is_grpc {
        body.slice(5..)
    } else {
        body.clone()
    };
    let zipped = is("content-encoding", "gzip") || is("grpc-encoding", "gzip");
    assert!(!is_grpc || body.first() == Some(&u8::from(zipped)));
    let message = if zipped {
        let mut plain = Vec::new();
        std::io::Read::read_to_end(&mut GzDecoder::new(&message[..]), &mut plain).unwrap();
        Bytes::from(plain)
    } else {
        message
    };
    let first = shared.first.lock().unwrap().pop_front();
    let asked = Asked {
        path: head.uri.path().to_owned(),
        headers: head.headers,
        message: ExportTraceServiceRequest::decode(message).unwrap(),
        answer: first.unwrap_or(*shared.answer.lock().unwrap()),
    };
    let (spans, answer) = (asked.spans(), asked.answer);
    shared.asked.lock().unwrap().push(asked);
    let answer = match answer {
        Answer::TakeUpTo(most) if spans > most => Answer::Status(413),
        answer => answer,
    };
    let rejected = match answer {
        Answer::Reject(rejected) => rejected,
        Answer::Silence => std::future::pending().await,
        Answer::TakeLate(ms) => {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            0
        }
        Answer::Take | Answer::TakeUpTo(_) | Answer::Status(_) | Answer::Busy(..) => 0,
    };
    let partial = (rejected > 0).then(|| ExportTracePartialSuccess {
        rejected_spans: rejected,
        error_message: "too much".to_owned(),
    });
    let told = ExportTraceServiceResponse {
        partial_success: partial,
    };
    let told = told.encode_to_vec();
    Ok(match (answer, is_grpc) {
        (Answer::Status(status), false) => {
            let mut response = Response::new(Full::from("no thanks").boxed());
            *response.status_mut() = status.try_into().unwrap();
            response
        }
        (Answer::Busy(status, seconds), false) => {
            let mut response = Response::new(Full::from("later").boxed());
            *response.status_mut() = status.try_into().unwrap();
            let headers = response.headers_mut();
            headers.insert("retry-after", HeaderValue::from(u16::from(seconds)));
            response
        }
        (_, false) => Response::new(Full::from(told).boxed()),
        (Answer::Status(status), true) => grpc(None, status, None),
        (Answer::Busy(status, seconds), true) => grpc(None, status, Some(seconds)),
        (_, true) => grpc(Some(told), 0, None),
    })
}

fn grpc(message: Option<Vec<u8>>, status: u16, busy_seconds: Option<u8>) -> Response<Body> {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(status));
    trailers.insert("grpc-message", HeaderValue::from_static("as you asked"));
    if let Some(seconds) = busy_seconds {
        let details = HeaderValue::from_str(&with_retry_info(status, seconds)).unwrap();
        trailers.insert("grpc-status-details-bin", details);
    }
    let mut frames: Vec<Result<Frame<Bytes>, Infallible>> = Vec::new();
    if let Some(message) = message {
        let mut framed = BytesMut::new();
        framed.put_u8(0);
        framed.put_u32(u32::try_from(message.len()).unwrap());
        framed.put_slice(&message);
        frames.push(Ok(Frame::data(framed.freeze())));
    }
    frames.push(Ok(Frame::trailers(trailers)));
    let frames = Frames(frames.into_iter());
    let mut response = Response::new(frames.boxed());
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert("content-type", kind);
    response
}

/// A `google.rpc.Status` with two details, the second a `RetryInfo`: written by hand from the
/// definitions, and in base64 without padding, as gRPC's own libraries have it.
fn with_retry_info(status: u16, seconds: u8) -> String {
    let field = |tag: u8, bytes: &[u8]| {
        let length = u8::try_from(bytes.len()).unwrap();
        [&[tag << 3 | 2, length], bytes].concat()
    };
    let any = |name: &str, value: &[u8]| {
        let url = format!("type.googleapis.com/google.rpc.{name}");
        [field(1, url.as_bytes()), field(2, value)].concat()
    };
    // Seconds, and a quarter of one in nanoseconds.
    let delay = [1 << 3, seconds, 2 << 3, 0x80, 0xe5, 0x9a, 0x77];
    let details = [
        any("DebugInfo", &field(2, b"no secret")),
        any("RetryInfo", &field(1, &delay)),
    ];
    let code = [1 << 3, u8::try_from(status).unwrap()];
    let details = details.iter().flat_map(|any| field(3, any));
    let bytes: Vec<u8> = code.into_iter().chain(details).collect();
    let text = openssl::base64::encode_block(&bytes);
    text.trim_end_matches('=').to_owned()
}

/// A body of these frames.
struct Frames(std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>);

impl hyper::body::Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        std::task::Poll::Ready(self.0.next())
    }
}

/// Where a receiver is, and how it is spoken to.
pub(in crate::show::traces) fn config(
    address: SocketAddr,
    protocol: TraceProtocol,
) -> TracesConfig {
    TracesConfig {
        endpoint: TraceEndpoint {
            tls: false,
            host: address.ip().to_string(),
            port: address.port(),
            path: "/v1/traces".to_owned(),
        },
        protocol,
        headers: Default::default(),
        timeout_ms: 10_000,
        compression: TraceCompression::None,
        ca_file: None,
        certificate_file: None,
        key_file: None,
        resource: [("service.name".to_owned(), "evenkeel".to_owned())].into(),
        copies: TraceCopies::One,
    }
}

pub(in crate::show::traces) fn client(receiver: &Receiver, protocol: TraceProtocol) -> Client {
    Client::new(config(receiver.address, protocol))
}

/// A trace with so many spans.
pub(in crate::show::traces) fn sample(number: u8, spans: usize) -> Trace {
    let trace = [number; 16];
    let id = |place: usize| SpanId::from_bytes(u64::try_from(place).unwrap().to_be_bytes());
    let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds);
    let span = |place: usize| SpanData {
        span_context: SpanContext::new(
            TraceId::from_bytes(trace),
            id(place + 1),
            TraceFlags::SAMPLED,
            false,
            TraceState::NONE,
        ),
        parent_span_id: if place > 0 { id(1) } else { SpanId::INVALID },
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: if place > 0 { "round" } else { "rebalance" }.into(),
        start_time: at(0),
        end_time: at(1),
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::default(),
    };
    Trace {
        id: trace,
        spans: (0..spans).map(span).collect(),
    }
}
