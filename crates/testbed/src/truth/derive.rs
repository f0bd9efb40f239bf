//! Generations, put together from what the broker and the workers say of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::assignment::{Assignment, Work};
use super::event::{LeaderView, TruthEvent, What};

/// One generation of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TruthGeneration {
    /// Counts how often the group began anew: generations repeat after it was deleted.
    pub incarnation: u32,
    pub generation: i64,
    /// When the broker began to prepare it, if its log shows that.
    pub prepared_ms: Option<i64>,
    /// Why, in the broker's words.
    pub reason: Option<String>,
    /// Who was removed or left between the end of the last join phase and the end of this one.
    pub departures: Vec<Departure>,
    /// The end of the join phase.
    pub join_end_ms: i64,
    /// By the broker; `members` has as many entries unless somebody died in between.
    pub member_count: usize,
    /// The leader's SyncGroup. Without it the generation has no record.
    pub assignment_ms: Option<i64>,
    /// Member id of the leader.
    pub leader: Option<String>,
    pub leader_url: Option<String>,
    /// `default`, `compatible` or `sessioned`.
    pub protocol: Option<String>,
    pub members: Vec<TruthMember>,
    /// What the leader took into account; absent in the eager protocol.
    pub leader_view: Option<LeaderView>,
}

/// A member of a generation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TruthMember {
    pub member_id: String,
    /// Name of the process; absent if no log attributes the id.
    pub worker: Option<String>,
    pub worker_url: Option<String>,
    pub joined_ms: Option<i64>,
    /// What the record gives this member, and whether the leader's log or its own says so.
    pub error: Option<i64>,
    pub config_offset: Option<i64>,
    pub delay_ms: Option<i64>,
    pub assigned: Option<Work>,
    pub revoked: Option<Work>,
    /// What it owns once it has applied the assignment; absent if it never did.
    pub owned: Option<Work>,
    pub received_ms: Option<i64>,
    pub applied_ms: Option<i64>,
    /// When the starts that followed were done.
    pub finished_ms: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DepartureWay {
    Left,
    SessionExpired,
    /// Did not rejoin within the rebalance timeout.
    NotRejoined,
    /// Did not ask for its assignment within the rebalance timeout.
    NotSynced,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    pub at_ms: i64,
    /// One member id, or the broker's list of them for the two timeouts of a rebalance.
    pub member_id: String,
    pub worker: Option<String>,
    pub way: DepartureWay,
    pub reason: String,
}

impl TruthGeneration {
    /// The member that ran in a process.
    pub fn member(&self, worker: &str) -> Option<&TruthMember> {
        self.members
            .iter()
            .find(|member| member.worker.as_deref() == Some(worker))
    }

    /// Configured work that no member owns after this generation; absent if the leader's view
    /// or a member's is missing.
    pub fn unassigned(&self) -> Option<Work> {
        let mut owned = Work::default();
        for member in &self.members {
            owned.add(member.owned.as_ref()?);
        }
        Some(self.leader_view.as_ref()?.configured.without(&owned))
    }
}

/// `workers` maps member ids to process names, `urls` those to REST URLs.
pub(super) fn generations(
    events: &[TruthEvent],
    workers: &BTreeMap<String, String>,
    urls: &BTreeMap<String, String>,
) -> Vec<TruthGeneration> {
    let mut generations = from_broker(events);
    for event in events {
        let Some(number) = generation_of(&event.what) else {
            continue;
        };
        // A number repeats when the group began anew: then the newest is meant that had ended
        // its join phase by then. The broker logs that end before it answers anybody.
        let known: Vec<usize> = (0..generations.len())
            .filter(|index| generations[*index].generation == number)
            .collect();
        let ended = |index: &&usize| generations[**index].join_end_ms <= event.at_ms;
        if let Some(index) = known.iter().rev().find(ended).or(known.first()) {
            let names = Names { workers, urls };
            apply(&mut generations[*index], event, &names);
        }
    }
    departures(&mut generations, events, workers);
    finish(&mut generations, events);
    for generation in &mut generations {
        generation
            .members
            .sort_by(|a, b| (&a.worker, &a.member_id).cmp(&(&b.worker, &b.member_id)));
    }
    generations
}

/// Member ids to process names, and those to URLs.
struct Names<'a> {
    workers: &'a BTreeMap<String, String>,
    urls: &'a BTreeMap<String, String>,
}

/// Which process had which member id. Since 3.7 an id begins with the worker's host and port.
pub(super) fn workers_of_members(
    events: &[TruthEvent],
    worker_urls: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut workers = BTreeMap::new();
    for event in events {
        match &event.what {
            What::Joined { member_id, .. } => {
                workers.insert(member_id.clone(), event.process.clone());
            }
            What::MemberExpired { member_id }
            | What::PendingExpired { member_id }
            | What::MemberLeft { member_id, .. } => {
                let by_name = worker_urls.iter().find(|(_, url)| {
                    let address = url.trim_start_matches("http://").trim_end_matches('/');
                    member_id.starts_with(&format!("connect-{address}-"))
                });
                if let Some((worker, _)) = by_name {
                    workers
                        .entry(member_id.clone())
                        .or_insert_with(|| worker.clone());
                }
            }
            _ => {}
        }
    }
    workers
}

fn from_broker(events: &[TruthEvent]) -> Vec<TruthGeneration> {
    let mut generations: Vec<TruthGeneration> = Vec::new();
    let mut incarnation = 0;
    let mut prepared: Option<(i64, i64, &str)> = None;
    for event in events {
        match &event.what {
            // Of several lines for one preparation the first says why it began; the others are
            // members that joined while the round before it failed to sync.
            What::Preparing {
                old_generation,
                reason,
            } if prepared.is_none_or(|(old, ..)| old != *old_generation) => {
                prepared = Some((*old_generation, event.at_ms, reason));
            }
            What::Stabilized { generation, .. } | What::GroupEmpty { generation } => {
                let last = generations.last().map(|last| last.generation);
                if last.is_some_and(|last| *generation <= last) {
                    incarnation += 1;
                }
                let from = prepared
                    .take()
                    .filter(|(old, ..)| old + 1 == *generation)
                    .map(|(_, at_ms, reason)| (at_ms, reason.to_owned()));
                generations.push(TruthGeneration {
                    incarnation,
                    generation: *generation,
                    prepared_ms: from.as_ref().map(|(at_ms, _)| *at_ms),
                    reason: from.map(|(_, reason)| reason),
                    departures: Vec::new(),
                    join_end_ms: event.at_ms,
                    member_count: match &event.what {
                        What::Stabilized { members, .. } => *members,
                        _ => 0,
                    },
                    assignment_ms: None,
                    leader: None,
                    leader_url: None,
                    protocol: None,
                    members: Vec::new(),
                    leader_view: None,
                });
            }
            What::AssignmentStored { generation } => {
                let known = generations.last_mut();
                if let Some(known) = known.filter(|known| known.generation == *generation) {
                    known.assignment_ms = Some(event.at_ms);
                }
            }
            _ => {}
        }
    }
    generations
}

/// Who is missing in a generation, and how it went.
///
/// The Scala coordinator logs some departures only after the join phase that they complete,
/// so the member's last generation decides, and the clock only where no log knows the member.
fn departures(
    generations: &mut [TruthGeneration],
    events: &[TruthEvent],
    workers: &BTreeMap<String, String>,
) {
    for event in events {
        let Some(departure) = departure(event.at_ms, &event.what, workers) else {
            continue;
        };
        let last = generations.iter().rposition(|generation| {
            let mut members = generation.members.iter();
            members.any(|member| member.member_id == departure.member_id)
        });
        let index = match last {
            Some(last) => last + 1,
            None => generations
                .iter()
                .position(|generation| generation.join_end_ms >= departure.at_ms)
                .unwrap_or(generations.len()),
        };
        // What follows the newest generation belongs to one that is not there yet.
        if let Some(generation) = generations.get_mut(index) {
            generation.departures.push(departure);
        }
    }
}

fn departure(at_ms: i64, what: &What, workers: &BTreeMap<String, String>) -> Option<Departure> {
    let (member_id, way, reason) = match what {
        What::MemberLeft { member_id, reason } => (member_id, DepartureWay::Left, reason.as_str()),
        What::MemberExpired { member_id } => (member_id, DepartureWay::SessionExpired, ""),
        What::NotRejoined { member_ids } => (member_ids, DepartureWay::NotRejoined, ""),
        What::NotSynced { member_ids } => (member_ids, DepartureWay::NotSynced, ""),
        _ => return None,
    };
    Some(Departure {
        at_ms,
        member_id: member_id.clone(),
        worker: workers.get(member_id).cloned(),
        way,
        reason: reason.to_owned(),
    })
}

fn generation_of(what: &What) -> Option<i64> {
    match what {
        What::Joined { generation, .. }
        | What::LeaderAssigned { generation, .. }
        | What::Received { generation, .. }
        | What::Applied { generation, .. } => Some(*generation),
        _ => None,
    }
}

fn apply(generation: &mut TruthGeneration, event: &TruthEvent, known: &Names<'_>) {
    match &event.what {
        What::Joined {
            member_id,
            leader,
            protocol,
            members,
            ..
        } => {
            for other in members {
                member(generation, other, known);
            }
            member(generation, member_id, known).joined_ms = Some(event.at_ms);
            generation.leader = Some(leader.clone());
            generation.protocol = Some(protocol.clone());
        }
        // A SyncGroup that came too late to count told nobody anything.
        What::LeaderAssigned {
            assignments, view, ..
        } if generation.assignment_ms.is_some() => {
            for (id, assignment) in assignments {
                tell(member(generation, id, known), assignment);
            }
            generation.leader_view = Some(view.clone());
        }
        What::Received { assignment, .. } => {
            generation.leader_url = Some(assignment.leader_url.clone());
            if let Some(own) = newest(generation, &event.process) {
                tell(own, assignment);
                own.received_ms = Some(event.at_ms);
            }
        }
        What::Applied { assignment, .. } => {
            if let Some(own) = newest(generation, &event.process) {
                own.owned = Some(assignment.assigned.clone());
                own.applied_ms = Some(event.at_ms);
            }
        }
        _ => {}
    }
}

/// The member of that id, added if it was not known yet.
fn member<'a>(
    generation: &'a mut TruthGeneration,
    id: &str,
    known: &Names<'_>,
) -> &'a mut TruthMember {
    let members = &mut generation.members;
    let index = members.iter().position(|member| member.member_id == id);
    let index = index.unwrap_or_else(|| {
        let worker = known.workers.get(id);
        members.push(TruthMember {
            member_id: id.to_owned(),
            worker: worker.cloned(),
            worker_url: worker.and_then(|worker| known.urls.get(worker).cloned()),
            ..TruthMember::default()
        });
        members.len() - 1
    });
    &mut members[index]
}

/// The member that the process is by now: killed and back within one generation, it is two.
fn newest<'a>(generation: &'a mut TruthGeneration, worker: &str) -> Option<&'a mut TruthMember> {
    generation
        .members
        .iter_mut()
        .filter(|member| member.worker.as_deref() == Some(worker) && member.joined_ms.is_some())
        .max_by_key(|member| member.joined_ms)
}

fn tell(member: &mut TruthMember, assignment: &Assignment) {
    member.error = Some(assignment.error);
    member.config_offset = Some(assignment.config_offset);
    member.delay_ms = Some(assignment.delay_ms);
    member.assigned = Some(assignment.assigned.clone());
    member.revoked = Some(assignment.revoked.clone());
}

/// "Finished starting" names no generation: it belongs to what its worker applied last.
fn finish(generations: &mut [TruthGeneration], events: &[TruthEvent]) {
    for event in events {
        if event.what != What::WorkFinished {
            continue;
        }
        let applied = generations
            .iter_mut()
            .flat_map(|generation| &mut generation.members)
            .filter(|member| member.worker.as_deref() == Some(&event.process))
            .filter(|member| member.applied_ms.is_some_and(|at_ms| at_ms <= event.at_ms))
            .max_by_key(|member| member.applied_ms);
        if let Some(member) = applied {
            member.finished_ms.get_or_insert(event.at_ms);
        }
    }
}
