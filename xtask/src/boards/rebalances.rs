//! *Rebalances*: how often and how long, why, in which phase, who was where, what it cost.

use super::dashboard::{Dashboard, Row, Variable, row};
use super::expr::{
    Copies, WORKER, buckets, coded, gauge, growth, growth_shown, of_group, one, quantile, rows,
    some, sum,
};
use super::look;
use super::panel::Panel;
use super::tables::{CLUSTER, GROUP, SUBJECT, column, value};

pub(crate) fn dashboard() -> Dashboard {
    Dashboard {
        file: "rebalances",
        title: "evenkeel / Rebalances",
        description: "Rebalances as a person means the word: how many, how long, why, in which phase, and what they cost.",
        from: "now-6h",
        variables: &[Variable::Worker, Variable::Traces],
        rows: vec![often(), timeline(), why(), phases(), cost(), errors()],
    }
}

/// A total over the time that is shown.
const SHOWN: &str = "a total over the time that is shown, which $__range is";

fn often() -> Row {
    row(
        "How many, how long?",
        vec![
            Panel::stat(
                "Rebalances in this time",
                "Episodes that closed in the time that is shown: one stretch of unrest each, over one or more generations.",
            )
            .ask(sum("cause", &growth_shown("evenkeel_rebalances_total", "")), "{{group}} {{cluster}}")
            .excused("target-rate-interval-rule", SHOWN)
            .decimals(0)
            .nothing("not known")
            .size(4, 7),
            Panel::stat(
                "Generation",
                "The newest generation: how many rounds there were since the group was created. It survives restarts of the agent.",
            )
            .ask(gauge("evenkeel_generation", ""), "{{group}} {{cluster}}")
            .unit("none")
            .nothing("not known")
            .size(4, 7),
            Panel::stat(
                "Last generation",
                "When the newest generation began, by its record.",
            )
            .ask(
                format!(
                    "1000 * {}",
                    gauge("evenkeel_last_rebalance_timestamp_seconds", "")
                ),
                "{{group}} {{cluster}}",
            )
            .unit("dateTimeFromNow")
            .nothing("not known")
            .size(4, 7),
            Panel::lines(
                "Active time of the rebalance that runs",
                "Zero when none runs. Time in which only a scheduled delay is waited for is not in it.",
            )
            .ask(gauge("evenkeel_rebalance_active_seconds", ""), "{{group}} {{cluster}}")
            .unit("s")
            .zero_based()
            .size(12, 7),
            Panel::heat(
                "How long rebalances took",
                "Active time of each rebalance when it closed. The marks are traces, where traces are exported and the data source of Prometheus knows where they lie.",
            )
            .ask(buckets("evenkeel_rebalance_duration_seconds"), "")
            .traces()
            .size(12, 8),
            Panel::points(
                "Median and slowest rebalances",
                "Half of the rebalances that closed around a moment were shorter than the lower point, 95 in 100 than the upper one. No point: none closed.",
            )
            .ask(quantile(0.5, "evenkeel_rebalance_duration_seconds", "", ""), "median")
            .ask(quantile(0.95, "evenkeel_rebalance_duration_seconds", "", ""), "95th percentile")
            .unit("s")
            .zero_based()
            .traces()
            .size(12, 8),
        ],
    )
}

fn timeline() -> Row {
    let assigned = one(&of_group("evenkeel_worker_assignments", WORKER));
    let leads = format!(
        r#"label_replace({}, "worker", "$1", "leader", "(.+)")"#,
        gauge("evenkeel_group_info", r#"leader=~"$worker""#)
    );
    row(
        "Who was where?",
        vec![
            Panel::stripes(
                "Workers",
                "A worker's stripe has a gap while it is no member of the group. The leader computes the assignments; a change of leader shows as blue moving.",
            )
            .ask(
                format!(
                    "max by (cluster, group, worker) (1 + ({} > bool 0) or 3 * {leads})",
                    sum("kind", &assigned)
                ),
                "{{worker}}",
            )
            .words(look::WORKER_WORDS)
            .size(24, 9),
            Panel::stripes("State of the group", "What records and coordinator say of the group.")
                .ask(coded("evenkeel_group_state", "state", look::STATES, Copies::One), "{{group}} {{cluster}}")
                .words(look::STATE_WORDS)
                .size(12, 5),
            Panel::stripes("Pattern", "What the half hour before each moment looks like.")
                .ask(coded("evenkeel_pattern", "pattern", look::PATTERNS, Copies::One), "{{group}} {{cluster}}")
                .words(look::PATTERN_WORDS)
                .size(12, 5),
        ],
    )
}

fn why() -> Row {
    row(
        "Why?",
        vec![
            Panel::bars(
                "Rebalances, by cause",
                "Each when it closed. docs/episodes.md says what each cause means and by which rule it is told.",
            )
            .ask(some(&growth("evenkeel_rebalances_total", "")), "{{cause}}").nothing("none, or not known"),
            Panel::table(
                "Causes in this time",
                "Rebalances that closed in the time that is shown, most first.",
            )
            .ask(
                format!(
                    "sort_desc({} > 0)",
                    rows("cause", &growth_shown("evenkeel_rebalances_total", ""))
                ),
                "",
            )
            .columns(&[CLUSTER, GROUP, column("cause", "Cause"), value("Value", "Rebalances", "short")])
            .decimals(0)
            .excused("target-rate-interval-rule", SHOWN)
            .nothing("none, or not known"),
            Panel::bars(
                "Generations, by cause",
                "Rounds of the group, each when its verdict was settled. Many rounds in one rebalance: work is revoked and handed out again and again.",
            )
            .ask(some(&sum("outcome", &growth("evenkeel_generations_total", ""))), "{{cause}}").nothing("none, or not known"),
            Panel::bars(
                "Generations, by how they ended",
                "aborted reached nobody; mismatch: the leader was behind the config topic; unknown: not proven.",
            )
            .ask(sum("cause", &growth("evenkeel_generations_total", "")), "{{outcome}}")
            .palette(look::ENDED),
            Panel::bars(
                "New generations",
                "Counted by the group's own number, which no restart of an agent sets back.",
            )
            .ask(
                format!(
                    "clamp_min({}, 0)",
                    one(&format!("delta({}[$__rate_interval])", of_group("evenkeel_generation", "")))
                ),
                "{{group}} {{cluster}}",
            ),
            Panel::table(
                "Newest rebalance",
                "Why, about whom, and how it ended; open while it goes on.",
            )
            .ask(rows("cause, subject, outcome", &of_group("evenkeel_episode_info", "")), "")
            .columns(&[CLUSTER, GROUP, column("cause", "Cause"), SUBJECT, column("outcome", "Outcome")])
            .nothing("none, or not known"),
        ],
    )
}

fn phases() -> Row {
    let phase = "evenkeel_rebalance_phase_duration_seconds";
    row(
        "In which phase?",
        vec![
            Panel::points(
                "Mean duration of each phase",
                "join: until all members were in; sync: the leader computes and hands out; stop and start: until the slowest worker said so. Phases overlap and are not to be added.",
            )
            .ask(
                format!(
                    "{} / ({} > 0)",
                    one(&format!("rate({}[$__rate_interval])", of_group(&format!("{phase}_sum"), ""))),
                    one(&format!("rate({}[$__rate_interval])", of_group(&format!("{phase}_count"), "")))
                ),
                "{{phase}}",
            )
            .unit("s")
            .zero_based(),
            Panel::points(
                "Slow phases",
                "95 in 100 of the phases that ended around a moment were shorter. A stop near the rebalance timeout means that workers are thrown out.",
            )
            .ask(quantile(0.95, phase, "", "phase, "), "{{phase}}")
            .unit("s")
            .zero_based(),
            Panel::bars(
                "Phases that could not be measured",
                "Polls did not see the join begin, or a worker did not say that it stopped or started something. They are missing in the durations.",
            )
            .ask(growth("evenkeel_phase_unmeasured_total", ""), "{{phase}}")
            .size(24, 6),
        ],
    )
}

fn cost() -> Row {
    row(
        "What did it cost?",
        vec![
            Panel::bars(
                "Running work that stopped, by reason",
                "Connectors and tasks, each once it is known why. paused, stopped and deleted were wanted by somebody.",
            )
            .ask(some(&sum("kind", &growth("evenkeel_interruptions_total", ""))), "{{reason}}").nothing("none, or not known")
            .palette(look::STOPPED),
            Panel::bars(
                "Work that moved, and whether it had to",
                "required: its worker is gone, or an even split took it; returned: a restart that is paid twice, raise scheduled.rebalance.max.delay.ms; extra: nothing of that.",
            )
            .ask(sum("kind", &growth("evenkeel_moves_total", "")), "{{need}}"),
            Panel::bars(
                "Hand-overs",
                "unclean: the worker before had not said that it stopped. Duplicates come from there.",
            )
            .ask(sum("kind", &growth("evenkeel_handovers_total", "")), "{{how}}")
            .palette(&[("clean", look::GOOD), ("unclean", look::BAD)]),
            Panel::bars(
                "Work taken and handed out",
                "asked: the leader revoked it; implied: an eager worker stops everything before it joins; dropped: the worker lost its coordinator. assigned: handed to a worker that took it.",
            )
            .ask(sum("kind", &growth("evenkeel_revocations_total", "")), "revoked: {{how}}")
            .ask(sum("kind", &growth("evenkeel_assignments_total", "")), "assigned"),
            Panel::bars(
                "How losses ended",
                "reclaimed: its owner has it again; reassigned: another worker has it; removed: it is not configured any more.",
            )
            .ask(sum("kind", &growth("evenkeel_lost_assignments_total", "")), "{{outcome}}"),
            Panel::heat(
                "How long lost work had no owner",
                "Each lost connector or task when its loss ended. A band just below scheduled.rebalance.max.delay.ms means that nobody came back in time.",
            )
            .ask(buckets("evenkeel_lost_assignment_duration_seconds"), ""),
        ],
    )
}

fn errors() -> Row {
    row(
        "What went wrong in between?",
        vec![
            Panel::bars(
                "Assignments with an error",
                "config_mismatch: the leader's view of the config topic was behind a member's. Again and again is a loop: some member reads another config topic, or the leader does not read on.",
            )
            .ask(growth("evenkeel_assignment_errors_total", ""), "{{error}}"),
            Panel::bars(
                "Changes of leader",
                "Generations whose leader is another member than before; a restarted worker is another member.",
            )
            .ask(growth("evenkeel_leader_changes_total", ""), "{{group}} {{cluster}}"),
        ],
    )
}
