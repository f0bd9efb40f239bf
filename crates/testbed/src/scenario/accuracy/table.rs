//! The comparison as tables: one a kind of time, a row the releases of a recording.

use std::collections::BTreeSet;

use super::{Cell, FAR, How, Kind};

/// All kinds, each with its heading and what its truth is.
const KINDS: [(Kind, &str, &str); 12] = [
    (
        Kind::Sync,
        "Sync",
        "From the broker's line that the join phase ended to its line that the assignment came.",
    ),
    (
        Kind::Join,
        "Join, by polls",
        "From the broker's line that it prepares to its line that the join phase ended.",
    ),
    (
        Kind::StopByLogs,
        "Stops of the slowest worker, by logs alone",
        "To the UNASSIGNED of the last stop: between the end of the fixture's own stop and the worker's line that it ended.",
    ),
    (
        Kind::Stop,
        "Stops of the slowest worker, with what a sidecar saw",
        "The same.",
    ),
    (
        Kind::StartByLogs,
        "Starts of the slowest worker, by logs alone",
        "From the broker's line that the assignment came to the RUNNING of the last start: between the end of the fixture's own start and the worker reading it back.",
    ),
    (
        Kind::Start,
        "Starts of the slowest worker, with what a sidecar saw",
        "The same.",
    ),
    (
        Kind::Skew,
        "Clocks of workers",
        "What the script set: nothing, or libfaketime.",
    ),
    (
        Kind::Died,
        "Death of a worker that wrote nothing",
        "The script's SIGKILL, told backwards from the instant at which the group was found to be without the worker. The one number is the middle of the interval.",
    ),
    (
        Kind::ActiveByLogs,
        "Active time, by logs alone",
        "From the broker's line that it prepares (or what led to it) to the last start, without what was parked.",
    ),
    (
        Kind::Active,
        "Active time, with what a sidecar saw",
        "The same.",
    ),
    (
        Kind::Parked,
        "Parked time",
        "From the last start to the end of the delay, between the instant that the record gives and the broker's line that it prepares the next round.",
    ),
    (
        Kind::Lost,
        "Longest time of lost work without an owner",
        "From the SIGKILL or the stop of the owner, or the broker's line that a frozen one is gone, to the record that hands it out.",
    ),
];

/// All tables in Markdown.
pub fn tables(cells: &[Cell]) -> String {
    let mut text = String::new();
    for (kind, heading, truth) in KINDS {
        let of_kind: Vec<&Cell> = cells.iter().filter(|cell| cell.kind == kind).collect();
        text.push_str(&format!("## {heading}\n\n{truth}\n\n"));
        text.push_str(HEAD);
        let releases: BTreeSet<&str> = of_kind.iter().map(|cell| &*cell.releases).collect();
        for release in &releases {
            let own = of_kind.iter().filter(|cell| cell.releases == **release);
            row(&mut text, release, &own.copied().collect::<Vec<_>>());
        }
        if releases.len() > 1 {
            row(&mut text, "all", &of_kind);
        }
        text.push('\n');
    }
    text
}

const HEAD: &str = "| brokers / workers | recordings | values | exact | bounded | at least | at most | unmeasured | wrong | error | width | truth's own width |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

fn row(text: &mut String, name: &str, cells: &[&Cell]) {
    let count = |how| cells.iter().filter(|cell| cell.how == how).count();
    let recordings: BTreeSet<&str> = cells.iter().map(|cell| &*cell.recording).collect();
    let wrong = cells.iter().filter(|cell| cell.is_wrong()).count();
    let measured = || {
        let all = cells.iter();
        all.filter(|cell| matches!(cell.how, How::Exact | How::Bounded))
    };
    let errors = distribution(measured().map(|cell| cell.error_ms()));
    let bounded = measured().filter(|cell| cell.how == How::Bounded);
    let widths = distribution(bounded.map(|cell| cell.told.1 - cell.told.0));
    let known = measured().filter(|cell| cell.truth.1 < FAR / 2);
    let truths = distribution(known.map(|cell| cell.truth.1 - cell.truth.0));
    text.push_str(&format!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {wrong} | {errors} | {widths} | {truths} |\n",
        recordings.len(),
        cells.len(),
        count(How::Exact),
        count(How::Bounded),
        count(How::AtLeast),
        count(How::AtMost),
        count(How::Unmeasured),
    ));
}

/// Median, 95 % and the largest.
fn distribution(values: impl Iterator<Item = i64>) -> String {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    let Some(largest) = values.last() else {
        return "–".to_owned();
    };
    let at = |percent: usize| {
        let place = (values.len() * percent).div_ceil(100).saturating_sub(1);
        values.get(place).copied().unwrap_or(*largest)
    };
    format!("{} / {} / {largest}", at(50), at(95))
}
