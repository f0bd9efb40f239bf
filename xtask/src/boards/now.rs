//! *Now*: is it bad, what is lost, until when, and can this be trusted.

use super::dashboard::{Dashboard, Row, row};
use super::expr::{Copies, coded, gauge, of_group, one, or_zero, or_zero_without, rows, sum};
use super::look::{self, BAD, GOOD, WARN};
use super::panel::Panel;
use super::tables::{CLUSTER, CONNECTOR, GROUP, REASON, SUBJECT, WORKER, column, value};

/// What stands where the group's series are withdrawn.
const UNKNOWN: &str = "not known";

pub(crate) fn dashboard() -> Dashboard {
    Dashboard {
        file: "now",
        title: "evenkeel / Now",
        description: "Is the Connect group all right now: is it bad, what is lost, until when, and can this be trusted.",
        from: "now-1h",
        variables: &[],
        rows: vec![bad(), lost(), happened(), trusted()],
    }
}

fn bad() -> Row {
    row(
        "Is it bad?",
        vec![
            Panel::stat(
                "Lost connectors and tasks",
                "Work whose worker is gone, or lost its coordinator, and that nobody else has. It stands still until the scheduled delay ends or its worker is back. \"not known\" means that no agent vouches for the group now: see the last row.",
            )
            .ask(
                sum("kind, reason", &gauge("evenkeel_unassigned", r#"reason=~"lost|dropped""#)),
                "{{group}} {{cluster}}",
            )
            .good_below(&[(1.0, BAD)])
            .nothing(UNKNOWN),
            Panel::stat(
                "Scheduled delay ends in",
                "Until when lost work stays parked. Before that nobody gets it, unless its worker comes back. After a delay without lost work (revocation_backoff, leftover) nothing stands still for it.",
            )
            .ask(
                or_zero_without(
                    "reason",
                    &format!(
                        "({} - time()) > 0",
                        gauge("evenkeel_scheduled_rebalance_deadline_timestamp_seconds", "")
                    ),
                ),
                "{{reason}}",
            )
            .words(&[(0, "no delay runs", GOOD)])
            .unit("s")
            .good_below(&[(0.001, WARN)])
            .decimals(0)
            .nothing(UNKNOWN),
            Panel::stat(
                "Tasks that should run and do not",
                "Configured tasks that ran and do not run now, for whatever reason: lost, failed, handed over, restarting. Paused ones are not counted.",
            )
            .ask(
                or_zero(&sum("connector, reason", &gauge("evenkeel_unavailable_tasks", ""))),
                "{{group}} {{cluster}}",
            )
            .good_below(&[(1.0, BAD)])
            .nothing(UNKNOWN),
            Panel::stat(
                "Rebalancing now",
                "Yes while the group is not stable, or work is stopping or starting. No while only a scheduled delay is waited for: then look at the two panels on the left.",
            )
            .ask(gauge("evenkeel_rebalance_in_progress", ""), "{{group}} {{cluster}}")
            .words(look::REBALANCING)
            .good_below(&[(1.0, WARN)])
            .nothing(UNKNOWN),
            Panel::stat(
                "What it looks like",
                "The last half hour in one word. A rollout is planned work; churn is one connector that writes its tasks again and again; flapping is one worker that leaves again and again; storm and loop do not end by themselves.",
            )
            .ask(coded("evenkeel_pattern", "pattern", look::PATTERNS, Copies::One), "{{group}} {{cluster}}")
            .words(look::PATTERN_WORDS)
            .nothing(UNKNOWN),
            Panel::stat(
                "Can this be trusted?",
                "Yes if at least one agent has every input current and readable, with history that is whole since a stated time. If no, the last row says what is missing.",
            )
            .ask(gauge("evenkeel_trust", ""), "{{group}} {{cluster}}")
            .words(look::YES_IS_GOOD)
            .bad_below(&[(1.0, look::GOOD)])
            .nothing("no agent"),
            Panel::table(
                "Newest rebalance",
                "Why the newest rebalance happened, the worker or connector that it is about, and how it ended; open while it goes on.",
            )
            .ask(
                rows("cause, subject, outcome", &of_group("evenkeel_episode_info", "")),
                "",
            )
            .columns(&[
                CLUSTER,
                GROUP,
                column("cause", "Cause"),
                SUBJECT,
                column("outcome", "Outcome"),
            ])
            .nothing("none, or not known")
            .size(14, 5),
            Panel::table(
                "Alerts that fire",
                "Alerts of evenkeel's rules that Prometheus holds for firing now.",
            )
            .ask(
                r#"max by (cluster, group, alertname, severity) (ALERTS{alertstate="firing", alertname=~"Evenkeel.+", cluster=~"$cluster|", group=~"$group|"})"#,
                "",
            )
            .columns(&[
                column("alertname", "Alert"),
                column("severity", "Severity"),
                CLUSTER,
                GROUP,
            ])
            .nothing("none")
            .excused("target-job-rule", "alerts are about a group: rules drop the labels of the copy")
            .excused("target-instance-rule", "alerts are about a group: rules drop the labels of the copy")
            .size(10, 5),
        ],
    )
}

fn lost() -> Row {
    row(
        "What is lost, and until when?",
        vec![
            Panel::areas(
                "Connectors and tasks without an owner",
                "Configured work that no worker has, by the oldest reason that still holds. lost and dropped wait for the scheduled delay; revoked is between two rounds; new was never owned; mismatch and config_hazard need a person.",
            )
            .ask(sum("kind", &gauge("evenkeel_unassigned", "")), "{{reason}}")
            .palette(look::UNOWNED)
            .zero_based()
            .decimals(0),
            Panel::areas(
                "Tasks that do not run, by why they stopped",
                "Tasks that ran before and do not run now, by why they stopped. handover, reconfigured and restarted should be short; lost lasts as long as the delay; failed lasts until somebody acts.",
            )
            .ask(
                sum("connector", &gauge("evenkeel_unavailable_tasks", "")),
                "{{reason}}",
            )
            .palette(look::STOPPED).nothing("none, or not known")
            .zero_based()
            .decimals(0),
            Panel::table(
                "Whose tasks do not run",
                "Connectors with tasks that ran and do not run now, most first. A name leads to the board about the connector.",
            )
            .ask(
                format!(
                    "sort_desc({})",
                    rows("connector, reason", &of_group("evenkeel_unavailable_tasks", ""))
                ),
                "",
            )
            .columns(&[CLUSTER, GROUP, CONNECTOR, REASON, value("Value", "Tasks", "short")])
            .nothing("none, or not known"),
            Panel::table(
                "Whose tasks have no owner",
                "Connectors with tasks that no worker has, most first.",
            )
            .ask(
                format!(
                    "sort_desc({})",
                    rows("connector, reason", &of_group("evenkeel_unassigned_tasks", ""))
                ),
                "",
            )
            .columns(&[CLUSTER, GROUP, CONNECTOR, REASON, value("Value", "Tasks", "short")])
            .nothing("none, or not known"),
        ],
    )
}

fn happened() -> Row {
    row(
        "What happened?",
        vec![
            Panel::stripes(
                "State of the group",
                "What the group's records, and its coordinator while it is asked, say of the group. A storm is narrow stripes of orange.",
            )
            .ask(coded("evenkeel_group_state", "state", look::STATES, Copies::One), "{{group}} {{cluster}}")
            .words(look::STATE_WORDS)
            .size(12, 5),
            Panel::stripes(
                "Pattern",
                "What the half hour before each moment looks like, in one word.",
            )
            .ask(coded("evenkeel_pattern", "pattern", look::PATTERNS, Copies::One), "{{group}} {{cluster}}")
            .words(look::PATTERN_WORDS)
            .size(12, 5),
            Panel::lines(
                "Generations in the last 2, 10 and 30 minutes",
                "Rounds of the group, from the log, those before the agent's start included. A calm group has none; a restart of a worker two or three; more than 20 in ten minutes without a person's configuration is a storm.",
            )
            .ask(gauge("evenkeel_recent_generations", ""), "{{window}}")
            .zero_based()
            .decimals(0)
            .size(8, 7),
            Panel::areas(
                "Workers that left in the last ten minutes",
                "How each left: graceful (it stopped its work first), cut_short (killed while it stopped), crashed (wrote nothing), unresponsive (came back with its claim), unsettled (may still come back).",
            )
            .ask(gauge("evenkeel_departed_workers", ""), "{{how}}")
            .palette(look::LEFT)
            .zero_based()
            .decimals(0)
            .size(8, 7),
            Panel::table(
                "Who the pattern is about",
                "The worker or connector behind a pattern that is not quiet. Nothing in About: it is about the group.",
            )
            .ask(rows("pattern, subject", &of_group("evenkeel_pattern_info", "")), "")
            .columns(&[CLUSTER, GROUP, column("pattern", "Pattern"), SUBJECT])
            .nothing("none, or not known")
            .size(8, 7),
        ],
    )
}

fn trusted() -> Row {
    row(
        "What is this worth?",
        vec![
            Panel::stripes(
                "What each agent can see",
                "full: everything. no offsets topic: nothing is counted, ownership comes from polls. topics only, blind: the group's series are withdrawn or partial. /readyz of the agent names the missing right.",
            )
            .ask(coded("evenkeel_mode", "mode", look::MODES, Copies::Each), "{{instance}} {{group}} {{cluster}}")
            .words(look::MODE_WORDS)
            .size(12, 7),
            Panel::table(
                "Status topic and group disagree",
                "Work of which the status topic and the group say different things: zombies, two writers, stops that were given up, tasks that nobody started. /api/v1/state has the evidence.",
            )
            .ask(
                format!(
                    "sort_desc({})",
                    rows("type, connector, worker", &of_group("evenkeel_disagreement_info", ""))
                ),
                "",
            )
            .columns(&[CLUSTER, GROUP, column("type", "Type"), CONNECTOR, WORKER])
            .nothing("none, or not known")
            .size(12, 7),
            Panel::table(
                "Findings about the inputs",
                "What a person should know about the topics that all of this comes from.",
            )
            .ask(rows("finding, subject", &of_group("evenkeel_finding_info", "")), "")
            .columns(&[CLUSTER, GROUP, column("finding", "Finding"), SUBJECT])
            .nothing("none, or not known")
            .size(12, 6),
            Panel::lines(
                "Records behind the end of each topic",
                "How far the agent that is furthest behind lies. Beyond 30 s without confirmation the group's series are withdrawn.",
            )
            .ask(one(&of_group("evenkeel_input_lag_records", "")), "{{input}}")
            .zero_based()
            .decimals(0)
            .size(12, 6),
        ],
    )
}
