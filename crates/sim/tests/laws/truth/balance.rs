//! Balance: the numbers of the group at rest are those of who really has what.

use evenkeel_core::answers::KindBalance;
use evenkeel_core::facts::ids::Kind;
use evenkeel_sim::item::{Work, counts, minus};
use evenkeel_sim::truth::{LossEnd, TrueRound, Truth};

use crate::drive::Watched;

/// When the group came to rest, and all that can be proven is.
pub(super) fn at_rest(truth: &Truth, watched: &Watched) -> Result<(), String> {
    let deleted = truth.lives.last().is_none_or(|l| l.deleted_ms.is_some());
    if !truth.end.rest || deleted || truth.end.owned.is_empty() {
        return Ok(());
    }
    let balance = watched.engine.answers().balance;
    let balance = balance.ok_or("no balance is told")?;
    if balance.frozen {
        return Err("it is frozen, and the group is at rest".to_owned());
    }
    let loads: Vec<(usize, usize)> = truth.end.owned.values().map(|(_, w)| counts(w)).collect();
    let owned: Work = truth
        .end
        .owned
        .values()
        .flat_map(|(_, w)| w.clone())
        .collect();
    // What is lost is parked; so may be all that is configured and nobody has.
    let nobodys = minus(&truth.end.configured, &owned);
    let open = truth
        .losses
        .iter()
        .filter(|loss| loss.ended == LossEnd::Open);
    let lost = open.map(|loss| loss.item.clone());
    let lost: Work = lost.filter(|item| nobodys.contains(item)).collect();
    let recorded = |round: &&TrueRound| round.recorded_ms.is_some();
    let newest = truth.rounds.iter().rfind(recorded);
    let eager = newest.is_some_and(|round| round.version == 0);
    for kind in Kind::ALL {
        let of = |(connectors, tasks): (usize, usize)| match kind {
            Kind::Connector => connectors,
            Kind::Task => tasks,
        };
        let told = balance.kinds.iter().find(|each| each.kind == kind);
        let parked = told.map_or(0, |each| usize::try_from(each.parked).unwrap());
        let bounds = of(counts(&lost))..=of(counts(&nobodys));
        if !bounds.contains(&parked) {
            return Err(format!(
                "{parked} parked, not {bounds:?}: {:?}",
                balance.kinds
            ));
        }
        let loads = loads.iter().map(|load| of(*load)).collect();
        let right = naive(kind, loads, parked, eager);
        if !balance.kinds.contains(&right) {
            return Err(format!("{:?}, and not {right:?}", balance.kinds));
        }
    }
    Ok(())
}

/// By dealing one by one, as Kafka does.
fn naive(kind: Kind, loads: Vec<usize>, parked: usize, eager: bool) -> KindBalance {
    let items: usize = loads.iter().sum();
    let mut best = vec![0_usize; loads.len()];
    for _ in 0..items + parked {
        *best.iter_mut().min().unwrap() += 1;
    }
    let best_most = best.iter().max().copied().unwrap();
    let above = loads
        .iter()
        .map(|load| load.saturating_sub(best_most))
        .sum();
    // Each may be lost in turn; what it had goes one by one to who has the least.
    let without = |lost: usize| {
        let mut rest = loads.clone();
        let mut work = rest.remove(lost) + parked;
        if eager {
            work += rest.iter().sum::<usize>();
            rest.fill(0);
        }
        for _ in 0..work {
            *rest.iter_mut().min().unwrap() += 1;
        }
        rest.into_iter().max().unwrap()
    };
    let survivor = (loads.len() > 1).then(|| (0..loads.len()).map(without).max().unwrap());
    let number = |count: usize| u64::try_from(count).unwrap();
    KindBalance {
        kind,
        members: number(loads.len()),
        items: number(items),
        parked: number(parked),
        most: number(loads.iter().max().copied().unwrap()),
        least: number(loads.iter().min().copied().unwrap()),
        best_most: number(best_most),
        imbalance: number(above),
        survivor_most: survivor.map(number),
    }
}
