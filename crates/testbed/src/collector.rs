//! A real OpenTelemetry Collector: takes OTLP by gRPC and HTTP on loopback, and writes what
//! it got to a file, which is read back.

mod otlp;
mod program;
mod tree;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::{Value, json};

pub use otlp::{Attributes, Link, Span, SpanEvent};
pub use tree::Trace;

use crate::cache;
use crate::folder::Folder;
use crate::ports::Port;
use crate::process::Process;
use crate::wait::wait_until;

/// Longest start on a loaded machine.
const START_MAX: Duration = Duration::from_secs(30);
const END_MAX: Duration = Duration::from_secs(20);
const CONNECT_MAX: Duration = Duration::from_secs(1);

/// The file exporter holds lines back for so long.
const FLUSHED_EVERY: &str = "50ms";

const CONFIG: &str = "collector.json";
const SPANS: &str = "spans.jsonl";
const CERTIFICATE: &str = "collector.pem";
const KEY: &str = "collector.key";

/// A collector. It keeps its ports and its file while it is stopped.
#[derive(Debug)]
pub struct Collector {
    program: PathBuf,
    process: Option<Process>,
    grpc: Port,
    http: Port,
    is_tls: bool,
    folder: Folder,
}

impl Collector {
    /// Why there is none on this machine; `None` if there is one. Builds it if it is not in
    /// the cache yet, which takes minutes.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn obstacle() -> anyhow::Result<Option<String>> {
        Ok(program::provide()?.err())
    }

    /// Starts one.
    ///
    /// # Errors
    /// When there is none, or it does not get ready.
    pub fn start() -> anyhow::Result<Collector> {
        Collector::start_as(false)
    }

    /// Starts one that speaks TLS only, with a certificate of its own for 127.0.0.1.
    ///
    /// # Errors
    /// When there is none, openssl makes no certificate, or it does not get ready.
    pub fn start_with_tls() -> anyhow::Result<Collector> {
        Collector::start_as(true)
    }

    fn start_as(is_tls: bool) -> anyhow::Result<Collector> {
        let program = match program::provide()? {
            Ok(program) => program,
            Err(obstacle) => bail!("no collector: {obstacle}"),
        };
        let locks = cache::port_locks()?;
        let mut collector = Collector {
            program,
            process: None,
            grpc: Port::reserve(&locks)?,
            http: Port::reserve(&locks)?,
            is_tls,
            folder: Folder::create()?,
        };
        if is_tls {
            certify(collector.folder.path())?;
        }
        let config = serde_json::to_string_pretty(&collector.config())?;
        fs::write(collector.folder.path().join(CONFIG), config)
            .context("write the configuration of the collector")?;
        collector.resume()?;
        Ok(collector)
    }

    /// Its configuration; it reads YAML, of which JSON is a part.
    fn config(&self) -> Value {
        let protocol = |port: &Port| {
            let mut protocol = json!({
                "endpoint": SocketAddr::from((Ipv4Addr::LOCALHOST, port.number())).to_string(),
            });
            if self.is_tls {
                protocol["tls"] = json!({
                    "cert_file": self.folder.path().join(CERTIFICATE),
                    "key_file": self.folder.path().join(KEY),
                });
            }
            protocol
        };
        json!({
            "receivers": { "otlp": { "protocols": {
                "grpc": protocol(&self.grpc),
                "http": protocol(&self.http),
            } } },
            "exporters": { "file": {
                "path": self.file(),
                "append": true,
                "flush_interval": FLUSHED_EVERY,
            } },
            "service": {
                "pipelines": { "traces": { "receivers": ["otlp"], "exporters": ["file"] } },
                "telemetry": { "metrics": { "level": "none" } },
            },
        })
    }

    /// Starts it again where it was, after a stop or a kill.
    ///
    /// # Errors
    /// When it runs, or does not get ready.
    pub fn resume(&mut self) -> anyhow::Result<()> {
        anyhow::ensure!(self.process.is_none(), "the collector runs");
        let mut command = Command::new(&self.program);
        let config = self.folder.path().join(CONFIG);
        command.arg(format!("--config=file:{}", config.display()));
        let log = self.folder.path().join("collector.log");
        let mut process = Process::start("collector", command, &log)?;
        let ports = [&self.grpc, &self.http].map(Port::number);
        wait_until("the collector to listen", START_MAX, || {
            if process.ended()?.is_some() {
                // No use in waiting on; the error is the value.
                return Ok(Some(process.must_run()));
            }
            for port in ports {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
                TcpStream::connect_timeout(&address, CONNECT_MAX)?;
            }
            Ok(Some(Ok(())))
        })??;
        self.process = Some(process);
        Ok(())
    }

    /// SIGTERM: it writes what it has, and ends.
    ///
    /// # Errors
    /// When it does not run, or does not end in time.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        self.running()?.terminate(END_MAX)?;
        self.process = None;
        Ok(())
    }

    /// SIGKILL.
    ///
    /// # Errors
    /// When it does not run.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        self.running()?.kill()?;
        self.process = None;
        Ok(())
    }

    /// SIGSTOP: connections are taken by the system, and nothing is answered.
    ///
    /// # Errors
    /// When it does not run.
    pub fn freeze(&mut self) -> anyhow::Result<()> {
        self.running()?.freeze()
    }

    /// SIGCONT.
    ///
    /// # Errors
    /// When it does not run.
    pub fn thaw(&mut self) -> anyhow::Result<()> {
        self.running()?.thaw()
    }

    fn running(&mut self) -> anyhow::Result<&mut Process> {
        self.process.as_mut().context("the collector does not run")
    }

    /// Its port for OTLP over gRPC.
    pub fn grpc_port(&self) -> u16 {
        self.grpc.number()
    }

    /// Its port for OTLP over HTTP.
    pub fn http_port(&self) -> u16 {
        self.http.number()
    }

    /// Where OTLP over gRPC goes.
    pub fn grpc_url(&self) -> String {
        self.url(&self.grpc)
    }

    /// Where OTLP over HTTP goes, without a path.
    pub fn http_url(&self) -> String {
        self.url(&self.http)
    }

    fn url(&self, port: &Port) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}:{}", Ipv4Addr::LOCALHOST, port.number())
    }

    /// The authority of its certificate: the certificate itself.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join(CERTIFICATE)
    }

    /// The file with what it got: OTLP as JSON, a line a request.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join(SPANS)
    }

    /// All that it got, as it stands in its file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn text(&self) -> anyhow::Result<String> {
        match fs::read_to_string(self.file()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            read => read.context("read the file of the collector"),
        }
    }

    /// All spans that it got, in the order in which they came; one that came twice is there
    /// twice.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn spans(&self) -> anyhow::Result<Vec<Span>> {
        otlp::spans(&self.text()?)
    }

    /// All that it logged.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn log(&self) -> anyhow::Result<String> {
        let file = self.folder.path().join("collector.out");
        fs::read_to_string(file).context("read the log of the collector")
    }
}

/// A key, and a certificate for 127.0.0.1 that is its own authority.
fn certify(folder: &Path) -> anyhow::Result<()> {
    let output = Command::new("openssl")
        .current_dir(folder)
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args(["-subj", "/CN=collector"])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-keyout", KEY, "-out", CERTIFICATE])
        .output()
        .context("run openssl, which makes the certificate of the collector")?;
    anyhow::ensure!(
        output.status.success(),
        "openssl: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

#[cfg(test)]
mod tests;
