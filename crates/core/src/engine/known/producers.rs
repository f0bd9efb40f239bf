//! What connectors set for their producers, as the checks compare it.

use crate::checks::known::Producer;
use crate::engine::State;
use crate::facts::input::Topic;
use crate::facts::observation::Override;
use crate::limits::CHECK_PRODUCERS_MAX;

/// Connectors that set how long their producers try; none while the config topic was not read
/// to its end.
pub(super) fn producers(state: &State) -> Option<Vec<Producer>> {
    state.progress.of(Topic::Config).confirmed()?;
    let mut producers: Vec<Producer> = state
        .configured
        .producers()
        .map(|(connector, clients)| Producer {
            connector: state.names.name(connector).to_string(),
            delivery: clients.delivery_timeout_ms,
            request: clients.request_timeout_ms,
            topic: state.settings.config_topic.clone(),
        })
        .collect();
    let patience = |producer: &Producer| match producer.delivery {
        Override::To(ms) => ms,
        Override::Untold | Override::Unset => i64::MAX,
    };
    producers.sort_by(|left, right| {
        (patience(left), &left.connector).cmp(&(patience(right), &right.connector))
    });
    producers.truncate(CHECK_PRODUCERS_MAX);
    Some(producers)
}
