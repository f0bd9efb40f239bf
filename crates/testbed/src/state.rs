//! What `cluster up` leaves for others to find it: addresses, files, the owner's pid.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::group::Group;
use crate::os;
use crate::version::Version;
use crate::wait::wait_until;

const DOWN_MAX: Duration = Duration::from_secs(90);

/// A running cluster, as somebody outside its process needs to know it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClusterState {
    pub owner_pid: u32,
    pub folder: PathBuf,
    pub bootstrap: String,
    /// The listeners of the brokers, each with its `bootstrap.servers`.
    #[serde(default)]
    pub listeners: Vec<(String, String)>,
    /// Certificates and files for clients of a secured cluster.
    #[serde(default)]
    pub security: Option<PathBuf>,
    pub groups: Vec<Group>,
    pub nodes: Vec<NodeState>,
}

/// A broker or worker of a [`ClusterState`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeState {
    pub name: String,
    pub version: Version,
    pub pid: Option<u32>,
    /// `host:port` for brokers, the REST URL for workers.
    pub address: String,
    pub log: PathBuf,
    /// Where the Prometheus agent answers, for workers that carry it.
    pub jmx: Option<String>,
    /// A worker's own properties file.
    pub properties: Option<PathBuf>,
    /// A worker's network namespace, where it has one.
    #[serde(default)]
    pub namespace: Option<String>,
}

impl ClusterState {
    /// Writes the state file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, file: &Path) -> anyhow::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        }
        // Readers must never see half of it: `show` may come while a verb is done.
        let whole = file.with_extension("partial");
        fs::write(&whole, serde_json::to_vec_pretty(self)?)
            .and_then(|()| fs::rename(&whole, file))
            .with_context(|| format!("write {}", file.display()))
    }

    /// Reads the state file; `None` if there is none.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(file: &Path) -> anyhow::Result<Option<ClusterState>> {
        if !file.exists() {
            return Ok(None);
        }
        let text = fs::read(file).with_context(|| format!("read {}", file.display()))?;
        serde_json::from_slice(&text)
            .map(Some)
            .with_context(|| format!("read {}", file.display()))
    }

    /// Whether the process that owns the cluster still runs.
    pub fn owner_lives(&self) -> bool {
        // A pid may have been given to another program since; only a testbed's own command
        // line counts.
        fs::read_to_string(format!("/proc/{}/cmdline", self.owner_pid))
            .is_ok_and(|line| line.contains("cluster"))
    }
}

/// Ends the cluster of a state file and removes what it left; false if there is none.
///
/// # Errors
/// When the owner does not end, or files cannot be removed.
pub fn take_down(file: &Path) -> anyhow::Result<bool> {
    let Some(state) = ClusterState::read(file)? else {
        return Ok(false);
    };
    if state.owner_lives() {
        os::send_signal(state.owner_pid, os::SIGTERM).context("end the owner of the cluster")?;
        wait_until("the owner of the cluster to end", DOWN_MAX, || {
            Ok((!state.owner_lives()).then_some(()))
        })?;
    }
    for node in &state.nodes {
        let Some(pid) = node.pid else { continue };
        // The folder's name is unique to this cluster and stands in the command line.
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&command).contains(&*state.folder.to_string_lossy()) {
            os::send_signal(pid, os::SIGKILL).with_context(|| format!("kill {}", node.name))?;
        }
    }
    let ours = state
        .folder
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("evenkeel-testbed-"));
    if !ours {
        bail!("{} is no folder of the testbed", state.folder.display());
    }
    if state.folder.exists() {
        fs::remove_dir_all(&state.folder)
            .with_context(|| format!("remove {}", state.folder.display()))?;
    }
    if file.exists() {
        fs::remove_file(file).with_context(|| format!("remove {}", file.display()))?;
    }
    Ok(true)
}
