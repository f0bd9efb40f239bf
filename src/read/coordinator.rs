//! Asks the group's coordinator, and no other broker, for the group's live state: the
//! only way to see a round while it runs.
//!
//! One task with one connection of its own a group. A broker that hangs, dies or answers
//! nonsense costs this task its time and nothing else; the topics are read elsewhere.

mod asks;
mod counters;
mod error;
mod login;
mod pace;
mod polls;
mod reach;
mod reply;
mod security;
mod session;
mod socket;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use evenkeel_core::facts::cluster::TopicRole;
use evenkeel_core::facts::input::Input;
use tokio::sync::{mpsc, watch};

use crate::read::connection::{Connection, Hidden};
use crate::read::kafka::Now;
use crate::read::mask::NameMask;
pub use counters::PollCounters;
pub use pace::Pace;
pub use security::Unfit;

use polls::{Polls, Wanted};
use security::Security;
use session::Session;

/// What to ask for, and how the cluster is reached.
#[derive(Debug, Clone, Default)]
pub struct PollSettings {
    /// How the cluster is reached: the same as for the topics.
    pub connection: Connection,
    /// The Connect group.
    pub group: String,
    /// The topics whose settings are read.
    pub topics: Vec<(TopicRole, String)>,
    /// Replaces connector names in what members say, where they are to be hidden.
    pub mask: Option<NameMask>,
}

/// The polls of one group. Dropping it ends them.
#[derive(Debug)]
pub struct PollHandle {
    wanted: watch::Sender<Wanted>,
    counters: Arc<PollCounters>,
    off: Mutex<Option<Unfit>>,
}

/// Whether polls can use this connection, as far as can be told without opening files
/// or sockets.
///
/// # Errors
/// The first property that asks for what they cannot do.
pub fn check(connection: &Connection) -> Result<(), Unfit> {
    Security::of(connection).map(|_| ())
}

/// As [`check`], with the files that TLS needs, and whatever the brokers are; for where it
/// may block.
///
/// # Errors
/// The first property that will not do.
pub fn check_files(connection: &Connection) -> Result<(), Unfit> {
    let mut connection = connection.clone();
    let brokers = Hidden("127.0.0.1".to_owned());
    let properties = &mut connection.properties;
    properties.insert("bootstrap.servers".to_owned(), brokers);
    match Security::of(&connection)?.tls {
        Some(tls) => tls.context().map(|_| ()),
        None => Ok(()),
    }
}

/// Starts asking, at the slow pace; inputs go to `inputs`. A connection that polls cannot
/// use is no error: they stay off, see [`PollHandle::off`], and say so once.
///
/// Must be called within a tokio runtime.
pub fn start(settings: PollSettings, now: Now, inputs: mpsc::Sender<Input>) -> PollHandle {
    let counters = Arc::<PollCounters>::default();
    let off = check(&settings.connection).err();
    let group: Arc<str> = settings.group.into();
    let source = Session::new(
        &settings.connection,
        &group,
        settings.topics,
        &now,
        &counters,
    );
    let (wanted, wishes) = watch::channel(Wanted::new(settings.connection));
    let polls = Polls::new(group, inputs, now, Arc::clone(&counters)).masked(settings.mask);
    // It ends with its handle, or when nobody takes its inputs.
    drop(tokio::spawn(polls.run(source, wishes)));
    PollHandle {
        wanted,
        counters,
        off: Mutex::new(off),
    }
}

// === impl PollHandle ===

impl PollHandle {
    /// How often to ask from now on.
    pub fn set_pace(&self, pace: Pace) {
        self.wanted.send_if_modified(|wanted| {
            let is_news = wanted.pace != pace;
            wanted.pace = pace;
            is_news
        });
    }

    /// Whether members are asked for at every turn, as where the offsets topic is hidden
    /// and nothing else tells them.
    pub fn describe_every_turn(&self, every_turn: bool) {
        self.wanted.send_if_modified(|wanted| {
            let is_news = wanted.every_turn != every_turn;
            wanted.every_turn = every_turn;
            is_news
        });
    }

    /// Goes on with other settings: what is under way ends, and all begins anew.
    pub fn reconnect(&self, connection: Connection) {
        *self.off.lock().unwrap_or_else(PoisonError::into_inner) = check(&connection).err();
        self.wanted
            .send_modify(|wanted| wanted.reconnect(connection));
    }

    /// Why nothing is asked at all: the connection's settings ask for what polls cannot do.
    #[must_use]
    pub fn off(&self) -> Option<Unfit> {
        let off = self.off.lock().unwrap_or_else(PoisonError::into_inner);
        off.clone()
    }

    /// What is counted.
    #[must_use]
    pub fn counters(&self) -> &Arc<PollCounters> {
        &self.counters
    }

    /// Ends the polls, without waiting for it; whatever is under way is broken off.
    pub fn stop(&self) {
        self.wanted.send_modify(|wanted| wanted.stop = true);
    }
}
