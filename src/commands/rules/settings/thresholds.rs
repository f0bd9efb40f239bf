//! The thresholds of the rules: what each says, its default, and the values between which it
//! means something: beyond them an alert never fires, or fires for what is well.

use super::Setting;
use super::times::millis;

/// What kind of value a threshold has.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A time, as Prometheus writes it; scaled by `--time-scale`.
    Time,
    /// A part of a whole.
    Share,
    /// A count.
    Count,
}

/// One threshold.
pub(super) struct Threshold {
    pub(super) name: &'static str,
    kind: Kind,
    default: &'static str,
    says: &'static str,
    /// The least and the most that it may be.
    limits: [&'static str; 2],
    /// Why no less and no more.
    pub(super) why: &'static str,
}

/// Where nothing sooner ends what an alert is about.
const DAY: [&str; 2] = ["0s", "1d"];
const TOO_LATE: &str = "who is told after a day is told too late";

const fn of(
    kind: Kind,
    (name, default): (&'static str, &'static str),
    says: &'static str,
    limits: [&'static str; 2],
    why: &'static str,
) -> Threshold {
    Threshold {
        name,
        kind,
        default,
        says,
        limits,
        why,
    }
}

pub(super) const THRESHOLDS: [Threshold; 33] = [
    of(
        Kind::Time,
        ("lost_margin", "1m"),
        "WorkLost: after the end of the scheduled delay",
        ["0s", "1h"],
        "lost work stands still for as long as the margin",
    ),
    of(
        Kind::Time,
        ("unscheduled_for", "2m"),
        "WorkUnscheduled: without an owner and nothing scheduled",
        ["10s", "1d"],
        "between the two rounds of any rebalance work has no owner for seconds",
    ),
    of(
        Kind::Time,
        ("new_for", "15m"),
        "WorkNeverAssigned: configured and never owned",
        ["1m", "1d"],
        "what is new is handed out within a minute or so",
    ),
    of(
        Kind::Share,
        ("most_share", "0.5"),
        "MostWorkUnassigned: part of the configured work",
        ["0.01", "0.99"],
        "more than all work is never without an owner, and a group without any has its own alert",
    ),
    of(
        Kind::Time,
        ("most_for", "1m"),
        "MostWorkUnassigned: for so long",
        ["0s", "1h"],
        "most of the work stands still for as long",
    ),
    of(
        Kind::Time,
        ("empty_for", "1m"),
        "GroupEmpty: without members",
        ["0s", "1h"],
        "nothing runs for as long",
    ),
    of(
        Kind::Time,
        ("unseen_for", "10m"),
        "GroupUnseen: no sidecar shows the group",
        ["1m", "5h"],
        "a group that was seen is missed for six hours, then it is forgotten; agents that restart are back within a minute",
    ),
    of(
        Kind::Share,
        ("long_share", "0.5"),
        "RebalanceLong: part of the rebalance timeout",
        ["0.05", "1"],
        "after the whole timeout the coordinator drops who did not join, and the rebalance is another one",
    ),
    of(
        Kind::Count,
        ("storm_generations", "20"),
        "RebalanceStorm: generations in 10 minutes",
        ["20", "10000"],
        "the pattern that goes with it begins above 20",
    ),
    of(
        Kind::Count,
        ("rate_generations", "7"),
        "RebalanceRateHigh: generations in 15 minutes",
        ["2", "10000"],
        "one rebalance of two rounds is no rate",
    ),
    of(
        Kind::Time,
        ("rate_for", "1h"),
        "RebalanceRateHigh: for so long",
        ["1m", "1d"],
        TOO_LATE,
    ),
    of(
        Kind::Count,
        ("leader_changes", "3"),
        "LeaderFlapping: changes in 10 minutes",
        ["2", "100"],
        "one change is a leader that left; each takes a round of seconds",
    ),
    of(
        Kind::Time,
        ("better_protocol_for", "1h"),
        "ProtocolFallback: a better protocol was in force",
        ["5m", "23h"],
        "it is looked for in the last day, every five minutes",
    ),
    of(
        Kind::Share,
        ("availability_target", "0.995"),
        "AvailabilityBurn: part of task time that is to run",
        ["0.94", "0.9999"],
        "below it, 14.4 times the budget is more than all tasks; above it every moved task burns it",
    ),
    of(
        Kind::Time,
        ("failed_for", "1m"),
        "ConnectorFailed, TaskFailed: FAILED",
        DAY,
        TOO_LATE,
    ),
    of(
        Kind::Time,
        ("no_tasks_for", "10m"),
        "ConnectorWithoutTasks: RUNNING without tasks",
        ["1m", "1d"],
        "every connector begins without tasks",
    ),
    of(
        Kind::Time,
        ("restarting_for", "5m"),
        "RestartingStuck: RESTARTING",
        ["10s", "1d"],
        "a start may rightly take seconds, which is how long it says RESTARTING",
    ),
    of(
        Kind::Time,
        ("duplicate_for", "1m"),
        "DuplicateWork: runs twice",
        ["0s", "1h"],
        "data is written twice for as long",
    ),
    of(
        Kind::Time,
        ("orphan_for", "5m"),
        "OrphanedWork: may run on",
        DAY,
        TOO_LATE,
    ),
    of(
        Kind::Time,
        ("disagreement_for", "12m"),
        "StatusDisagrees: status and group disagree",
        ["11m", "1d"],
        "what a crash leaves behind stands for ten minutes, and for a scrape that is half a minute old",
    ),
    of(
        Kind::Time,
        ("checks_for", "30m"),
        "TimeoutsInconsistent: settings contradict each other",
        DAY,
        TOO_LATE,
    ),
    of(
        Kind::Share,
        ("imbalance_share", "0.2"),
        "AssignmentImbalanced: part of the configured work",
        ["0.01", "0.9"],
        "what lies above an even split is never all of the work",
    ),
    of(
        Kind::Time,
        ("imbalance_for", "30m"),
        "AssignmentImbalanced: for so long",
        DAY,
        TOO_LATE,
    ),
    of(
        Kind::Count,
        ("worker_tasks_max", "1000"),
        "NoHeadroom: tasks that a worker can carry",
        ["1", "1000000"],
        "no worker carries a million tasks",
    ),
    of(
        Kind::Time,
        ("headroom_for", "30m"),
        "NoHeadroom: for so long",
        ["0s", "12h"],
        "a group that had more members is known as one for a day",
    ),
    of(
        Kind::Count,
        ("record_bytes", "1048588"),
        "GroupRecordNearLimit: max.message.bytes of the offsets topic",
        ["1024", "2147483647"],
        "max.message.bytes is a 32-bit number, and no group fits into less than a kilobyte",
    ),
    of(
        Kind::Share,
        ("record_share", "0.8"),
        "GroupRecordNearLimit: part of it",
        ["0.1", "0.99"],
        "a record above the limit is refused by the broker, and never seen",
    ),
    of(
        Kind::Time,
        ("blind_for", "5m"),
        "AgentBlind: sees nothing",
        ["10s", "1d"],
        "every agent is blind for the seconds of its start",
    ),
    of(
        Kind::Count,
        ("lag_records", "1000"),
        "AgentBehind: records behind",
        ["1", "1000000000"],
        "no agent catches up with a thousand million records",
    ),
    of(
        Kind::Time,
        ("behind_for", "5m"),
        "AgentBehind: for so long",
        DAY,
        TOO_LATE,
    ),
    of(
        Kind::Time,
        ("missing_for", "15m"),
        "AgentMissing: a worker without a sidecar",
        ["1m", "1d"],
        "a worker whose pod restarts is back before its sidecar is scraped",
    ),
    of(
        Kind::Time,
        ("reporter_for", "5m"),
        "ReporterCount: no reporter, or two",
        ["1m", "1d"],
        "sidecars see a new leader one scrape after another",
    ),
    of(
        Kind::Time,
        ("certificate_left", "14d"),
        "CertificateExpiring: time left",
        ["1m", "1y"],
        "less leaves no time to renew it; more is longer than certificates last",
    ),
];

// === impl Threshold ===

impl Threshold {
    pub(super) fn default(&self) -> Option<Setting> {
        self.kind.read(self.default)
    }

    /// The value, if it is one and within the limits.
    pub(super) fn read(&self, text: &str) -> Option<Setting> {
        let [least, most] = self.limits.map(|limit| self.kind.read(limit));
        let value = self.kind.read(text)?;
        (value.size() >= least?.size() && value.size() <= most?.size()).then_some(value)
    }

    /// A time in one unit and one in two, as they would be taken.
    fn examples(&self) -> Vec<&'static str> {
        const EXAMPLES: [[&str; 2]; 2] = [["90s", "15m"], ["1h30m", "2m30s"]];
        let taken =
            |of: &[&'static str; 2]| of.iter().copied().find(|text| self.read(text).is_some());
        EXAMPLES.iter().filter_map(taken).collect()
    }

    /// What may be set.
    pub(super) fn expected(&self) -> String {
        let [least, most] = self.limits;
        match self.kind {
            Kind::Time => {
                let examples = self.examples().join(" or ");
                format!("a time from {least} to {most}, as in {examples}")
            }
            Kind::Share => format!("a number from {least} to {most}"),
            Kind::Count => format!("a whole number from {least} to {most}"),
        }
    }
}

// === impl Kind ===

impl Kind {
    fn read(self, text: &str) -> Option<Setting> {
        match self {
            Self::Time => millis(text).map(Setting::Time),
            Self::Share => {
                let number = text.parse::<f64>().ok();
                number.map(Setting::Number)
            }
            Self::Count => {
                let count = text.parse::<u32>().ok();
                count.map(|count| Setting::Number(f64::from(count)))
            }
        }
    }
}

/// What `--help` says of the thresholds.
pub(in crate::commands::rules) fn help() -> String {
    let mut text = "Thresholds for --set, with their defaults and limits:\n".to_owned();
    for known in &THRESHOLDS {
        let [least, most] = known.limits;
        let limits = format!("{least}..{most}");
        text.push_str(&format!(
            "  {:<20} {:<8} {:<16} {}\n",
            known.name, known.default, limits, known.says
        ));
    }
    text.push_str(
        "\nExample: evenkeel rules --set lost_margin=2m --format kubernetes --label release=prometheus",
    );
    text
}

#[cfg(test)]
impl Threshold {
    pub(in crate::commands::rules) fn limits(&self) -> [&'static str; 2] {
        self.limits
    }
}
