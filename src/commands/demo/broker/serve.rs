//! Listener and connections: accepts, reads frames, writes answers, ends without leaving a task behind.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::debug;

use super::dispatch::dispatch;
use super::request::{REQUEST_BYTES_MAX, Request, RequestError, frame_size};
use super::shared::Shared;

/// Connections at once; a further one is closed as soon as it is accepted.
pub(super) const CONNECTIONS_MAX: usize = 256;

/// Bytes asked of the socket at a time.
const READ_BYTES: usize = 16 * 1024;

/// Rest after a failed accept (out of file descriptors), which would otherwise spin.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Who is at the other end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    pub(super) connection: u64,
    pub(super) address: SocketAddr,
}

/// Serves `listener` until `stop` says so or its sender is gone; then closes every connection.
pub(super) async fn listen(
    listener: TcpListener,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            _ = stop.changed() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) if connections.len() < CONNECTIONS_MAX => {
                    connections.spawn(serve(stream, address, Arc::clone(&shared)));
                }
                Ok((_, address)) => debug!(%address, "connection refused, too many are open"),
                Err(error) => {
                    debug!(%error, "connection not accepted");
                    tokio::time::sleep(ACCEPT_RETRY).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    connections.shutdown().await;
}

/// One connection, until it is closed by either side.
async fn serve(stream: TcpStream, address: SocketAddr, shared: Arc<Shared>) {
    let mut kicks = shared.kicks();
    let peer = Peer {
        connection: shared.open_connection(),
        address,
    };
    let _open = OpenConnection {
        shared: Arc::clone(&shared),
        connection: peer.connection,
    };
    let connection = Connection {
        stream,
        input: BytesMut::new(),
    };
    tokio::select! {
        biased;
        _ = kicks.changed() => {}
        ended = connection.run(peer, &shared) => match ended {
            Ok(()) => {}
            Err(error) => debug!(%address, %error, "connection closed"),
        },
    }
}

/// Takes a connection off the books, also when its task is aborted.
struct OpenConnection {
    shared: Arc<Shared>,
    connection: u64,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.shared.close_connection(self.connection);
    }
}

#[derive(Debug, thiserror::Error)]
enum ConnectionError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

struct Connection {
    stream: TcpStream,
    /// Bytes read and not yet used; at most one request and one read more.
    input: BytesMut,
}

impl Connection {
    /// Answers one request after the other, as Kafka's broker does: a fetch that waits holds up what follows it.
    async fn run(mut self, peer: Peer, shared: &Shared) -> Result<(), ConnectionError> {
        // Without it an answer may wait 40 ms for the client's delayed acknowledgement.
        self.stream.set_nodelay(true)?;
        while let Some(frame) = self.frame().await? {
            let request = Request::parse(frame)?;
            shared.count_request(request.served.api);
            let Some(answer) = self
                .while_open(dispatch(shared, peer, &request))
                .await?
                .transpose()?
            else {
                return Ok(());
            };
            if let Some(answer) = answer {
                shared.count_bytes_out(request.served.api, answer.len());
                self.stream.write_all(&answer).await?;
            }
        }
        Ok(())
    }

    /// The next request, or `None` at the end of the stream.
    async fn frame(&mut self) -> Result<Option<Bytes>, ConnectionError> {
        loop {
            if let Some(length) = self.input.first_chunk::<4>() {
                let size = frame_size(i32::from_be_bytes(*length))?;
                if self.input.len() >= size.saturating_add(4) {
                    self.input.advance(4);
                    return Ok(Some(self.input.split_to(size).freeze()));
                }
            }
            self.input.reserve(READ_BYTES);
            if self.stream.read_buf(&mut self.input).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// Awaits an answer and watches the socket meanwhile; `None` if the client went away first.
    async fn while_open<T>(
        &mut self,
        answer: impl Future<Output = T>,
    ) -> Result<Option<T>, ConnectionError> {
        tokio::pin!(answer);
        loop {
            self.input.reserve(READ_BYTES);
            tokio::select! {
                biased;
                answer = &mut answer => return Ok(Some(answer)),
                read = self.stream.read_buf(&mut self.input),
                    if self.input.len() < REQUEST_BYTES_MAX =>
                {
                    if read? == 0 {
                        return Ok(None);
                    }
                }
            }
        }
    }
}
