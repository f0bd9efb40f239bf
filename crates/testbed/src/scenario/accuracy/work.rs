//! How long the longest lost work of an episode had no owner.

use serde_json::Value;

use super::phases::unassigned;
use super::{Compared, FAR, Kind, Range, Told, later, number, span};
use crate::truth::{Item, ItemKind, LostEnd, LostWork, TruthGeneration};

impl Compared<'_> {
    pub(super) fn lost(&mut self, episode: &Value) {
        let places = self.places(episode);
        let open = number(&episode["lost"]["open"]).unwrap_or_default();
        if number(&episode["lost"]["items"]) == Some(0) || open > 0 {
            return;
        }
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            return;
        };
        let mut longest: Option<Range> = None;
        for lost in &self.truth.expected.lost_work {
            for item in items(lost) {
                let Some((place, lasted)) = self.without_owner(lost, &item) else {
                    continue;
                };
                if (*first..=*last).contains(&place) {
                    longest = Some(longest.map_or(lasted, |known| later(known, lasted)));
                }
            }
        }
        let what = format!(
            "generations {} to {}",
            self.truth.generations[*first].generation, self.truth.generations[*last].generation
        );
        if let Some(truth) = longest {
            let told = Told::of(&episode["lost"]["longest"]);
            self.add(Kind::Lost, &what, told, truth);
        }
    }

    /// In which generation somebody had it again, and for how long nobody had: from the
    /// owner's last instant, or the broker's word that it is gone, to that record.
    fn without_owner(&self, lost: &LostWork, item: &Item) -> Option<(usize, Range)> {
        if matches!(lost.ended, LostEnd::Removed | LostEnd::GroupGone) {
            return None;
        }
        let steps = &self.truth.expected.steps;
        let step = steps.iter().find(|step| step.name == lost.step)?;
        let skew_ms = self.skew_ms(&lost.worker);
        let stints = self
            .truth
            .stints
            .iter()
            .filter(|stint| stint.worker == lost.worker && stint.item == *item);
        let ends = stints.filter_map(|stint| {
            let killed = stint.killed_ms.map(|at_ms| (at_ms, at_ms));
            let at = killed.or_else(|| {
                let (from, to) = unassigned(stint)?;
                Some((from - skew_ms, to.saturating_sub(skew_ms)))
            })?;
            (at.0 >= step.from_ms && at.0 <= step.to_ms).then_some(at)
        });
        let all = self.truth.generations.iter();
        let gone = all.flat_map(|generation| &generation.departures);
        let gone = gone.filter(|gone| {
            gone.worker.as_deref() == Some(&*lost.worker)
                && (step.from_ms..=step.to_ms).contains(&gone.at_ms)
        });
        let gone_ms = gone.map(|gone| gone.at_ms).min();
        let since = ends.min().or(gone_ms.map(|at_ms| (at_ms, at_ms)))?;
        let until = self
            .truth
            .generations
            .iter()
            .enumerate()
            .find(|(_, generation)| {
                generation.assignment_ms > Some(since.0)
                    && generation.join_end_ms >= gone_ms.unwrap_or(since.0)
                    && owns(generation, item)
            });
        let (place, generation) = until?;
        let at_ms = generation.assignment_ms?;
        let since = (since.0, since.1.min(FAR).min(at_ms));
        Some((place, span(since, (at_ms, at_ms))))
    }
}

fn items(lost: &LostWork) -> Vec<Item> {
    let of = |kind| {
        move |name: &String| Item {
            kind,
            name: name.clone(),
        }
    };
    let connectors = lost.items.connectors.iter().map(of(ItemKind::Connector));
    connectors
        .chain(lost.items.tasks.iter().map(of(ItemKind::Task)))
        .collect()
}

fn owns(generation: &TruthGeneration, item: &Item) -> bool {
    generation
        .members
        .iter()
        .filter_map(|member| member.owned.as_ref())
        .any(|owned| match item.kind {
            ItemKind::Connector => owned.connectors.contains(&item.name),
            ItemKind::Task => owned.tasks.contains(&item.name),
        })
}
