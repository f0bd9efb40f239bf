//! How loads are evened out: what is taken from the overloaded, and who gets new work.

use std::collections::BTreeMap;

use crate::item::{Item, Work, counts};

/// What each member would own.
pub(super) type Loads = BTreeMap<String, Work>;

/// `performLoadBalancingRevocations` (3.4 and later): against what is configured.
pub(super) fn surplus(configured: &Work, loads: &Loads) -> Loads {
    if configured.is_empty() || loads.values().all(Work::is_empty) {
        return Loads::new();
    }
    let (connectors, tasks) = counts(configured);
    let mut out = surplus_of(connectors, loads, true);
    for (member, work) in surplus_of(tasks, loads, false) {
        out.entry(member).or_default().extend(work);
    }
    out
}

fn of_kind(work: &Work, connectors: bool) -> impl Iterator<Item = &Item> {
    work.iter()
        .filter(move |item| item.is_connector() == connectors)
}

fn surplus_of(total: usize, loads: &Loads, connectors: bool) -> Loads {
    let least = total / loads.len().max(1);
    let extra = total % loads.len().max(1);
    let sizes: Vec<usize> = loads
        .values()
        .map(|work| of_kind(work, connectors).count())
        .collect();
    let with_extra = sizes.iter().filter(|size| **size == least + 1).count();
    let with_least = sizes.iter().filter(|size| **size == least).count();
    if with_extra == extra && with_extra + with_least == loads.len() {
        return Loads::new();
    }
    let mut out = Loads::new();
    let mut extras = 0;
    for (member, work) in loads {
        let size = of_kind(work, connectors).count();
        if size <= least {
            continue;
        }
        let most = if extras < extra {
            extras += 1;
            least + 1
        } else {
            least
        };
        if size > most {
            let taken = of_kind(work, connectors).take(size - most).cloned();
            out.insert(member.clone(), taken.collect());
        }
    }
    out
}

/// `performTaskRevocation` (before 3.4): against what is active, and only for a member
/// that has nothing.
pub(super) fn surplus_old(active: &Work, loads: &Loads) -> Loads {
    let busy = loads.values().filter(|work| !work.is_empty()).count();
    if busy == 0 || busy == loads.len() {
        return Loads::new();
    }
    let (connectors, tasks) = counts(active);
    let mut out = Loads::new();
    for (member, work) in loads {
        for (total, kind) in [(connectors, true), (tasks, false)] {
            let most = total.div_ceil(loads.len());
            let size = of_kind(work, kind).count();
            if size > most {
                let taken = of_kind(work, kind).take(size - most).cloned();
                out.entry(member.clone()).or_default().extend(taken);
            }
        }
    }
    out
}

/// `performTaskRevocation` before 2.6.2: of each kind no more in all than the one idle
/// member would get. Not documented; seen of workers of 2.5.1.
pub(super) fn surplus_oldest(active: &Work, loads: &Loads) -> Loads {
    let busy = loads.values().filter(|work| !work.is_empty()).count();
    if busy == 0 || busy == loads.len() {
        return Loads::new();
    }
    let (connectors, tasks) = counts(active);
    let mut out = Loads::new();
    for (total, kind) in [(connectors, true), (tasks, false)] {
        let share = total / loads.len();
        let mut left = share;
        for (member, work) in loads {
            let size = of_kind(work, kind).count();
            let take = size.saturating_sub(share).min(left);
            if take > 0 {
                let taken = of_kind(work, kind).take(take).cloned();
                out.entry(member.clone()).or_default().extend(taken);
                left -= take;
            }
        }
    }
    out
}

/// `assignConnectors` and `assignTasks`: to the least loaded, round by round.
pub(super) fn hand_out(loads: &mut Loads, work: &Work) {
    for connectors in [true, false] {
        let mut order: Vec<(usize, String)> = loads
            .iter()
            .map(|(member, work)| (of_kind(work, connectors).count(), member.clone()))
            .collect();
        order.sort();
        let mut items = of_kind(work, connectors).peekable();
        while items.peek().is_some() && !order.is_empty() {
            let first = order[0].0;
            for (size, member) in order.iter_mut().take_while(|(size, _)| *size <= first) {
                let Some(item) = items.next() else { break };
                *size += 1;
                loads
                    .entry(member.clone())
                    .or_default()
                    .insert(item.clone());
            }
        }
    }
}
