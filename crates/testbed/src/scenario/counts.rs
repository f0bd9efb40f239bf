//! What two sidecars counted since two moments: the same, or one of them counted something
//! twice or not at all.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::ensure;

use super::agent::{Agent, value};
use super::stage::Stage;
use crate::truth::Comparison;
use crate::wait::wait_until;

/// Settled is a generation once a status or the next claim proves it.
const COUNTED_MAX: Duration = Duration::from_secs(40);

/// How long nothing is counted before it counts as all: a proof is read within a second.
const AT_REST: Duration = Duration::from_secs(5);

const FAMILIES: [&str; 5] = [
    "evenkeel_generations_total",
    "evenkeel_revocations_total",
    "evenkeel_assignments_total",
    "evenkeel_assignment_errors_total",
    "evenkeel_leader_changes_total",
];

/// Every counter of the group by its series, as it stands in the exposition.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Counts(BTreeMap<String, f64>);

impl Counts {
    /// What a sidecar counted so far.
    ///
    /// # Errors
    /// When there is no answer.
    pub(super) fn of(agent: &Agent) -> anyhow::Result<Counts> {
        let text = agent.metrics()?;
        let is_count = |line: &&str| {
            let rest = FAMILIES.iter().find_map(|family| line.strip_prefix(family));
            rest.is_some_and(|rest| rest.starts_with('{'))
        };
        let names = text.lines().filter(is_count);
        let counts = names.filter_map(|line| Some(line.rsplit_once(' ')?.0));
        let counts = counts.map(|name| Ok((name.to_owned(), value(&text, name)?.unwrap_or(0.0))));
        Ok(Counts(counts.collect::<anyhow::Result<_>>()?))
    }

    pub(super) fn sum(&self) -> f64 {
        self.0.values().sum()
    }

    /// How many generations of them.
    pub(super) fn generations(&self) -> f64 {
        let generations = self.0.iter();
        generations
            .filter(|(name, _)| name.starts_with("evenkeel_generations_total"))
            .map(|(_, count)| count)
            .sum()
    }

    fn since(&self, before: &Counts) -> Counts {
        let was = |name: &String| before.0.get(name).copied().unwrap_or(0.0);
        let grown = self
            .0
            .iter()
            .map(|(name, now)| (name.clone(), now - was(name)));
        Counts(grown.collect())
    }
}

/// What sidecars counted once none of them counts any more: a generation is settled before
/// each of its members is proven to have done what it was told, and sidecars read the proofs
/// at their own pace.
///
/// # Errors
/// When one goes on counting, or does not answer.
pub(super) fn at_rest(agents: &[&Agent]) -> anyhow::Result<Vec<Counts>> {
    let look = || -> anyhow::Result<Vec<Counts>> {
        agents.iter().map(|agent| Counts::of(agent)).collect()
    };
    let mut last = look()?;
    let mut since = Instant::now();
    wait_until("counters to rest", COUNTED_MAX, || {
        let now = look()?;
        if now != last {
            (last, since) = (now, Instant::now());
        }
        Ok((since.elapsed() >= AT_REST).then(|| last.clone()))
    })
}

/// The sidecar `first`, which always saw everything, is the measure: since `before`, its own
/// first, both counted the same, and something.
///
/// # Errors
/// When a sidecar does not answer.
pub(super) fn counted_alike(
    stage: &Stage,
    (step, name): (&str, &str),
    before: &(Counts, Counts),
    comparison: &mut Comparison,
) -> anyhow::Result<()> {
    let look = || -> anyhow::Result<_> {
        let truth = Counts::of(stage.agent("first")?)?.since(&before.0);
        let told = Counts::of(stage.agent(name)?)?.since(&before.1);
        Ok((truth, told))
    };
    // What is not the same in the end is a difference, not a failure to wait.
    let settled = wait_until(step, COUNTED_MAX, || {
        let (truth, told) = look()?;
        ensure!(truth == told && truth.sum() > 0.0, "not yet");
        Ok(Some((truth, told)))
    });
    let (truth, told) = settled.or_else(|_| look())?;
    comparison.equal(
        &format!("{step}: something grew"),
        &true,
        &(truth.sum() > 0.0),
    );
    for (series, truth) in &truth.0 {
        let what = format!("{step}: {name}: {series} grew by");
        comparison.equal(&what, &Some(truth), &told.0.get(series));
    }
    let grown = told.0.iter().filter(|(_, count)| **count > 0.0);
    let grown: Vec<String> = grown
        .map(|(series, count)| format!("{series} {count}"))
        .collect();
    eprintln!("  {step}: {name} counted {}", grown.join(", "));
    Ok(())
}
