//! What the connections to Kafka are made from, while the agent runs: the worker's file,
//! certificates, passwords. A change is taken up by new connections; what does not hold is
//! told once, and the connections before it stay.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::config::Mistakes;
use crate::read::group::GroupReader;
use crate::read::kafka::ReadSettings;
use crate::run::files::Watch;
use crate::run::reloads::Reloads;
use crate::run::shutdown::Ending;
use crate::show::view::CertificateUse;

/// How often the files are looked at.
pub const LOOK_EVERY: Duration = Duration::from_secs(10);

/// The settings of each group, in the order of the configuration, and the files that they
/// depend on.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What to read.
    pub groups: Vec<ReadSettings>,
    /// Where it was read, and what it names. A token is read anew for each login, and is
    /// not among them.
    pub files: Vec<PathBuf>,
    /// When the first of the clients' certificates expires, in seconds since the epoch.
    pub expires_seconds: Option<i64>,
}

type LoadAgain = Box<dyn Fn() -> Result<Settings, Mistakes> + Send>;

/// Reads the configuration again.
pub struct Load(LoadAgain);

// === impl Load ===

impl Load {
    /// Reads it by `load`, which blocks.
    pub fn new(load: impl Fn() -> Result<Settings, Mistakes> + Send + 'static) -> Self {
        Self(Box::new(load))
    }
}

impl fmt::Debug for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Load")
    }
}

/// Takes up changes until the end.
pub async fn follow(
    load: Load,
    now: Settings,
    readers: Vec<Arc<GroupReader>>,
    reloads: Reloads,
    every: Duration,
    ending: Ending,
) {
    let mut tick = tokio::time::interval(every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ending = ending.wait();
    tokio::pin!(ending);
    let mut look = Look {
        files: Watch::new(now.files.iter().cloned()),
        now,
        load,
        readers,
    };
    reloads.expires(CertificateUse::Client, look.now.expires_seconds);
    loop {
        tokio::select! {
            () = &mut ending => return,
            _ = tick.tick() => {}
        }
        // A file system that hangs must not hold up what else runs here.
        let looked = tokio::task::spawn_blocking(move || {
            let outcome = look.again();
            (look, outcome)
        });
        let outcome = match looked.await {
            Ok((back, outcome)) => {
                look = back;
                outcome
            }
            Err(error) => {
                tracing::error!(%error, "files of the connections no longer watched");
                return;
            }
        };
        match outcome {
            None => {}
            Some(Ok(changes)) => {
                for change in changes {
                    tracing::warn!(change, "taken up only after a restart of the agent");
                }
                tracing::info!("changed files in use, reading goes on over new connections");
                reloads.expires(CertificateUse::Client, look.now.expires_seconds);
                reloads.took();
            }
            Some(Err(mistakes)) => {
                tracing::warn!(%mistakes, "changed files not taken, the connections before stay in use");
                reloads.refused();
            }
        }
    }
}

/// The files as they were last seen, and what they said.
struct Look {
    load: Load,
    now: Settings,
    files: Watch,
    readers: Vec<Arc<GroupReader>>,
}

// === impl Look ===

impl Look {
    /// What changed and cannot be taken up, where anything changed; why not, where the
    /// change does not hold.
    fn again(&mut self) -> Option<Result<Vec<String>, Mistakes>> {
        if !self.files.poll() {
            return None;
        }
        Some((self.load.0)().map(|new| {
            self.files.follow(new.files.iter().cloned());
            let pairs = self.now.groups.iter().zip(&new.groups);
            let mut changes: Vec<String> = pairs.flat_map(|(old, new)| lasting(old, new)).collect();
            if self.now.groups.len() != new.groups.len() {
                changes.push("the list of groups".to_owned());
            }
            // What is read stays; how it is reached, and what stands beside it, is new.
            for (old, new) in self.now.groups.iter_mut().zip(new.groups) {
                old.connection = new.connection;
                old.worker_settings = new.worker_settings;
                old.own_worker = new.own_worker;
            }
            self.now.files = new.files;
            self.now.expires_seconds = new.expires_seconds;
            for (reader, settings) in self.readers.iter().zip(&self.now.groups) {
                reader.take(settings);
            }
            changes
        }))
    }
}

/// Names that are other ones than at start.
fn lasting(old: &ReadSettings, new: &ReadSettings) -> Vec<String> {
    let names = [
        ("group", &old.group, &new.group),
        ("offsets topic", &old.offsets_topic, &new.offsets_topic),
        ("config topic", &old.config_topic, &new.config_topic),
        ("status topic", &old.status_topic, &new.status_topic),
    ];
    let changed = names.into_iter().filter(|(_, old, new)| old != new);
    changed
        .map(|(what, old, new)| format!("the {what} is {new} instead of {old}"))
        .collect()
}
