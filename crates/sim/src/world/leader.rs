//! What the leader alone does: it hands out work and writes the config topic.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::facts::input::Topic;

use super::sim::{Event, Sim};
use crate::assignor::{Round, eager};
use crate::config::{Change, encode};
use crate::item::Work;
use crate::protocol::Told;
use crate::truth::ChangeWhat;

/// How long a worker waits at most between tries to publish tasks.
const PUBLISH_WAIT_MS_MAX: i64 = 60_000;

// === impl Sim ===

impl Sim {
    /// What the leader tells each member (`performAssignment`).
    pub(super) fn hand_out(&mut self, at: usize) -> Option<BTreeMap<String, Told>> {
        let clock = self.plan.slots[self.processes[at].slot].clock.clone();
        let process = &mut self.processes[at];
        let members = process.members.take()?;
        let most = members.values().map(|meta| meta.config_offset).max()?;
        let own = members
            .get(process.member.as_deref()?)
            .map_or(-1, |meta| meta.config_offset);
        let blank = Told {
            leader: process.member.clone()?,
            leader_url: process.url.clone(),
            config_offset: most,
            ..Told::default()
        };
        // A leader that is behind looks once more before it gives up.
        let offset = if own < most {
            process.config_seen
        } else {
            most
        };
        if offset < most {
            let failed = Told { error: 1, ..blank };
            return Some(
                members
                    .keys()
                    .map(|m| (m.clone(), failed.clone()))
                    .collect(),
            );
        }
        let configured = self.config.work(offset);
        let claims: BTreeMap<String, Work> = members
            .iter()
            .map(|(id, meta)| {
                let claim = meta.claim.as_ref().map(|claim| claim.assigned.clone());
                (id.clone(), claim.unwrap_or_default())
            })
            .collect();
        let handed = if process.version == 0 {
            eager(&configured, &claims)
        } else {
            process.assignor.assign(&Round {
                generation: process.generation,
                last_completed: process.last_completed,
                now_ms: clock.at(self.now),
                configured: &configured,
                claims: &claims,
            })
        };
        let told = handed.deltas.into_iter().map(|(id, delta)| {
            let told = Told {
                config_offset: offset,
                assigned: delta.assigned,
                revoked: delta.revoked,
                delay_ms: handed.delay_ms,
                ..blank.clone()
            };
            (id, told)
        });
        Some(told.collect())
    }

    /// The process that can write configurations now.
    pub(super) fn writer(&self) -> Option<usize> {
        self.processes
            .iter()
            .position(|p| p.is_idle() && p.stopping.is_none() && !p.lost && p.leads())
    }

    /// Writes config records as a worker; all see them a little later.
    pub(super) fn write_config(&mut self, at: usize, changes: Vec<Change>) {
        let clock = self.plan.slots[self.processes[at].slot].clock.clone();
        let mut changes = changes;
        if self.plan.transactions {
            changes.push(Change::Marker);
        }
        for change in changes {
            let content = encode(&change, &mut self.contents);
            let marker = content.is_none();
            let known = self.config.snapshot(self.config.end());
            let told = match &change {
                Change::Connector(name, _) if !known.contains_key(name) => {
                    Some((name, ChangeWhat::Created))
                }
                Change::Deleted(name) => Some((name, ChangeWhat::Deleted)),
                Change::Commit(name, ..) => Some((name, ChangeWhat::Committed)),
                _ => None,
            };
            if let Some((name, what)) = told {
                self.scribe.changed(self.now, name, what);
            }
            self.append(Topic::Config, 0, clock.at(self.now), content);
            let offset = self.config.push(change);
            if !marker {
                self.spread(offset);
            }
        }
        let work = self.config.work(self.config.end());
        self.scribe.configured(self.now, &work);
    }

    fn spread(&mut self, offset: i64) {
        for at in 0..self.processes.len() {
            if !self.processes[at].alive {
                continue;
            }
            let slot = self.processes[at].slot;
            let late = self.lags.get(&slot).filter(|(_, until)| *until > self.now);
            let late_ms = late.map_or(0, |(ms, _)| *ms);
            let ms = late_ms + self.rng.between(2, 40);
            let process = &mut self.processes[at];
            process.config_due_ms = process.config_due_ms.max(self.now + ms);
            let ms = process.config_due_ms - self.now;
            self.later(ms, Event::ConfigSeen(at, offset));
        }
    }

    /// A connector's owner has its tasks published, if they changed.
    pub(super) fn publish(&mut self, owner: usize, name: Arc<str>, wait_ms: i64) {
        let process = &self.processes[owner];
        let runs = process
            .runs
            .iter()
            .any(|(item, run)| item.is_connector() && item.connector == name && run.stop.is_none());
        let seen = self.config.snapshot(process.config_seen);
        let Some(known) = seen.get(&name).filter(|k| runs && k.target == "STARTED") else {
            return;
        };
        let version = known.version;
        let tasks = self.versions[usize::try_from(version).unwrap_or(0)];
        // The leader compares with what is committed now.
        let now = self.config.snapshot(self.config.end());
        let Some(current) = now.get(&name) else {
            return;
        };
        if current.committed == Some(version) && current.tasks == tasks {
            return;
        }
        let Some(writer) = self.writer() else {
            let again = (wait_ms * 2).min(PUBLISH_WAIT_MS_MAX);
            return self.later(wait_ms, Event::Publish(owner, name, again));
        };
        let of = |task| Change::Task(name.clone(), task, version);
        let mut changes: Vec<Change> = (0..tasks).map(of).collect();
        changes.push(Change::Commit(name.clone(), tasks, version));
        self.write_config(writer, changes);
    }
}
