//! A TCP proxy in front of a broker or a collector that delays, hangs, refuses or cuts on command.
//!
//! A frozen process still has a kernel that takes connections and bytes; so has a proxy that
//! hangs, but only for those who come through it, and it can be as slow as one likes.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;

use crate::cache;
use crate::ports::Port;

/// Time between two looks for a new connection.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A broker of the testbed is on this machine; it takes a connection at once or not at all.
const CONNECT_MAX: Duration = Duration::from_secs(2);
const CHUNK_BYTES: usize = 64 * 1024;

/// What the proxy does to bytes and new connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Each piece is passed on so much later, in both directions.
    Delay(Duration),
    /// Connections stay and are taken, and nothing is passed on until another command.
    Hang,
    /// New connections are closed at once; those that are there go on.
    Refuse,
}

/// A running proxy; dropped, it closes all connections.
#[derive(Debug)]
pub struct Proxy {
    port: Port,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    fault: Fault,
    ended: bool,
    next: u64,
    connections: BTreeMap<u64, [TcpStream; 2]>,
}

impl Proxy {
    /// Listens on `port` of `host` and passes on to `target`.
    pub(crate) fn start(host: Ipv4Addr, port: Port, target: SocketAddr) -> anyhow::Result<Proxy> {
        let listener = TcpListener::bind((host, port.number())).context("listen as a proxy")?;
        listener.set_nonblocking(true)?;
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = thread::spawn(move || accept(&listener, target, &own));
        Ok(Proxy {
            port,
            shared,
            thread: Some(thread),
        })
    }

    /// Listens on a free port of loopback and passes on to another there.
    ///
    /// # Errors
    /// When there is no free port.
    pub fn before(port: u16) -> anyhow::Result<Proxy> {
        let own = Port::reserve(&cache::port_locks()?)?;
        let target = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Proxy::start(Ipv4Addr::LOCALHOST, own, target)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// From now on it does this.
    pub fn set(&self, fault: Fault) {
        self.shared.lock().fault = fault;
        self.shared.changed.notify_all();
    }

    /// Closes all connections that are there; new ones are taken. Gives how many.
    pub fn cut(&self) -> usize {
        let connections = std::mem::take(&mut self.shared.lock().connections);
        for stream in connections.values().flatten() {
            // One that is closed already cannot be closed again.
            stream.shutdown(Shutdown::Both).ok();
        }
        connections.len()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
        self.cut();
    }
}

impl Shared {
    /// Nothing panics while it holds the lock, and a half-made change is no danger here.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits as the fault wants it before a piece is passed on; false if all is over.
    fn pass(&self) -> bool {
        let mut state = self.lock();
        while state.fault == Fault::Hang && !state.ended {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let (fault, ended) = (state.fault, state.ended);
        drop(state);
        if let Fault::Delay(delay) = fault {
            thread::sleep(delay);
        }
        !ended
    }
}

fn accept(listener: &TcpListener, target: SocketAddr, shared: &Arc<Shared>) {
    loop {
        match listener.accept() {
            Ok((client, _)) => {
                let shared = Arc::clone(shared);
                // A connection that cannot be passed on is closed, which is all it can be told.
                thread::spawn(move || connect(client, target, &shared).ok());
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(LOOK_EVERY),
            Err(_) => thread::sleep(LOOK_EVERY),
        }
        if shared.lock().ended {
            return;
        }
    }
}

fn connect(client: TcpStream, target: SocketAddr, shared: &Arc<Shared>) -> anyhow::Result<()> {
    if shared.lock().fault == Fault::Refuse {
        return Ok(());
    }
    client.set_nonblocking(false)?;
    let broker = TcpStream::connect_timeout(&target, CONNECT_MAX)?;
    for stream in [&client, &broker] {
        stream.set_nodelay(true)?;
    }
    let ends = [client.try_clone()?, broker.try_clone()?];
    let number = {
        let mut state = shared.lock();
        state.next += 1;
        let number = state.next;
        state.connections.insert(number, ends);
        number
    };
    let (from, to) = (broker.try_clone()?, client.try_clone()?);
    let back = {
        let shared = Arc::clone(shared);
        thread::spawn(move || pump(from, to, &shared))
    };
    pump(client, broker, shared);
    back.join().ok();
    shared.lock().connections.remove(&number);
    Ok(())
}

/// Passes bytes on until either side is closed, then closes both.
fn pump(mut from: TcpStream, mut to: TcpStream, shared: &Shared) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        let Some(bytes) = chunk.get(..length) else {
            break;
        };
        if !shared.pass() || to.write_all(bytes).is_err() {
            break;
        }
    }
    // One that is closed already cannot be closed again.
    from.shutdown(Shutdown::Both).ok();
    to.shutdown(Shutdown::Both).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes at all comes within this, however busy the machine is.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// A server that sends back what it gets, and a proxy before it.
    fn echo() -> (Proxy, std::path::PathBuf) {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let locks = std::env::temp_dir().join(format!(
            "evenkeel-proxy-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
        ));
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let target = server.local_addr().unwrap();
        thread::spawn(move || {
            for mut stream in server.incoming().flatten() {
                thread::spawn(move || {
                    let mut chunk = [0; 64];
                    while let Ok(length @ 1..) = stream.read(&mut chunk) {
                        stream.write_all(&chunk[..length]).unwrap();
                    }
                });
            }
        });
        let port = Port::reserve(&locks).unwrap();
        let proxy = Proxy::start(Ipv4Addr::LOCALHOST, port, target).unwrap();
        (proxy, locks)
    }

    fn client(proxy: &Proxy) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn ask(stream: &mut TcpStream) -> std::io::Result<usize> {
        stream.write_all(b"x")?;
        stream.read(&mut [0; 8])
    }

    #[test]
    fn what_hangs_goes_on_with_the_same_connection() {
        let (proxy, locks) = echo();
        let mut stream = client(&proxy);
        assert_eq!(ask(&mut stream).unwrap(), 1);
        proxy.set(Fault::Hang);
        let soon = Duration::from_millis(300);
        stream.set_read_timeout(Some(soon)).unwrap();
        let waited = ask(&mut stream).unwrap_err().kind();
        assert!(matches!(
            waited,
            ErrorKind::WouldBlock | ErrorKind::TimedOut
        ));
        proxy.set(Fault::None);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(stream.read(&mut [0; 8]).unwrap(), 1);
        std::fs::remove_dir_all(locks).unwrap();
    }

    #[test]
    fn a_cut_ends_what_is_there_and_refusal_what_comes() {
        let (proxy, locks) = echo();
        let mut stream = client(&proxy);
        assert_eq!(ask(&mut stream).unwrap(), 1);
        assert_eq!(proxy.cut(), 1);
        assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
        let mut kept = client(&proxy);
        assert_eq!(ask(&mut kept).unwrap(), 1);
        proxy.set(Fault::Refuse);
        let refused = ask(&mut client(&proxy));
        assert!(
            matches!(refused, Ok(0)) || refused.is_err_and(|e| e.kind() != ErrorKind::TimedOut)
        );
        assert_eq!(ask(&mut kept).unwrap(), 1);
        std::fs::remove_dir_all(locks).unwrap();
    }
}
