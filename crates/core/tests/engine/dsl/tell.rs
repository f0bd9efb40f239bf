//! Prints what lies beside episodes: how evenly work is spread, what it all looks like, and
//! how long things usually take. The first line of each is not indented, the others are.

use std::fmt::Write as _;

use evenkeel_core::answers::{Answers, ItemAnswer};

use super::print::seconds;

/// What is to be printed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    Balance,
    Pattern,
    Habits,
    Checks,
    Moves,
    States,
    Disagreements,
}

pub(super) fn print(out: &mut String, what: What, answers: &Answers) {
    match what {
        What::Balance => balance(out, answers),
        What::Pattern => pattern(out, answers),
        What::Habits => habits(out, answers),
        What::Checks => checks(out, answers),
        What::Moves => moves(out, answers),
        What::States => states(out, answers),
        What::Disagreements => disagreements(out, answers),
    }
}

fn item(item: &ItemAnswer) -> String {
    match item.task {
        Some(task) => format!("{}-{task}", item.connector),
        None => item.connector.to_string(),
    }
}

fn states(out: &mut String, answers: &Answers) {
    let Some(states) = &answers.states else {
        writeln!(out, "states unknown").unwrap();
        return;
    };
    writeln!(out, "states").unwrap();
    for each in &states.connectors {
        let tasks = each.tasks.iter();
        let tasks: String = tasks
            .map(|(state, count)| format!(" {count} {}", state.label()))
            .collect();
        writeln!(out, "  {} {}:{tasks}", each.connector, each.state.label()).unwrap();
    }
}

fn disagreements(out: &mut String, answers: &Answers) {
    let Some(told) = &answers.disagreements else {
        writeln!(out, "disagreements unknown").unwrap();
        return;
    };
    writeln!(out, "disagreements").unwrap();
    for each in told.now.iter().chain(&told.over) {
        let worker = each.worker.trim_end_matches(":8083");
        let since = seconds(each.since);
        let until = each
            .until
            .map_or(String::new(), |at| format!(" to {}", seconds(at)));
        let (kind, confidence) = (each.kind.label(), each.confidence.label());
        writeln!(
            out,
            "  {kind} {} {worker} from {since}{until} {confidence}",
            item(&each.item)
        )
        .unwrap();
    }
}

fn balance(out: &mut String, answers: &Answers) {
    let Some(balance) = &answers.balance else {
        writeln!(out, "balance unknown").unwrap();
        return;
    };
    let frozen = if balance.frozen { " frozen" } else { "" };
    writeln!(out, "balance of {}{frozen}", balance.generation).unwrap();
    for kind in &balance.kinds {
        let survivor = kind
            .survivor_most
            .map_or("-".to_owned(), |most| most.to_string());
        let parked = match kind.parked {
            0 => String::new(),
            parked => format!("+{parked}"),
        };
        writeln!(
            out,
            "  {} {}{parked} on {} most {} least {} best {} above {} survivor {survivor}",
            kind.kind.label(),
            kind.items,
            kind.members,
            kind.most,
            kind.least,
            kind.best_most,
            kind.imbalance,
        )
        .unwrap();
    }
    for each in &balance.connectors {
        writeln!(
            out,
            "  of {} {} most {} best {} above {}",
            each.connector, each.tasks, each.most, each.best_most, each.above
        )
        .unwrap();
    }
}

fn pattern(out: &mut String, answers: &Answers) {
    let Some(pattern) = &answers.pattern else {
        writeln!(out, "pattern unknown").unwrap();
        return;
    };
    let subjects: String = pattern.subjects.iter().map(|s| format!(" {s}")).collect();
    writeln!(out, "pattern {}{subjects}", pattern.pattern.label()).unwrap();
    if !pattern.evidence.is_empty() {
        writeln!(out, "  {}", pattern.evidence).unwrap();
    }
    let numbers = pattern.numbers.iter().filter(|number| number.counted > 0);
    for number in numbers {
        writeln!(
            out,
            "  {} {} {}/{}",
            number.pattern.label(),
            number.what,
            number.counted,
            number.needed
        )
        .unwrap();
    }
}

fn habits(out: &mut String, answers: &Answers) {
    let Some(habits) = &answers.habits else {
        writeln!(out, "habits unknown").unwrap();
        return;
    };
    writeln!(out, "habits").unwrap();
    let all = [
        ("restart", &habits.restarts),
        ("catch-up", &habits.catch_ups),
        ("start", &habits.starts),
        ("stop", &habits.stops),
    ];
    for (what, habits) in all {
        for habit in habits {
            let at_least = match habit.at_least {
                0 => String::new(),
                count => format!(", {count} at least"),
            };
            writeln!(
                out,
                "  {what} {} {} times{at_least}: median {} largest {}",
                habit.subject, habit.count, habit.median_ms, habit.largest_ms
            )
            .unwrap();
        }
    }
}

/// Those that fire, with what was compared.
fn checks(out: &mut String, answers: &Answers) {
    let Some(checks) = &answers.checks else {
        writeln!(out, "checks unknown").unwrap();
        return;
    };
    writeln!(out, "checks").unwrap();
    for fired in &checks.fired {
        let own = if fired.own { ", own" } else { "" };
        let severity = fired.severity.word();
        writeln!(
            out,
            "  {severity} {} {}{own}: {}",
            fired.check, fired.subject, fired.said
        )
        .unwrap();
        for value in &fired.values {
            writeln!(
                out,
                "  - {} {} = {} ({})",
                value.worker, value.name, value.value, value.source
            )
            .unwrap();
        }
    }
}

fn moves(out: &mut String, answers: &Answers) {
    writeln!(out, "moves").unwrap();
    for ((kind, need), count) in &answers.counters.moves {
        writeln!(out, "  {} {} {count}", kind.label(), need.label()).unwrap();
    }
    for (kind, count) in &answers.moves_unsettled {
        writeln!(out, "  {} unsettled {count}", kind.label()).unwrap();
    }
}

/// The lines that such a command printed, all of the scenario.
pub(crate) fn told(printed: &str, word: &str) -> Vec<String> {
    let mut ours = false;
    let is_ours = |line: &&str| {
        if !line.starts_with(' ') {
            ours = line.split_whitespace().next() == Some(word);
        }
        ours
    };
    let lines = printed.lines().filter(is_ours);
    lines.map(|line| line.trim().to_owned()).collect()
}
