//! One Kafka node in KRaft mode: its settings, its formatted folder, its process.

mod settings;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::archive;
use crate::format::{self, Quorum};
use crate::jars::{Artifact, JarCache};
use crate::logging;
use crate::process::Process;
use crate::properties::{self, Properties};
use crate::proxy::Proxy;
use crate::security::{self, Certificates, Door, Listener, Security};
use crate::spec::BrokerSpec;
use crate::tools::Tools;
use crate::version::Version;
use crate::wait::wait_until;

pub(crate) use settings::node_settings;

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
    host: Ipv4Addr,
    /// The first is PLAINTEXT, or that of the controller.
    doors: Vec<Door>,
    proxy: Option<Proxy>,
    properties: Properties,
    folder: PathBuf,
    process: Option<Process>,
}

/// What a node is before it has settings.
pub(crate) struct Plan {
    pub(crate) role: Role,
    pub(crate) node_id: u16,
    pub(crate) host: Ipv4Addr,
    pub(crate) doors: Vec<Door>,
    pub(crate) proxy: Option<Proxy>,
}

impl Broker {
    pub(crate) fn prepare(
        cache: &JarCache,
        spec: &BrokerSpec,
        quorum: &Quorum,
        plan: Plan,
        secured: Option<(&Security, &Certificates)>,
        cluster_folder: &Path,
    ) -> anyhow::Result<Broker> {
        let Plan {
            role,
            node_id,
            host,
            doors,
            proxy,
        } = plan;
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
            node_settings((role, node_id), host, &doors, quorum),
        );
        properties::put(&mut properties, settings::small_settings());
        properties::put(&mut properties, settings::offsets_settings(spec));
        if let Some((security, certificates)) = secured {
            let settings = security::settings(security, certificates);
            properties::put(&mut properties, settings);
        }
        properties.insert("log.dirs".to_owned(), data.display().to_string());
        properties.extend(spec.settings.clone());
        Ok(Broker {
            name,
            version: spec.version,
            role,
            node_id,
            host,
            doors,
            proxy,
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

    /// The port of the listener without security.
    pub fn port(&self) -> u16 {
        self.doors.first().map_or(0, |door| door.number)
    }

    /// `host:port` of a listener as clients are told it, if the broker has it.
    pub fn address(&self, listener: Listener) -> Option<SocketAddr> {
        let door = self.doors.iter().find(|door| door.listener == listener)?;
        Some(SocketAddr::from((self.host, door.advertised)))
    }

    /// The proxy before its listener `PROXIED`, if it was asked for.
    pub fn proxy(&self) -> Option<&Proxy> {
        self.proxy.as_ref()
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
        let address = (self.host, self.port());
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
            TcpStream::connect(address)?;
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
