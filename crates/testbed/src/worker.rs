//! One Connect worker: its settings, its REST port, its process.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::archive;
use crate::broker::jvm;
use crate::fixtures;
use crate::group::Group;
use crate::jars::{Artifact, JarCache};
use crate::logging;
use crate::network::Room;
use crate::ports::Port;
use crate::process::Process;
use crate::properties::{self, Properties};
use crate::rest::{self, Response};
use crate::skew;
use crate::spec::WorkerSpec;
use crate::version::Version;
use crate::wait::wait_until;

const START_MAX: Duration = Duration::from_secs(90);
/// Longer than tasks (5 s graceful), connectors (5 s) and clients (5 s) may take together.
const STOP_MAX: Duration = Duration::from_secs(60);
const REST_MAX: Duration = Duration::from_secs(20);
const HEAP_MB: u32 = 128;

/// What the Prometheus agent shows: the rebalance and coordinator metrics, names kept.
const JMX_RULES: &str = "lowercaseOutputName: false\n\
    includeObjectNames:\n\
    - 'kafka.connect:type=connect-worker-rebalance-metrics'\n\
    - 'kafka.connect:type=connect-coordinator-metrics,*'\n\
    - 'kafka.connect:type=connect-worker-metrics'\n\
    rules:\n\
    - pattern: 'kafka.connect<type=([^,>]+)[^>]*><>([^:]+)'\n\
    \x20 name: '$1_$2'\n\
    \x20 type: GAUGE\n";

/// A worker on a fixed port; stopped and started, it is the same `worker_id`.
#[derive(Debug)]
pub struct Worker {
    name: String,
    group_id: String,
    version: Version,
    port: Port,
    jmx_port: Option<Port>,
    room: Option<Room>,
    skew_ms: i64,
    properties: Properties,
    folder: PathBuf,
    process: Option<Process>,
}

impl Worker {
    pub(crate) fn prepare(
        name: &str,
        spec: &WorkerSpec,
        group: &Group,
        (connection, replicas): (Properties, u16),
        (port, jmx_port, room): (Port, Option<Port>, Option<Room>),
        cluster_folder: &Path,
    ) -> anyhow::Result<Worker> {
        let host = room.as_ref().map_or(Ipv4Addr::LOCALHOST, Room::address);
        let folder = cluster_folder.join(name);
        fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
        let mut properties = Properties::new();
        let json = "org.apache.kafka.connect.json.JsonConverter".to_owned();
        properties::put(
            &mut properties,
            [
                ("group.id", group.group_id.clone()),
                ("config.storage.topic", group.config_topic.clone()),
                ("offset.storage.topic", group.offset_topic.clone()),
                ("status.storage.topic", group.status_topic.clone()),
                ("config.storage.replication.factor", replicas.to_string()),
                ("offset.storage.replication.factor", replicas.to_string()),
                ("status.storage.replication.factor", replicas.to_string()),
                // Kafka's default of 25 only costs start time here.
                ("offset.storage.partitions", "1".to_owned()),
                ("key.converter", json.clone()),
                ("value.converter", json),
                ("listeners", format!("http://{host}:{}", port.number())),
                ("rest.advertised.host.name", host.to_string()),
                ("rest.advertised.port", port.number().to_string()),
                (
                    "scheduled.rebalance.max.delay.ms",
                    spec.scheduled_delay_ms.to_string(),
                ),
            ],
        );
        if spec.version.at_least(3, 6) {
            properties.insert("plugin.discovery".to_owned(), "service_load".to_owned());
        }
        properties.extend(connection);
        properties.extend(spec.settings.clone());
        let worker = Worker {
            name: name.to_owned(),
            group_id: group.group_id.clone(),
            version: spec.version,
            port,
            jmx_port,
            room,
            skew_ms: spec.skew_ms,
            properties,
            folder,
            process: None,
        };
        // An agent beside it may start first.
        properties::write(&worker.properties, &worker.properties_file())?;
        Ok(worker)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn group_id(&self) -> &str {
        &self.group_id
    }

    pub fn version(&self) -> Version {
        self.version
    }

    pub fn port(&self) -> u16 {
        self.port.number()
    }

    pub fn jmx_port(&self) -> Option<u16> {
        self.jmx_port.as_ref().map(Port::number)
    }

    /// The advertised REST URL, as it stands in subscriptions and assignments.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address())
    }

    /// The `worker_id` of its statuses.
    pub fn worker_id(&self) -> String {
        self.address().to_string()
    }

    /// Where its REST interface listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((self.host(), self.port()))
    }

    /// Its own address, or loopback.
    pub fn host(&self) -> Ipv4Addr {
        self.room
            .as_ref()
            .map_or(Ipv4Addr::LOCALHOST, Room::address)
    }

    /// How far its clock is ahead of that of everybody else.
    pub fn skew_ms(&self) -> i64 {
        self.skew_ms
    }

    /// Its network namespace, where it has one.
    pub fn room(&self) -> Option<&Room> {
        self.room.as_ref()
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

    /// The worker's own properties file, which an agent beside it may read.
    pub fn properties_file(&self) -> PathBuf {
        self.folder.join("worker.properties")
    }

    /// Takes a setting out, from the next start.
    pub(crate) fn unset(&mut self, name: &str) {
        self.properties.remove(name);
    }

    pub(crate) fn set(&mut self, settings: &Properties) {
        self.properties.extend(settings.clone());
    }

    pub(crate) fn set_version(&mut self, version: Version) {
        if version.at_least(3, 6) {
            self.properties
                .insert("plugin.discovery".to_owned(), "service_load".to_owned());
        } else {
            self.properties.remove("plugin.discovery");
        }
        self.version = version;
    }

    pub(crate) fn spawn(
        &mut self,
        cache: &JarCache,
        training: Option<&Path>,
    ) -> anyhow::Result<()> {
        if self.process.is_some() {
            bail!("{} is running already", self.name);
        }
        let artifact = Artifact::Worker(self.version);
        let class_path = format!(
            "{}:{}",
            fixtures::connectors(cache, artifact)?.display(),
            cache.class_path(artifact)?
        );
        properties::write(&self.properties, &self.properties_file())?;
        let logging = logging::configure(self.version, &self.name, &self.folder, &self.log())?;
        let mut command = jvm(cache.tools(), HEAP_MB);
        command
            .args(archive::option(cache, artifact, training)?)
            .args(logging);
        if let Some(port) = self.jmx_port() {
            let rules = self.folder.join("jmx.yaml");
            fs::write(&rules, JMX_RULES).with_context(|| format!("write {}", rules.display()))?;
            let jars = cache.jars(Artifact::JmxAgent)?;
            let agent = jars.join(format!("{}.jar", Artifact::JmxAgent.folder_name()));
            command.arg(format!(
                "-javaagent:{}={}:{port}:{}",
                agent.display(),
                self.host(),
                rules.display()
            ));
        }
        command
            .args(["-cp", &class_path])
            .arg("org.apache.kafka.connect.cli.ConnectDistributed")
            .arg(self.properties_file());
        if self.skew_ms != 0 {
            let library = skew::library().context("libfaketime is not installed")?;
            command.envs(skew::environment(&library, self.skew_ms));
        }
        if let Some(room) = &self.room {
            command = room.wrap(&command);
        }
        self.process = Some(Process::start(&self.name, command, &self.log())?);
        Ok(())
    }

    /// Waits until the worker answers for its group: the herder has joined and caught up.
    pub(crate) fn await_started(&mut self) -> anyhow::Result<()> {
        let address = self.address();
        let process = self.process_mut()?;
        let name = process.name().to_owned();
        let mut ended = None;
        wait_until(&format!("{name} to join"), START_MAX, || {
            if let Err(error) = process.must_run() {
                ended = Some(error);
                return Ok(Some(()));
            }
            let response = rest::request_at(address, "GET", "/connectors", None, REST_MAX)?;
            response.ok().map(Some)
        })?;
        ended.map_or(Ok(()), Err)
    }

    /// Any REST call to this worker.
    ///
    /// # Errors
    /// When there is no answer; an HTTP error status is an answer.
    pub fn request(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Response> {
        rest::request_at(self.address(), method, path, body, REST_MAX)
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
