//! What evenkeel says of why a group rebalanced, held against what the author of the script
//! knows: causes, subjects, outcomes, departures and lost work, exactly.
//!
//! Two things the records cannot show, and nobody may demand: that a worker without work was
//! still busy with a round when the next one began (so what the logs call one stretch may be
//! told as two), and who came first in rounds that left no record.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use serde_json::Value;

use super::compare::{number, text, worker_id};
use crate::truth::{Cause, Comparison, ExpectedEpisode, Root, TruthLog};
use crate::version::Version;

/// Compares the episodes in `lines` of a replay that was settled with the truth; a truth
/// without expectations has nothing to say.
///
/// # Errors
/// When a line has not the form it should have.
pub fn compare_episodes(
    comparison: &mut Comparison,
    lines: &[Value],
    truth: &TruthLog,
) -> anyhow::Result<()> {
    if truth.expected.episodes.is_empty() {
        return Ok(());
    }
    let episodes = lines
        .iter()
        .find(|line| line["line"] == "episodes")
        .context("the replay tells no episodes")?;
    let closed = episodes
        .pointer("/episodes/closed")
        .and_then(Value::as_array);
    let open = episodes
        .pointer("/episodes/open")
        .filter(|open| !open.is_null());
    let told: Vec<Told<'_>> = closed
        .into_iter()
        .flatten()
        .chain(open)
        .map(|episode| Told::of(episode, truth))
        .collect();
    comparison.equal("episodes open in the end", &false, &open.is_some());
    let expected: Vec<i64> = truth
        .expected
        .episodes
        .iter()
        .flat_map(|episode| episode.generations.iter().copied())
        .collect();
    let generations: Vec<i64> = told
        .iter()
        .flat_map(|told| told.rounds.iter().map(|round| round.generation))
        .collect();
    comparison.equal("generations in episodes", &expected, &generations);
    if expected == generations {
        compare_each(comparison, &told, (truth, commits_all_changes(lines)));
    }
    compare_departures(comparison, &told, truth);
    compare_lost(comparison, lines, truth)
}

/// An episode as it was told.
struct Told<'a> {
    episode: &'a Value,
    rounds: Vec<ToldRound>,
    cause: String,
    subject: Option<String>,
    outcome: Option<String>,
    /// Every cause with its subjects.
    causes: BTreeMap<String, BTreeSet<Option<String>>>,
}

struct ToldRound {
    generation: i64,
    has_record: bool,
}

impl<'a> Told<'a> {
    fn of(episode: &'a Value, truth: &TruthLog) -> Self {
        let mut causes: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
        for cause in list(&episode["contributing"]) {
            let subjects = causes
                .entry(text(&cause["cause"]).unwrap_or_default())
                .or_default();
            subjects.insert(process(&cause["subject"], truth));
        }
        let mut rounds = Vec::new();
        for round in list(&episode["rounds"]) {
            let generation = number(&round["generation"]).unwrap_or_default();
            let missing = number(&round["missing_before"]).unwrap_or_default();
            let without = (generation - missing..generation).map(|generation| ToldRound {
                generation,
                has_record: false,
            });
            rounds.extend(without);
            rounds.push(ToldRound {
                generation,
                has_record: true,
            });
        }
        Told {
            episode,
            rounds,
            cause: text(&episode["cause"]).unwrap_or_default(),
            subject: process(&episode["subject"], truth),
            outcome: text(&episode["outcome"]),
            causes,
        }
    }

    fn name(&self) -> String {
        let generation = |round: Option<&ToldRound>| round.map_or(0, |round| round.generation);
        format!(
            "episode of generations {} to {}",
            generation(self.rounds.first()),
            generation(self.rounds.last())
        )
    }
}

/// Walks both lists side by side: each told episode covers expected ones, or is a part of
/// one.
fn compare_each(
    comparison: &mut Comparison,
    told: &[Told<'_>],
    (truth, commits): (&TruthLog, bool),
) {
    let mut rest = truth.expected.episodes.iter().peekable();
    let mut told = told.iter();
    while let Some(first) = told.next() {
        let mut parts = vec![first];
        let mut whole: Vec<&ExpectedEpisode> = Vec::new();
        let (mut had, mut wanted) = (first.rounds.len(), 0);
        while wanted != had || wanted == 0 {
            if wanted < had {
                let Some(next) = rest.next() else { return };
                wanted += next.generations.len();
                whole.push(next);
            } else {
                let Some(next) = told.next() else { return };
                had += next.rounds.len();
                parts.push(next);
            }
        }
        compare_stretch(comparison, &parts, &whole, commits);
    }
}

/// Told episodes that together cover expected ones.
fn compare_stretch(
    comparison: &mut Comparison,
    parts: &[&Told<'_>],
    whole: &[&ExpectedEpisode],
    commits: bool,
) {
    let name = parts.first().map_or_else(String::new, |part| part.name());
    for later in whole.iter().skip(1) {
        comparison.equal(
            &format!("{name}: joins {}", later.step),
            &true,
            &later.may_join,
        );
    }
    let coming = |cause: Cause| matches!(cause, Cause::GroupFormed | Cause::WorkerJoined);
    for part in parts.iter().skip(1) {
        // Workers that come one after another, and a member that reads on late.
        let allowed = whole.iter().any(|expected| coming(expected.cause))
            || part.cause == label(Cause::ConfigAdvanced);
        comparison.equal(&format!("{}: apart", part.name()), &true, &allowed);
    }
    compare_causes(comparison, &name, parts, whole);
    for expected in whole {
        compare_root(comparison, &name, (parts, commits), expected);
    }
    let last = parts.last().and_then(|part| part.outcome.clone());
    let expected = whole.last().map(|expected| label(expected.outcome));
    comparison.equal(&format!("{name}: outcome"), &expected, &last);
}

fn compare_causes(
    comparison: &mut Comparison,
    name: &str,
    parts: &[&Told<'_>],
    whole: &[&ExpectedEpisode],
) {
    let first = whole.iter().min_by_key(|expected| expected.cause);
    if let (Some(expected), Some(part)) = (first, parts.first()) {
        comparison.equal(
            &format!("{name}: cause"),
            &label(expected.cause),
            &part.cause,
        );
        let subjects = subjects(expected);
        let known = subjects.contains(&part.subject);
        comparison.equal(
            &format!("{name}: subject {:?} is one of {subjects:?}", part.subject),
            &true,
            &known,
        );
    }
    let told: BTreeSet<&String> = parts.iter().flat_map(|part| part.causes.keys()).collect();
    let must: BTreeSet<Cause> = whole
        .iter()
        .flat_map(|expected| {
            expected
                .contributing
                .iter()
                .copied()
                .chain([expected.cause])
        })
        .collect();
    let without_record = parts
        .iter()
        .flat_map(|part| &part.rounds)
        .any(|round| !round.has_record);
    for cause in &must {
        // Who came in a round without a record was simply there in the next one.
        let hidden =
            without_record && matches!(cause, Cause::WorkerJoined | Cause::WorkerRestarted);
        if !hidden {
            let has = told.contains(&label(*cause));
            comparison.equal(&format!("{name}: {} is told", label(*cause)), &true, &has);
        }
    }
    let mut may: BTreeSet<String> = must.iter().map(|cause| label(*cause)).collect();
    may.extend(
        whole
            .iter()
            .flat_map(|e| &e.possible)
            .map(|cause| label(*cause)),
    );
    // A new connector commits its tasks.
    if must.contains(&Cause::ConnectorCreated) {
        may.insert(label(Cause::TasksChanged));
    }
    if parts.len() > 1 {
        may.insert(label(Cause::ConfigAdvanced));
    }
    for cause in told {
        comparison.equal(
            &format!("{name}: {cause} is so"),
            &true,
            &may.contains(cause),
        );
    }
    for expected in whole {
        compare_subjects(comparison, name, (parts, without_record), expected);
    }
}

/// The subjects of the cause, and what the tasks were written for.
fn compare_subjects(
    comparison: &mut Comparison,
    name: &str,
    (parts, without_record): (&[&Told<'_>], bool),
    expected: &ExpectedEpisode,
) {
    let cause = label(expected.cause);
    let told: BTreeSet<Option<String>> = parts
        .iter()
        .filter_map(|part| part.causes.get(&cause))
        .flatten()
        .cloned()
        .collect();
    let wanted = subjects(expected);
    let fits = told == wanted || (without_record && told.is_subset(&wanted));
    comparison.equal(
        &format!("{name}: {cause} is about {wanted:?}, told {told:?}"),
        &true,
        &fits,
    );
}

/// What the tasks were written for. Workers before 3.7.1 commit nothing after a change that no
/// task sees (KAFKA-9228), so that what the connector asks for later looks like its fruit.
fn compare_root(
    comparison: &mut Comparison,
    name: &str,
    (parts, commits): (&[&Told<'_>], bool),
    expected: &ExpectedEpisode,
) {
    let Some(root) = expected.root else { return };
    let roots: BTreeSet<(String, bool)> = parts
        .iter()
        .flat_map(|part| list(&part.episode["contributing"]))
        .filter(|found| found["cause"] == "tasks_changed")
        .map(|found| {
            let root = text(&found["root"]).unwrap_or_default();
            (root, found["changed"] == true)
        })
        .collect();
    let late = Root::Reconfigured.as_told();
    if root == Root::Itself && !commits && roots == BTreeSet::from([late]) {
        return;
    }
    let expected = BTreeSet::from([root.as_told()]);
    comparison.equal(&format!("{name}: root"), &expected, &roots);
}

/// Whether the workers commit tasks after every change of a connector.
fn commits_all_changes(lines: &[Value]) -> bool {
    let release = lines
        .iter()
        .find_map(|line| line.pointer("/header/kafka/workers"))
        .and_then(Value::as_str)
        .and_then(|release| release.parse::<Version>().ok());
    release.is_none_or(|release| release.at_least(3, 8))
}

fn compare_departures(comparison: &mut Comparison, told: &[Told<'_>], truth: &TruthLog) {
    let mut departures: Vec<(String, String, Option<String>)> = Vec::new();
    for departed in told
        .iter()
        .flat_map(|told| list(&told.episode["departures"]))
    {
        let successor = departed["successor"]
            .get(0)
            .and_then(|name| process(name, truth));
        departures.push((
            process(&departed["worker"], truth).unwrap_or_default(),
            text(&departed["how"]).unwrap_or_default(),
            successor,
        ));
    }
    let mut expected: Vec<(String, String, Option<String>)> = truth
        .expected
        .departures
        .iter()
        .map(|d| (d.worker.clone(), label(d.how), d.successor.clone()))
        .collect();
    departures.sort();
    expected.sort();
    comparison.equal("departures", &expected, &departures);
}

fn compare_lost(
    comparison: &mut Comparison,
    lines: &[Value],
    truth: &TruthLog,
) -> anyhow::Result<()> {
    let mut expected: BTreeMap<(String, String), i64> = BTreeMap::new();
    for lost in &truth.expected.lost_work {
        let items = [
            ("connector", lost.items.connectors.len()),
            ("task", lost.items.tasks.len()),
        ];
        for (kind, items) in items.into_iter().filter(|(_, items)| *items > 0) {
            let count = expected
                .entry((kind.to_owned(), label(lost.ended)))
                .or_default();
            *count += i64::try_from(items)?;
        }
    }
    let answers = lines
        .iter()
        .find(|line| line["line"] == "answers")
        .context("the replay ends without answers")?;
    let counted = answers
        .pointer("/answers/counters/lost")
        .unwrap_or(&Value::Null);
    let told: BTreeMap<(String, String), i64> = list(counted)
        .filter_map(|pair| {
            let key = (text(&pair[0][0])?, text(&pair[0][1])?);
            Some((key, number(&pair[1])?))
        })
        .collect();
    comparison.equal("lost work by how it ended", &expected, &told);
    Ok(())
}

fn subjects(expected: &ExpectedEpisode) -> BTreeSet<Option<String>> {
    let others = expected.others.iter().cloned().map(Some);
    others.chain([expected.subject.clone()]).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The process behind a worker's address; other names are left as they are.
fn process(name: &Value, truth: &TruthLog) -> Option<String> {
    let name = text(name)?;
    let of_name = |(_, url): &(&String, &String)| worker_id(url) == name;
    let found = truth.worker_urls.iter().find(of_name);
    Some(found.map_or(name.clone(), |(process, _)| process.clone()))
}

/// The name of a value of a closed set, as both sides write it.
fn label(value: impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
