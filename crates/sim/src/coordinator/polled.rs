//! What the coordinator would answer to ListGroups and DescribeGroups at this moment.

use evenkeel_core::facts::poll::{Description, PolledMember, PolledState};

use super::record::{assignment, protocol_name, subscription};
use super::{Coordinator, State};

// === impl Coordinator ===

impl Coordinator {
    /// What DescribeGroups would say; `None` while nobody answers.
    #[must_use]
    pub fn described(&self) -> Option<Description> {
        if !self.available {
            return None;
        }
        let Some(group) = &self.group else {
            return Some(Description {
                state: PolledState::Dead,
                protocol_type: String::new(),
                protocol: String::new(),
                members: Vec::new(),
            });
        };
        let stable = group.state == State::Stable;
        let version = group.version.unwrap_or(0);
        let members = group.members.iter().map(|(id, member)| {
            let told = group.told.get(id);
            // The coordinator of 4.x answers with the last assignment while it rebalances.
            let shown = told.filter(|_| stable || self.manner.java);
            PolledMember {
                member_id: id.clone(),
                instance_id: None,
                client_id: member.meta.client_id.clone(),
                client_host: member.meta.host.clone(),
                metadata: if stable {
                    subscription(&member.meta, version).unwrap_or_default()
                } else {
                    Vec::new()
                },
                assignment: shown
                    .and_then(|told| assignment(told, version).ok())
                    .unwrap_or_default(),
            }
        });
        let formed = group.generation > 0 || !group.members.is_empty();
        Some(Description {
            state: match group.state {
                State::Empty => PolledState::Empty,
                State::Preparing => PolledState::PreparingRebalance,
                State::Completing => PolledState::CompletingRebalance,
                State::Stable => PolledState::Stable,
            },
            protocol_type: if formed { "connect" } else { "" }.to_owned(),
            protocol: if stable { protocol_name(version) } else { "" }.to_owned(),
            members: members.collect(),
        })
    }

    /// What tells one moment from the next: state, generation, members.
    #[must_use]
    pub fn fingerprint(&self) -> (bool, Option<(State, i32)>, Vec<String>) {
        let group = self.group.as_ref();
        let members = group.iter().flat_map(|group| &group.members);
        (
            self.available,
            group.map(|group| (group.state, group.generation)),
            members.map(|(id, _)| id.clone()).collect(),
        )
    }
}
