//! Findings that the state itself shows, and those that records raised.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::answers::{FindingAnswer, GroupState, UnassignedReason};
use crate::engine::State;
use crate::engine::polls::Sight;
use crate::facts::input::Topic;
use crate::facts::observation::{GroupSnapshot, RunState, SinkGroup};
use crate::facts::time::EventTime;
use crate::limits::FINDINGS_MAX;
use crate::story::findings::Kind;

/// Everything that stands now, by kind and subject, at most `FINDINGS_MAX`.
pub(super) fn standing(state: &State, sight: Option<&Sight<'_>>) -> Vec<FindingAnswer> {
    let mut found: Vec<FindingAnswer> = state
        .findings
        .standing()
        .map(|(kind, subject, finding)| FindingAnswer {
            finding: kind.label(),
            subject: subject.to_owned(),
            text: finding.text.clone(),
            since: finding.since,
        })
        .collect();
    group_absent(state, &mut found);
    config_partitions(state, &mut found);
    config_beyond_end(state, &mut found);
    config_hazards(state, &mut found);
    tasks_beyond_limit(state, &mut found);
    group_id_shared(state, &mut found);
    if let Some(sight) = sight {
        deleted_unaccounted(state, sight, &mut found);
    }
    let alive = sight.filter(|sight| sight.state != GroupState::Dead);
    if let Some(newest) = alive.and_then(|sight| sight.newest) {
        urls(newest, &mut found);
        shared_workers(newest, &mut found);
        leader_url(newest, &mut found);
    }
    found
        .sort_by(|left, right| (left.finding, &left.subject).cmp(&(right.finding, &right.subject)));
    // Several members may be wrong in the same way: one finding, one series.
    found.dedup_by(|again, first| {
        (again.finding, &again.subject) == (first.finding, &first.subject)
    });
    found.truncate(FINDINGS_MAX);
    found
}

fn add(
    found: &mut Vec<FindingAnswer>,
    kind: Kind,
    subject: impl Into<String>,
    since: Option<EventTime>,
    text: String,
) {
    found.push(FindingAnswer {
        finding: kind.label(),
        subject: subject.into(),
        text,
        since,
    });
}

fn group_absent(state: &State, found: &mut Vec<FindingAnswer>) {
    let read = state.progress.of(Topic::Offsets).confirmed().is_some();
    let foreign = state.findings.stands(Kind::ForeignGroup);
    if read && state.group.newest.is_none() && !foreign {
        let text = "no record of this group exists: it never had a member, was deleted long ago, or \
                    its group.id is another";
        add(
            found,
            Kind::GroupAbsent,
            state.settings.group.clone(),
            None,
            text.to_owned(),
        );
    }
}

fn config_partitions(state: &State, found: &mut Vec<FindingAnswer>) {
    let partitions = state.settings.config_partitions;
    if partitions > 1 {
        let text = format!(
            "the config topic has {partitions} partitions; with more than 1, workers compare \
             offsets of different partitions and rebalance for ever (KAFKA-9216)"
        );
        add(
            found,
            Kind::ConfigPartitions,
            state.settings.config_topic.clone(),
            None,
            text,
        );
    }
}

/// The group names a config offset, and the config topic, read up to the end it had when
/// asked after that record, does not reach it: another cluster's topic, more than one
/// partition, or a topic created anew.
fn config_beyond_end(state: &State, found: &mut Vec<FindingAnswer>) {
    let (Some(newest), Some((named, arrived))) = (&state.group.newest, state.group.config_ahead)
    else {
        return;
    };
    let progress = state.progress.of(Topic::Config);
    let read = progress.next_max();
    if progress
        .confirmed()
        .is_some_and(|confirmed| confirmed >= arrived)
        && named > read
    {
        let text = format!(
            "the group works with config offset {named}, but this topic ends at {read}: \
             it is another cluster's topic, was created anew, or has several partitions"
        );
        add(
            found,
            Kind::ConfigOffsetBeyondEnd,
            state.settings.config_topic.clone(),
            Some(newest.recorded),
            text,
        );
    }
}

fn config_hazards(state: &State, found: &mut Vec<FindingAnswer>) {
    for now in state
        .configured
        .connectors()
        .filter(|now| now.tasks_in_order < now.tasks)
    {
        let text = format!(
            "{} tasks are configured, but a worker that starts now sees {}: their records lie \
             before the connector's own, or are incomplete (KAFKA-17719)",
            now.tasks, now.tasks_in_order
        );
        let name = state.names.name(now.connector).to_string();
        add(found, Kind::ConfigHazard, name, None, text);
    }
}

fn tasks_beyond_limit(state: &State, found: &mut Vec<FindingAnswer>) {
    for now in state.configured.connectors().filter(|now| now.left_out > 0) {
        let text = format!(
            "its commit names {} tasks more than are taken as configured",
            now.left_out
        );
        let name = state.names.name(now.connector).to_string();
        add(found, Kind::TasksBeyondLimit, name, None, text);
    }
}

/// Sink connectors whose consumers would join the workers' own group. The coordinator
/// refuses whoever comes second (`INCONSISTENT_GROUP_PROTOCOL`). Connect itself refuses
/// only the plain name, and only in the cluster of that group.
fn group_id_shared(state: &State, found: &mut Vec<FindingAnswer>) {
    let group = state.settings.group.as_str();
    for (connector, its_group) in state.configured.sinks() {
        let is_shared = match its_group {
            SinkGroup::Named(its_group) => **its_group == *group,
            SinkGroup::ByName => group
                .strip_prefix("connect-")
                .is_some_and(|name| *name == *state.names.name(connector)),
        };
        if !is_shared {
            continue;
        }
        let text = "its consumers use the group.id of the workers: whoever joins second is \
                    refused; give the connector another consumer.override.group.id"
            .to_owned();
        let name = state.names.name(connector).to_string();
        add(found, Kind::GroupIdShared, name, None, text);
    }
}

/// Work of a deleted connector whose last owner left the group without a sign that it
/// stopped.
fn deleted_unaccounted(state: &State, sight: &Sight<'_>, found: &mut Vec<FindingAnswer>) {
    if state.progress.of(Topic::Config).confirmed().is_none() {
        return;
    }
    for (item, left) in sight.ownership.all_left() {
        if left.reason != UnassignedReason::Lost || state.configured.contains(item) {
            continue;
        }
        let Some(owner) = &left.last_owner else {
            continue;
        };
        let may_run = state.statuses.get(item).is_some_and(|status| {
            status.worker == *owner
                && matches!(
                    status.state,
                    RunState::Running | RunState::Paused | RunState::Restarting
                )
        });
        if may_run {
            let text = format!(
                "no longer configured; its last owner {owner} left the group and never said that \
                 it stopped: it may still run there"
            );
            let subject = state.names.item(item);
            add(
                found,
                Kind::DeletedWorkUnaccounted,
                subject,
                Some(left.since),
                text,
            );
        }
    }
}

fn urls(newest: &GroupSnapshot, found: &mut Vec<FindingAnswer>) {
    for member in &newest.members {
        if !is_url(&member.url) {
            let text = format!(
                "advertises {:?}, which is no URL that other workers can use \
                 (rest.advertised.host.name)",
                &*member.url
            );
            add(
                found,
                Kind::UrlInvalid,
                member.worker.to_string(),
                Some(newest.recorded),
                text,
            );
        }
    }
}

/// Whether this can be the URL of a worker: a scheme, one host, a port.
fn is_url(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    let authority = rest
        .split_once('/')
        .map_or(rest, |(authority, _)| authority);
    let Some((host, port)) = authority.rsplit_once(':') else {
        return false;
    };
    let bare_v6 = host.contains(':') && !(host.starts_with('[') && host.ends_with(']'));
    matches!(scheme, "http" | "https")
        && !host.is_empty()
        && host != "null"
        && !host.contains(char::is_whitespace)
        && !bare_v6
        && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn shared_workers(newest: &GroupSnapshot, found: &mut Vec<FindingAnswer>) {
    let mut members: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
    for member in &newest.members {
        *members.entry(&member.worker).or_default() += 1;
    }
    for (worker, count) in members.into_iter().filter(|(_, count)| *count > 1) {
        let text = format!(
            "{count} members advertise this worker (rest.advertised.host.name and port): their \
             statuses cannot be told apart, so verdicts about single workers are off"
        );
        add(
            found,
            Kind::SharedWorker,
            worker.to_string(),
            Some(newest.recorded),
            text,
        );
    }
}

fn leader_url(newest: &GroupSnapshot, found: &mut Vec<FindingAnswer>) {
    let Some(url) = &newest.leader_url else {
        return;
    };
    if !newest.members.is_empty() && !newest.members.iter().any(|member| member.url == *url) {
        let text = "the assignments name a leader URL that no member advertises; workers forward \
                    requests to it in vain"
            .to_owned();
        add(
            found,
            Kind::LeaderUrlUnknown,
            url.to_string(),
            Some(newest.recorded),
            text,
        );
    }
}
