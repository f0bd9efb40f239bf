//! What the last half hour looks like, at the moment of showing (D13).

use crate::answers::PatternAnswer;
use crate::engine::State;

/// The pattern now; absent where the group's records are not read, or none was.
pub(super) fn answer(state: &State, by_records: bool) -> Option<PatternAnswer> {
    let now = state.clock.now().filter(|_| by_records)?;
    let story = &state.story;
    state.group.newest.as_ref()?;
    Some(story.patterns.at(now, &state.names, story.switches))
}
