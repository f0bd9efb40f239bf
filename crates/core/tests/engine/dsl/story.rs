//! Prints episodes and what belongs to them, one fact a line.

use std::fmt::Write as _;

use evenkeel_core::answers::{
    Answers, Bound, DurationAnswer, EpisodeAnswer, EpisodeState, Histogram,
};

use super::print::seconds;

pub(super) fn print_story(out: &mut String, answers: &Answers) {
    let Some(episodes) = &answers.episodes else {
        writeln!(out, "no episodes").unwrap();
        return;
    };
    for episode in episodes.closed.iter().chain(&episodes.open) {
        print_episode(out, episode);
    }
    print_counters(out, answers);
}

/// What was counted of downtime and hand-overs, and what is down now.
pub(super) fn print_costs(out: &mut String, answers: &Answers) {
    let counters = &answers.counters;
    for ((kind, reason), count) in &counters.interruptions {
        writeln!(out, "interrupted {kind} {} {count}", reason.label()).unwrap();
    }
    for ((kind, how), count) in &counters.handovers {
        writeln!(out, "handed over {kind} {} {count}", how.label()).unwrap();
    }
    for ((connector, reason), ms) in &counters.unavailable_ms {
        let s = *ms as f64 / 1_000.0;
        writeln!(out, "{connector} was down {} for {s}", reason.label()).unwrap();
    }
    for ((connector, reason), count) in &answers.unavailable {
        writeln!(out, "{connector} has {count} down {}", reason.label()).unwrap();
    }
}

fn print_episode(out: &mut String, episode: &EpisodeAnswer) {
    let state = match (episode.state, episode.outcome) {
        (_, Some(outcome)) => outcome.label(),
        (EpisodeState::Parked, None) => "parked",
        (_, None) => "active",
    };
    let closed = episode.closed.map_or_else(String::new, seconds);
    writeln!(
        out,
        "episode {}-{} {state} {}..{closed} active {} parked {}{}{}",
        episode.first_generation,
        episode.last_generation,
        seconds(episode.began),
        duration(&episode.active),
        duration(&episode.parked),
        if episode.whole { "" } else { " in part" },
        if episode.follows.is_some() {
            " goes on"
        } else {
            ""
        },
    )
    .unwrap();
    for cause in &episode.contributing {
        let subject = cause.subject.as_deref().unwrap_or("-");
        write!(
            out,
            "  {} {} from {}",
            cause.cause.label(),
            short(subject),
            cause.generation
        )
        .unwrap();
        if let (Some(root), Some(changed)) = (cause.root, cause.changed) {
            let changed = if changed { "changed" } else { "unchanged" };
            write!(out, " {root:?} {changed}").unwrap();
        }
        writeln!(out).unwrap();
    }
    for round in &episode.rounds {
        let phase =
            |phase: &Option<DurationAnswer>| phase.as_ref().map_or("-".to_owned(), duration);
        let missing = if round.missing_before > 0 {
            format!(" after {} without a record", round.missing_before)
        } else {
            String::new()
        };
        writeln!(
            out,
            "  gen {} {} {} {} sync {} stop {} start {}{missing}",
            round.generation,
            round.outcome.map_or("open", |outcome| outcome.label()),
            round.cause.label(),
            short(round.subject.as_deref().unwrap_or("-")),
            phase(&round.sync),
            phase(&round.stop),
            phase(&round.start),
        )
        .unwrap();
    }
    for round in &episode.polled.rounds {
        let phases = [
            ("join", &round.join),
            ("stop", &round.stop),
            ("start", &round.start),
        ];
        let seen = phases
            .iter()
            .filter_map(|(name, phase)| Some(format!(" {name} {}", duration(phase.as_ref()?))));
        let seen: String = seen.collect();
        writeln!(out, "  seen here of {}{seen}", round.generation).unwrap();
    }
    for departed in &episode.departures {
        let settled = if departed.settled { "" } else { " not settled" };
        let successor = departed
            .successor
            .as_ref()
            .map_or_else(String::new, |(worker, in_)| {
                format!(" successor {} in {in_}", short(worker))
            });
        let returned = departed
            .returned
            .map_or_else(String::new, |in_| format!(" back in {in_}"));
        let (connectors, tasks) = departed.owned;
        writeln!(
            out,
            "  left {} {}{settled} with {connectors}+{tasks}{successor}{returned}",
            short(&departed.worker),
            departed.how.label(),
        )
        .unwrap();
    }
    let lost = &episode.lost;
    if lost.items > 0 {
        let ended: Vec<String> = lost
            .ended
            .iter()
            .map(|(end, count)| format!(" {}={count}", end.label()))
            .collect();
        let longest = lost.longest.as_ref().map_or_else(String::new, |longest| {
            format!(" longest {}", duration(longest))
        });
        writeln!(
            out,
            "  lost {} open {}{}{longest}",
            lost.items,
            lost.open,
            ended.concat()
        )
        .unwrap();
    }
}

fn print_counters(out: &mut String, answers: &Answers) {
    let counters = &answers.counters;
    let mut told: Vec<String> = Vec::new();
    for ((cause, outcome), count) in &counters.generations {
        told.push(format!("{}.{}={count}", cause.label(), outcome.label()));
    }
    for (cause, count) in &counters.rebalances {
        told.push(format!("rebalances.{}={count}", cause.label()));
    }
    for ((worker, how), count) in &counters.departures {
        told.push(format!("{}.{}={count}", short(worker), how.label()));
    }
    for ((kind, end), count) in &counters.lost {
        told.push(format!("lost.{kind}.{}={count}", end.label()));
    }
    for (phase, histogram) in &counters.phases {
        told.push(format!("{}={}", phase.label(), count_of(histogram)));
    }
    for (phase, count) in &counters.phases_unmeasured {
        told.push(format!("{}.unmeasured={count}", phase.label()));
    }
    writeln!(out, "counted {}", told.join(" ")).unwrap();
}

fn count_of(histogram: &Histogram) -> u64 {
    histogram.count
}

fn short(name: &str) -> &str {
    name.trim_end_matches(":8083")
}

/// Seconds, with `+` for at least and `-` for at most.
fn duration(duration: &DurationAnswer) -> String {
    let text = |ms: i64| {
        let text = format!("{:.3}", ms as f64 / 1000.0);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match (duration.bound, duration.between_ms) {
        (Bound::AtLeast, _) => format!("{}+", text(duration.ms)),
        (Bound::AtMost, _) => format!("{}-", text(duration.ms)),
        (_, Some((least, most))) => {
            format!("{}[{},{}]", text(duration.ms), text(least), text(most))
        }
        _ => text(duration.ms),
    }
}
