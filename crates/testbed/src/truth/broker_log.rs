//! The group state machine as the coordinating broker logs it, in all releases.
//!
//! The Scala coordinator (`kafka.coordinator.group.GroupCoordinator`, up to 3.9) and the Java
//! one (`org.apache.kafka.coordinator.group.GroupMetadataManager`, 4.x) say the same in
//! slightly different words; each pattern here holds for both unless it says otherwise.

use super::event::{TruthEvent, What};
use super::line::Line;
use super::text::{after, between, number_after};

/// Events of one group in a broker's log.
pub(super) fn parse(process: &str, log: &str, group_id: &str) -> Vec<TruthEvent> {
    // The partition in which the group became empty.
    let mut empty_in = None;
    log.lines()
        .filter_map(Line::parse)
        .filter(|line| line.logger.contains("coordinator.group."))
        .filter_map(|line| {
            let what = match what(line.message, group_id) {
                Some(what) => {
                    let empty = matches!(what, What::GroupEmpty { .. });
                    empty_in = partition(line.message).filter(|_| empty);
                    what
                }
                None if empty_in.is_some() && empty_in == cleaned(line.message) => {
                    empty_in = None;
                    What::GroupRemoved
                }
                None => return None,
            };
            Some(TruthEvent {
                at_ms: line.at_ms,
                process: process.to_owned(),
                what,
            })
        })
        .collect()
}

/// The partition of a line of the Java coordinator.
fn partition(message: &str) -> Option<&str> {
    between(message, "topic=__consumer_offsets partition=", "]")
}

/// The partition that the Java coordinator wrote tombstones to. It does not say of whom: of a
/// group in it that is empty, as long as no other group in it has offsets that expire.
fn cleaned(message: &str) -> Option<&str> {
    let count = number_after(message, "Generated ")?;
    let this = message.contains("tombstone records while cleaning up group metadata");
    partition(message).filter(|_| this && count > 0)
}

/// `group connect ` and not `group connect-snk `.
fn names_group(message: &str, group_id: &str) -> bool {
    [
        format!("group {group_id} "),
        format!("Group {group_id} "),
        format!("[Group {group_id}]"),
        format!("[GroupId {group_id}]"),
        format!("[GroupId={group_id}]"),
        format!("metadata for {group_id} "),
    ]
    .iter()
    .any(|name| message.contains(name.as_str()))
}

fn what(message: &str, group_id: &str) -> Option<What> {
    if !names_group(message, group_id) {
        return None;
    }
    let generation = || number_after(message, " generation ");
    if message.contains("Preparing to rebalance group ") {
        // "(reason: R)." in Java, "(reason: R)" in Scala; R itself may hold parentheses.
        let reason = after(message, "(reason: ")?;
        let reason = reason.strip_suffix('.').unwrap_or(reason);
        return Some(What::Preparing {
            old_generation: number_after(message, "old generation ")?,
            reason: reason.strip_suffix(')').unwrap_or(reason).to_owned(),
        });
    }
    if message.contains("Stabilized group ") {
        return Some(What::Stabilized {
            generation: generation()?,
            members: usize::try_from(number_after(message, " with ")?).ok()?,
        });
    }
    if message.contains("is now empty") {
        return Some(What::GroupEmpty {
            generation: generation()?,
        });
    }
    if message.contains("Assignment received from leader") {
        return Some(What::AssignmentStored {
            generation: generation()?,
        });
    }
    departure(message).or_else(|| lifecycle(message))
}

fn departure(message: &str) -> Option<What> {
    // 2.5 to 2.8: "Member[group.instance.id None, member.id M] in group G has left, removing it".
    if message.contains("has left, removing it from the group") {
        return Some(What::MemberLeft {
            member_id: between(message, "member.id ", "]")?.to_owned(),
            reason: String::new(),
        });
    }
    if message.contains("through explicit `LeaveGroup`") {
        // Scala prints the whole member, "memberId=M, ..."; Java only the id.
        let member_id = between(message, "memberId=", ",")
            .or_else(|| between(message, "memberId=", " has left"))
            .or_else(|| between(message, "ember ", " has left"))?;
        return Some(What::MemberLeft {
            member_id: member_id.to_owned(),
            reason: after(message, "client reason: ")
                .unwrap_or_default()
                .to_owned(),
        });
    }
    if message.contains("has failed, removing it from the group") {
        return Some(What::MemberExpired {
            member_id: between(message, "Member ", " in group")?.to_owned(),
        });
    }
    if message.contains("has been removed after session timeout expiration") {
        return Some(What::PendingExpired {
            member_id: between(message, "Pending member ", " in group")?.to_owned(),
        });
    }
    if let Some(members) = after(message, "who haven't joined: ") {
        return Some(What::NotRejoined {
            member_ids: members.to_owned(),
        });
    }
    let members = after(message, "who haven't sent their sync request")?;
    Some(What::NotSynced {
        member_ids: after(members, ": ")?.to_owned(),
    })
}

fn lifecycle(message: &str) -> Option<What> {
    if message.contains("Loaded classic group ") || message.contains("Loading group metadata for ")
    {
        return Some(What::GroupLoaded);
    }
    if message.contains("Unloading group metadata for ") {
        return Some(What::GroupUnloaded);
    }
    message
        .contains(" transitioned to Dead in generation ")
        .then_some(What::GroupRemoved)
}

#[cfg(test)]
mod tests;
