//! Faults on demand: what the broker denies, delays or never answers.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::ApiKey;
use tokio::sync::watch;

/// What a denial applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Every topic, group or request of that API.
    All,
    /// One topic, by name.
    Topic(String),
    /// One group, by id.
    Group(String),
}

#[derive(Debug)]
enum Rule {
    Deny {
        api: ApiKey,
        target: Target,
        error: ResponseError,
    },
    Delay {
        api: ApiKey,
        delay: Duration,
    },
    Hang {
        api: ApiKey,
    },
}

/// The rules in force. A later rule of the same kind for the same API and target replaces the earlier one.
#[derive(Debug)]
pub(super) struct Faults {
    rules: Mutex<Vec<Rule>>,
    /// Wakes the requests that hang.
    changes: watch::Sender<u64>,
}

impl Faults {
    pub(super) fn new() -> Self {
        Self {
            rules: Mutex::new(Vec::new()),
            changes: watch::Sender::new(0),
        }
    }

    pub(super) fn deny(&self, api: ApiKey, target: Target, error: ResponseError) {
        self.change(|rules| {
            rules.retain(|rule| !is_denial(rule, api, &target));
            rules.push(Rule::Deny { api, target, error });
        });
    }

    pub(super) fn allow(&self, api: ApiKey, target: &Target) {
        self.change(|rules| rules.retain(|rule| !is_denial(rule, api, target)));
    }

    pub(super) fn delay(&self, api: ApiKey, delay: Duration) {
        self.change(|rules| {
            rules.retain(|rule| !matches!(rule, Rule::Delay { api: known, .. } if *known == api));
            rules.push(Rule::Delay { api, delay });
        });
    }

    pub(super) fn hang(&self, api: ApiKey) {
        self.change(|rules| rules.push(Rule::Hang { api }));
    }

    pub(super) fn clear(&self) {
        self.change(Vec::clear);
    }

    /// Error of a request as a whole.
    pub(super) fn on_request(&self, api: ApiKey) -> Option<ResponseError> {
        self.find(api, |target| *target == Target::All)
    }

    /// Error of one topic in a request.
    pub(super) fn on_topic(&self, api: ApiKey, topic: &str) -> Option<ResponseError> {
        self.find(api, |target| match target {
            Target::All => true,
            Target::Topic(name) => name == topic,
            Target::Group(_) => false,
        })
    }

    /// Error of one group in a request.
    pub(super) fn on_group(&self, api: ApiKey, group: &str) -> Option<ResponseError> {
        self.find(api, |target| match target {
            Target::All => true,
            Target::Group(name) => name == group,
            Target::Topic(_) => false,
        })
    }

    /// Waits as long as a rule delays requests of `api`, or for ever while one makes them hang.
    pub(super) async fn hold(&self, api: ApiKey) {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            if !self.hangs(api) {
                break;
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
        if let Some(delay) = self.delay_of(api) {
            tokio::time::sleep(delay).await;
        }
    }

    fn hangs(&self, api: ApiKey) -> bool {
        self.with(|rules| {
            rules
                .iter()
                .any(|rule| matches!(rule, Rule::Hang { api: known } if *known == api))
        })
    }

    fn delay_of(&self, api: ApiKey) -> Option<Duration> {
        self.with(|rules| {
            rules.iter().find_map(|rule| match rule {
                Rule::Delay { api: known, delay } if *known == api => Some(*delay),
                _ => None,
            })
        })
    }

    fn find(&self, api: ApiKey, hit: impl Fn(&Target) -> bool) -> Option<ResponseError> {
        self.with(|rules| {
            rules.iter().find_map(|rule| match rule {
                Rule::Deny {
                    api: known,
                    target,
                    error,
                } if *known == api && hit(target) => Some(*error),
                _ => None,
            })
        })
    }

    fn with<T>(&self, read: impl FnOnce(&Vec<Rule>) -> T) -> T {
        read(&self.rules.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, write: impl FnOnce(&mut Vec<Rule>)) {
        write(&mut self.rules.lock().unwrap_or_else(PoisonError::into_inner));
        self.changes
            .send_modify(|version| *version = version.wrapping_add(1));
    }
}

fn is_denial(rule: &Rule, api: ApiKey, target: &Target) -> bool {
    matches!(rule, Rule::Deny { api: known, target: hit, .. } if *known == api && hit == target)
}
