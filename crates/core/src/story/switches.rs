//! The numbered rules of the story, and a switch for each: a test switches one off and
//! shows that something becomes wrong without it.

use serde::{Deserialize, Serialize};

/// A rule that `docs/episodes.md` describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StoryRule {
    /// Of departures (D6), by number.
    Departure(u8),
    /// Of successors, by number.
    Successor(u8),
    /// Of lost work (D5), by number.
    Loss(u8),
    /// Of causes (D9), by number.
    Cause(u8),
    /// Of episodes (D8), by number.
    Episode(u8),
    /// Of phases (D7), by number.
    Phase(u8),
    /// Of downtime (D10) and hand-overs (D11), by number.
    Downtime(u8),
    /// Of moves (D11), by number.
    Move(u8),
    /// Of disagreements (D12), by number.
    Disagreement(u8),
    /// Of balance (D15), by number.
    Balance(u8),
    /// Of patterns (D13), by number.
    Pattern(u8),
    /// Of habits (D16), by number.
    Habit(u8),
}

/// Which rules are switched off: none, outside of tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct Switches {
    off: Option<StoryRule>,
}

// === impl StoryRule ===

impl StoryRule {
    /// Every rule.
    pub fn all() -> impl Iterator<Item = Self> {
        let departures = (1..=7).map(Self::Departure);
        let successors = (1..=4).map(Self::Successor);
        let losses = (1..=6).map(Self::Loss);
        let causes = (1..=18).map(Self::Cause);
        let episodes = (1..=9).map(Self::Episode);
        let phases = (1..=4).map(Self::Phase);
        let downtimes = (1..=12).map(Self::Downtime);
        let moves = (1..=6).map(Self::Move);
        let disagreements = (1..=9).map(Self::Disagreement);
        let balance = (1..=3).map(Self::Balance);
        let patterns = (1..=6).map(Self::Pattern);
        let habits = (1..=4).map(Self::Habit);
        departures
            .chain(successors)
            .chain(losses)
            .chain(causes)
            .chain(episodes)
            .chain(phases)
            .chain(downtimes)
            .chain(moves)
            .chain(disagreements)
            .chain(balance)
            .chain(patterns)
            .chain(habits)
    }
}

// === impl Switches ===

impl Switches {
    /// All rules but one.
    #[must_use]
    pub fn without(rule: StoryRule) -> Self {
        Self { off: Some(rule) }
    }

    /// Whether a rule is on.
    #[must_use]
    pub fn on(self, rule: StoryRule) -> bool {
        self.off != Some(rule)
    }
}
