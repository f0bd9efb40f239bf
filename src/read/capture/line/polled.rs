//! An answer of the group's coordinator as a line of a capture.

use evenkeel_core::facts::input::Trouble;
use evenkeel_core::facts::poll::{Description, PollAnswer, Polled, PolledMember, PolledState};
use evenkeel_core::facts::time::ArrivalTime;
use serde::{Deserialize, Serialize};

use super::{bytes_to_text, text_to_bytes};

pub(super) const POLLED_FIELDS: &[&str] = &["asked", "listed", "described", "failed"];

/// An answer of the coordinator as written: exactly one of the three is there. A group
/// that was not listed is `null`.
#[derive(Serialize, Deserialize)]
pub(super) struct PolledBody {
    asked: ArrivalTime,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "double")]
    listed: Option<Option<PolledState>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    described: Option<DescriptionBody>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<Trouble>,
}

#[derive(Serialize, Deserialize)]
struct DescriptionBody {
    state: PolledState,
    protocol_type: String,
    protocol: String,
    members: Vec<MemberBody>,
}

#[derive(Serialize, Deserialize)]
struct MemberBody {
    member_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instance_id: Option<String>,
    client_id: String,
    client_host: String,
    metadata: String,
    assignment: String,
}

/// `null` and absent are two things.
mod double {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Option<Option<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value
            .as_ref()
            .and_then(Option::as_ref)
            .serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<T>>, D::Error> {
        Option::deserialize(deserializer).map(Some)
    }
}

// === impl PolledBody ===

impl From<&Polled> for PolledBody {
    fn from(polled: &Polled) -> Self {
        let mut body = Self {
            asked: polled.asked,
            listed: None,
            described: None,
            failed: None,
        };
        match &polled.answer {
            PollAnswer::Listed(state) => body.listed = Some(*state),
            PollAnswer::Described(described) => {
                body.described = Some(DescriptionBody {
                    state: described.state,
                    protocol_type: described.protocol_type.clone(),
                    protocol: described.protocol.clone(),
                    members: described.members.iter().map(MemberBody::from).collect(),
                });
            }
            PollAnswer::Failed(trouble) => body.failed = Some(*trouble),
        }
        body
    }
}

impl PolledBody {
    pub(super) fn into_polled(self) -> Result<Polled, String> {
        let answer = match (self.listed, self.described, self.failed) {
            (Some(state), None, None) => PollAnswer::Listed(state),
            (None, Some(described), None) => PollAnswer::Described(described.into_description()?),
            (None, None, Some(trouble)) => PollAnswer::Failed(trouble),
            _ => return Err("not exactly one of listed, described and failed".to_owned()),
        };
        Ok(Polled {
            asked: self.asked,
            answer,
        })
    }
}

// === impl DescriptionBody ===

impl DescriptionBody {
    fn into_description(self) -> Result<Description, String> {
        let members = self.members.into_iter().map(MemberBody::into_member);
        Ok(Description {
            state: self.state,
            protocol_type: self.protocol_type,
            protocol: self.protocol,
            members: members.collect::<Result<_, _>>()?,
        })
    }
}

// === impl MemberBody ===

impl From<&PolledMember> for MemberBody {
    fn from(member: &PolledMember) -> Self {
        Self {
            member_id: member.member_id.clone(),
            instance_id: member.instance_id.clone(),
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
            metadata: bytes_to_text(&member.metadata),
            assignment: bytes_to_text(&member.assignment),
        }
    }
}

impl MemberBody {
    fn into_member(self) -> Result<PolledMember, String> {
        Ok(PolledMember {
            metadata: text_to_bytes(&self.metadata, "metadata")?,
            assignment: text_to_bytes(&self.assignment, "assignment")?,
            member_id: self.member_id,
            instance_id: self.instance_id,
            client_id: self.client_id,
            client_host: self.client_host,
        })
    }
}
