//! Everything that is read of one group: its topics, and the answers of its coordinator.

use std::sync::Arc;

use evenkeel_core::answers::{Answers, Role};
use evenkeel_core::facts::cluster::TopicRole;
use evenkeel_core::facts::input::{Input, Topic, Trouble};
use tokio::sync::mpsc;

use crate::read::connection::Connection;
use crate::read::coordinator::{self, Pace, PollCounters, PollHandle, PollSettings};
use crate::read::counters::ReadCounters;
use crate::read::hitch::Hitch;
use crate::read::kafka::{self, Identity, Now, ReadError, ReadSettings, ReadTo, ReaderHandle};

/// Members up to which an agent without a worker beside it asks often: it may be the only
/// one. In a larger group there may be as many of them as workers.
const LONE_MEMBERS_MAX: usize = 5;

/// The reading of one group. Dropping it ends it.
#[derive(Debug)]
pub struct GroupReader {
    topics: ReaderHandle,
    polls: PollHandle,
}

/// Starts reading; inputs go to `inputs`. Must be called within a tokio runtime.
///
/// # Errors
/// A property that librdkafka does not take.
pub fn start(
    settings: ReadSettings,
    now: Now,
    inputs: mpsc::Sender<Input>,
) -> Result<GroupReader, ReadError> {
    start_at(settings, now, inputs, &ReadTo::default())
}

/// As [`start`], going on where another process was.
///
/// # Errors
/// As [`start`].
pub fn start_at(
    settings: ReadSettings,
    now: Now,
    inputs: mpsc::Sender<Input>,
    read_to: &ReadTo,
) -> Result<GroupReader, ReadError> {
    let asked = PollSettings {
        connection: settings.connection.clone(),
        group: settings.group.clone(),
        topics: topics(&settings),
        mask: settings.mask.clone(),
    };
    let topics = kafka::start_at(settings, Arc::clone(&now), inputs.clone(), read_to)?;
    let polls = coordinator::start(asked, now, inputs);
    Ok(GroupReader { topics, polls })
}

/// The topics whose settings matter to the group.
fn topics(settings: &ReadSettings) -> Vec<(TopicRole, String)> {
    let offset_topic = settings.offset_storage_topic.clone();
    let named = [
        (TopicRole::Config, Some(settings.config_topic.clone())),
        (TopicRole::Offset, offset_topic),
        (TopicRole::Status, Some(settings.status_topic.clone())),
        (TopicRole::Groups, Some(settings.offsets_topic.clone())),
    ];
    let named = named.into_iter();
    named
        .filter_map(|(role, name)| Some((role, name.filter(|name| !name.is_empty())?)))
        .collect()
}

// === impl GroupReader ===

impl GroupReader {
    /// Asks for the end offsets of all topics now.
    pub fn ask_ends(&self) {
        self.topics.ask_ends();
    }

    /// Asks the coordinator as often as these answers want it, and reads as much.
    pub fn heed(&self, answers: &Answers) {
        let pace = pace(answers);
        self.polls.set_pace(pace);
        // Two of them read every record, whatever it costs.
        self.topics.sample_beyond_budget(pace == Pace::Slow);
        // Whether the records are hidden, not what mode that makes: where descriptions are
        // slow, they are all the more wanted.
        let is_hidden = answers.inputs.iter().any(|input| {
            let hidden = matches!(input.trouble, Some(Trouble::Denied | Trouble::Missing));
            input.topic == Topic::Offsets && hidden
        });
        self.polls.describe_every_turn(is_hidden);
    }

    /// Goes on over this connection, from where each topic was read to.
    pub fn reconnect(&self, connection: &Connection) {
        self.topics.reconnect(connection.clone());
        self.polls.reconnect(connection.clone());
    }

    /// Tells what these settings say of the worker and of this machine. Blocks where
    /// nobody takes inputs.
    pub fn restate(&self, settings: &ReadSettings) {
        self.topics.restate(settings);
    }

    /// What the readers of the topics count.
    #[must_use]
    pub fn counters(&self) -> &Arc<ReadCounters> {
        self.topics.counters()
    }

    /// Which topic is read, as the brokers told when reading of it began or went on.
    #[must_use]
    pub fn identity(&self, topic: Topic) -> Identity {
        self.topics.identity(topic)
    }

    /// The number that the next new content of a configuration gets.
    #[must_use]
    pub fn next_content(&self) -> u32 {
        self.topics.next_content()
    }

    /// What the polls count.
    #[must_use]
    pub fn poll_counters(&self) -> &Arc<PollCounters> {
        self.polls.counters()
    }

    /// Why the coordinator is not asked at all, where the connection's settings ask for what
    /// polls cannot do: then it is no fault of the broker. Holds no value.
    #[must_use]
    pub fn polls_off(&self) -> Option<String> {
        self.polls.off().map(|unfit| unfit.to_string())
    }

    /// What stands in the way of reading a topic, where the kind of trouble does not say it.
    /// The polls look at a connection more closely than librdkafka tells.
    #[must_use]
    pub fn hitch(&self, topic: Topic) -> Option<Hitch> {
        let polls = self.polls_hitch();
        match self.topics.hitch(topic) {
            Some(Hitch::Untrusted) | None => polls.or(self.topics.hitch(topic)),
            known => known,
        }
    }

    /// What stands in the way of asking the coordinator.
    #[must_use]
    pub fn polls_hitch(&self) -> Option<Hitch> {
        self.polls.counters().hitch()
    }

    /// Stops and waits for the threads; they wait for questions that are under way.
    pub fn join(&self) {
        self.polls.stop();
        self.topics.join();
    }
}

/// Often beside the leader and its deputy, who see a round first; all others only keep
/// what they would need if they became one of them.
fn pace(answers: &Answers) -> Pace {
    let members = answers
        .group
        .as_ref()
        .map_or(0, |group| group.members.len());
    match answers.own.as_ref().map(|own| own.role) {
        Some(Role::Leader | Role::Deputy) => Pace::Fast,
        Some(Role::Member) => Pace::Slow,
        None if members <= LONE_MEMBERS_MAX => Pace::Fast,
        None => Pace::Slow,
    }
}
