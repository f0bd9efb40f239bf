//! One Kafka node in KRaft mode: its settings, its formatted folder, its process.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::archive;
use crate::format::{self, Quorum};
use crate::jars::{Artifact, JarCache};
use crate::logging;
use crate::ports::Port;
use crate::process::Process;
use crate::properties::{self, Properties};
use crate::spec::BrokerSpec;
use crate::tools::Tools;
use crate::version::Version;
use crate::wait::wait_until;

const START_MAX: Duration = Duration::from_secs(60);
const STOP_MAX: Duration = Duration::from_secs(40);
const BROKER_HEAP_MB: u32 = 256;
const CONTROLLER_HEAP_MB: u32 = 96;

/// A JVM that starts fast and stays small: only the first compiler, one collector thread.
pub(crate) fn jvm(tools: &Tools, heap_mb: u32) -> Command {
    let mut command = Command::new(&tools.java);
    command.args([
        format!("-Xmx{heap_mb}m").as_str(),
        "-Xms32m",
        "-Xss256k",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-XX:ReservedCodeCacheSize=48m",
        "-Xshare:auto",
        "-Djava.awt.headless=true",
    ]);
    command
}

/// Which part of a KRaft node this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Broker and controller in one process: the usual single node.
    Combined,
    Broker,
    Controller,
}

impl Role {
    pub(crate) fn process_roles(self) -> &'static str {
        match self {
            Role::Combined => "broker,controller",
            Role::Broker => "broker",
            Role::Controller => "controller",
        }
    }
}

/// A broker (or, with several brokers, the separate controller) on a fixed port and folder.
#[derive(Debug)]
pub struct Broker {
    name: String,
    version: Version,
    role: Role,
    node_id: u16,
    port: Port,
    properties: Properties,
    folder: PathBuf,
    process: Option<Process>,
}

impl Broker {
    pub(crate) fn prepare(
        cache: &JarCache,
        spec: &BrokerSpec,
        quorum: &Quorum,
        (role, node_id, port): (Role, u16, Port),
        cluster_folder: &Path,
    ) -> anyhow::Result<Broker> {
        let name = match role {
            Role::Controller => "controller".to_owned(),
            Role::Broker | Role::Combined => format!("broker-{node_id}"),
        };
        let folder = cluster_folder.join(&name);
        let data = folder.join("data");
        format::format(cache, spec.version, (role, node_id), quorum, &data)?;
        let mut properties = Properties::new();
        properties::put(
            &mut properties,
            node_settings(role, node_id, port.number(), quorum),
        );
        properties::put(&mut properties, small_settings());
        properties::put(&mut properties, offsets_settings(spec));
        properties.insert("log.dirs".to_owned(), data.display().to_string());
        properties.extend(spec.settings.clone());
        Ok(Broker {
            name,
            version: spec.version,
            role,
            node_id,
            port,
            properties,
            folder,
            process: None,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn node_id(&self) -> u16 {
        self.node_id
    }

    pub fn version(&self) -> Version {
        self.version
    }

    pub fn port(&self) -> u16 {
        self.port.number()
    }

    pub fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    pub(crate) fn process_mut(&mut self) -> anyhow::Result<&mut Process> {
        let name = &self.name;
        self.process
            .as_mut()
            .with_context(|| format!("{name} is not running"))
    }

    /// The log file; it goes on over restarts.
    pub fn log(&self) -> PathBuf {
        self.folder.join(format!("{}.log", self.name))
    }

    pub(crate) fn set(&mut self, settings: &Properties) {
        self.properties.extend(settings.clone());
    }

    pub(crate) fn serves_clients(&self) -> bool {
        self.role != Role::Controller
    }

    pub(crate) fn spawn(
        &mut self,
        cache: &JarCache,
        training: Option<&Path>,
    ) -> anyhow::Result<()> {
        if self.process.is_some() {
            bail!("{} is running already", self.name);
        }
        let file = self.folder.join("server.properties");
        properties::write(&self.properties, &file)?;
        let logging = logging::configure(self.version, &self.name, &self.folder, &self.log())?;
        let heap = match self.role {
            Role::Controller => CONTROLLER_HEAP_MB,
            Role::Broker | Role::Combined => BROKER_HEAP_MB,
        };
        let artifact = Artifact::Broker(self.version);
        let mut command = jvm(cache.tools(), heap);
        command
            .args(archive::option(cache, artifact, training)?)
            .args(logging)
            .args(["-cp", &cache.class_path(artifact)?])
            .arg("kafka.Kafka")
            .arg(&file);
        self.process = Some(Process::start(&self.name, command, &self.log())?);
        Ok(())
    }

    /// Waits until the node accepts connections and says in its log that it started.
    pub(crate) fn await_started(&mut self, log_from: u64) -> anyhow::Result<()> {
        let log = self.log();
        let port = self.port();
        let process = self.process_mut()?;
        let name = process.name().to_owned();
        let mut ended = None;
        wait_until(&format!("{name} to start"), START_MAX, || {
            if let Err(error) = process.must_run() {
                ended = Some(error);
                return Ok(Some(()));
            }
            let text = fs::read(&log)?;
            let new = text.get(usize::try_from(log_from)?..).unwrap_or_default();
            let started = String::from_utf8_lossy(new).contains("Kafka Server started");
            TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            Ok(started.then_some(()))
        })?;
        ended.map_or(Ok(()), Err)
    }

    pub(crate) fn stop(&mut self) -> anyhow::Result<()> {
        self.process_mut()?.terminate(STOP_MAX)?;
        self.process = None;
        Ok(())
    }

    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        self.process_mut()?.kill()?;
        self.process = None;
        Ok(())
    }
}

pub(crate) fn node_settings(
    role: Role,
    node_id: u16,
    port: u16,
    quorum: &Quorum,
) -> Vec<(&'static str, String)> {
    let client = format!("PLAINTEXT://127.0.0.1:{port}");
    let controller = format!("CONTROLLER://127.0.0.1:{}", quorum.controller_port);
    let mut settings = vec![
        ("process.roles", role.process_roles().to_owned()),
        ("node.id", node_id.to_string()),
        (
            "controller.quorum.voters",
            format!(
                "{}@127.0.0.1:{}",
                quorum.controller_id, quorum.controller_port
            ),
        ),
        ("controller.listener.names", "CONTROLLER".to_owned()),
        (
            "listener.security.protocol.map",
            "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT".to_owned(),
        ),
    ];
    match role {
        Role::Combined => {
            settings.push(("listeners", format!("{client},{controller}")));
            settings.push(("advertised.listeners", client));
        }
        Role::Broker => {
            settings.push(("listeners", client.clone()));
            settings.push(("advertised.listeners", client));
        }
        Role::Controller => settings.push(("listeners", controller)),
    }
    settings
}

/// Fewer threads and buffers than a real broker needs: nothing here is measured for load.
fn small_settings() -> Vec<(&'static str, String)> {
    [
        ("num.network.threads", "2"),
        ("num.io.threads", "2"),
        ("background.threads", "2"),
        ("num.recovery.threads.per.data.dir", "1"),
        ("group.coordinator.threads", "1"),
        // The default dedupe buffer, 128 MB, is taken from the heap at start.
        ("log.cleaner.threads", "1"),
        ("log.cleaner.dedupe.buffer.size", "2097152"),
        ("log.segment.bytes", "16777216"),
        ("metadata.log.segment.bytes", "8388608"),
        ("transaction.state.log.num.partitions", "1"),
        ("transaction.state.log.replication.factor", "1"),
        ("transaction.state.log.min.isr", "1"),
        ("share.coordinator.state.topic.num.partitions", "1"),
        ("share.coordinator.state.topic.replication.factor", "1"),
        ("share.coordinator.state.topic.min.isr", "1"),
        ("default.replication.factor", "1"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .to_vec()
}

fn offsets_settings(spec: &BrokerSpec) -> [(&'static str, String); 3] {
    [
        (
            "offsets.topic.num.partitions",
            spec.offsets_partitions.to_string(),
        ),
        (
            "offsets.topic.replication.factor",
            spec.offsets_replicas.to_string(),
        ),
        (
            "group.initial.rebalance.delay.ms",
            spec.initial_rebalance_delay_ms.to_string(),
        ),
    ]
}
