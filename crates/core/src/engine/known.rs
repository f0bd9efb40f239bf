//! From the engine's state to what the checks compare: what the group's records say, what
//! was measured in them, and the settings of the worker beside the agent.
//!
//! What is not certain stays unknown:
//! 1. A delay is the leader's own only where a member is missing that was in the generation
//!    before, the same member led both, and no delay was running: a new leader's first round
//!    has none, and a later one is what is left.
//! 2. That a leader has no delay shows only where, so, lost work was handed out at once.
//! 3. Two members share an address only once both were in the group for longer than a dead
//!    one could be.
//! 4. Restarts count once some were measured: the clock that one was measured with may have
//!    been wrong. One that is only known to be no shorter can be too long for a delay, and
//!    never too short.

mod cluster;
mod held;
mod measured;
mod members;
mod producers;
mod records;

use super::State;
use super::polls::Sight;
use super::publish::worker_label;
use crate::answers::GroupState;
use crate::checks::known::{Given, Known, Unknown};
use crate::checks::releases::Release;
use crate::checks::source::{Source, Value};
use crate::facts::cluster::Cluster;
use crate::view::own;
use measured::measured;
use members::Members;
use records::{leader_delays, records, worker_count};

const SESSION: &str = "session.timeout.ms";
const REBALANCE: &str = "rebalance.timeout.ms";
const DELAY: &str = "scheduled.rebalance.max.delay.ms";

/// What is known of a running group.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Watched {
    /// What every agent of the group knows.
    pub(super) group: Known,
    /// The same of the worker beside this agent, with its own settings.
    pub(super) own: Option<Known>,
    /// Workers that are as many others that are there.
    pub(super) left_out: u64,
    /// What brokers did not say for want of a right.
    pub(super) rights_missing: Vec<String>,
}

/// What is known without the group's records.
pub(super) fn unwatched(state: &State) -> Known {
    Known {
        group: Some(Value::new(state.settings.group.clone(), Source::Said)),
        broker: cluster::broker(&state.settings, state.cluster.as_ref()),
        ..Known::default()
    }
}

/// What is known by the group's records.
pub(super) fn watched(state: &State, sight: &Sight<'_>) -> Watched {
    let alive = sight.state == GroupState::Stable;
    let newest = sight.newest.filter(|_| alive).map(|newest| &**newest);
    let release = state.settings.worker_release.as_deref();
    let release = release.and_then(|release| release.parse::<Release>().ok());
    let release = release.map(|release| Value::new(release, Source::Said));
    let delays = leader_delays(state);
    let of_leader = newest.and_then(|newest| {
        let leader = newest.leader.as_deref()?;
        let led = delays.iter().rev().find(|led| &*led.member == leader)?;
        Some((leader, led.delay.clone()))
    });
    let mut group = Known {
        group: Some(Value::new(state.settings.group.clone(), Source::Said)),
        records: records(state, sight, newest, delays),
        broker: cluster::broker(&state.settings, state.cluster.as_ref()),
        ..Known::default()
    };
    let mut left_out = 0;
    let mut beside = None;
    if let Some(newest) = newest {
        let members = Members::of(state, newest);
        (group.workers, left_out) = members.chosen(|member| {
            let mut worker = members.worker(member);
            worker.release.clone_from(&release);
            if let Some((leader, delay)) = &of_leader
                && *leader == &*member.id
            {
                worker.told.insert(DELAY.to_owned(), delay.clone());
            }
            worker
        });
        group.producers = producers::producers(state);
        group.worker_count = Some(worker_count(state));
        let mut hosts: Vec<&str> = newest.members.iter().map(|m| &*m.client_host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        group.hosts = Some(count(hosts.len(), 1));
        beside = own::member(&state.settings, newest)
            .map(|member| worker_label(&members.shared, member));
    }
    group.measured = measured(state, &group);
    let own = beside.and_then(|name| own_known(state, &group, &name));
    let rights = state.cluster.iter().flat_map(Cluster::rights_missing);
    Watched {
        group,
        own,
        left_out,
        rights_missing: rights
            .map(|(right, on)| format!("{right} on {on}"))
            .collect(),
    }
}

/// The worker beside the agent, with what its file says; of that the values alone are known
/// that are clocks.
fn own_known(state: &State, group: &Known, name: &str) -> Option<Known> {
    let settings = &state.settings.worker_settings;
    if settings.is_empty() {
        return None;
    }
    let mut worker = group
        .workers
        .iter()
        .find(|worker| worker.name == name)?
        .clone();
    for setting in settings {
        let text = match setting.value.as_str() {
            "" => Err(Unknown::Untold),
            text => Ok(text.to_owned()),
        };
        let source = place(&setting.source);
        let given = Given {
            text,
            source,
            variable: None,
        };
        worker.settings.insert(setting.name.clone(), given);
    }
    let mut own = Known {
        workers: vec![worker],
        ..group.clone()
    };
    own.measured = measured(state, &own);
    // Work is stopped eight pieces at a time: that one of them took longer than each is given
    // does not show that it was given up.
    own.measured.stop_ms = None;
    Some(own)
}

/// `file:line`, or a variable.
fn place(source: &str) -> Source {
    let line = source.rsplit_once(':').and_then(|(file, line)| {
        let line = line.parse().ok()?;
        Some((file.to_owned(), line))
    });
    match line {
        Some((file, line)) => Source::File {
            file,
            line: Some(line),
        },
        None => Source::Variable {
            name: source.to_owned(),
        },
    }
}

fn count(count: usize, generations: usize) -> Value<i64> {
    let generations = u64::try_from(generations).unwrap_or(u64::MAX);
    Value::new(
        i64::try_from(count).unwrap_or(i64::MAX),
        Source::Counted { generations },
    )
}
