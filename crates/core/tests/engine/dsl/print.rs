//! Prints what the engine says, one fact a line.

use std::fmt::Write as _;

use evenkeel_core::answers::{Answers, Outcome};
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::time::EventTime;

use super::BASE_MS;

pub(super) fn seconds(at: EventTime) -> String {
    let text = format!("{:.3}", (at.0 - BASE_MS) as f64 / 1000.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(super) fn print_change(out: &mut String, engine: &Engine, change: &Change) {
    match change {
        Change::Settled(round) => {
            let round = engine.describe(round);
            writeln!(
                out,
                "gen {} {} by {}",
                round.generation,
                round.outcome.map_or("open", |outcome| outcome.label()),
                round
                    .settled_by
                    .unwrap_or("-")
                    .trim_start_matches("generation "),
            )
            .unwrap();
        }
        Change::Missing {
            first,
            count,
            outcome,
        } => {
            writeln!(out, "missing {count} from {first}: {}", outcome.label()).unwrap();
        }
        Change::Created {
            incarnation,
            generation,
        } => {
            writeln!(
                out,
                "incarnation {incarnation} from generation {generation}"
            )
            .unwrap();
        }
        Change::Deleted => writeln!(out, "deleted").unwrap(),
        // Told by `story` lines.
        Change::CaughtUp { .. } | Change::Opened(_) | Change::Closed(..) => {}
    }
}

/// What can be seen, and what only polls tell.
pub(super) fn print_mode(out: &mut String, answers: &Answers) {
    let state = answers.state.map_or("unknown", |state| state.label());
    write!(out, "mode {}", answers.mode.label()).unwrap();
    let fresh = if answers.fresh { "fresh" } else { "stale" };
    write!(out, " {fresh} state {state}").unwrap();
    if answers.unassigned.is_none() {
        write!(out, " owners unknown").unwrap();
    }
    if let Some(own) = &answers.own {
        let worker = own.worker.trim_end_matches(":8083");
        write!(out, " beside {worker} {:?}", own.role).unwrap();
    }
    writeln!(out).unwrap();
}

pub(super) fn print_answers(out: &mut String, answers: &Answers) {
    match &answers.group {
        None => writeln!(out, "no group").unwrap(),
        Some(group) => {
            let protocol = group.protocol.map_or("-", |protocol| protocol.label());
            let leader = group
                .leader
                .as_deref()
                .unwrap_or("-")
                .trim_end_matches(":8083");
            writeln!(
                out,
                "{} {} {protocol} led by {leader}",
                group.state.label(),
                group
                    .generation
                    .map_or("?".to_owned(), |number| number.to_string())
            )
            .unwrap();
            if let Some(workers) = &group.downgraded {
                let workers: Vec<&str> = workers
                    .iter()
                    .map(|worker| worker.trim_end_matches(":8083"))
                    .collect();
                writeln!(out, "downgraded by {}", workers.join(",")).unwrap();
            }
            for member in &group.members {
                let owned: Vec<String> = member.owned.iter().map(item_text).collect();
                let worker = member.worker.trim_end_matches(":8083");
                writeln!(out, "{worker} owns {}", owned.join(",")).unwrap();
            }
        }
    }
    for unassigned in answers.without_owner() {
        let since = unassigned.since.map_or_else(|| "?".to_owned(), seconds);
        let owner = unassigned
            .last_owner
            .as_deref()
            .unwrap_or("-")
            .trim_end_matches(":8083");
        writeln!(
            out,
            "unassigned {} {} since {since} of {owner}",
            item_text(&unassigned.item),
            unassigned.reason.label(),
        )
        .unwrap();
    }
    if let Some(deadline) = answers.deadline {
        writeln!(
            out,
            "deadline {} {}",
            seconds(deadline.at),
            deadline.reason.label()
        )
        .unwrap();
    }
    let counters = &answers.counters;
    let mut counted: Vec<String> = Vec::new();
    for outcome in Outcome::ALL {
        let of_it = counters
            .generations
            .iter()
            .filter(|((_, o), _)| *o == outcome);
        let sum: u64 = of_it.map(|(_, count)| count).sum();
        if sum > 0 {
            counted.push(format!("{}={sum}", outcome.label()));
        }
    }
    counted.extend(
        counters
            .revocations
            .iter()
            .map(|((kind, how), v)| format!("revoked.{kind}.{}={v}", how.label())),
    );
    counted.extend(
        counters
            .assignments
            .iter()
            .map(|(kind, v)| format!("assigned.{kind}={v}")),
    );
    counted.extend(
        counters
            .assignment_errors
            .iter()
            .map(|(error, v)| format!("{}={v}", error.label())),
    );
    if counters.leader_changes > 0 {
        counted.push(format!("leaders={}", counters.leader_changes));
    }
    writeln!(out, "counted {}", counted.join(" ")).unwrap();
    for finding in &answers.findings {
        writeln!(out, "finding {} {}", finding.finding, finding.subject).unwrap();
    }
}

fn item_text(item: &evenkeel_core::answers::ItemAnswer) -> String {
    match item.task {
        Some(task) => format!("{}-{task}", item.connector),
        None => item.connector.to_string(),
    }
}
