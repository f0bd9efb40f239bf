//! Hands the trace of each rebalance that is over to the sender, where it is this agent's turn.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use evenkeel_core::answers::{Answers, ClosingAnswer, EpisodeAnswer, Mode};
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::limits::EPISODES_SHOWN_MAX;

use crate::config::TraceCopies;
use crate::show::traces::sender::{Fate, Queue};
use crate::show::traces::{Trace, share, trace};
use crate::show::view::TraceStats;

/// Hands traces of one group over.
#[derive(Debug, Clone)]
pub(super) struct Exporter {
    queue: Queue,
    copies: TraceCopies,
    /// The worker beside the agent, as it was last known: it may be gone from the group by the
    /// time at which a rebalance that it led is over.
    own: Option<Arc<str>>,
    /// Episodes that were handed over, in this order, as many as are remembered, and what
    /// became of their traces.
    handed: VecDeque<(Arc<str>, Fate)>,
    /// Those that a receiver has, as it is published.
    published: Arc<BTreeSet<Arc<str>>>,
    /// Whether it was said that no worker is beside the agent.
    told: bool,
}

// === impl Exporter ===

impl Exporter {
    pub(super) fn new(queue: Queue, copies: TraceCopies) -> Self {
        Self {
            queue,
            copies,
            own: None,
            handed: VecDeque::new(),
            published: Arc::default(),
            told: false,
        }
    }

    /// What may be shown changed: what became of spans until now, and the episodes whose trace
    /// a receiver has.
    pub(super) fn saw(&mut self, answers: &Answers) -> (TraceStats, Arc<BTreeSet<Arc<str>>>) {
        if let Some(own) = &answers.own {
            self.own = Some(Arc::clone(&own.worker));
        }
        let exported = self.handed.iter().filter(|(_, fate)| fate.is_exported());
        let exported: BTreeSet<Arc<str>> = exported.map(|(id, _)| Arc::clone(id)).collect();
        if exported != *self.published {
            self.published = Arc::new(exported);
        }
        (self.queue.stats(), Arc::clone(&self.published))
    }

    /// An input was taken: what closed with it is sent, once and whole.
    pub(super) fn took(&mut self, engine: &Engine, changes: &[Change]) {
        for change in changes {
            if let Change::Closed(episode, beside) = change
                && let Some(trace) = self.due(engine, episode, beside)
                && let Some(fate) = self.queue.offer(trace)
            {
                self.remember(&episode.id, fate);
            }
        }
    }

    fn remember(&mut self, episode: &Arc<str>, fate: Fate) {
        self.handed.push_back((Arc::clone(episode), fate));
        if self.handed.len() > EPISODES_SHOWN_MAX {
            self.handed.pop_front();
        }
    }

    /// The trace of an episode that closed just now, where it is to be sent from here.
    fn due(
        &mut self,
        engine: &Engine,
        episode: &EpisodeAnswer,
        beside: &ClosingAnswer,
    ) -> Option<Trace> {
        // What closed while no agent watched was sent by the one before, or by nobody.
        if !episode.polled.watched {
            return None;
        }
        if self.own.is_none() {
            self.own = engine.answers().own.map(|own| own.worker);
        }
        if !share::is_ours(episode, self.own.as_deref(), self.copies) {
            self.say_alone(engine);
            return None;
        }
        let answers = engine.answers();
        // Where records are left out, another sidecar knows more of the same rebalance.
        let knows_all = matches!(answers.mode, Mode::Full | Mode::NoPolls);
        knows_all.then(|| trace(&answers.settings, episode, beside))?
    }

    fn say_alone(&mut self, engine: &Engine) {
        if self.own.is_some() || std::mem::replace(&mut self.told, true) {
            return;
        }
        let group = engine.state().settings().group.as_str();
        let hint =
            "where no other agent is beside a worker of this group, set traces.copies to all";
        tracing::info!(
            group,
            hint,
            "trace not sent: none of the group's workers is beside this agent"
        );
    }
}

#[cfg(test)]
mod tests;
