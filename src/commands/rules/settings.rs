//! The thresholds of the rules: their names, defaults and bounds, and what a person set.

use std::collections::BTreeMap;

use evenkeel_core::checks::near::nearest;

use super::RulesArgs;
use crate::config::Mistake;
use crate::show::catalog;

/// What kind of value a threshold has.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A time, as Prometheus writes it; scaled by `--time-scale`.
    Time,
    /// A part of a whole, above 0 and at most 1.
    Share,
    /// A count, at least 1.
    Count,
}

/// One threshold.
struct Threshold {
    name: &'static str,
    kind: Kind,
    default: &'static str,
    says: &'static str,
}

const fn time(name: &'static str, default: &'static str, says: &'static str) -> Threshold {
    Threshold {
        name,
        kind: Kind::Time,
        default,
        says,
    }
}

const fn share(name: &'static str, default: &'static str, says: &'static str) -> Threshold {
    Threshold {
        name,
        kind: Kind::Share,
        default,
        says,
    }
}

const fn count(name: &'static str, default: &'static str, says: &'static str) -> Threshold {
    Threshold {
        name,
        kind: Kind::Count,
        default,
        says,
    }
}

const THRESHOLDS: [Threshold; 33] = [
    time(
        "lost_margin",
        "1m",
        "WorkLost: after the end of the scheduled delay",
    ),
    time(
        "unscheduled_for",
        "2m",
        "WorkUnscheduled: without an owner and nothing scheduled",
    ),
    time(
        "new_for",
        "15m",
        "WorkNeverAssigned: configured and never owned",
    ),
    share(
        "most_share",
        "0.5",
        "MostWorkUnassigned: part of the configured work",
    ),
    time("most_for", "1m", "MostWorkUnassigned: for so long"),
    time("empty_for", "1m", "GroupEmpty: without members"),
    time(
        "unseen_for",
        "10m",
        "GroupUnseen: no sidecar shows the group",
    ),
    share(
        "long_share",
        "0.5",
        "RebalanceLong: part of the rebalance timeout",
    ),
    count(
        "storm_generations",
        "20",
        "RebalanceStorm: generations in 10 minutes",
    ),
    count(
        "rate_generations",
        "7",
        "RebalanceRateHigh: generations in 15 minutes",
    ),
    time("rate_for", "1h", "RebalanceRateHigh: for so long"),
    count(
        "leader_changes",
        "3",
        "LeaderFlapping: changes in 10 minutes",
    ),
    time(
        "better_protocol_for",
        "1h",
        "ProtocolFallback: a better protocol was in force",
    ),
    share(
        "availability_target",
        "0.995",
        "AvailabilityBurn: part of task time that is to run",
    ),
    time("failed_for", "1m", "ConnectorFailed, TaskFailed: FAILED"),
    time(
        "no_tasks_for",
        "10m",
        "ConnectorWithoutTasks: RUNNING without tasks",
    ),
    time("restarting_for", "5m", "RestartingStuck: RESTARTING"),
    time("duplicate_for", "1m", "DuplicateWork: runs twice"),
    time("orphan_for", "5m", "OrphanedWork: may run on"),
    time(
        "disagreement_for",
        "12m",
        "StatusDisagrees: status and group disagree",
    ),
    time(
        "checks_for",
        "30m",
        "TimeoutsInconsistent: settings contradict each other",
    ),
    share(
        "imbalance_share",
        "0.2",
        "AssignmentImbalanced: part of the configured work",
    ),
    time("imbalance_for", "30m", "AssignmentImbalanced: for so long"),
    count(
        "worker_tasks_max",
        "1000",
        "NoHeadroom: tasks that a worker can carry",
    ),
    time("headroom_for", "30m", "NoHeadroom: for so long"),
    count(
        "record_bytes",
        "1048588",
        "GroupRecordNearLimit: max.message.bytes of the offsets topic",
    ),
    share("record_share", "0.8", "GroupRecordNearLimit: part of it"),
    time("blind_for", "5m", "AgentBlind: sees nothing"),
    count("lag_records", "1000", "AgentBehind: records behind"),
    time("behind_for", "5m", "AgentBehind: for so long"),
    time(
        "missing_for",
        "15m",
        "AgentMissing: a worker without a sidecar",
    ),
    time("reporter_for", "5m", "ReporterCount: no reporter, or two"),
    time("certificate_left", "14d", "CertificateExpiring: time left"),
];

/// A value that a template names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Setting {
    /// Milliseconds, not scaled yet.
    Time(u64),
    /// Any other number.
    Number(f64),
}

/// Everything that a template is a function of.
#[derive(Debug)]
pub(super) struct Settings {
    values: BTreeMap<&'static str, Setting>,
    /// Labels by which copies differ, as `without` takes them.
    pub(super) copies: String,
    pub(super) runbook_base: String,
    pub(super) dashboard_base: String,
    /// What times are multiplied by.
    pub(super) scale: f64,
}

// === impl Settings ===

impl Settings {
    /// What the arguments say; what is wrong with them goes to `mistakes`.
    pub(super) fn of(args: &RulesArgs, mistakes: &mut Vec<Mistake>) -> Self {
        let mut values = BTreeMap::new();
        for threshold in &THRESHOLDS {
            if let Some(value) = threshold.kind.read(threshold.default) {
                values.insert(threshold.name, value);
            }
        }
        for given in &args.set {
            let Some((name, text)) = given.split_once('=') else {
                mistakes.push(mistake("--set", given, "NAME=VALUE"));
                continue;
            };
            match THRESHOLDS.iter().find(|known| known.name == name) {
                None => mistakes.push(unknown(name)),
                Some(known) => match known.kind.read(text) {
                    None => mistakes.push(mistake(name, text, known.kind.expected())),
                    Some(value) => {
                        values.insert(known.name, value);
                    }
                },
            }
        }
        let copies: Vec<&str> = args.copies.split(',').map(str::trim).collect();
        if !copies.iter().all(|label| is_label(label)) {
            let expected = "names of labels, separated by commas";
            mistakes.push(mistake("--copies", &args.copies, expected));
        }
        if copies.iter().any(|label| is_told(label)) {
            let expected = "labels of scrape targets; these are of what is told";
            mistakes.push(mistake("--copies", &args.copies, expected));
        }
        let scale = args.time_scale.parse().ok();
        let scale = scale.filter(|scale: &f64| (0.0001..=1000.0).contains(scale));
        if scale.is_none() {
            let expected = "a number from 0.0001 to 1000";
            mistakes.push(mistake("--time-scale", &args.time_scale, expected));
        }
        Self {
            values,
            copies: copies.join(", "),
            runbook_base: base("--runbook-base", &args.runbook_base, mistakes),
            dashboard_base: base("--dashboard-base", &args.dashboard_base, mistakes),
            scale: scale.unwrap_or(1.0),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Setting> {
        self.values.get(name).copied()
    }
}

// === impl Kind ===

impl Kind {
    fn read(self, text: &str) -> Option<Setting> {
        let number = || text.parse::<f64>().ok();
        match self {
            Self::Time => millis(text).map(Setting::Time),
            Self::Share => number()
                .filter(|share| *share > 0.0 && *share <= 1.0)
                .map(Setting::Number),
            Self::Count => text
                .parse::<u32>()
                .ok()
                .filter(|count| *count > 0)
                .map(|count| Setting::Number(f64::from(count))),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Time => "a time of at most a year, as in 90s, 2m or 1h30m",
            Self::Share => "a number above 0 and at most 1",
            Self::Count => "a whole number from 1 on",
        }
    }
}

/// What `--help` says of the thresholds.
pub(super) fn help() -> String {
    let mut text = "Thresholds for --set, with their defaults:\n".to_owned();
    for known in &THRESHOLDS {
        text.push_str(&format!(
            "  {:<20} {:<8} {}\n",
            known.name, known.default, known.says
        ));
    }
    text.push_str("\nExample: evenkeel rules --set lost_margin=2m --format kubernetes --label release=prometheus");
    text
}

/// The names of all thresholds.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    THRESHOLDS.iter().map(|known| known.name)
}

/// A mistake of the command line.
pub(super) fn mistake(path: &str, found: &str, expected: &str) -> Mistake {
    const CHARS_MAX: usize = 60;
    Mistake {
        path: path.to_owned(),
        found: format!("{:?}", found.chars().take(CHARS_MAX).collect::<String>()),
        expected: expected.to_owned(),
        hint: None,
        origin: None,
    }
}

fn unknown(name: &str) -> Mistake {
    let names = THRESHOLDS.iter().map(|known| known.name);
    let near = nearest(name, names);
    Mistake {
        hint: Some(near.map_or_else(
            || "`evenkeel rules --help` lists them".to_owned(),
            |near| format!("did you mean {near}?"),
        )),
        ..mistake("--set", name, "the name of a threshold")
    }
}

/// The start of a link, without the slash at its end.
fn base(flag: &str, given: &str, mistakes: &mut Vec<Mistake>) -> String {
    let is_link = given.starts_with("http://") || given.starts_with("https://");
    // It goes into YAML and into a template of Prometheus as it is.
    let is_plain = given
        .chars()
        .all(|c| c.is_ascii_graphic() && !"\"'`{}#\\".contains(c));
    if !is_link || !is_plain {
        mistakes.push(mistake(
            flag,
            given,
            "a link that begins with http:// or https://",
        ));
    }
    given.trim_end_matches('/').to_owned()
}

/// Whether evenkeel's own series have that label, or its alerts: without it they would be mixed up.
fn is_told(name: &str) -> bool {
    let labels = catalog::ALL.iter().flat_map(|family| family.labels);
    ["alertname", "severity", "le"].contains(&name) || labels.map(|of| of.name).any(|of| of == name)
}

fn is_label(name: &str) -> bool {
    let mut chars = name.chars();
    let is_start = |c: char| c == '_' || c.is_ascii_alphabetic();
    chars.next().is_some_and(is_start) && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// Units of a time as Prometheus writes it, the largest first: in this order they may follow
/// each other.
const UNITS: [(&str, u64); 7] = [
    ("y", 31_536_000_000),
    ("w", 604_800_000),
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
];

/// The milliseconds of a time as Prometheus writes it, of at most a year.
pub(super) fn millis(text: &str) -> Option<u64> {
    let mut left = text;
    let mut sum = 0u64;
    let mut next = 0;
    while !left.is_empty() {
        let digits = left.find(|c: char| !c.is_ascii_digit())?;
        let (number, rest) = left.split_at(digits);
        let end = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(end);
        let place = UNITS.iter().position(|(name, _)| *name == unit)?;
        if place < next {
            return None;
        }
        next = place + 1;
        let (_, unit_ms) = UNITS.get(place)?;
        sum = sum.checked_add(number.parse::<u64>().ok()?.checked_mul(*unit_ms)?)?;
        left = rest;
    }
    (!text.is_empty() && sum <= 31_536_000_000).then_some(sum)
}

/// A time as Prometheus writes it, in one unit.
pub(super) fn written(ms: u64) -> String {
    // A year is no round number of anything; nobody writes 52 weeks.
    let units = UNITS.iter().skip(2);
    let fits = |unit_ms: u64| ms > 0 && ms.is_multiple_of(unit_ms);
    match units.clone().find(|(_, unit_ms)| fits(*unit_ms)) {
        Some((unit, unit_ms)) => format!("{}{unit}", ms / unit_ms),
        None => "0s".to_owned(),
    }
}
