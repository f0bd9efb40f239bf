//! What the agent says of a group in the log: from what changed, never from the engine.

mod checks;
mod disagreements;
mod episodes;
mod group;

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::answers::{Answers, Mode, Outcome, RoundAnswer};
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Topic, Trouble};
use evenkeel_core::facts::time::ArrivalTime;
use evenkeel_core::limits::FINDINGS_MAX;
use tracing::{debug, info, warn};

use crate::show::log::Repeats;

/// Remembers what was said, so that it is said once.
#[derive(Debug, Default)]
pub struct Words {
    repeats: Repeats,
    // When answers were last looked at: changes come without a time of ours.
    now: Option<ArrivalTime>,
    undecoded: BTreeMap<(Topic, String), u64>,
    findings: BTreeMap<(&'static str, String), String>,
    troubles: BTreeMap<Topic, Trouble>,
    mode: Option<Mode>,
    fresh: bool,
    told: group::Told,
    checks: checks::Told,
    disagreements: disagreements::Told,
}

// === impl Words ===

impl Words {
    /// Says what an input changed.
    pub fn change(&mut self, group: &Arc<str>, engine: &Engine, change: &Change) {
        // What was read of the past is told by the state, not retold line by line.
        if !self.fresh && !matches!(change, Change::CaughtUp { .. }) {
            return;
        }
        let now = self.now.unwrap_or(ArrivalTime(0));
        match change {
            Change::Settled(round) => {
                let round = engine.describe(round);
                let outcome = round.outcome.map_or("open", Outcome::label);
                if matches!(round.outcome, Some(Outcome::Completed | Outcome::Emptied)) {
                    settled(group, &round, outcome, 0);
                // A loop settles hundreds of them a second.
                } else if let Some(left_out) = self.repeats.say(outcome, now) {
                    settled(group, &round, outcome, left_out);
                }
            }
            Change::Missing {
                first,
                count,
                outcome,
            } => {
                let outcome = outcome.label();
                if let Some(left_out) = self.repeats.say(&format!("missing {outcome}"), now) {
                    info!(%group, first, count, outcome, left_out, "generations without a record");
                }
            }
            Change::Created {
                incarnation,
                generation,
            } => {
                info!(%group, incarnation, generation, "group created");
            }
            Change::Deleted => info!(%group, "group deleted"),
            Change::Opened(episode) => {
                episodes::opened(group, episode, engine.state().settings());
            }
            Change::Closed(episode, _) => {
                episodes::closed(group, episode, engine.state().settings());
            }
            Change::CaughtUp { input } => {
                info!(%group, input = input.label(), "caught up");
            }
        }
    }

    /// Says what is new in the answers: findings, troubles, what the agent can see.
    pub fn answers(&mut self, group: &Arc<str>, answers: &Answers) {
        self.now = answers.arrived.or(self.now);
        self.say_troubles(group, answers);
        self.say_undecoded(group, answers);
        self.say_findings(group, answers);
        if self.mode != Some(answers.mode) {
            // Every agent starts blind; that is no news.
            if self.mode.is_some() || answers.mode != Mode::Blind {
                info!(%group, mode = answers.mode.label(), "mode");
            }
            self.mode = Some(answers.mode);
        }
        if answers.fresh {
            self.told.say(group, answers);
            self.checks.say(group, answers);
            self.disagreements.say(group, answers);
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

    fn say_undecoded(&mut self, group: &Arc<str>, answers: &Answers) {
        let now = self.now.unwrap_or(ArrivalTime(0));
        for input in &answers.inputs {
            let decode = input
                .decode_errors
                .iter()
                .map(|(kind, count)| (kind, *count, true));
            let unknown = input
                .unknown
                .iter()
                .map(|(kind, count)| (kind, *count, false));
            for (kind, records, is_error) in decode.chain(unknown) {
                let said = self
                    .undecoded
                    .entry((input.topic, kind.clone()))
                    .or_default();
                let key = format!("undecoded {} {kind}", input.topic.label());
                // The counters are totals, so what a line leaves out is in the next one.
                if records <= *said || self.repeats.say(&key, now).is_none() {
                    continue;
                }
                *said = records;
                let input = input.topic.label();
                if is_error {
                    warn!(%group, input, error = %kind, records, "records not decoded");
                } else {
                    info!(%group, input, version = %kind, records, "records of an unknown kind");
                }
            }
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
        // A list that is full leaves out findings that still stand.
        let full = answers.findings.len() >= FINDINGS_MAX;
        for (finding, subject) in self.findings.keys().filter(|_| !full) {
            if !standing.contains_key(&(*finding, subject.clone())) {
                info!(%group, finding, subject, "no longer so");
            }
        }
        self.findings = standing;
    }
}

fn settled(group: &Arc<str>, round: &RoundAnswer, outcome: &'static str, left_out: u64) {
    let generation = round.generation;
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
        debug!(%group, generation, outcome, rule, members, assigned, revoked, delay_ms, left_out, "generation");
    } else {
        info!(%group, generation, outcome, rule, members, assigned, revoked, delay_ms, left_out, "generation");
    }
}

#[cfg(test)]
mod tests;
