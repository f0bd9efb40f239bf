//! Things about the inputs that a person should know: what a record names and nothing
//! confirms, bytes that make no sense, names that cannot be told apart.
//!
//! A finding is raised, and goes by contrary evidence or a while after it was last raised.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::time::EventTime;
use crate::limits::{EVENT_SHOWN_MS, FINDINGS_MAX};

/// The kinds of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The config topic has not exactly one partition (KAFKA-9216).
    ConfigPartitions,
    /// The group names a config offset that the config topic does not reach.
    ConfigOffsetBeyondEnd,
    /// Several members advertise the same worker.
    SharedWorker,
    /// The leader's URL belongs to no member.
    LeaderUrlUnknown,
    /// A member advertises something that is no URL.
    UrlInvalid,
    /// No record of the group exists.
    GroupAbsent,
    /// The group is not one of Connect.
    ForeignGroup,
    /// The consumers of a sink connector use the workers' own group id.
    GroupIdShared,
    /// Part of a member's entry could not be read.
    MemberUndecodable,
    /// A generation went back without the group being created anew.
    GenerationWentBack,
    /// The coordinator's clock stepped back.
    ClockStepBack,
    /// Workers that read the config topic in order see fewer tasks (KAFKA-17719).
    ConfigHazard,
    /// A commit names more tasks than are taken as configured.
    TasksBeyondLimit,
    /// Work of a deleted connector was last seen on a worker outside the group.
    DeletedWorkUnaccounted,
    /// A topic holds the records of another one: two names were swapped.
    TopicSwapped,
    /// A topic was deleted and created again.
    TopicAnew,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The finding in a sentence.
    pub text: String,
    /// When it was first seen, where an input tells.
    pub since: Option<EventTime>,
    /// When it was last seen.
    last: Option<EventTime>,
}

/// What stands now.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Findings {
    #[serde(with = "crate::facts::pairs")]
    standing: BTreeMap<(Kind, String), Finding>,
}

// === impl Kind ===

impl Kind {
    /// The name of the finding: stable, shown.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::ConfigPartitions => "config_partitions",
            Self::ConfigOffsetBeyondEnd => "config_offset_beyond_end",
            Self::SharedWorker => "shared_worker",
            Self::LeaderUrlUnknown => "leader_url_unknown",
            Self::UrlInvalid => "url_invalid",
            Self::GroupAbsent => "group_absent",
            Self::ForeignGroup => "foreign_group",
            Self::GroupIdShared => "group_id_shared",
            Self::MemberUndecodable => "member_undecodable",
            Self::GenerationWentBack => "generation_went_back",
            Self::ClockStepBack => "clock_step_back",
            Self::ConfigHazard => "config_hazard",
            Self::TasksBeyondLimit => "tasks_beyond_limit",
            Self::DeletedWorkUnaccounted => "deleted_work_unaccounted",
            Self::TopicSwapped => "topic_swapped",
            Self::TopicAnew => "topic_anew",
        }
    }

    /// Whether it happened once, and nothing will ever say that it is over.
    fn is_event(self) -> bool {
        matches!(
            self,
            Self::ClockStepBack | Self::GenerationWentBack | Self::TopicAnew
        )
    }
}

// === impl Findings ===

impl Findings {
    /// Raises a finding; `true` if it did not stand before.
    pub fn raise(
        &mut self,
        kind: Kind,
        subject: impl Into<String>,
        since: Option<EventTime>,
        text: impl FnOnce() -> String,
    ) -> bool {
        let key = (kind, subject.into());
        if let Some(standing) = self.standing.get_mut(&key) {
            // Another event of the kind: it is told as long as the first was.
            if since > standing.last {
                standing.last = since;
                standing.text = text();
            }
            return false;
        }
        if self.standing.len() >= FINDINGS_MAX {
            return false;
        }
        self.standing.insert(
            key,
            Finding {
                text: text(),
                since,
                last: since,
            },
        );
        true
    }

    /// Contrary evidence: no finding of this kind stands any more.
    pub fn clear(&mut self, kind: Kind) {
        self.standing.retain(|(standing, _), _| *standing != kind);
    }

    /// Whether a finding of this kind stands.
    #[must_use]
    pub fn stands(&self, kind: Kind) -> bool {
        self.standing.keys().any(|(standing, _)| *standing == kind)
    }

    /// Events are told for a while; what is wrong stays until there is contrary evidence.
    pub fn expire(&mut self, now: EventTime) {
        self.standing.retain(|(kind, _), finding| {
            let age_ms = finding.last.map_or(0, |last| now.since_ms(last));
            !kind.is_event() || age_ms <= EVENT_SHOWN_MS
        });
    }

    /// What stands, by kind and subject.
    pub fn standing(&self) -> impl Iterator<Item = (Kind, &str, &Finding)> {
        self.standing
            .iter()
            .map(|((kind, subject), finding)| (*kind, subject.as_str(), finding))
    }
}
