//! Configured work that nobody has, and until when it waits.

use crate::answers::{DeadlineAnswer, DelayReason, GroupState, UnassignedAnswer, UnassignedReason};
use crate::engine::State;
use crate::engine::polls::Sight;
use crate::engine::publish::item;
use crate::facts::ids::Names;
use crate::facts::input::Topic;
use crate::view::unassigned::{Evidence, Unassigned};

/// All of it, sorted; absent while it is not known what is configured.
pub(super) fn of(state: &State, sight: &Sight<'_>) -> Option<Vec<Unassigned>> {
    if !state.is_current(Topic::Config) {
        return None;
    }
    let statuses = state.is_current(Topic::Status).then_some(&state.statuses);
    Some(sight.ownership.unassigned(Evidence {
        configured: &state.configured,
        statuses,
        newest: sight.newest.map(|newest| &**newest),
        seen_from: sight.seen_from,
    }))
}

/// The same by name.
pub(super) fn shown(names: &Names, unowned: Vec<Unassigned>) -> Vec<UnassignedAnswer> {
    let unowned = unowned.into_iter();
    let shown = unowned.map(|unassigned| UnassignedAnswer {
        item: item(names, unassigned.item),
        reason: unassigned.reason,
        since: unassigned.since,
        last_owner: unassigned.last_owner,
    });
    let mut shown: Vec<UnassignedAnswer> = shown.collect();
    shown.sort_by(|left, right| left.item.cmp(&right.item));
    shown
}

/// D5: record time plus delay. A later departure inherits the window that is running:
/// its record carries the remainder. Without records only a round that was seen to come
/// has a time, and the deadline is the latest it can be.
pub(super) fn deadline(
    sight: &Sight<'_>,
    unowned: Option<&[Unassigned]>,
) -> Option<DeadlineAnswer> {
    let newest = sight.newest.filter(|_| sight.state != GroupState::Dead)?;
    if newest.delay_ms <= 0 {
        return None;
    }
    let (_, recorded) = sight.dated?;
    let waits = |reason: UnassignedReason| {
        matches!(reason, UnassignedReason::Lost | UnassignedReason::Dropped)
    };
    // Where the config topic cannot be read, what left its owner is the best that is known.
    let parked = match unowned {
        Some(unowned) => unowned.iter().any(|unassigned| waits(unassigned.reason)),
        None => sight
            .ownership
            .all_left()
            .any(|(_, left)| waits(left.reason)),
    };
    let reason = if parked {
        DelayReason::Lost
    } else if sight.revoked_before {
        DelayReason::RevocationBackoff
    } else {
        DelayReason::Leftover
    };
    Some(DeadlineAnswer {
        at: recorded.plus_ms(i64::from(newest.delay_ms)),
        reason,
        delay_ms: newest.delay_ms,
    })
}
