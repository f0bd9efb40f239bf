//! What the connections to Kafka are made from, while the agent runs: the worker's file,
//! certificates, passwords. A change is taken up by new connections of the groups that it
//! is about; what does not hold is told once and tried again, and the connections before
//! it stay.

use std::collections::BTreeMap;
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
use crate::run::{clock, expiry};
use crate::show::view::CertificateUse;

/// How often the files are looked at.
pub const LOOK_EVERY: Duration = Duration::from_secs(10);

/// What the files say of each group.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What to read, and how it is reached.
    pub groups: Vec<ReadSettings>,
    /// Where it was read, and what it names. A token is read anew for each login, and is
    /// not among them.
    pub files: Vec<PathBuf>,
    /// Whom the brokers see, by group.
    pub principals: BTreeMap<String, String>,
    /// When the first of the clients' certificates expires, in seconds since the epoch.
    pub expires_seconds: Option<i64>,
}

type LoadAgain = Box<dyn Fn() -> Result<Settings, Mistakes> + Send>;

/// Reads again what may change.
pub struct Load {
    settings: LoadAgain,
    addresses: fn() -> Vec<String>,
}

/// The files as they were last seen, and what they said.
#[derive(Debug)]
pub struct Look {
    load: Load,
    now: Settings,
    files: Watch,
    /// By group, the files that its connection names: read by others than us.
    named: Vec<Watch>,
    /// What the last reading was refused for; it is repeated until it holds.
    refused: Option<String>,
}

/// What a look came to.
#[derive(Debug)]
pub enum Seen {
    /// Nothing changed, or nothing new is to be said of it.
    Nothing,
    /// Changed settings hold.
    Changed {
        /// The groups that go on over new connections.
        reconnected: Vec<String>,
        /// What is taken up only after a restart.
        lasting: Vec<String>,
    },
    /// They do not hold.
    Refused(Mistakes),
}

// === impl Load ===

impl Load {
    /// Reads the configuration by `settings` and the machine's addresses by `addresses`;
    /// both block.
    pub fn new(
        settings: impl Fn() -> Result<Settings, Mistakes> + Send + 'static,
        addresses: fn() -> Vec<String>,
    ) -> Self {
        Self {
            settings: Box::new(settings),
            addresses,
        }
    }
}

impl fmt::Debug for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Load")
    }
}

/// Takes up changes until the end.
pub async fn follow(
    mut look: Look,
    readers: Vec<Arc<GroupReader>>,
    reloads: Reloads,
    every: Duration,
    ending: Ending,
) {
    let mut tick = tokio::time::interval(every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ending = ending.wait();
    tokio::pin!(ending);
    reloads.expires(CertificateUse::Client, look.now.expires_seconds);
    loop {
        tokio::select! {
            () = &mut ending => return,
            _ = tick.tick() => {}
        }
        let readers = readers.clone();
        // A file system that hangs must not hold up what else runs here.
        let looked = tokio::task::spawn_blocking(move || {
            let seen = look.again(&readers);
            (look, seen)
        });
        let seen = match looked.await {
            Ok((back, seen)) => {
                look = back;
                seen
            }
            Err(error) => {
                tracing::error!(%error, "files of the connections no longer watched");
                return;
            }
        };
        match seen {
            Seen::Nothing => {}
            Seen::Changed {
                reconnected,
                lasting,
            } => {
                for change in &lasting {
                    tracing::warn!(change, "taken up only after a restart of the agent");
                }
                if !reconnected.is_empty() {
                    let groups = reconnected.join(", ");
                    tracing::info!(
                        groups,
                        "changed files in use; these groups go on over new connections"
                    );
                } else if lasting.is_empty() {
                    tracing::info!("changed files in use; no connection changes with them");
                }
                reloads.expires(CertificateUse::Client, look.now.expires_seconds);
                reloads.principals(look.now.principals.clone());
                look.warn_of_expiry();
                // What is not in use is not taken, whatever else is.
                match lasting.is_empty() {
                    true => reloads.took(),
                    false => reloads.refused(),
                }
                reloads.pending(lasting);
            }
            Seen::Refused(mistakes) => {
                tracing::warn!(%mistakes, "changed files not taken, the connections before stay in use");
                reloads.refused();
            }
        }
    }
}

// === impl Look ===

impl Look {
    /// From what the files said just now.
    #[must_use]
    pub fn new(load: Load, now: Settings) -> Self {
        Self {
            files: Watch::new(now.files.iter().cloned()),
            named: now
                .groups
                .iter()
                .map(|group| Watch::new(named(group, &now)))
                .collect(),
            load,
            now,
            refused: None,
        }
    }

    /// What the groups are read by.
    #[must_use]
    pub fn groups(&self) -> &[ReadSettings] {
        &self.now.groups
    }

    /// A certificate that is over is taken all the same: whoever put it there may have no
    /// other, and brokers decide by their own clocks.
    fn warn_of_expiry(&self) {
        let said = expiry::told(
            CertificateUse::Client,
            self.now.expires_seconds,
            clock::now(),
        );
        if let Some(said) = said {
            tracing::warn!("{said}");
        }
    }

    /// Looks, and takes up what changed.
    fn again(&mut self, readers: &[Arc<GroupReader>]) -> Seen {
        self.look_at_addresses(readers);
        if !self.files.poll() && self.refused.is_none() {
            return Seen::Nothing;
        }
        let new = match (self.load.settings)() {
            Ok(new) => new,
            Err(mistakes) => {
                let text = mistakes.to_string();
                let is_news = self.refused.replace(text.clone()) != Some(text);
                return if is_news {
                    Seen::Refused(mistakes)
                } else {
                    Seen::Nothing
                };
            }
        };
        self.refused = None;
        self.files.follow(new.files.iter().cloned());
        self.take(&new, readers)
    }

    /// Each group goes on with what is said of the group of its name.
    fn take(&mut self, new: &Settings, readers: &[Arc<GroupReader>]) -> Seen {
        let mut reconnected = Vec::new();
        let mut lasting: Vec<String> = Vec::new();
        let places = self.now.groups.iter_mut().zip(&mut self.named).zip(readers);
        for ((old, files), reader) in places {
            let Some(group) = new.groups.iter().find(|group| group.group == old.group) else {
                lasting.push(format!("group {} is not there any more", old.group));
                continue;
            };
            let changes = differences(old, group);
            if !changes.is_empty() {
                lasting.extend(changes);
                continue;
            }
            let is_other = files.poll() || old.connection != group.connection;
            files.follow(named(group, new));
            *old = ReadSettings {
                mask: old.mask.clone(),
                ..group.clone()
            };
            reader.restate(old);
            if is_other {
                reader.reconnect(&old.connection);
                reconnected.push(old.group.clone());
            }
        }
        let is_known = |name: &str| self.now.groups.iter().any(|group| group.group == name);
        let unknown = new.groups.iter().filter(|group| !is_known(&group.group));
        lasting.extend(unknown.map(|group| format!("group {} is new", group.group)));
        self.now.files = new.files.clone();
        self.now.principals = new.principals.clone();
        self.now.expires_seconds = new.expires_seconds;
        Seen::Changed {
            reconnected,
            lasting,
        }
    }

    /// An interface that came up later, or got another address, tells which worker is
    /// beside the agent.
    fn look_at_addresses(&mut self, readers: &[Arc<GroupReader>]) {
        let addresses = (self.load.addresses)();
        for (group, reader) in self.now.groups.iter_mut().zip(readers) {
            if group.own_addresses != addresses {
                group.own_addresses.clone_from(&addresses);
                reader.restate(group);
            }
        }
    }
}

/// The files that a group's connection names and librdkafka or the polls read.
fn named(group: &ReadSettings, all: &Settings) -> Vec<PathBuf> {
    let is_named = |file: &&PathBuf| {
        let values = group.connection.properties.values();
        values
            .into_iter()
            .any(|value| file.as_os_str() == value.0.as_str())
    };
    all.files.iter().filter(is_named).cloned().collect()
}

/// What cannot be taken up while the agent runs.
fn differences(old: &ReadSettings, new: &ReadSettings) -> Vec<String> {
    let release = |settings: &ReadSettings| settings.worker_release.clone().unwrap_or_default();
    let names = [
        (
            "offsets topic",
            old.offsets_topic.clone(),
            new.offsets_topic.clone(),
        ),
        (
            "config topic",
            old.config_topic.clone(),
            new.config_topic.clone(),
        ),
        (
            "status topic",
            old.status_topic.clone(),
            new.status_topic.clone(),
        ),
        ("worker release", release(old), release(new)),
    ];
    let changed = names.into_iter().filter(|(_, old, new)| old != new);
    changed
        .map(|(what, before, now)| {
            format!(
                "the {what} of group {} is {now} instead of {before}",
                old.group
            )
        })
        .collect()
}

#[cfg(test)]
mod tests;
