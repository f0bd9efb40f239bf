//! *Connectors*: do their tasks run, how long did they not and why, and which of them make
//! the group rebalance.

use super::dashboard::{Dashboard, Row, Variable, row};
use super::expr::{
    CONNECTOR, gauge, growth, growth_from_nothing, of_group, or_zero, rows, some, sum,
};
use super::look::{self, BAD, GOOD, WARN};
use super::panel::Panel;
use super::tables::{self, CLUSTER, GROUP, REASON, SUBJECT, column, value};

pub(crate) fn dashboard() -> Dashboard {
    Dashboard {
        file: "connectors",
        title: "evenkeel / Connectors",
        description: "Connectors and their tasks: what they do, how long they did not run and why, and which of them keep the group busy.",
        from: "now-6h",
        variables: &[Variable::Connector],
        rows: vec![available(), down(), states(), churn()],
    }
}

/// Series of this counter begin with the first stretch of downtime.
const BEGINS: &str =
    "the counter's series begin with their first event, which increase alone cannot see";

fn available() -> Row {
    let running = sum(
        "state, connector",
        &gauge(
            "evenkeel_tasks",
            &format!(r#"state="running", {CONNECTOR}"#),
        ),
    );
    let wanted = sum(
        "state, connector",
        &gauge(
            "evenkeel_tasks",
            &format!(r#"state!="paused", {CONNECTOR}"#),
        ),
    );
    row(
        "Do they run?",
        vec![
            Panel::stat(
                "Tasks that run",
                "Of the configured tasks of the chosen connectors that are not paused, the part that runs now, by the status of the worker that has them.",
            )
            .ask(format!("{running} / {wanted} or 0 * {wanted}"), "{{group}} {{cluster}}")
            .unit("percentunit")
            .bad_below(&[(0.9, WARN), (1.0, GOOD)])
            .nothing("not known")
            .size(6, 5),
            Panel::stat(
                "Tasks that should run and do not",
                "Tasks of the chosen connectors that ran and do not run now.",
            )
            .ask(
                or_zero(&sum(
                    "connector, reason",
                    &gauge("evenkeel_unavailable_tasks", CONNECTOR),
                )),
                "{{group}} {{cluster}}",
            )
            .good_below(&[(1.0, BAD)])
            .nothing("not known")
            .size(6, 5),
            Panel::stat(
                "Configured connectors and tasks",
                "What the config topic asks for in the whole group, paused and stopped work included.",
            )
            .ask(gauge("evenkeel_configured", ""), "{{kind}}s")
            .nothing("not known")
            .size(6, 5),
            Panel::stat(
                "Failed connectors and tasks",
                "What its own worker says has failed. It stays so until somebody restarts it.",
            )
            .ask(
                format!(
                    "({}) + ({})",
                    or_zero(&sum(
                        "connector, state",
                        &gauge("evenkeel_tasks", &format!(r#"state="failed", {CONNECTOR}"#)),
                    )),
                    or_zero(&sum(
                        "connector, state",
                        &gauge("evenkeel_connectors", &format!(r#"state="failed", {CONNECTOR}"#)),
                    ))
                ),
                "{{group}} {{cluster}}",
            )
            .good_below(&[(1.0, BAD)])
            .nothing("not known")
            .size(6, 5),
            Panel::lines(
                "Tasks that run, by connector",
                "The part of a connector's tasks that runs, those that are paused left out.",
            )
            .ask(
                format!(
                    "{} / {}",
                    sum("state", &gauge("evenkeel_tasks", &format!(r#"state="running", {CONNECTOR}"#))),
                    sum("state", &gauge("evenkeel_tasks", &format!(r#"state!="paused", {CONNECTOR}"#)))
                ),
                "{{connector}}",
            )
            .unit("percentunit")
            .zero_based()
            .up_to(1.0),
            Panel::table(
                "Whose tasks do not run",
                "Connectors with tasks that ran and do not run now, or that have no owner, most first.",
            )
            .ask(
                format!(
                    "sort_desc({})",
                    rows(
                        "connector, reason",
                        &of_group("evenkeel_unavailable_tasks", CONNECTOR)
                    )
                ),
                "",
            )
            .ask(
                rows(
                    "connector, reason",
                    &of_group("evenkeel_unassigned_tasks", CONNECTOR),
                ),
                "",
            )
            .columns(&[
                CLUSTER,
                GROUP,
                column("connector", "Connector"),
                REASON,
                value("Value #A", "Do not run", "short"),
                value("Value #B", "Have no owner", "short"),
            ])
            .nothing("none, or not known"),
        ],
    )
}

fn down() -> Row {
    let counter = "evenkeel_task_unavailable_seconds_total";
    row(
        "How long did they not run, and why?",
        vec![
            Panel::bars(
                "Task-seconds lost, by reason",
                "How long tasks did not run, all together, added when they run again: ten tasks that stood still for a minute are 600 s. Stretches that still last are above.",
            )
            .ask(
                sum(
                    "connector",
                    &growth_from_nothing(counter, CONNECTOR, "$__rate_interval"),
                ),
                "{{reason}}",
            )
            .palette(look::STOPPED)
            .unit("s")
            .decimals(1).nothing("none, or not known")
            .excused("target-counter-agg-rule", BEGINS),
            Panel::table(
                "Task-seconds lost in this time",
                "By connector and reason, most first, in the time that is shown.",
            )
            .ask(
                format!(
                    "sort_desc(topk(20, {} > 0))",
                    rows(
                        "connector, reason",
                        &growth_from_nothing(counter, CONNECTOR, "$__range")
                    )
                ),
                "",
            )
            .columns(&[
                CLUSTER,
                GROUP,
                column("connector", "Connector"),
                REASON,
                value("Value", "Task-seconds", "s"),
            ])
            .excused("target-counter-agg-rule", BEGINS)
            .excused("target-rate-interval-rule", "a total over the time that is shown, which $__range is")
            .nothing("none, or not known"),
            Panel::areas(
                "Tasks that should run and do not, by connector",
                "As it is at each moment: stretches show while they last.",
            )
            .ask(
                sum("reason", &gauge("evenkeel_unavailable_tasks", CONNECTOR)),
                "{{connector}}",
            ).nothing("none, or not known")
            .zero_based()
            .decimals(0)
            .size(24, 7),
        ],
    )
}

fn states() -> Row {
    row(
        "What do they do?",
        vec![
            Panel::areas(
                "Tasks, by what they do",
                "From the status of the worker that has each and from who has it: a dead worker's RUNNING counts as lost.",
            )
            .ask(sum("connector", &gauge("evenkeel_tasks", CONNECTOR)), "{{state}}")
            .palette(look::DOING)
            .zero_based()
            .decimals(0),
            Panel::areas(
                "Connectors, by what they do",
                "The connector itself, without its tasks.",
            )
            .ask(sum("connector", &gauge("evenkeel_connectors", CONNECTOR)), "{{state}}")
            .palette(look::DOING)
            .zero_based()
            .decimals(0),
            Panel::areas(
                "Status topic and group disagree",
                "Connectors and tasks, by type. running_on_departed_worker and two_writers may write duplicates now; assigned_not_running stands still although somebody has it.",
            )
            .ask(some(&gauge("evenkeel_disagreements", "")), "{{type}}").nothing("none, or not known")
            .zero_based()
            .decimals(0),
            Panel::table(
                "Where they disagree",
                "The connector whose work it is about, and the worker that does, or should do, what the other side does not know.",
            )
            .ask(
                rows(
                    "type, connector, worker",
                    &of_group("evenkeel_disagreement_info", CONNECTOR),
                ),
                "",
            )
            .columns(&[
                CLUSTER,
                GROUP,
                column("type", "Type"),
                column("connector", "Connector"),
                tables::WORKER,
            ])
            .nothing("none, or not known"),
        ],
    )
}

fn churn() -> Row {
    row(
        "Do they keep the group busy?",
        vec![
            Panel::bars(
                "Generations that connectors caused",
                "tasks_changed: tasks were written anew, by a person or by the connector itself; connector_created and connector_deleted; config_mismatch and config_advanced: workers were not equally far in the config topic.",
            )
            .ask(
                sum(
                    "outcome",
                    &growth(
                        "evenkeel_generations_total",
                        r#"cause=~"tasks_changed|connector_created|connector_deleted|config_mismatch|config_advanced""#,
                    ),
                ),
                "{{cause}}",
            ),
            Panel::bars(
                "Tasks that stopped, by reason",
                "Only what connectors and people do: reconfigured, restarted, failed, paused, stopped, deleted.",
            )
            .ask(
                growth(
                    "evenkeel_interruptions_total",
                    r#"kind="task", reason=~"reconfigured|restarted|failed|paused|stopped|deleted""#,
                ),
                "{{reason}}",
            )
            .palette(look::STOPPED),
            Panel::table(
                "Connectors behind a pattern",
                "A connector whose tasks were written before three generations in fifteen minutes is called churn.",
            )
            .ask(
                rows("pattern, subject", &of_group("evenkeel_pattern_info", r#"pattern="churn""#)),
                "",
            )
            .columns(&[CLUSTER, GROUP, column("pattern", "Pattern"), SUBJECT])
            .nothing("none, or not known")
            .size(24, 5),
        ],
    )
}
