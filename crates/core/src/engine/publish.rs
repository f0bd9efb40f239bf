//! Turns the engine's state into what may be shown.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::answers::{
    Answers, ConfiguredAnswer, ConnectorAnswer, DeadlineAnswer, DelayReason, GroupAnswer,
    GroupState, InputAnswer, ItemAnswer, MemberAnswer, Mode, RoundAnswer, RoundMember,
    UnassignedAnswer, UnassignedReason,
};
use crate::engine::{State, findings};
use crate::facts::ids::{Kind, Names, WorkItem};
use crate::facts::input::{Topic, Trouble};
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::limits::FRESH_MS_MAX;
use crate::story::rounds::Round;
use crate::view::unassigned::Evidence;

/// All that may be shown of this state.
pub(super) fn answers(state: &State) -> Answers {
    let config_known = is_current(state, Topic::Config);
    let unassigned = if config_known {
        unassigned(state)
    } else {
        Vec::new()
    };
    Answers {
        settings: state.settings.clone(),
        now: state.clock.event,
        arrived: state.clock.arrived,
        inputs: Topic::ALL
            .into_iter()
            .map(|topic| input(state, topic))
            .collect(),
        mode: mode(state),
        fresh: is_fresh(state),
        whole_since: state.group.history_from.or(state.clock.watched_since),
        group: group(state),
        configured: config_known.then(|| configured(state)),
        deadline: deadline(state, &unassigned),
        unassigned,
        rounds: state
            .rounds
            .shown()
            .map(|r| round(&state.names, r))
            .collect(),
        recent: state
            .clock
            .event
            .map(|now| state.recent.answer(now))
            .unwrap_or_default(),
        counters: state.counters.clone(),
        findings: findings::standing(state),
    }
}

/// One round, as it is shown.
pub(super) fn round(names: &Names, round: &Round) -> RoundAnswer {
    let record = round.record.as_deref();
    RoundAnswer {
        incarnation: round.incarnation,
        generation: round.generation,
        recorded: record.map(|record| record.recorded),
        join_ended: record.and_then(|record| record.join_ended),
        sync_ms: record.and_then(|r| r.join_ended.map(|joined| r.recorded.since_ms(joined))),
        outcome: round.outcome.map(|(outcome, _)| outcome),
        settled_by: round.outcome.map(|(_, rule)| rule.label()),
        protocol: record.and_then(|record| record.protocol),
        leader: record
            .and_then(|r| r.leader_member())
            .map(|leader| Arc::clone(&leader.worker)),
        delay_ms: record.map_or(0, |record| record.delay_ms),
        members: record
            .map(|record| {
                let shared = shared_workers(record);
                let told = |member: &Arc<Member>| round_member(names, &shared, member);
                let mut members: Vec<RoundMember> = record.members.iter().map(told).collect();
                members.sort_by(|left, right| left.worker.cmp(&right.worker));
                members
            })
            .unwrap_or_default(),
    }
}

fn round_member(names: &Names, shared: &BTreeSet<&str>, member: &Member) -> RoundMember {
    let count = |kind| {
        let items = member
            .told
            .iter()
            .filter(|item| item.kind() == kind)
            .count();
        u32::try_from(items).unwrap_or(u32::MAX)
    };
    RoundMember {
        worker: worker_label(shared, member),
        assigned: items(names, &member.assigned),
        revoked: items(names, &member.revoked),
        owned: (count(Kind::Connector), count(Kind::Task)),
    }
}

/// Workers that several members of a record advertise.
fn shared_workers(record: &GroupSnapshot) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    let workers = record.members.iter().map(|member| &*member.worker);
    workers.filter(|worker| !seen.insert(*worker)).collect()
}

/// The label `worker`: members that share a URL are told apart by their client host.
fn worker_label(shared: &BTreeSet<&str>, member: &Member) -> Arc<str> {
    if shared.contains(&*member.worker) && member.worker != member.client_host {
        Arc::from(format!("{}@{}", member.worker, member.client_host))
    } else {
        Arc::clone(&member.worker)
    }
}

fn item(names: &Names, item: WorkItem) -> ItemAnswer {
    ItemAnswer {
        connector: names.name(item.connector),
        task: (item.kind() == Kind::Task).then_some(item.task),
    }
}

fn items(names: &Names, list: &[WorkItem]) -> Vec<ItemAnswer> {
    let mut shown: Vec<ItemAnswer> = list.iter().map(|i| item(names, *i)).collect();
    shown.sort();
    shown
}

fn input(state: &State, topic: Topic) -> InputAnswer {
    let progress = state.progress.of(topic);
    let tally = state.tallies.of(topic);
    InputAnswer {
        topic,
        caught_up: progress.confirmed().is_some(),
        lag_records: progress.lag_records(),
        confirmed: progress.confirmed(),
        trouble: progress.trouble(),
        records: tally.records,
        decode_errors: tally.decode_errors.clone(),
        unknown: tally.unknown.clone(),
    }
}

/// Whether a topic was confirmed current a short while ago.
fn is_current(state: &State, topic: Topic) -> bool {
    match (state.clock.arrived, state.progress.of(topic).confirmed()) {
        (Some(now), Some(confirmed)) => now.since_ms(confirmed) <= FRESH_MS_MAX,
        _ => false,
    }
}

/// The group's answers are true now if its records are current, and so is each other
/// topic that can be read at all.
fn is_fresh(state: &State) -> bool {
    is_current(state, Topic::Offsets)
        && [Topic::Config, Topic::Status]
            .into_iter()
            .all(|topic| is_current(state, topic) || state.progress.of(topic).is_beyond_reach())
}

fn mode(state: &State) -> Mode {
    let trouble = |topic| state.progress.of(topic).trouble();
    let seen = |topic| trouble(topic).is_none() && state.progress.of(topic).confirmed().is_some();
    if trouble(Topic::Offsets).is_none() && seen(Topic::Offsets) {
        Mode::Full
    } else if matches!(
        trouble(Topic::Offsets),
        Some(Trouble::Denied | Trouble::Missing)
    ) && (seen(Topic::Config) || seen(Topic::Status))
    {
        Mode::NoOffsetsTopic
    } else {
        Mode::Blind
    }
}

fn group(state: &State) -> Option<GroupAnswer> {
    let newest = state.group.newest.as_deref()?;
    let group_state = if state.group.deleted.is_some() {
        GroupState::Dead
    } else if newest.members.is_empty() {
        GroupState::Empty
    } else {
        GroupState::Stable
    };
    let alive = group_state == GroupState::Stable;
    let mut members = if alive {
        members(state, newest)
    } else {
        Vec::new()
    };
    members.sort_by(|left, right| left.worker.cmp(&right.worker));
    let leader = newest.leader_member().filter(|_| alive);
    Some(GroupAnswer {
        state: group_state,
        incarnation: state.group.incarnation,
        generation: newest.generation,
        recorded: newest.recorded,
        join_ended: newest.join_ended,
        record_bytes: newest.bytes,
        protocol: newest.protocol.filter(|_| alive),
        protocol_best: state.protocol.best(),
        downgraded: state
            .protocol
            .downgraded()
            .filter(|_| alive)
            .map(<[Arc<str>]>::to_vec),
        leader: leader.map(|leader| worker_label(&shared_workers(newest), leader)),
        leader_url: newest.leader_url.clone().filter(|_| alive),
        members,
    })
}

fn members(state: &State, newest: &GroupSnapshot) -> Vec<MemberAnswer> {
    let names = &state.names;
    let shared = shared_workers(newest);
    let member = |member: &Arc<Member>| MemberAnswer {
        member_id: Arc::clone(&member.id),
        worker: worker_label(&shared, member),
        url: Arc::clone(&member.url),
        client_id: Arc::clone(&member.client_id),
        client_host: Arc::clone(&member.client_host),
        session_timeout_ms: member.session_timeout_ms,
        rebalance_timeout_ms: member.rebalance_timeout_ms,
        config_offset: member.config_offset,
        claims: match member.claim {
            Claim::Unsaid => None,
            Claim::Nothing => Some(false),
            Claim::Items(_) => Some(true),
        },
        owned: items(names, &member.told),
        assigned: items(names, &member.assigned),
        revoked: items(names, &member.revoked),
    };
    newest.members.iter().map(member).collect()
}

fn configured(state: &State) -> ConfiguredAnswer {
    let mut connectors: Vec<ConnectorAnswer> = state
        .configured
        .connectors()
        .map(|now| ConnectorAnswer {
            connector: state.names.name(now.connector),
            tasks: now.tasks,
            target_state: now.target.label(),
            config_hazard: now.tasks_in_order < now.tasks,
        })
        .collect();
    connectors.sort_by(|left, right| left.connector.cmp(&right.connector));
    ConfiguredAnswer {
        config_offset: state.configured.next_offset(),
        connectors,
    }
}

fn unassigned(state: &State) -> Vec<UnassignedAnswer> {
    let statuses = is_current(state, Topic::Status).then_some(&state.statuses);
    let mut shown: Vec<UnassignedAnswer> = state
        .ownership
        .unassigned(Evidence {
            configured: &state.configured,
            statuses,
            newest: state.group.newest.as_deref(),
            seen_from: state.group.seen_from,
        })
        .into_iter()
        .map(|unassigned| UnassignedAnswer {
            item: item(&state.names, unassigned.item),
            reason: unassigned.reason,
            since: unassigned.since,
            last_owner: unassigned.last_owner,
        })
        .collect();
    shown.sort_by(|left, right| left.item.cmp(&right.item));
    shown
}

/// D5: record time plus delay. A later departure inherits the window that is running:
/// its record carries the remainder.
fn deadline(state: &State, unassigned: &[UnassignedAnswer]) -> Option<DeadlineAnswer> {
    let newest = state
        .group
        .newest
        .as_deref()
        .filter(|_| state.group.deleted.is_none())?;
    if newest.delay_ms <= 0 {
        return None;
    }
    let waits = |reason: UnassignedReason| {
        matches!(reason, UnassignedReason::Lost | UnassignedReason::Dropped)
    };
    // Where the config topic cannot be read, what left its owner is the best that is known.
    let parked = if is_current(state, Topic::Config) {
        unassigned.iter().any(|unassigned| waits(unassigned.reason))
    } else {
        state
            .ownership
            .all_left()
            .any(|(_, left)| waits(left.reason))
    };
    let reason = if parked {
        DelayReason::Lost
    } else if state.group.revoked_before {
        DelayReason::RevocationBackoff
    } else {
        DelayReason::Leftover
    };
    Some(DeadlineAnswer {
        at: newest.recorded.plus_ms(i64::from(newest.delay_ms)),
        reason,
        delay_ms: newest.delay_ms,
    })
}
