//! The settings input: what is watched, put together from what the three readers find.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{InputKind, Settings, Topic};
use evenkeel_core::facts::partition::group_partition;

use super::ReadSettings;
use super::emit::{Emitter, Stopped};

/// How long the first reader waits for the others, so that one settings input says
/// all. A topic that is missing or hidden must not hold up the rest for longer.
const FIRST_WAIT: Duration = Duration::from_secs(3);

/// The partition when the offsets topic is not known yet.
const NO_PARTITION: i32 = -1;

/// What the three readers found so far.
#[derive(Debug)]
pub(super) struct Watched {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    settings: Settings,
    reported: [bool; 3],
    /// The settings as last handed on.
    told: Option<Settings>,
    first_report: Option<Instant>,
}

// === impl Watched ===

impl Watched {
    pub(super) fn new(settings: &ReadSettings) -> Self {
        let settings = Settings {
            cluster_id: None,
            group: settings.group.clone(),
            offsets_topic: settings.offsets_topic.clone(),
            offsets_partition: NO_PARTITION,
            config_topic: settings.config_topic.clone(),
            config_partitions: 0,
            status_topic: settings.status_topic.clone(),
            status_partitions: 0,
            worker_release: settings.worker_release.clone(),
            own_worker: settings.own_worker.clone(),
            own_addresses: settings.own_addresses.clone(),
            worker_settings: settings.worker_settings.clone(),
            masked: settings.mask.is_some(),
        };
        Self {
            state: Mutex::new(State {
                settings,
                reported: [false; 3],
                told: None,
                first_report: None,
            }),
            changed: Condvar::new(),
        }
    }

    /// What is known before anything was asked: the names.
    pub(super) fn names(&self) -> Settings {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .settings
            .clone()
    }

    /// What is said of the worker beside the agent and of this machine has changed.
    pub(super) fn restate(&self, emitter: &Emitter, new: &ReadSettings) -> Result<(), Stopped> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state
            .settings
            .worker_settings
            .clone_from(&new.worker_settings);
        state.settings.own_worker.clone_from(&new.own_worker);
        state.settings.own_addresses.clone_from(&new.own_addresses);
        // Before the first answers it is told with them.
        if state.told.is_some() && state.told.as_ref() != Some(&state.settings) {
            let settings = state.settings.clone();
            emitter.send(InputKind::Settings(settings.clone()))?;
            state.told = Some(settings);
        }
        Ok(())
    }

    /// A reader found its topic with so many partitions, or could not (`None`).
    /// Returns once an input that says so was handed on.
    pub(super) fn report(
        &self,
        emitter: &Emitter,
        topic: Topic,
        partitions: Option<i32>,
        cluster_id: Option<String>,
    ) -> Result<(), Stopped> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.learn(topic, partitions, cluster_id);
        let first_report = *state.first_report.get_or_insert_with(Instant::now);
        while state.told.is_none() && state.reported.contains(&false) {
            let left = FIRST_WAIT.saturating_sub(first_report.elapsed());
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if emitter.is_stopped() {
                return Err(Stopped);
            }
        }
        // Held while sending: the settings stand before all that follows from them.
        if state.told.as_ref() != Some(&state.settings) {
            let settings = state.settings.clone();
            emitter.send(InputKind::Settings(settings.clone()))?;
            state.told = Some(settings);
        }
        self.changed.notify_all();
        Ok(())
    }
}

// === impl State ===

impl State {
    fn learn(&mut self, topic: Topic, partitions: Option<i32>, cluster_id: Option<String>) {
        let settings = &mut self.settings;
        settings.cluster_id = cluster_id.or(settings.cluster_id.take());
        let index = match topic {
            Topic::Offsets => 0,
            Topic::Config => 1,
            Topic::Status => 2,
        };
        if let Some(reported) = self.reported.get_mut(index) {
            *reported = true;
        }
        // What is not found now may only be hidden for a while: the last count stays.
        let Some(partitions) = partitions else {
            return;
        };
        match topic {
            Topic::Offsets => {
                let partition = group_partition(&settings.group, partitions);
                settings.offsets_partition = partition.unwrap_or(NO_PARTITION);
            }
            Topic::Config => settings.config_partitions = partitions,
            Topic::Status => settings.status_partitions = partitions,
        }
    }
}
