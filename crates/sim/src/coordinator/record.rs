//! What the coordinator writes down of a group, and its bytes.

use std::collections::BTreeMap;

use evenkeel_core::wire::encode::{
    self, AssignmentSpec, EncodeError, Items, SubscriptionSpec, items_of,
};
use evenkeel_core::wire::group_record::{GroupMetadata, Member};

use crate::item::Work;
use crate::protocol::{Meta, Told};

/// A group as its record describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The generation.
    pub generation: i32,
    /// The protocol version; `None` while it is empty.
    pub version: Option<i16>,
    /// The leader's member id.
    pub leader: Option<String>,
    /// `currentStateTimestamp`
    pub state_since_ms: i64,
    /// Members in order of joining.
    pub members: Vec<(String, Meta)>,
    /// What each was told.
    pub told: BTreeMap<String, Told>,
    /// Whether anybody ever joined: before, it has no protocol type.
    pub formed: bool,
}

/// Connect's names of its protocol versions.
#[must_use]
pub fn protocol_name(version: i16) -> &'static str {
    match version {
        0 => "default",
        1 => "compatible",
        _ => "sessioned",
    }
}

// === impl Saved ===

impl Saved {
    /// The value of its GroupMetadata record.
    ///
    /// # Errors
    /// A name that is too long.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let version = self.version.unwrap_or(0);
        let mut bytes = Vec::new();
        for (id, meta) in &self.members {
            let told = match self.told.get(id) {
                Some(told) => assignment(told, version)?,
                None => Vec::new(),
            };
            bytes.push((subscription(meta, version)?, told));
        }
        let members = self.members.iter().zip(&bytes);
        let members = members.map(|((id, meta), (subscription, assignment))| Member {
            member_id: id,
            group_instance_id: None,
            client_id: &meta.client_id,
            client_host: &meta.host,
            rebalance_timeout_ms: i32::try_from(meta.rebalance_ms).ok(),
            session_timeout_ms: i32::try_from(meta.session_ms).unwrap_or(i32::MAX),
            subscription,
            assignment,
        });
        encode::group_metadata(&GroupMetadata {
            version: 3,
            protocol_type: if self.formed { "connect" } else { "" },
            generation: self.generation,
            protocol: self.version.map(protocol_name),
            leader: self.leader.as_deref().filter(|_| self.version.is_some()),
            current_state_timestamp_ms: Some(self.state_since_ms),
            members: members.collect(),
        })
    }
}

fn items(work: &Work) -> Items<'_> {
    items_of(work.iter().map(|item| (&*item.connector, item.task)))
}

fn spec(told: &Told, version: i16) -> AssignmentSpec<'_> {
    AssignmentSpec {
        version,
        error: told.error,
        leader: &told.leader,
        leader_url: &told.leader_url,
        config_offset: told.config_offset,
        assigned: Some(items(&told.assigned)),
        revoked: Some(items(&told.revoked)),
        delay_ms: i32::try_from(told.delay_ms).unwrap_or(i32::MAX),
    }
}

/// An assignment's bytes.
pub(super) fn assignment(told: &Told, version: i16) -> Result<Vec<u8>, EncodeError> {
    encode::assignment(&spec(told, version))
}

/// A subscription's bytes.
pub(super) fn subscription(meta: &Meta, version: i16) -> Result<Vec<u8>, EncodeError> {
    let claim = meta.claim.as_ref().map(|claim| spec(claim, version));
    encode::subscription(&SubscriptionSpec {
        version,
        url: &meta.url,
        config_offset: meta.config_offset,
        claim: claim.filter(|_| version > 0),
    })
}
