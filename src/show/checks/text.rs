//! What checks found, as a person reads it at night: by consequence, the worst first, each
//! with its values side by side, where they were read, and what to do.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_core::checks::{
    Check, ELSEWHERE, Finding, Harm, Outcome, Severity, Shown, is_watched,
};

use super::{Report, Taken, plain};

const WIDTH: usize = 96;

/// Of one check: settings that plug-ins of a platform brought can be many.
const CONTRADICTIONS_MAX: usize = 12;

/// Lines of what is undecided: a list that is read, not a second report.
const UNDECIDED_MAX: usize = 6;

/// The whole report.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    head(&mut out, report);
    let stories = stories(&report.findings);
    for (harm, stories) in by_harm(&stories) {
        out.push_str(&format!("\n{}\n", harm.headline().to_uppercase()));
        stories.iter().for_each(|story| tell(&mut out, story));
    }
    undecided(&mut out, &report.findings, !report.live.is_empty());
    tail(&mut out, report);
    out
}

/// What one check found.
struct Story<'a> {
    check: &'static Check,
    contradictions: Vec<Contradiction<'a>>,
}

/// Findings of one check that say the same.
struct Contradiction<'a> {
    said: &'a str,
    advice: Option<&'a str>,
    values: Vec<&'a Shown>,
}

fn stories(findings: &[Finding]) -> Vec<Story<'_>> {
    let mut stories: Vec<Story<'_>> = Vec::new();
    let fired = findings
        .iter()
        .filter(|finding| finding.judgement.outcome == Outcome::Fired);
    for finding in fired {
        let judgement = &finding.judgement;
        let found = stories
            .iter()
            .position(|story| story.check.id == finding.check.id);
        let index = found.unwrap_or_else(|| {
            stories.push(Story {
                check: finding.check,
                contradictions: Vec::new(),
            });
            stories.len() - 1
        });
        let contradictions = &mut stories[index].contradictions;
        match contradictions
            .iter_mut()
            .find(|same| same.said == judgement.said)
        {
            Some(same) => same.values.extend(&judgement.values),
            None => contradictions.push(Contradiction {
                said: &judgement.said,
                advice: judgement.advice.as_deref(),
                values: judgement.values.iter().collect(),
            }),
        }
    }
    stories
}

/// Groups in the order of what is worst in them.
fn by_harm<'a, 'b>(stories: &'b [Story<'a>]) -> Vec<(Harm, Vec<&'b Story<'a>>)> {
    let mut groups: BTreeMap<Harm, Vec<&Story<'_>>> = BTreeMap::new();
    for story in stories {
        groups.entry(story.check.harm).or_default().push(story);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    for (_, stories) in &mut groups {
        stories.sort_by_key(|story| story.check.severity);
    }
    groups
        .sort_by_key(|(harm, stories)| (stories.first().map(|story| story.check.severity), *harm));
    groups
}

fn head(out: &mut String, report: &Report) {
    for read in &report.files {
        out.push_str(&format!("{}: read as {}\n", plain(&read.file), read.format));
        for note in &read.notes {
            wrapped(out, "  ", note);
        }
    }
    for live in &report.live {
        let who = live.principal.as_deref();
        let who = who.map_or_else(String::new, |who| format!(" as {}", plain(who)));
        let workers = match live.workers {
            Some(count) => format!(", {}", counted(count, "worker", "workers")),
            None => String::new(),
        };
        let told = format!("group {}: asked of its brokers{who}{workers}", live.group);
        wrapped(out, "", &told);
        for trouble in &live.troubles {
            wrapped(out, "  ! ", trouble);
        }
        for note in &live.notes {
            wrapped(out, "  ", note);
        }
    }
    if report.groups.len() > 1 {
        let groups = report.groups.iter().map(|(group, workers)| {
            let group = group.as_deref().unwrap_or("without a known group.id");
            format!("{group} ({workers})")
        });
        let groups: Vec<String> = groups.collect();
        wrapped(
            out,
            "",
            &format!("Groups, each compared by itself: {}", groups.join(", ")),
        );
    }
    match report.release {
        Taken::Said { release, known } if release != known => wrapped(
            out,
            "",
            &format!(
                "The settings of Kafka {release} are not known here; those of {known} and what later releases leave as it is stand for them."
            ),
        ),
        Taken::Newest(release) => wrapped(
            out,
            "",
            &format!(
                "No release was named: defaults are those of Kafka {release} (--kafka-release)."
            ),
        ),
        _ => {}
    }
}

fn tell(out: &mut String, story: &Story<'_>) {
    let check = story.check;
    out.push_str(&format!("\n  {} {}\n", check.severity.word(), check.id));
    for contradiction in story.contradictions.iter().take(CONTRADICTIONS_MAX) {
        wrapped(out, "    ", contradiction.said);
        for line in table(&contradiction.values) {
            out.push_str(&format!("      {line}\n"));
        }
        if let Some(advice) = contradiction.advice {
            wrapped(out, "      -> ", advice);
        }
    }
    let more = story
        .contradictions
        .len()
        .saturating_sub(CONTRADICTIONS_MAX);
    if more > 0 {
        wrapped(out, "    ", &format!("and {more} more: see --format json"));
    }
    wrapped(out, "    ", check.consequence);
    let is_advised = story
        .contradictions
        .iter()
        .all(|contradiction| contradiction.advice.is_some());
    if !is_advised {
        wrapped(out, "    -> ", check.advice);
    }
}

/// Values side by side: whose, name, value, where it was read; each once.
fn table(values: &[&Shown]) -> Vec<String> {
    let mut rows: Vec<[String; 3]> = Vec::new();
    for shown in values {
        let row = [
            plain(&shown.name).into_owned(),
            plain(&shown.value).into_owned(),
            plain(&shown.source.to_string()).into_owned(),
        ];
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let (name, value) = (width(0).unwrap_or(0), width(1).unwrap_or(0));
    let lines = rows
        .iter()
        .map(|row| format!("{:<name$}  {:>value$}  {}", row[0], row[1], row[2]));
    lines.collect()
}

/// Text in lines of a bounded width, all but the first indented by blanks.
fn wrapped(out: &mut String, lead: &str, text: &str) {
    let text = plain(text);
    let blanks = " ".repeat(lead.chars().count());
    let mut line = lead.to_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        let is_full = line.chars().count() + word.chars().count() >= WIDTH;
        if is_full && !is_empty {
            out.push_str(&format!("{}\n", line.trim_end()));
            line.clone_from(&blanks);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    out.push_str(&format!("{}\n", line.trim_end()));
}

/// By what is missing, since that is what a person can give; what no file holds last.
fn undecided(out: &mut String, findings: &[Finding], is_live: bool) {
    let mut by_missing: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut watched: Vec<&str> = Vec::new();
    for finding in findings {
        if finding.judgement.outcome != Outcome::Undecided {
            continue;
        }
        let missing = &finding.judgement.missing;
        // What needs a running group cannot be decided here, whatever else it needs.
        if !is_live && missing.iter().any(|missing| is_watched(missing)) {
            once(&mut watched, finding.check.id);
            continue;
        }
        for missing in missing {
            let called = with_places(missing, &finding.judgement.values);
            once(by_missing.entry(called).or_default(), finding.check.id);
        }
    }
    if by_missing.is_empty() && watched.is_empty() {
        return;
    }
    out.push_str("\nUNDECIDED\n\n");
    // Values that leave the same checks undecided are told together.
    let mut by_checks: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for (missing, checks) in by_missing {
        match by_checks.iter_mut().find(|(known, _)| *known == checks) {
            Some((_, all)) => all.push(missing),
            None => by_checks.push((checks, vec![missing])),
        }
    }
    // What would decide the most first.
    by_checks.sort_by_key(|(checks, _)| std::cmp::Reverse(checks.len()));
    let more = by_checks.split_off(by_checks.len().min(UNDECIDED_MAX));
    for (checks, missing) in by_checks {
        let told = format!("{}: {}", missing.join(", "), checks.join(", "));
        wrapped(out, "  without ", &told);
    }
    if !more.is_empty() {
        let count: usize = more.iter().map(|(_, missing)| missing.len()).sum();
        let told = format!(
            "{}: see --format json",
            counted(count, "more value", "more values")
        );
        wrapped(out, "  without ", &told);
    }
    if !watched.is_empty() {
        let count = counted(watched.len(), "check", "checks");
        let told = format!("a running group to watch: {count}, see docs/checks.md");
        wrapped(out, "  without ", &told);
    }
}

/// A missing value; where it is set to what is not known here, with the places.
fn with_places(missing: &str, values: &[Shown]) -> String {
    let places = values
        .iter()
        .filter(|shown| shown.name == missing && shown.value == ELSEWHERE);
    let places: Vec<String> = places.map(|shown| shown.source.to_string()).collect();
    match &*places {
        [] => missing.to_owned(),
        places => format!(
            "{missing} (known where the worker runs: {})",
            places.join(", ")
        ),
    }
}

fn once<'a>(list: &mut Vec<&'a str>, item: &'a str) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn tail(out: &mut String, report: &Report) {
    let ids = |outcome, severity: Option<Severity>| {
        let findings = report.findings.iter().filter(|finding| {
            finding.judgement.outcome == outcome
                && severity.is_none_or(|severity| finding.check.severity == severity)
        });
        let ids: BTreeSet<&str> = findings.map(|finding| finding.check.id).collect();
        ids
    };
    let fired = ids(Outcome::Fired, None);
    let passed = ids(Outcome::Passed, None);
    let count = |severity| ids(Outcome::Fired, Some(severity)).len();
    out.push_str(&format!(
        "\n{}, {}, {}; {} passed\n",
        counted(count(Severity::Error), "error", "errors"),
        counted(count(Severity::Warning), "warning", "warnings"),
        counted(count(Severity::Info), "note", "notes"),
        counted(passed.difference(&fired).count(), "check", "checks")
    ));
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
