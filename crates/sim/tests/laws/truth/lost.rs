//! Lost work: each piece counted once, and as it ended.
//!
//! What no log shows, and is asked of no answer: work that was lost and claimed again, or
//! removed, between two records; who took work, and so how its loss ended, where clocks or
//! aborted rounds leave it unproven: those are counted, as one end or another.

use std::collections::BTreeMap;

use evenkeel_core::answers;
use evenkeel_core::facts::ids::Kind;
use evenkeel_sim::item::Item;
use evenkeel_sim::truth::{LossEnd, TrueLoss};

use super::matched::{Matched, Step};
use crate::drive::Watched;

/// How many losses there were of one kind and end: surely, and at most.
#[derive(Debug, Default)]
struct Counts(BTreeMap<(Kind, Option<answers::LossEnd>), (u64, u64)>);

impl Counts {
    fn add(&mut self, item: &Item, end: Option<answers::LossEnd>, sure: bool) {
        let kind = if item.is_connector() {
            Kind::Connector
        } else {
            Kind::Task
        };
        let (least, most) = self.0.entry((kind, end)).or_default();
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
    for kind in [Kind::Connector, Kind::Task] {
        let ends = [
            answers::LossEnd::Reclaimed,
            answers::LossEnd::Reassigned,
            answers::LossEnd::Removed,
            answers::LossEnd::GroupGone,
        ];
        for end in ends {
            let told = counted.get(&(kind, end)).copied().unwrap_or(0);
            let (least, most) = right.0.get(&(kind, Some(end))).copied().unwrap_or_default();
            if !(least..=most).contains(&told) {
                return Err(format!("{told} {kind:?} {end:?}, not {least} to {most}"));
            }
        }
    }
    let open = |count: fn(&(u64, u64)) -> u64| -> u64 {
        let open = right.0.iter().filter(|((_, end), _)| end.is_none());
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
        for end in maybe(loss) {
            right.add(&loss.item, end, false);
        }
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
    let ends = maybe(loss);
    let several = ends.len() > 1 || !is_proven(matched, loss);
    for end in ends {
        right.add(&loss.item, end, sure && !several);
    }
    if !is_proven(matched, loss) {
        right.add(&loss.item, None, false);
    }
}

/// How a loss may be told.
fn maybe(loss: &TrueLoss) -> Vec<Option<answers::LossEnd>> {
    match loss.ended {
        // The successor, and the owner itself, have it again; another has it now.
        LossEnd::Reclaimed | LossEnd::Reassigned => vec![
            Some(answers::LossEnd::Reclaimed),
            Some(answers::LossEnd::Reassigned),
        ],
        LossEnd::Removed => vec![Some(answers::LossEnd::Removed), None],
        LossEnd::GroupGone => vec![
            Some(answers::LossEnd::GroupGone),
            Some(answers::LossEnd::Reclaimed),
            Some(answers::LossEnd::Reassigned),
            Some(answers::LossEnd::Removed),
            None,
        ],
        LossEnd::Open => vec![None],
    }
}

/// Whether the log shows that it ended.
fn is_proven(_matched: &Matched<'_>, loss: &TrueLoss) -> bool {
    loss.ended != LossEnd::GroupGone
}

/// What members stopped because they lost the coordinator is lost, too, until somebody has
/// it again: nobody but the log knows when.
fn dropped(matched: &Matched<'_>, right: &mut Counts) {
    for drop in &matched.truth.drops {
        for item in &drop.items {
            for end in [
                Some(answers::LossEnd::Reclaimed),
                Some(answers::LossEnd::Reassigned),
                Some(answers::LossEnd::Removed),
                Some(answers::LossEnd::GroupGone),
                None,
            ] {
                right.add(item, end, false);
            }
        }
    }
}
