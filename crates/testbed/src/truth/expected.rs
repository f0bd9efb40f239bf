//! What the author of a script knows: why the group rebalanced, who went how and what it
//! cost. evenkeel must reach the same from the records alone.
//!
//! Workers are named by process, as everywhere in the truth.

use serde::{Deserialize, Serialize};

use super::assignment::Work;

/// Everything that a script expects, in the order in which it happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Expectations {
    pub steps: Vec<ScriptStep>,
    pub episodes: Vec<ExpectedEpisode>,
    pub departures: Vec<ExpectedDeparture>,
    pub lost_work: Vec<LostWork>,
    pub deadlines: Vec<ExpectedDeadline>,
}

/// A step of the script, from before its first verb until the group rested again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptStep {
    pub name: String,
    pub from_ms: i64,
    pub to_ms: i64,
}

/// Why a group rebalances, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    GroupFormed,
    GroupEmptied,
    ProtocolChanged,
    /// Same member ids, null claims: the workers lost their coordinator and dropped all work.
    CoordinatorLost,
    /// Crashed, or cut short while it stopped.
    WorkerLost,
    /// Frozen or blocked: it came back with its claim.
    WorkerUnresponsive,
    WorkerLeft,
    /// Nobody can know how.
    WorkerGone,
    WorkerRestarted,
    WorkerJoined,
    DelayExpired,
    ConfigMismatch,
    ConnectorCreated,
    ConnectorDeleted,
    TasksChanged,
    RevocationFollowup,
    /// A member was ahead of the assignment and joined again.
    ConfigAdvanced,
    CoordinatorMoved,
    Unknown,
}

/// How an episode ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeOutcome {
    Settled,
    Unresolved,
    GroupGone,
}

/// What `tasks_changed` goes back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Root {
    /// A person wrote the connector's configuration, and the tasks' changed with it.
    Reconfigured,
    /// A person wrote the connector's configuration, and the tasks' stayed what they were.
    ReconfiguredUnchanged,
    /// The connector itself asked for other tasks.
    Itself,
    /// A person stopped the connector, which deconfigures its tasks.
    Stopped,
    /// A person resumed it.
    Resumed,
}

/// One stretch of unrest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedEpisode {
    pub cause: Cause,
    /// A process or a connector.
    pub subject: Option<String>,
    /// Of `tasks_changed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Root>,
    /// More of the same kind, when the cause came about several times.
    #[serde(default)]
    pub others: Vec<String>,
    /// What applied beside the cause, in order of precedence.
    pub contributing: Vec<Cause>,
    /// What may be said to contribute, or not: the script can neither force nor exclude it.
    #[serde(default)]
    pub possible: Vec<Cause>,
    pub outcome: EpisodeOutcome,
    pub step: String,
    /// Numbers of the generations whose join phases ended in it, by the broker's log.
    #[serde(default)]
    pub generations: Vec<i64>,
    /// It came so soon after the one before that both may be one: then that one's cause and
    /// this one's, in order of precedence, are the cause and a contributing one.
    #[serde(default)]
    pub may_join: bool,
}

/// How a worker departed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DepartureHow {
    /// It said that everything it owned stopped.
    Graceful,
    /// It said so of a part, and was gone only a session later.
    CutShort,
    /// It said nothing.
    Crashed,
    /// It came back with its claim.
    Unresponsive,
    /// It had nothing to say it of.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedDeparture {
    pub worker: String,
    pub how: DepartureHow,
    /// Who came in its place, with another member id and without a claim.
    pub successor: Option<String>,
    pub step: String,
}

/// How lost work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostEnd {
    /// Claimed again, or assigned to its owner or the owner's successor.
    Reclaimed,
    Reassigned,
    Removed,
    GroupGone,
}

/// What a worker owned when it departed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostWork {
    pub worker: String,
    pub items: Work,
    pub ended: LostEnd,
    pub step: String,
}

/// What a delay is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayReason {
    /// Lost work waits for its owner.
    Lost,
    /// The leader does not revoke twice in a row at once.
    RevocationBackoff,
    /// Nothing waits: the leader only missed a member.
    Leftover,
}

/// A generation that carries a delay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedDeadline {
    pub generation: i64,
    pub reason: DelayReason,
    pub step: String,
}

impl Root {
    /// As evenkeel tells it: what made the tasks be written, and whether they are others.
    #[must_use]
    pub fn as_told(self) -> (String, bool) {
        let (root, changed) = match self {
            Root::Reconfigured => ("reconfigured", true),
            Root::ReconfiguredUnchanged => ("reconfigured", false),
            Root::Itself => ("requested", true),
            Root::Stopped => ("stopped", true),
            Root::Resumed => ("resumed", true),
        };
        (root.to_owned(), changed)
    }
}

impl ExpectedEpisode {
    /// An episode of this cause that settles; the stage adds step and generations.
    #[must_use]
    pub fn of(cause: Cause, subject: Option<&str>) -> ExpectedEpisode {
        ExpectedEpisode {
            cause,
            subject: subject.map(str::to_owned),
            root: None,
            others: Vec::new(),
            contributing: Vec::new(),
            possible: Vec::new(),
            outcome: EpisodeOutcome::Settled,
            step: String::new(),
            generations: Vec::new(),
            may_join: false,
        }
    }

    /// An episode because the tasks of a connector changed.
    #[must_use]
    pub fn tasks_changed(connector: &str, root: Root) -> ExpectedEpisode {
        ExpectedEpisode {
            root: Some(root),
            ..ExpectedEpisode::of(Cause::TasksChanged, Some(connector))
        }
    }

    /// The same, to which these contribute.
    #[must_use]
    pub fn with(mut self, contributing: &[Cause]) -> ExpectedEpisode {
        for cause in contributing {
            self.contribute(*cause);
        }
        self
    }

    /// The same, to which these may be said to contribute.
    #[must_use]
    pub fn perhaps(mut self, possible: &[Cause]) -> ExpectedEpisode {
        self.possible = possible.to_vec();
        self
    }

    /// One more cause: the first in order of precedence is the cause.
    pub fn contribute(&mut self, cause: Cause) {
        if cause != self.cause && !self.contributing.contains(&cause) {
            self.contributing.push(cause);
            self.contributing.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contributing_causes_stand_once_and_in_order() {
        let mut episode = ExpectedEpisode::of(Cause::WorkerLost, Some("worker-2"))
            .with(&[Cause::DelayExpired, Cause::WorkerRestarted]);
        episode.contribute(Cause::DelayExpired);
        episode.contribute(Cause::WorkerLost);
        let expected = [Cause::WorkerRestarted, Cause::DelayExpired];
        assert_eq!(episode.contributing, expected);
        let json = serde_json::to_value(&episode).unwrap();
        assert_eq!(json["cause"], "worker_lost");
        assert_eq!(json["outcome"], "settled");
    }

    #[test]
    fn a_file_without_expectations_is_read() {
        let none: Expectations = serde_json::from_str("{}").unwrap();
        assert_eq!(none, Expectations::default());
    }
}
