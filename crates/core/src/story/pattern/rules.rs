//! The rules of patterns, each alone: from what is remembered and an instant to a pattern
//! with its subjects and its evidence.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Commit, Left, Patterns, WINDOW_MS};
use crate::answers::{
    DepartureHow, FAILED_ROUNDS, Pattern, PatternAnswer, PatternNumber, TasksRoot,
};
use crate::facts::ids::{ConnectorId, Names};
use crate::facts::time::EventTime;
use crate::story::switches::{StoryRule, Switches};

/// Rounds that failed one after the other, from which on it is a loop.
const LOOP_ROUNDS: u64 = 5;
const LOOP_ROUNDS_MS: i64 = 120_000;
/// Follow-ups that revoked again, from which on it is a loop.
const LOOP_FOLLOWUPS: u64 = 5;
/// Generations from which on it is a storm: more than 20.
const STORM_GENERATIONS: u64 = 21;
const STORM_MS: i64 = 600_000;
/// Departures of one worker from which on it flaps.
const FLAPPING_DEPARTURES: u64 = 3;
/// Generations with tasks of one connector written anew, from which on it is a churn.
const CHURN_COMMITS: u64 = 3;
const CHURN_MS: i64 = 900_000;
/// Workers replaced in good order from which on it is a rollout.
const ROLLOUT_WORKERS: u64 = 2;

/// What a rule counted, and what it would say.
struct Counted {
    number: PatternNumber,
    subjects: Vec<Arc<str>>,
    evidence: String,
}

/// What the rules look at.
struct Look<'a> {
    known: &'a Patterns,
    now: EventTime,
    names: &'a Names,
}

/// One worker and who came in its place, with each time that it left, oldest first.
struct Chain<'a> {
    left: Vec<&'a Left>,
}

/// A rule.
type PatternRule = fn(&Look<'_>) -> Counted;

/// The rules in their order.
const RULES: [(u8, PatternRule); 6] = [
    (1, rule_1_failed),
    (2, rule_2_followups),
    (3, rule_3_storm),
    (4, rule_4_flapping),
    (5, rule_5_churn),
    (6, rule_6_rollout),
];

pub(super) fn pattern(
    known: &Patterns,
    now: EventTime,
    names: &Names,
    switches: Switches,
) -> PatternAnswer {
    let look = Look { known, now, names };
    let rules = RULES.into_iter();
    let rules = rules.filter(|(number, _)| switches.on(StoryRule::Pattern(*number)));
    let counted: Vec<Counted> = rules.map(|(_, rule)| rule(&look)).collect();
    let numbers = counted.iter().map(|counted| counted.number).collect();
    let mut counted = counted.into_iter();
    let first = counted.find(|counted| counted.number.counted >= counted.number.needed);
    match first {
        Some(first) => PatternAnswer {
            pattern: first.number.pattern,
            subjects: first.subjects,
            evidence: first.evidence,
            numbers,
        },
        None => PatternAnswer {
            pattern: Pattern::Quiet,
            subjects: Vec::new(),
            evidence: String::new(),
            numbers,
        },
    }
}

fn rule_1_failed(look: &Look<'_>) -> Counted {
    let since = look.second_before(LOOP_ROUNDS_MS);
    let count = look.known.failed.count(since, look.now);
    Counted {
        number: number(
            Pattern::Loop,
            FAILED_ROUNDS,
            count,
            LOOP_ROUNDS,
            LOOP_ROUNDS_MS,
        ),
        subjects: Vec::new(),
        evidence: format!(
            "{count} rounds in the last 2 minutes ended in CONFIG_MISMATCH or reached nobody, \
             and none was completed since"
        ),
    }
}

fn rule_2_followups(look: &Look<'_>) -> Counted {
    let since = look.now.plus_ms(-WINDOW_MS);
    let all = look.known.followups.iter();
    let count = count(all.filter(|at| **at > since).count());
    Counted {
        number: number(Pattern::Loop, "followups", count, LOOP_FOLLOWUPS, WINDOW_MS),
        subjects: Vec::new(),
        evidence: format!(
            "{count} follow-ups of revocations revoked again, while members and configuration \
             stayed the same"
        ),
    }
}

fn rule_3_storm(look: &Look<'_>) -> Counted {
    let since = look.second_before(STORM_MS);
    let of_it = || look.known.generations.iter().filter(|(at, _)| *at > since);
    let count = of_it()
        .map(|(_, count)| *count)
        .fold(0, u64::saturating_add);
    // The connector whose tasks were written before half of them is what it is about.
    let first = of_it().next().map_or(i64::MAX, |(second, _)| *second);
    let commits = by_connector(look.known.commits.iter(), |commit| {
        commit.at.0.div_euclid(1000) >= first
    });
    let half = |(_, commits): &(ConnectorId, Vec<&Commit>)| {
        self::count(commits.len()).saturating_mul(2) >= count
    };
    let driven = commits.into_iter().find(half);
    let mut evidence = format!(
        "{count} generations in the last 10 minutes, and no configuration written by a person \
         since the first of them"
    );
    let mut subjects = Vec::new();
    if let Some((connector, commits)) = driven {
        evidence.push_str(&format!("; {}", written(&commits)));
        subjects.push(look.names.name(connector));
    }
    Counted {
        number: number(
            Pattern::Storm,
            "generations",
            count,
            STORM_GENERATIONS,
            STORM_MS,
        ),
        subjects,
        evidence,
    }
}

fn rule_4_flapping(look: &Look<'_>) -> Counted {
    let badly = |left: &&&Left| {
        matches!(
            left.how,
            DepartureHow::CutShort | DepartureHow::Crashed | DepartureHow::Unresponsive
        )
    };
    let times = |chain: &Chain<'_>| count(chain.left.iter().filter(badly).count());
    let mut chains = look.chains();
    chains.sort_by_key(|chain| Reverse(times(chain)));
    let most = chains.first().map_or(0, times);
    let mut evidence = String::new();
    if let Some(worst) = chains.first() {
        let hows = worst.left.iter().filter(badly);
        let hows: Vec<&str> = hows.map(|left| left.how.label()).collect();
        evidence = format!(
            "{} left {most} times in the last 30 minutes: {}",
            worst.worker(),
            few(&hows)
        );
    }
    chains.retain(|chain| times(chain) >= FLAPPING_DEPARTURES);
    Counted {
        number: number(
            Pattern::Flapping,
            "departures",
            most,
            FLAPPING_DEPARTURES,
            WINDOW_MS,
        ),
        subjects: distinct(chains.iter().map(Chain::worker)),
        evidence,
    }
}

fn rule_5_churn(look: &Look<'_>) -> Counted {
    let since = look.now.plus_ms(-CHURN_MS);
    let connectors = by_connector(look.known.commits.iter(), |commit| commit.at > since);
    let times = |commits: &[&Commit]| count(commits.len());
    let most = connectors.first().map_or(0, |(_, commits)| times(commits));
    let evidence = connectors.first().map_or_else(String::new, |(_, commits)| {
        format!("{} in the last 15 minutes", written(commits))
    });
    let churned = connectors.into_iter();
    let churned = churned.take_while(|(_, commits)| times(commits) >= CHURN_COMMITS);
    Counted {
        number: number(Pattern::Churn, "commits", most, CHURN_COMMITS, CHURN_MS),
        subjects: churned
            .map(|(connector, _)| look.names.name(connector))
            .collect(),
        evidence,
    }
}

fn rule_6_rollout(look: &Look<'_>) -> Counted {
    let replaced = |left: &&Left| left.in_order && left.successor.is_some() && !left.returned;
    let chains = look.chains();
    let of_it = chains
        .iter()
        .filter(|chain| chain.left.iter().any(replaced));
    let workers: Vec<Arc<str>> = of_it.map(Chain::worker).collect();
    let names: Vec<&str> = workers.iter().map(|worker| &**worker).collect();
    Counted {
        number: number(
            Pattern::Rollout,
            "workers",
            count(workers.len()),
            ROLLOUT_WORKERS,
            WINDOW_MS,
        ),
        evidence: format!(
            "{} workers stopped and were replaced in the last 30 minutes: {}",
            workers.len(),
            few(&names)
        ),
        subjects: distinct(workers),
    }
}

/// Each once: an address may be that of several workers, one after the other.
fn distinct(workers: impl IntoIterator<Item = Arc<str>>) -> Vec<Arc<str>> {
    let mut each: Vec<Arc<str>> = Vec::new();
    for worker in workers {
        if !each.contains(&worker) {
            each.push(worker);
        }
    }
    each
}

// === impl Look ===

impl<'a> Look<'a> {
    /// The second that is too old by now: times are whole seconds.
    fn second_before(&self, ms: i64) -> i64 {
        self.now.plus_ms(-ms).0.div_euclid(1000)
    }

    /// Departures of the window, each with those of who came in its place.
    fn chains(&self) -> Vec<Chain<'a>> {
        let since = self.now.plus_ms(-WINDOW_MS);
        let mut chains: Vec<Chain<'a>> = Vec::new();
        let mut of_member: BTreeMap<&str, usize> = BTreeMap::new();
        for left in self.known.left.iter().filter(|left| left.at > since) {
            let place = of_member.remove(&*left.member);
            let place = place.unwrap_or_else(|| {
                chains.push(Chain { left: Vec::new() });
                chains.len().saturating_sub(1)
            });
            if let Some(chain) = chains.get_mut(place) {
                chain.left.push(left);
            }
            if let Some(successor) = &left.successor {
                of_member.insert(successor, place);
            }
        }
        chains
    }
}

// === impl Chain ===

impl Chain<'_> {
    /// The worker, by its newest name.
    fn worker(&self) -> Arc<str> {
        let newest = self.left.last();
        newest.map_or_else(|| Arc::from(""), |left| Arc::clone(&left.worker))
    }
}

/// Commits by connector, the most first.
fn by_connector<'a>(
    commits: impl Iterator<Item = &'a Commit>,
    wanted: impl Fn(&Commit) -> bool,
) -> Vec<(ConnectorId, Vec<&'a Commit>)> {
    let mut connectors: BTreeMap<ConnectorId, Vec<&Commit>> = BTreeMap::new();
    for commit in commits.filter(|commit| wanted(commit)) {
        connectors.entry(commit.connector).or_default().push(commit);
    }
    let mut connectors: Vec<_> = connectors.into_iter().collect();
    connectors.sort_by_key(|(connector, commits)| (Reverse(commits.len()), *connector));
    connectors
}

/// How often tasks were written, and why.
fn written(commits: &[&Commit]) -> String {
    let mut roots: BTreeMap<TasksRoot, usize> = BTreeMap::new();
    for commit in commits {
        let sum = roots.entry(commit.root).or_default();
        *sum = sum.saturating_add(1);
    }
    let told = |(root, count): (TasksRoot, usize)| {
        let root = match root {
            TasksRoot::Created => "as it was created",
            TasksRoot::Reconfigured => "after somebody changed its configuration",
            TasksRoot::Stopped => "as it was stopped",
            TasksRoot::Resumed => "as it was resumed",
            TasksRoot::Requested => "as the connector itself asked for it",
        };
        format!("{count} {root}")
    };
    let roots: Vec<String> = roots.into_iter().map(told).collect();
    let same = commits.iter().filter(|commit| !commit.changed).count();
    let same = match same {
        0 => String::new(),
        same => format!(", {same} without any change"),
    };
    format!(
        "tasks of one connector were written {} times ({}{same})",
        commits.len(),
        roots.join(", ")
    )
}

/// A list for a sentence: evidence is a line, not a page.
fn few(all: &[&str]) -> String {
    const SHOWN_MAX: usize = 5;
    let shown = all.iter().take(SHOWN_MAX).copied().collect::<Vec<_>>();
    let more = all.len().saturating_sub(shown.len());
    let shown = shown.join(", ");
    match more {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn number(
    pattern: Pattern,
    what: &'static str,
    counted: u64,
    needed: u64,
    window_ms: i64,
) -> PatternNumber {
    PatternNumber {
        pattern,
        what,
        counted,
        needed,
        window_ms,
    }
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
