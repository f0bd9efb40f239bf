//! Verbs for a cluster that runs in another process: one JSON line to its socket, one back.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};

use crate::cluster::Cluster;
use crate::properties::Properties;
use crate::proxy::Fault;
use crate::security::{Access, Right};
use crate::spec::WorkerSpec;
use crate::version::Version;

/// Longer than any verb may take.
const ANSWER_MAX: Duration = Duration::from_secs(120);
const READ_MAX: Duration = Duration::from_secs(2);
/// One line with settings; what is longer comes from somebody else.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// What `cargo xtask cluster` can ask of a running cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case")]
pub enum Control {
    Start {
        name: String,
    },
    Stop {
        name: String,
    },
    Kill {
        name: String,
    },
    Freeze {
        name: String,
    },
    Thaw {
        name: String,
    },
    /// Stops, changes settings, starts.
    Restart {
        name: String,
        settings: Properties,
        version: Option<Version>,
    },
    AddWorker {
        group_id: String,
        version: Version,
        access: Access,
        settings: Properties,
    },
    Grant {
        right: Right,
    },
    Revoke {
        right: Right,
    },
    /// What the proxy before a broker does from now on.
    Proxy {
        broker: String,
        fault: ProxyFault,
    },
    /// Takes a worker's network cable out, or puts it in.
    Cable {
        name: String,
        plugged: bool,
    },
    /// The truth of a group so far, as text or JSON.
    Truth {
        group_id: String,
        json: bool,
    },
}

/// What a proxy can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProxyFault {
    None,
    DelayMs(u64),
    Hang,
    Refuse,
    /// Closes what is there, once.
    Cut,
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Done(String),
    Failed(String),
}

/// The socket of a cluster, in its folder.
pub fn socket(folder: &Path) -> PathBuf {
    folder.join("control")
}

/// Asks a running cluster; gives what it says.
///
/// # Errors
/// When nobody listens, or the verb failed.
pub fn ask(folder: &Path, control: &Control) -> anyhow::Result<String> {
    let path = socket(folder);
    let mut stream = UnixStream::connect(&path)
        .with_context(|| format!("connect to the cluster at {}", path.display()))?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    let mut line = serde_json::to_string(control)?;
    line.push('\n');
    stream.write_all(line.as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    match serde_json::from_str(&answer).context("the cluster gave no answer")? {
        Answer::Done(text) => Ok(text),
        Answer::Failed(text) => Err(anyhow!(text)),
    }
}

/// The owner's end of the socket.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
}

impl Listener {
    /// Listens in the cluster's folder.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn open(cluster: &Cluster) -> anyhow::Result<Listener> {
        let path = socket(cluster.folder());
        let listener =
            UnixListener::bind(&path).with_context(|| format!("listen at {}", path.display()))?;
        listener.set_nonblocking(true)?;
        Ok(Listener { listener })
    }

    /// Does what was asked meanwhile; false if nothing was.
    ///
    /// # Errors
    /// When the socket fails. A verb that fails is an answer to who asked.
    pub fn serve(&self, cluster: &mut Cluster) -> anyhow::Result<bool> {
        let mut stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error).context("accept a verb"),
        };
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(READ_MAX))?;
        let mut line = String::new();
        let limited = std::io::Read::take(&stream, LINE_BYTES_MAX);
        let answer = match BufReader::new(limited)
            .read_line(&mut line)
            .context("read the verb")
            .and_then(|_| serde_json::from_str(&line).context("understand the verb"))
            .and_then(|control| act(cluster, control))
        {
            Ok(text) => Answer::Done(text),
            Err(error) => Answer::Failed(format!("{error:#}")),
        };
        let mut line = serde_json::to_string(&answer)?;
        line.push('\n');
        // Who asked may have gone; the verb is done all the same.
        stream.write_all(line.as_bytes()).ok();
        Ok(true)
    }
}

fn act(cluster: &mut Cluster, control: Control) -> anyhow::Result<String> {
    match control {
        Control::Start { name } => cluster.start_process(&name).map(|()| started(&name)),
        Control::Stop { name } => cluster.stop(&name).map(|()| format!("{name} stopped")),
        Control::Kill { name } => cluster.kill(&name).map(|()| format!("{name} killed")),
        Control::Freeze { name } => cluster.freeze(&name).map(|()| format!("{name} frozen")),
        Control::Thaw { name } => cluster.thaw(&name).map(|()| format!("{name} thawed")),
        Control::Restart {
            name,
            settings,
            version,
        } => {
            cluster.stop(&name)?;
            if let Some(version) = version {
                cluster.set_worker_version(&name, version)?;
            }
            cluster.set(&name, &settings)?;
            cluster.start_process(&name).map(|()| started(&name))
        }
        Control::AddWorker {
            group_id,
            version,
            access,
            settings,
        } => {
            let spec = WorkerSpec {
                version,
                access,
                settings,
                ..WorkerSpec::default()
            };
            let name = cluster.add_worker(&group_id, &spec)?;
            cluster.start_process(&name)?;
            let url = cluster.worker(&name)?.url();
            Ok(format!("{name} started at {url}"))
        }
        Control::Grant { right } => cluster.grant(&[right]).map(|()| "granted".to_owned()),
        Control::Revoke { right } => cluster.revoke(&[right]).map(|()| "revoked".to_owned()),
        Control::Proxy { broker, fault } => {
            let proxy = cluster.proxy(&broker)?;
            match fault {
                ProxyFault::None => proxy.set(Fault::None),
                ProxyFault::DelayMs(ms) => proxy.set(Fault::Delay(Duration::from_millis(ms))),
                ProxyFault::Hang => proxy.set(Fault::Hang),
                ProxyFault::Refuse => proxy.set(Fault::Refuse),
                ProxyFault::Cut => return Ok(format!("{} connections cut", proxy.cut())),
            }
            Ok("done".to_owned())
        }
        Control::Cable { name, plugged } => {
            let room = cluster.worker(&name)?.room();
            let room = room.with_context(|| format!("{name} has no namespace"))?;
            if plugged {
                room.plug()?;
            } else {
                room.unplug()?;
            }
            Ok("done".to_owned())
        }
        Control::Truth { group_id, json } => {
            let truth = cluster.truth(&group_id)?;
            if json {
                return Ok(serde_json::to_string_pretty(&truth)?);
            }
            let generations = truth.generations.iter().map(ToString::to_string);
            let void = truth.void.iter().map(|reason| format!("void: {reason}"));
            Ok(generations.chain(void).collect::<Vec<_>>().join("\n"))
        }
    }
}

fn started(name: &str) -> String {
    format!("{name} started")
}
