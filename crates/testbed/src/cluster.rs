//! Brokers and Connect groups that run together: started, found by name, gone when dropped.

mod launch;
mod observe;
mod secured;
mod verbs;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};

use self::secured::Secured;
use crate::archive;
use crate::broker::Broker;
use crate::fixtures;
use crate::folder::Folder;
use crate::group::Group;
use crate::jars::{Artifact, JarCache};
use crate::network::Network;
use crate::ports::Port;
use crate::process::Process;
use crate::security::{Listener, Right, WORKER_USER};
use crate::spec::{BrokerSpec, ClusterSpec, GroupSpec, WorkerSpec};
use crate::state::{ClusterState, NodeState};
use crate::truth::TruthEvent;
use crate::version::Version;
use crate::worker::Worker;

/// `node.id` of the separate controller of a cluster with several brokers.
const CONTROLLER_ID: u16 = 100;

/// Workers that start together pass through a handful of generations; one that joins late
/// costs the others a heartbeat interval (3 s).
const SETTLE_MAX: Duration = Duration::from_secs(60);

/// A running cluster. Dropped, it leaves nothing behind.
// Order matters: processes are killed before the folder they write to is removed.
#[derive(Debug)]
pub struct Cluster {
    workers: Vec<Worker>,
    brokers: Vec<Broker>,
    groups: Vec<Group>,
    script: Vec<TruthEvent>,
    jmx: bool,
    training: bool,
    replicas: u16,
    version: Version,
    secured: Option<Secured>,
    cache: JarCache,
    network: Option<Network>,
    folder: Folder,
}

impl Cluster {
    /// Starts all brokers, then all workers, and waits until every group rests with all
    /// its workers in it.
    ///
    /// # Errors
    /// When jars cannot be resolved or a process does not start; nothing stays behind.
    pub fn start(spec: &ClusterSpec) -> anyhow::Result<Cluster> {
        Cluster::launch(spec, false)
    }

    /// Makes the class data archives of two releases, with which later clusters start faster.
    ///
    /// # Errors
    /// When the short run that makes them fails.
    pub fn warm(broker: Version, worker: Version) -> anyhow::Result<()> {
        archive::make(&JarCache::open()?, broker, worker)
    }

    /// As [`Cluster::start`], but processes that end in order leave class data archives.
    pub(crate) fn train(spec: &ClusterSpec) -> anyhow::Result<Cluster> {
        Cluster::launch(spec, true)
    }

    fn launch(spec: &ClusterSpec, training: bool) -> anyhow::Result<Cluster> {
        let mut cluster = Cluster::launch_brokers(&spec.brokers, spec.jmx, training)?;
        for group in &spec.groups {
            cluster.add_group(group)?;
        }
        let names: Vec<String> = cluster
            .workers
            .iter()
            .map(|w| w.name().to_owned())
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        cluster.start_processes(&names)?;
        for group in spec.groups.iter().filter(|group| !group.workers.is_empty()) {
            cluster.await_settled(&group.group_id, SETTLE_MAX)?;
        }
        Ok(cluster)
    }

    /// Starts the brokers alone; groups and workers can be added later.
    ///
    /// # Errors
    /// When jars cannot be resolved or a broker does not start.
    pub fn start_brokers(spec: &BrokerSpec, jmx: bool) -> anyhow::Result<Cluster> {
        Cluster::launch_brokers(spec, jmx, false)
    }

    /// The temporary folder; files put here vanish with the cluster.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where processes leave their class data archives, in a training run.
    fn training(&self) -> Option<PathBuf> {
        self.training.then(|| self.folder.path().to_owned())
    }

    /// `bootstrap.servers` of all brokers.
    pub fn bootstrap(&self) -> String {
        self.brokers
            .iter()
            .filter(|broker| broker.serves_clients())
            .filter_map(|broker| broker.address(Listener::Plaintext))
            .map(|address| address.to_string())
            .collect::<Vec<_>>()
            .join(",")
    }

    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub fn brokers(&self) -> &[Broker] {
        &self.brokers
    }

    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// # Errors
    /// When there is no such worker.
    pub fn worker(&self, name: &str) -> anyhow::Result<&Worker> {
        self.workers
            .iter()
            .find(|worker| worker.name() == name)
            .with_context(|| format!("no worker {name}"))
    }

    /// # Errors
    /// When there is no such broker.
    pub fn broker(&self, name: &str) -> anyhow::Result<&Broker> {
        self.brokers
            .iter()
            .find(|broker| broker.name() == name)
            .with_context(|| format!("no broker {name}"))
    }

    /// Adds a group with its workers, which [`Cluster::start_processes`] starts.
    ///
    /// # Errors
    /// When the group exists or jars cannot be resolved.
    pub fn add_group(&mut self, spec: &GroupSpec) -> anyhow::Result<()> {
        if self.groups.iter().any(|g| g.group_id == spec.group_id) {
            bail!("group {} exists already", spec.group_id);
        }
        let group = Group {
            group_id: spec.group_id.clone(),
            config_topic: spec.config_topic.clone(),
            offset_topic: spec.offset_topic.clone(),
            status_topic: spec.status_topic.clone(),
            workers: Vec::new(),
        };
        if self.secured.as_ref().is_some_and(|s| s.security.acls) {
            self.grant(&Right::of_worker(WORKER_USER, &group))?;
        }
        self.groups.push(group);
        for worker in &spec.workers {
            self.add_worker(&spec.group_id, worker)?;
        }
        Ok(())
    }

    /// Adds a worker `worker-N` to a group, without starting it; gives its name.
    ///
    /// # Errors
    /// When there is no such group or jars cannot be resolved.
    pub fn add_worker(&mut self, group_id: &str, spec: &WorkerSpec) -> anyhow::Result<String> {
        let artifact = Artifact::Worker(spec.version);
        self.cache.jars(artifact)?;
        fixtures::connectors(&self.cache, artifact)?;
        let brokers = (self.connection(spec.access)?, self.replicas);
        let name = format!("worker-{}", self.workers.len() + 1);
        let locks = self.cache.root().join("ports");
        let jmx_port = self.jmx.then(|| Port::reserve(&locks)).transpose()?;
        let room = self.network.as_mut().map(Network::add).transpose()?;
        let place = (Port::reserve(&locks)?, jmx_port, room);
        let group = self
            .groups
            .iter_mut()
            .find(|group| group.group_id == group_id)
            .with_context(|| format!("no group {group_id}"))?;
        let worker = Worker::prepare(&name, spec, group, brokers, place, self.folder.path())?;
        group.workers.push(name.clone());
        self.workers.push(worker);
        Ok(name)
    }

    /// The running or stopped process behind a name.
    ///
    /// # Errors
    /// When there is no such process or it does not run.
    pub fn process(&self, name: &str) -> anyhow::Result<&Process> {
        self.brokers
            .iter()
            .find(|broker| broker.name() == name)
            .map_or_else(
                || self.worker(name).map(Worker::process),
                |b| Ok(b.process()),
            )?
            .with_context(|| format!("{name} is not running"))
    }

    /// What `cluster up` writes down for others.
    pub fn state(&self) -> ClusterState {
        let brokers = self.brokers.iter().map(|broker| NodeState {
            name: broker.name().to_owned(),
            version: broker.version(),
            pid: broker.process().map(Process::pid),
            address: broker.address(Listener::Plaintext).map_or_else(
                || format!("127.0.0.1:{}", broker.port()),
                |address| address.to_string(),
            ),
            log: broker.log(),
            jmx: None,
            properties: None,
            namespace: None,
        });
        let workers = self.workers.iter().map(|worker| NodeState {
            name: worker.name().to_owned(),
            version: worker.version(),
            pid: worker.process().map(Process::pid),
            address: worker.url(),
            log: worker.log(),
            jmx: worker
                .jmx_port()
                .map(|port| format!("http://{}:{port}/metrics", worker.host())),
            properties: Some(worker.properties_file()),
            namespace: worker.room().map(|room| room.namespace().to_owned()),
        });
        ClusterState {
            owner_pid: std::process::id(),
            folder: self.folder.path().to_owned(),
            bootstrap: self.bootstrap(),
            listeners: self.listeners(),
            security: self.certificates().ok().map(|c| c.folder().to_owned()),
            groups: self.groups.clone(),
            nodes: brokers.chain(workers).collect(),
        }
    }

    fn node(&mut self, name: &str) -> anyhow::Result<Node<'_>> {
        if let Some(broker) = self.brokers.iter_mut().find(|b| b.name() == name) {
            return Ok(Node::Broker(broker));
        }
        self.workers
            .iter_mut()
            .find(|worker| worker.name() == name)
            .map(Node::Worker)
            .with_context(|| format!("no broker or worker {name}"))
    }

    fn process_mut(&mut self, name: &str) -> anyhow::Result<&mut Process> {
        match self.node(name)? {
            Node::Broker(broker) => broker.process_mut(),
            Node::Worker(worker) => worker.process_mut(),
        }
    }
}

enum Node<'a> {
    Broker(&'a mut Broker),
    Worker(&'a mut Worker),
}
