//! Who sends the trace of an episode: the sidecar beside the worker that led the closing
//! generation, and, where two copies are wanted, the one beside its deputy. All read the same
//! record, so nobody has to ask.

use evenkeel_core::answers::EpisodeAnswer;

use crate::config::TraceCopies;

/// Whether the agent beside the worker `own` sends this episode.
#[must_use]
pub fn is_ours(episode: &EpisodeAnswer, own: Option<&str>, copies: TraceCopies) -> bool {
    if copies == TraceCopies::All {
        return true;
    }
    let Some(own) = own else {
        return false;
    };
    // A group that is gone was led by whoever led it last.
    let mut newest_first = episode.rounds.iter().rev();
    let Some(closing) = newest_first.find(|round| round.leader.is_some()) else {
        return false;
    };
    let is_own = |worker: &Option<std::sync::Arc<str>>| worker.as_deref() == Some(own);
    is_own(&closing.leader) || (copies == TraceCopies::Two && is_own(&closing.deputy))
}

#[cfg(test)]
mod tests;
