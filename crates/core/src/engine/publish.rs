//! Turns the engine's state into what may be shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::answers::{
    Answers, ConfiguredAnswer, ConnectorAnswer, DepartureHow, DownReason, EpisodesAnswer,
    GroupAnswer, GroupState, InputAnswer, ItemAnswer, MemberAnswer, Mode, OwnWorker, PollsAnswer,
    RoundAnswer, RoundMember, SkewAnswer,
};
use crate::engine::polls::Sight;
use crate::engine::{State, balance, checked, disagreements, findings, patterns, states, unowned};
use crate::facts::ids::{Kind, Names, WorkItem};
use crate::facts::input::Topic;
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::facts::poll::PolledState;
use crate::story::episodes::Episode;
use crate::story::findings::Kind as Finding;
use crate::story::rounds::Round;
use crate::story::skew::Skew;
use crate::view::own;

/// All that may be shown of this state.
pub(super) fn answers(state: &State) -> Answers {
    let mode = state.mode();
    let sight = state.sight();
    let unowned = sight.as_ref().and_then(|sight| unowned::of(state, sight));
    let deadline = sight
        .as_ref()
        .and_then(|sight| unowned::deadline(sight, unowned.as_deref()));
    let states = states::answer(state, sight.as_ref(), unowned.as_deref());
    let by_records = sight.as_ref().is_some_and(|sight| sight.by_records);
    let needs = |topic| needs(state, mode, topic);
    let now = state.clock.now();
    Answers {
        settings: state.settings.clone(),
        now: if by_records {
            now
        } else {
            state.clock.arrived.map(|now| now.as_event(0))
        },
        arrived: state.clock.arrived,
        inputs: Topic::ALL
            .into_iter()
            .map(|topic| input(state, topic, needs(topic)))
            .collect(),
        polls: PollsAnswer {
            confirmed: if mode == Mode::NoOffsetsTopic {
                state.polled.members_known()
            } else {
                state.polled.confirmed()
            },
            trouble: state.polled.trouble(),
            needed: mode == Mode::NoOffsetsTopic,
        },
        mode,
        fresh: is_fresh(state, mode),
        whole_since: if by_records {
            state.group.history_from.or(state.clock.watched_since)
        } else {
            None
        },
        group: sight.as_ref().and_then(|sight| group(state, sight)),
        state: live_state(state, sight.as_ref()),
        own: sight.as_ref().and_then(|sight| own(state, sight)),
        configured: state.is_current(Topic::Config).then(|| configured(state)),
        deadline,
        unassigned: unowned.map(|unowned| unowned::shown(&state.names, unowned)),
        rounds: state
            .rounds
            .shown()
            .map(|r| round(&state.names, r))
            .collect(),
        recent: now
            .filter(|_| by_records)
            .map(|now| state.recent.answer(now))
            .unwrap_or_default(),
        episodes: by_records.then(|| episodes(state)),
        unavailable: unavailable(state),
        moves_unsettled: state.story.needs.unsettled(),
        states,
        disagreements: (by_records && can_compare(state)).then(|| disagreements::answer(state)),
        pattern: patterns::answer(state, by_records),
        balance: balance::answer(state, sight.as_ref()),
        habits: by_records.then(|| state.story.habits.answer(&state.names)),
        checks: checked::answer(state, sight.as_ref()),
        counters: state.counters.clone(),
        findings: findings::standing(state, sight.as_ref()),
    }
}

fn episodes(state: &State) -> EpisodesAnswer {
    let story = &state.story;
    let mut departed: BTreeMap<Option<DepartureHow>, u64> = BTreeMap::new();
    for departure in story.departures.recent() {
        let how = departure.settled.then_some(departure.how);
        let count = departed.entry(how).or_default();
        *count = count.saturating_add(1);
    }
    let skew = |(worker, skew): (&Arc<str>, Skew)| SkewAnswer {
        worker: Arc::clone(worker),
        ms: skew.ms(),
        between_ms: (skew.least_ms, skew.most_ms),
    };
    let now = state.clock.now();
    EpisodesAnswer {
        open: story
            .episodes
            .open()
            .map(|open| Arc::new(open.answer(None, now))),
        active_since: story.episodes.open().and_then(Episode::active_since),
        closed: story.episodes.closed().cloned().collect(),
        departed: departed.into_iter().collect(),
        skews: story.skews.all().map(skew).collect(),
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
pub(super) fn shared_workers(record: &GroupSnapshot) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    let workers = record.members.iter().map(|member| &*member.worker);
    workers.filter(|worker| !seen.insert(*worker)).collect()
}

/// The label `worker`: members that share a URL are told apart by their client host.
pub(super) fn worker_label(shared: &BTreeSet<&str>, member: &Member) -> Arc<str> {
    member.label(shared.contains(&*member.worker))
}

pub(super) fn item(names: &Names, item: WorkItem) -> ItemAnswer {
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

fn input(state: &State, topic: Topic, needed: bool) -> InputAnswer {
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
        needed,
    }
}

/// Whether answers in this mode rest on a topic. One that may not be read, or is not
/// there, is done without until somebody changes that.
fn needs(state: &State, mode: Mode, topic: Topic) -> bool {
    match topic {
        Topic::Offsets => !matches!(mode, Mode::NoOffsetsTopic | Mode::TopicsOnly),
        Topic::Config | Topic::Status => !state.progress.of(topic).is_beyond_reach(),
    }
}

fn is_fresh(state: &State, mode: Mode) -> bool {
    mode != Mode::Blind
        && Topic::ALL
            .into_iter()
            .all(|topic| state.is_current(topic) || !needs(state, mode, topic))
}

/// The state at this moment: by the newest answer of the coordinator where that shows a
/// rebalance, else as the newest record left it.
fn live_state(state: &State, sight: Option<&Sight<'_>>) -> Option<GroupState> {
    // What is polled of a group of another type is not Connect's.
    let is_ours = state.polls_current() && !state.findings.stands(Finding::ForeignGroup);
    match state.polled.state().filter(|_| is_ours) {
        Some(PolledState::PreparingRebalance) => Some(GroupState::PreparingRebalance),
        Some(PolledState::CompletingRebalance) => Some(GroupState::CompletingRebalance),
        _ => sight.map(|sight| sight.state),
    }
}

fn own(state: &State, sight: &Sight<'_>) -> Option<OwnWorker> {
    let newest = sight.newest.filter(|_| sight.state == GroupState::Stable)?;
    let member = own::member(&state.settings, newest)?;
    Some(OwnWorker {
        worker: worker_label(&shared_workers(newest), member),
        role: own::role(newest, member),
    })
}

fn group(state: &State, sight: &Sight<'_>) -> Option<GroupAnswer> {
    let newest = sight.newest?;
    let alive = sight.state == GroupState::Stable;
    let mut members = if alive {
        members(state, newest, sight.by_records)
    } else {
        Vec::new()
    };
    members.sort_by(|left, right| left.worker.cmp(&right.worker));
    let leader = newest.leader_member().filter(|_| alive);
    let record = Some(newest).filter(|_| sight.by_records);
    Some(GroupAnswer {
        state: sight.state,
        incarnation: state.group.incarnation,
        generation: match record {
            Some(record) => Some(record.generation),
            None => {
                let workers = newest.members.iter().map(|member| &*member.worker);
                let workers: Vec<&str> = workers.collect();
                state.statuses.generation_at_least(&workers)
            }
        },
        recorded: record.map(|record| record.recorded),
        join_ended: record.and_then(|record| record.join_ended),
        record_bytes: record.map(|record| record.bytes),
        protocol: newest.protocol.filter(|_| alive),
        protocol_best: sight.protocol.best(),
        downgraded: sight
            .protocol
            .downgraded()
            .filter(|_| alive)
            .map(<[Arc<str>]>::to_vec),
        leader: leader.map(|leader| worker_label(&shared_workers(newest), leader)),
        leader_url: newest.leader_url.clone().filter(|_| alive),
        members,
    })
}

fn members(state: &State, newest: &GroupSnapshot, by_records: bool) -> Vec<MemberAnswer> {
    let names = &state.names;
    let shared = shared_workers(newest);
    let member = |member: &Arc<Member>| MemberAnswer {
        member_id: Arc::clone(&member.id),
        worker: worker_label(&shared, member),
        url: Arc::clone(&member.url),
        client_id: Arc::clone(&member.client_id),
        client_host: Arc::clone(&member.client_host),
        session_timeout_ms: by_records.then_some(member.session_timeout_ms),
        rebalance_timeout_ms: by_records.then_some(member.rebalance_timeout_ms),
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

/// Whether status topic and group can be held against each other: what is not looked for is
/// absent, not zero.
pub(super) fn can_compare(state: &State) -> bool {
    let topics = [Topic::Config, Topic::Status];
    let is_hidden = |topic| state.progress.of(topic).is_beyond_reach();
    !topics.into_iter().any(is_hidden)
}

/// Configured tasks that do not run now; where it is hidden what is configured, all that did.
fn unavailable(state: &State) -> BTreeMap<(Arc<str>, DownReason), u64> {
    let hidden = state.progress.of(Topic::Config).is_beyond_reach();
    let configured = |item| hidden || state.configured.contains(item);
    let down = state.story.downtimes.unavailable(configured);
    let named = down.into_iter();
    named
        .map(|((connector, reason), count)| ((state.names.name(connector), reason), count))
        .collect()
}
