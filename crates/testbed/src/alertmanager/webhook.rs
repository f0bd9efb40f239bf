//! What Alertmanager sends to: an HTTP server in this process that keeps every notification.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::cache;
use crate::clock::now_ms;
use crate::ports::Port;

/// Time between two looks for a new connection.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Alertmanager is on this machine, and sends a notification in one piece.
const REQUEST_MAX: Duration = Duration::from_secs(5);

/// One message, as Alertmanager's webhook has it (version 4 of its format).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    /// When it came.
    #[serde(skip)]
    pub at_ms: i64,
    /// The name of the receiver in the configuration.
    pub receiver: String,
    /// `firing` while any of its alerts does, else `resolved`.
    pub status: String,
    /// What its alerts have in common by the route's `group_by`.
    pub group_labels: BTreeMap<String, String>,
    pub alerts: Vec<Notified>,
}

/// An alert in a notification.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notified {
    pub status: String,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub starts_at: String,
    /// A hash of the labels.
    pub fingerprint: String,
}

/// A receiver of webhooks; dropped, it listens no more.
#[derive(Debug)]
pub struct Webhook {
    port: Port,
    shared: Arc<Mutex<State>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    ended: bool,
    got: Vec<Notification>,
    /// What could not be read, in words.
    problems: Vec<String>,
}

impl Notified {
    /// Its name.
    pub fn name(&self) -> &str {
        self.label("alertname")
    }

    /// A label, empty where it has none of that name.
    pub fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }

    /// An annotation, empty where it has none of that name.
    pub fn annotation(&self, name: &str) -> &str {
        self.annotations.get(name).map_or("", String::as_str)
    }
}

impl Webhook {
    /// Listens on a free port of loopback.
    ///
    /// # Errors
    /// When there is none.
    pub fn start() -> anyhow::Result<Webhook> {
        let port = Port::reserve(&cache::port_locks()?)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.number()))
            .context("listen for webhooks")?;
        listener.set_nonblocking(true)?;
        let shared = Arc::new(Mutex::new(State::default()));
        let own = Arc::clone(&shared);
        let thread = thread::spawn(move || accept(&listener, &own));
        Ok(Webhook {
            port,
            shared,
            thread: Some(thread),
        })
    }

    /// Where to send; any path will do.
    pub fn url(&self, path: &str) -> String {
        format!(
            "http://{}:{}/{path}",
            Ipv4Addr::LOCALHOST,
            self.port.number()
        )
    }

    /// All that came so far, in order.
    ///
    /// # Errors
    /// When something came that is no notification.
    pub fn notifications(&self) -> anyhow::Result<Vec<Notification>> {
        let state = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(problem) = state.problems.first() {
            bail!("a webhook was called with something else: {problem}");
        }
        Ok(state.got.clone())
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        let mut state = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        state.ended = true;
        drop(state);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// One connection after the other: an Alertmanager has few receivers, and sends little.
fn accept(listener: &TcpListener, shared: &Mutex<State>) {
    loop {
        let connection = match listener.accept() {
            Ok((connection, _)) => Some(connection),
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            Err(_) => return,
        };
        let state = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        match connection {
            Some(mut connection) => {
                let came = receive(&mut connection);
                let status = match came {
                    Ok(_) => "200 OK",
                    Err(_) => "400 Bad Request",
                };
                // Whoever has the answer finds what it sent.
                match came {
                    Ok(notification) => state().got.push(notification),
                    Err(error) => state().problems.push(format!("{error:#}")),
                }
                if let Err(error) = answer(&mut connection, status) {
                    state().problems.push(format!("{error:#}"));
                }
            }
            None if state().ended => return,
            None => thread::sleep(LOOK_EVERY),
        }
    }
}

fn receive(connection: &mut TcpStream) -> anyhow::Result<Notification> {
    connection.set_nonblocking(false)?;
    connection.set_read_timeout(Some(REQUEST_MAX))?;
    connection.set_write_timeout(Some(REQUEST_MAX))?;
    parse(&read_request(connection)?)
}

fn answer(connection: &mut TcpStream, status: &str) -> anyhow::Result<()> {
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    connection
        .write_all(answer.as_bytes())
        .context("answer a webhook")
}

fn parse(body: &[u8]) -> anyhow::Result<Notification> {
    let parsed: Notification =
        serde_json::from_slice(body).with_context(|| String::from_utf8_lossy(body).into_owned())?;
    Ok(Notification {
        at_ms: now_ms(),
        ..parsed
    })
}

/// The body of a request, whose length its head says.
fn read_request(connection: &mut impl Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some((head, body)) = split(&bytes) {
            let length = content_length(head).context("a request without a length")?;
            if let Some(body) = body.get(..length) {
                return Ok(body.to_vec());
            }
        }
        let count = connection.read(&mut chunk).context("read a request")?;
        if count == 0 {
            bail!("a request is cut short");
        }
        bytes.extend_from_slice(chunk.get(..count).unwrap_or_default());
    }
}

fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some((bytes.get(..end)?, bytes.get(end + 4..)?))
}

fn content_length(head: &[u8]) -> Option<usize> {
    String::from_utf8_lossy(head).lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_it = name.eq_ignore_ascii_case("content-length");
        is_it.then(|| value.trim().parse().ok()).flatten()
    })
}
