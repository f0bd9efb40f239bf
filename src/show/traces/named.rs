//! An episode with the id of its trace, as programs read it.

use evenkeel_core::answers::EpisodeAnswer;
use evenkeel_core::facts::input::Settings;
use serde::Serialize;

use super::ids;

/// An episode, and where its trace is found.
#[derive(Debug, Serialize)]
pub struct Named<'a> {
    /// The id of its trace, which is sent when it closes; null where it has none.
    trace_id: Option<String>,
    #[serde(flatten)]
    episode: &'a EpisodeAnswer,
}

// === impl Named ===

impl<'a> Named<'a> {
    /// An episode of the group with these settings.
    #[must_use]
    pub fn of(settings: &Settings, episode: &'a EpisodeAnswer) -> Self {
        let ids = ids::of_episode(settings, episode);
        Self {
            trace_id: ids.map(|(trace, _)| ids::hex(&trace)),
            episode,
        }
    }
}
