//! Tells on standard output what the agent says while the incident plays: the same
//! published answers that the metrics show.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use evenkeel_core::answers::{Answers, EpisodeAnswer, EpisodeOutcome, GroupAnswer, Outcome};
use evenkeel_core::facts::time::ArrivalTime;
use tokio::sync::watch;

use crate::run::clock;
use crate::show::spans::lasted;
use crate::show::view::Published;

/// Tells what changes.
#[derive(Debug)]
pub(super) struct Narrator {
    published: watch::Receiver<Arc<Published>>,
    begin: ArrivalTime,
    told: Told,
}

/// What was told last.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    generation: Option<i32>,
    unassigned: BTreeMap<&'static str, usize>,
    settled: Option<i32>,
    /// The episode that is open, and why it came about, as far as that is known.
    why: Option<(Arc<str>, &'static str)>,
    /// The last episode that closed.
    over: Option<Arc<str>>,
}

// === impl Narrator ===

impl Narrator {
    /// Listens to what is published.
    pub(super) fn new(published: watch::Receiver<Arc<Published>>) -> Self {
        Self {
            published,
            begin: clock::now(),
            told: Told::default(),
        }
    }

    /// The moment from which times are counted.
    pub(super) fn begin(&mut self, begin: ArrivalTime) {
        self.begin = begin;
    }

    /// Ready once the agent sees everything.
    pub(super) async fn until_current(&mut self) {
        let current = |published: &Arc<Published>| {
            !published.groups.is_empty() && published.groups.iter().all(|group| group.fresh)
        };
        // An error means that the agent has ended; whoever waits ends, too.
        if self.published.wait_for(current).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Tells for ever.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub(super) async fn tell(&mut self) -> io::Result<()> {
        loop {
            self.tell_next().await?;
        }
    }

    /// Tells until the newest generation is settled.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub(super) async fn tell_until_settled(&mut self) -> io::Result<()> {
        while !self.is_settled() {
            self.tell_next().await?;
        }
        Ok(())
    }

    /// Says what was counted.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub(super) fn conclude(&mut self) -> io::Result<()> {
        let answers = self.answers();
        let counters = &answers.counters;
        let completed = counters.generations_of(Outcome::Completed);
        let assigned: u64 = counters.assignments.values().sum();
        let revoked: u64 = counters.revocations.values().sum();
        self.say(&format!(
            "{} completed, {}, {}",
            counted(completed, "generation"),
            counted(assigned, "assignment"),
            counted(revoked, "revocation")
        ))
    }

    async fn tell_next(&mut self) -> io::Result<()> {
        if self.published.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        let answers = self.answers();
        let Some(group) = &answers.group else {
            return Ok(());
        };
        if self.told.generation != group.generation {
            self.told.generation = group.generation;
            self.say(&describe(group))?;
        }
        let mut unassigned: BTreeMap<&'static str, usize> = BTreeMap::new();
        for item in answers.without_owner() {
            *unassigned.entry(item.reason.label()).or_default() += 1;
        }
        if self.told.unassigned != unassigned {
            self.say(&self.unassigned(&answers, &unassigned))?;
            self.told.unassigned = unassigned;
        }
        let settled = answers
            .rounds
            .iter()
            .rev()
            .find(|round| round.outcome.is_some());
        if let Some(round) = settled
            && self.told.settled != Some(round.generation)
        {
            self.told.settled = Some(round.generation);
            let outcome = round.outcome.map_or("open", Outcome::label);
            self.say(&format!("generation {}: {outcome}", round.generation))?;
        }
        self.tell_episodes(&answers)
    }

    /// Why it rebalances, and what became of it.
    fn tell_episodes(&mut self, answers: &Answers) -> io::Result<()> {
        let Some(episodes) = &answers.episodes else {
            return Ok(());
        };
        if let Some(closed) = episodes.closed.last()
            && self.told.over.as_ref() != Some(&closed.id)
        {
            self.told.over = Some(closed.id.clone());
            // One that came and went between two answers is told whole.
            let told = self
                .told
                .why
                .as_ref()
                .is_some_and(|(id, _)| *id == closed.id);
            if !told {
                self.say(&why(closed))?;
            }
            self.say(&over(closed))?;
        }
        if let Some(open) = &episodes.open {
            let known = Some((open.id.clone(), open.cause.label()));
            if self.told.why != known {
                self.told.why = known;
                self.say(&why(open))?;
            }
        }
        Ok(())
    }

    fn unassigned(&self, answers: &Answers, unassigned: &BTreeMap<&'static str, usize>) -> String {
        if unassigned.is_empty() {
            return "everything has an owner".to_owned();
        }
        let list: Vec<String> = unassigned
            .iter()
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        let mut text = format!("without an owner: {}", list.join(", "));
        if let (Some(deadline), Some(now)) = (answers.deadline, answers.now) {
            let left_s = deadline.at.since_ms(now) / 1000;
            text.push_str(&format!("; the scheduled delay ends in {left_s} s"));
        }
        text
    }

    fn is_settled(&self) -> bool {
        let answers = self.answers();
        let calm = answers
            .episodes
            .as_ref()
            .is_some_and(|all| all.open.is_none());
        let newest = answers.rounds.last();
        calm && newest.is_some_and(|round| round.outcome.is_some())
    }

    fn answers(&self) -> Arc<Answers> {
        self.published
            .borrow()
            .groups
            .first()
            .cloned()
            .unwrap_or_default()
    }

    fn say(&self, text: &str) -> io::Result<()> {
        let ms = clock::now().since_ms(self.begin);
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{:>6}.{} s  {text}",
            ms / 1000,
            (ms.rem_euclid(1000)) / 100
        )?;
        out.flush()
    }
}

/// Why an episode came about, in a line.
fn why(episode: &EpisodeAnswer) -> String {
    let subject = episode.subject.as_deref().unwrap_or_default();
    let evidence = episode.contributing.first();
    let evidence = evidence.map_or("", |found| found.evidence.as_str());
    format!("  why: {} {subject}", episode.cause.label())
        .trim_end()
        .to_owned()
        + ": "
        + evidence
}

/// What became of an episode, in a line.
fn over(episode: &EpisodeAnswer) -> String {
    let outcome = episode.outcome.map_or("open", EpisodeOutcome::label);
    let active = episode.polled.active.unwrap_or(episode.active);
    let mut text = format!(
        "rebalance {outcome}: {}, active {}",
        counted(episode.generations, "generation"),
        lasted(&active),
    );
    if episode.parked.ms > 0 {
        text.push_str(&format!(", parked {}", lasted(&episode.parked)));
    }
    for departed in &episode.departures {
        text.push_str(&format!("; {} {}", departed.worker, departed.how.label()));
    }
    text
}

/// A number of things, in words.
fn counted(count: impl std::fmt::Display, thing: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// The group in a line.
fn describe(group: &GroupAnswer) -> String {
    let members: Vec<String> = group
        .members
        .iter()
        .map(|member| format!("{} owns {}", member.worker, member.owned.len()))
        .collect();
    let generation = group
        .generation
        .map_or_else(|| "unknown".to_owned(), |number| number.to_string());
    let Some(protocol) = group.protocol else {
        return format!("generation {generation}: {}", group.state.label());
    };
    format!(
        "generation {generation}: {}, {}: {}",
        counted(group.members.len(), "member"),
        protocol.label(),
        members.join(", ")
    )
}
