//! What the agent says of a group in the log: from what changed, never from the engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::answers::{Answers, Mode, Outcome, RoundAnswer};
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Topic, Trouble};
use tracing::{debug, info, warn};

/// Remembers what was said, so that it is said once.
#[derive(Debug, Default)]
pub struct Words {
    findings: BTreeMap<(&'static str, String), String>,
    troubles: BTreeMap<Topic, Trouble>,
    mode: Option<Mode>,
    fresh: bool,
}

// === impl Words ===

impl Words {
    /// Says what an input changed.
    pub fn change(&self, group: &Arc<str>, engine: &Engine, change: &Change) {
        // What was read of the past is told by the state, not retold line by line.
        if !self.fresh && !matches!(change, Change::CaughtUp { .. }) {
            return;
        }
        match change {
            Change::Settled(round) => settled(group, &engine.describe(round)),
            Change::Missing {
                first,
                count,
                outcome,
            } => {
                let outcome = outcome.label();
                info!(%group, first, count, outcome, "generations without a record");
            }
            Change::Created {
                incarnation,
                generation,
            } => {
                info!(%group, incarnation, generation, "group created");
            }
            Change::Deleted => info!(%group, "group deleted"),
            Change::CaughtUp { input } => {
                info!(%group, input = input.label(), "caught up");
            }
        }
    }

    /// Says what is new in the answers: findings, troubles, what the agent can see.
    pub fn answers(&mut self, group: &Arc<str>, answers: &Answers) {
        self.say_troubles(group, answers);
        self.say_findings(group, answers);
        if self.mode != Some(answers.mode) {
            info!(%group, mode = answers.mode.label(), "mode");
            self.mode = Some(answers.mode);
        }
        if self.fresh != answers.fresh {
            if answers.fresh {
                info!(%group, "answers are current");
            } else {
                warn!(%group, "answers are withdrawn: an input was not confirmed current");
            }
            self.fresh = answers.fresh;
        }
    }

    fn say_troubles(&mut self, group: &Arc<str>, answers: &Answers) {
        for input in &answers.inputs {
            let name = match input.topic {
                Topic::Offsets => &answers.settings.offsets_topic,
                Topic::Config => &answers.settings.config_topic,
                Topic::Status => &answers.settings.status_topic,
            };
            let said = self.troubles.get(&input.topic).copied();
            match input.trouble {
                Some(trouble) if said != Some(trouble) => {
                    let (trouble_label, input) = (trouble.label(), input.topic);
                    warn!(%group, topic = %name, trouble = trouble_label, "topic not readable");
                    self.troubles.insert(input, trouble);
                }
                None if said.is_some() => {
                    info!(%group, topic = %name, "topic readable again");
                    self.troubles.remove(&input.topic);
                }
                _ => {}
            }
        }
    }

    fn say_findings(&mut self, group: &Arc<str>, answers: &Answers) {
        let standing: BTreeMap<(&'static str, String), String> = answers
            .findings
            .iter()
            .map(|found| ((found.finding, found.subject.clone()), found.text.clone()))
            .collect();
        for ((finding, subject), text) in &standing {
            if !self.findings.contains_key(&(*finding, subject.clone())) {
                warn!(%group, finding, subject, "{text}");
            }
        }
        for (finding, subject) in self.findings.keys() {
            if !standing.contains_key(&(*finding, subject.clone())) {
                info!(%group, finding, subject, "no longer so");
            }
        }
        self.findings = standing;
    }
}

fn settled(group: &Arc<str>, round: &RoundAnswer) {
    let generation = round.generation;
    let outcome = round.outcome.map_or("open", Outcome::label);
    let rule = round.settled_by.unwrap_or_default();
    let assigned: usize = round
        .members
        .iter()
        .map(|member| member.assigned.len())
        .sum();
    let revoked: usize = round
        .members
        .iter()
        .map(|member| member.revoked.len())
        .sum();
    let members = round.members.len();
    let delay_ms = round.delay_ms;
    if matches!(round.outcome, Some(Outcome::Completed | Outcome::Emptied)) {
        debug!(%group, generation, outcome, rule, members, assigned, revoked, delay_ms, "generation");
    } else {
        info!(%group, generation, outcome, rule, members, assigned, revoked, delay_ms, "generation");
    }
}
