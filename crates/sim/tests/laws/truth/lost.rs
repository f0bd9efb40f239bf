//! Lost work: each piece counted once, and as it ended.
//!
//! What no log shows, and is asked of no answer: work that was lost and claimed again, or
//! removed, between two records; who took work, and so how its loss ended, where clocks or
//! aborted rounds leave it unproven: those are counted, as one end or another.

use std::collections::BTreeMap;

use evenkeel_core::answers;
use evenkeel_core::facts::ids::Kind;
use evenkeel_sim::item::Item;
use evenkeel_sim::truth::{LossEnd, TrueLoss, TrueMember};

use super::matched::{Matched, Step};
use crate::drive::Watched;

/// How many losses there were of one kind and end: surely, and at most.
#[derive(Debug, Default)]
struct Counts {
    by_end: BTreeMap<(Kind, Option<answers::LossEnd>), (u64, u64)>,
    all: (u64, u64),
}

/// All ends, and none.
const ENDS: [Option<answers::LossEnd>; 5] = [
    Some(answers::LossEnd::Reclaimed),
    Some(answers::LossEnd::Reassigned),
    Some(answers::LossEnd::Removed),
    Some(answers::LossEnd::GroupGone),
    None,
];

// === impl Counts ===

impl Counts {
    fn add(&mut self, item: &Item, end: Option<answers::LossEnd>, sure: bool) {
        let kind = if item.is_connector() {
            Kind::Connector
        } else {
            Kind::Task
        };
        let (least, most) = self.by_end.entry((kind, end)).or_default();
        *least += u64::from(sure);
        *most += 1;
    }
}

/// What was counted is what happened.
pub(super) fn ends(matched: &Matched<'_>, watched: &Watched) -> Result<(), String> {
    let counted = watched.engine.answers().counters.lost;
    let begun: u64 = matched
        .episodes
        .iter()
        .map(|episode| episode.lost.items)
        .sum();
    let ended: u64 = counted.values().sum();
    let mut right = Counts::default();
    for loss in &matched.truth.losses {
        lost(matched, loss, &mut right);
    }
    dropped(matched, &mut right);
    never_taken(matched, &mut right);
    for kind in [Kind::Connector, Kind::Task] {
        for end in ENDS.into_iter().flatten() {
            let told = counted.get(&(kind, end)).copied().unwrap_or(0);
            let (least, most) = right
                .by_end
                .get(&(kind, Some(end)))
                .copied()
                .unwrap_or_default();
            if !(least..=most).contains(&told) {
                return Err(format!("{told} {kind:?} {end:?}, not {least} to {most}"));
            }
        }
    }
    if !(right.all.0..=right.all.1).contains(&begun) {
        return Err(format!("{begun} began, not {:?}", right.all));
    }
    let open = |count: fn(&(u64, u64)) -> u64| -> u64 {
        let open = right.by_end.iter().filter(|((_, end), _)| end.is_none());
        open.map(|(_, counts)| count(counts)).sum()
    };
    let (least, most) = (open(|c| c.0), open(|c| c.1));
    let told = begun.checked_sub(ended).ok_or("more ended than began")?;
    if !(least..=most).contains(&told) {
        return Err(format!("{told} are open, not {least} to {most}"));
    }
    Ok(())
}

/// The step in which a member of the record before is missed, or is back without a claim.
fn missed<'a, 'b>(matched: &'b Matched<'a>, member: &str, from_ms: i64) -> Option<&'b Step<'a>> {
    matched.steps.iter().find(|step| {
        let was = step
            .before
            .is_some_and(|before| before.members.contains_key(member));
        was && step.real.join_ended_ms >= from_ms && !step.real.members.contains_key(member)
    })
}

fn lost(matched: &Matched<'_>, loss: &TrueLoss, right: &mut Counts) {
    // It joined and left between two records.
    let Some(step) = missed(matched, &loss.member, loss.from_ms) else {
        for end in ENDS {
            right.add(&loss.item, end, false);
        }
        right.all.1 += 1;
        return;
    };
    let had = step
        .before
        .and_then(|before| before.members.get(&loss.member));
    let sure_it_had = had.is_some_and(|member| {
        let claimed = member
            .claim
            .as_ref()
            .is_some_and(|c| c.contains(&loss.item));
        claimed && !member.revoked.contains(&loss.item)
    });
    let recorded_ms = step.real.recorded_ms.unwrap();
    let over_before = loss.until_ms.is_some_and(|at| at <= recorded_ms)
        && matches!(
            loss.ended,
            LossEnd::Reclaimed | LossEnd::Removed | LossEnd::GroupGone
        );
    let sure = sure_it_had && !over_before;
    let ends = maybe(matched, step, loss);
    let several = ends.len() > 1;
    for end in ends {
        right.add(&loss.item, end, sure && !several);
    }
    right.all.0 += u64::from(sure);
    right.all.1 += 1;
}

/// How a loss may be told.
fn maybe(matched: &Matched<'_>, step: &Step<'_>, loss: &TrueLoss) -> Vec<Option<answers::LossEnd>> {
    let mut ends = match loss.ended {
        LossEnd::Reclaimed => vec![Some(answers::LossEnd::Reclaimed)],
        LossEnd::Reassigned => return taken(matched, step, loss),
        LossEnd::Removed => vec![Some(answers::LossEnd::Removed)],
        LossEnd::Open => vec![None],
        // It lives on in the next life of the group, if there is one soon.
        LossEnd::GroupGone => vec![
            Some(answers::LossEnd::GroupGone),
            Some(answers::LossEnd::Reclaimed),
            Some(answers::LossEnd::Reassigned),
            Some(answers::LossEnd::Removed),
            None,
        ],
    };
    if loss.ended == LossEnd::Removed {
        // Only the next round shows it, if there is one; one that was computed before hands it
        // out. Where the group is deleted first, it is gone with the group.
        ends.push(None);
        ends.push(Some(answers::LossEnd::GroupGone));
        let hands_out = |step: &Step<'_>| {
            let mut members = step.real.members.values();
            step.real.recorded_ms >= loss.until_ms
                && Some(step.real.join_ended_ms) <= loss.until_ms
                && members.any(|member| member.assigned.contains(&loss.item))
        };
        if matched.steps.iter().any(hands_out) {
            ends.push(Some(answers::LossEnd::Reassigned));
            ends.push(Some(answers::LossEnd::Reclaimed));
        }
    }
    ends
}

/// How it may be told that a member was handed it and took it: its owner's worker has it
/// again, or another one. Whether that came in its place is said of departures.
fn taken(matched: &Matched<'_>, step: &Step<'_>, loss: &TrueLoss) -> Vec<Option<answers::LossEnd>> {
    let mut steps = matched.steps.iter();
    let round = steps.find(|step| {
        step.real.recorded_ms == loss.until_ms || step.real.recorded_ms >= loss.until_ms
    });
    let taker = round.and_then(|round| {
        let mut members = round.real.members.iter();
        members.find(|(_, m)| m.assigned.contains(&loss.item) && m.applied_ms.is_some())
    });
    let worker = step
        .before
        .and_then(|before| before.members.get(&loss.member));
    let worker = worker.map(|member| &member.worker);
    let both = vec![
        Some(answers::LossEnd::Reclaimed),
        Some(answers::LossEnd::Reassigned),
    ];
    let Some((id, taker)) = taker else {
        return both;
    };
    if !is_proven(matched, loss) || !is_shown(matched, round, (id, &loss.item)) {
        return [both, vec![Some(answers::LossEnd::Removed), None]].concat();
    }
    let claims = |member: &TrueMember| {
        let claim = member.claim.as_ref();
        claim.is_some_and(|claim| claim.contains(&loss.item))
    };
    // Two ran it, and it is lost but once: of whom, no log says.
    let owners = (step.before).map_or(0, |before| {
        before.members.values().filter(|m| claims(m)).count()
    });
    if owners > 1 {
        return both;
    }
    let was_there = step
        .before
        .is_some_and(|before| before.members.contains_key(id));
    if Some(&taker.worker) == worker {
        vec![Some(answers::LossEnd::Reclaimed)]
    } else if was_there {
        vec![Some(answers::LossEnd::Reassigned)]
    } else {
        both
    }
}

/// Whether the log shows that it ended: an eager member's claims say nothing, and its status
/// may not have been written before it was to stop again.
fn is_proven(matched: &Matched<'_>, loss: &TrueLoss) -> bool {
    let cooperative = matched
        .steps
        .iter()
        .all(|step| step.real.version > 0 || step.real.members.is_empty());
    loss.ended != LossEnd::GroupGone && (cooperative || loss.ended != LossEnd::Reassigned)
}

/// Whether a log shows that a member took what it was handed: it wrote that it runs, or
/// claims it later.
fn is_shown(matched: &Matched<'_>, round: Option<&Step<'_>>, (id, item): (&str, &Item)) -> bool {
    let handed_ms = round.and_then(|round| round.real.recorded_ms);
    let claims = |step: &Step<'_>| {
        let claim = (step.real.members.get(id)).and_then(|member| member.claim.as_ref());
        step.real.recorded_ms > handed_ms && claim.is_some_and(|claim| claim.contains(item))
    };
    let mut starts = matched.truth.starts.iter();
    matched.steps.iter().any(claims)
        || starts.any(|start| {
            let its = start.item == *item && start.member.as_deref() == Some(id);
            its && Some(start.from_ms) >= handed_ms && start.until_ms.is_some()
        })
}

/// What members stopped because they lost the coordinator is lost, too, until somebody has
/// it again: nobody but the log knows when.
fn dropped(matched: &Matched<'_>, right: &mut Counts) {
    for drop in &matched.truth.drops {
        for item in &drop.items {
            for end in ENDS {
                right.add(item, end, false);
            }
            right.all.1 += 1;
        }
    }
}

/// What a member was handed and never took, because it was gone before or lost its coordinator,
/// its leader counts as lost, too: the truth knows nobody who had it.
fn never_taken(matched: &Matched<'_>, right: &mut Counts) {
    for step in &matched.steps {
        let Some(before) = step.before else {
            continue;
        };
        let not_taken = before.members.values().filter(|m| m.applied_ms.is_none());
        for item in not_taken.flat_map(|member| &member.assigned) {
            for end in ENDS {
                right.add(item, end, false);
            }
            right.all.1 += 1;
        }
    }
}
