//! Bounds: the largest of a capped family, and whole families up to the hard cap.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Samples;

/// The `max` largest counts, largest first, and how many were left out. Equal counts
/// are taken in the order of their keys, so that every scrape takes the same.
pub(super) fn largest<K: Ord>(counts: BTreeMap<K, u64>, max: usize) -> (Vec<(K, u64)>, u64) {
    let mut list: Vec<_> = counts.into_iter().collect();
    list.sort_by_key(|(_, count)| Reverse(*count));
    let left_out = list.len().saturating_sub(max);
    list.truncate(max);
    (list, u64::try_from(left_out).unwrap_or(u64::MAX))
}

/// The families that fit into `room` samples, and how many series do not. A family is
/// left out whole, so that no sum over one that is there is wrong. The catalogue puts
/// those with a series a worker or a connector last: they go first.
pub(super) fn within(mut families: Vec<Samples<'_>>, room: usize) -> (Vec<Samples<'_>>, u64) {
    let mut used = 0usize;
    let mut left_out = 0u64;
    families.retain(|samples| {
        let wanted = used.saturating_add(samples.samples());
        let fits = wanted <= room;
        if fits {
            used = wanted;
        } else {
            let series = u64::try_from(samples.series.len()).unwrap_or(u64::MAX);
            left_out = left_out.saturating_add(series);
        }
        fits
    });
    (families, left_out)
}
