//! *Workers*: who has how much, what if one is lost, do their timeouts agree, who left and
//! how, and what they use where other exporters tell it.

use super::dashboard::{Dashboard, Row, Variable, folded, row};
use super::expr::{WORKER, gauge, growth, growth_shown, of_group, rows, sum};
use super::look::{self, BAD, GOOD, WARN};
use super::panel::Panel;
use super::tables::{CLUSTER, GROUP, SUBJECT, column, value};

pub(crate) fn dashboard() -> Dashboard {
    Dashboard {
        file: "workers",
        title: "evenkeel / Workers",
        description: "Workers of the group: balance, headroom, timeouts, departures, and resources where other exporters tell them.",
        from: "now-6h",
        variables: &[Variable::Worker],
        rows: vec![share(), left(), clocks(), resources()],
    }
}

fn share() -> Row {
    row(
        "Who has how much, and what if one is lost?",
        vec![
            Panel::stat("Members", "Workers in the newest group record.")
                .ask(gauge("evenkeel_members", ""), "{{group}} {{cluster}}")
                .bad_below(&[(1.0, GOOD)])
                .nothing("not known")
                .size(3, 4),
            Panel::stat(
                "Above an even split",
                "Connectors and tasks above the most that a worker would have if work were split evenly; 0 is as good as Kafka makes it. As it was before while a rebalance runs.",
            )
            .ask(gauge("evenkeel_imbalance", ""), "{{kind}}s")
            .good_below(&[(1.0, WARN)])
            .nothing("not known")
            .size(5, 4),
            Panel::stat(
                "Most tasks of one after a loss",
                "The most tasks that one worker would carry if another were lost for good, the worst one to lose.",
            )
            .ask(
                gauge("evenkeel_survivor_assignments", r#"kind="task", scope="worker""#),
                "{{group}} {{cluster}}",
            )
            .nothing("none is left")
            .size(5, 4),
            Panel::stat(
                "Protocol",
                "Below the best protocol that the group has proven, every rebalance stops more work than it must. Look for the worker that came with the fall.",
            )
            .ask(
                sum("worker", &gauge("evenkeel_protocol_downgraded", "")),
                "{{group}} {{cluster}}",
            )
            .words(&[(0, "as good as proven", GOOD), (1, "downgraded", BAD)])
            .good_below(&[(1.0, BAD)])
            .nothing("not known")
            .size(4, 4),
            Panel::table("Leader and protocol", "By the newest group record.")
                .ask(rows("protocol, leader", &of_group("evenkeel_group_info", "")), "")
                .columns(&[
                    CLUSTER,
                    GROUP,
                    column("protocol", "Protocol"),
                    column("leader", "Leader"),
                ])
                .nothing("not known")
                .size(7, 4),
            Panel::lines(
                "Tasks of each worker",
                "Tasks that the newest group record leaves with each. A worker at zero beside busy ones waits for a rebalance, or is new.",
            )
            .ask(
                gauge("evenkeel_worker_assignments", &format!(r#"kind="task", {WORKER}"#)),
                "{{worker}}",
            )
            .zero_based()
            .decimals(0),
            Panel::lines(
                "Connectors of each worker",
                "Connectors, without their tasks, that the newest group record leaves with each.",
            )
            .ask(
                gauge("evenkeel_worker_assignments", &format!(r#"kind="connector", {WORKER}"#)),
                "{{worker}}",
            )
            .zero_based()
            .decimals(0),
            Panel::table(
                "Workers",
                "What each has, the timeouts it joined with, and how far its clock is ahead of the coordinator's.",
            )
            .ask(assigned("task"), "")
            .ask(assigned("connector"), "")
            .ask(timeout("session"), "")
            .ask(timeout("rebalance"), "")
            .ask(rows("worker", &of_group("evenkeel_clock_skew_seconds", WORKER)), "")
            .columns(&[
                CLUSTER,
                GROUP,
                column("worker", "Worker"),
                value("Value #A", "Tasks", "short"),
                value("Value #B", "Connectors", "short"),
                value("Value #C", "Session timeout", "s"),
                value("Value #D", "Rebalance timeout", "s"),
                value("Value #E", "Clock ahead", "s"),
            ])
            .nothing("not known")
            .size(24, 8),
        ],
    )
}

fn assigned(kind: &str) -> String {
    let more = format!("kind={kind:?}, {WORKER}");
    rows("worker", &of_group("evenkeel_worker_assignments", &more))
}

fn timeout(which: &str) -> String {
    let more = format!("timeout={which:?}, {WORKER}");
    rows(
        "worker",
        &of_group("evenkeel_worker_timeout_seconds", &more),
    )
}

fn left() -> Row {
    row(
        "Who left, and how?",
        vec![
            Panel::bars(
                "Departures, by how",
                "Each once it is settled how. graceful: stopped its work first; cut_short: killed while it stopped; crashed: wrote nothing; unresponsive: came back with its claim, so its work may have run on.",
            )
            .ask(sum("worker", &growth("evenkeel_departures_total", WORKER)), "{{how}}")
            .palette(look::LEFT),
            Panel::table(
                "Departures in this time",
                "By worker, most first, in the time that is shown.",
            )
            .ask(
                format!(
                    "sort_desc({} > 0)",
                    rows("worker, how", &growth_shown("evenkeel_departures_total", WORKER))
                ),
                "",
            )
            .columns(&[
                CLUSTER,
                GROUP,
                column("worker", "Worker"),
                column("how", "How"),
                value("Value", "Departures", "short"),
            ])
            .decimals(0)
            .excused("target-rate-interval-rule", "a total over the time that is shown, which $__range is")
            .nothing("none, or not known"),
            Panel::areas(
                "Left in the last ten minutes",
                "Workers that left in the last ten minutes, or whose work is still lost.",
            )
            .ask(gauge("evenkeel_departed_workers", ""), "{{how}}")
            .palette(look::LEFT)
            .zero_based()
            .decimals(0)
            .size(24, 6),
        ],
    )
}

fn clocks() -> Row {
    row(
        "Do their clocks and timeouts agree?",
        vec![
            Panel::gauge(
                "Contradictions",
                "Checks that fire now, by severity: timeouts and settings that contradict each other.",
            )
            .ask(gauge("evenkeel_clock_inconsistencies", ""), "{{severity}}")
            .good_below(&[(1.0, WARN)])
            .zero_based()
            .nothing("not known")
            .size(6, 7),
            Panel::table(
                "Checks that fire",
                "Each with what it is about. /api/v1/checks has the values, where each was read, what follows and what to do; docs/checks.md explains each.",
            )
            .ask(rows("check, subject", &of_group("evenkeel_check_info", "")), "")
            .columns(&[CLUSTER, GROUP, column("check", "Check"), SUBJECT])
            .nothing("none, or not known")
            .size(10, 7),
            Panel::lines(
                "Size of the group record",
                "It holds every member's claim and assignment. The broker refuses it above max.message.bytes of the offsets topic (1 MiB unless set), and then no rebalance ends.",
            )
            .ask(gauge("evenkeel_group_record_bytes", ""), "{{group}} {{cluster}}")
            .unit("bytes")
            .zero_based()
            .size(8, 7),
            Panel::lines(
                "Timeouts of each worker",
                "session: after how long a silent worker is thrown out; rebalance: how long the others wait for one that must stop its work. They should be the same everywhere.",
            )
            .ask(
                gauge("evenkeel_worker_timeout_seconds", WORKER),
                "{{timeout}} {{worker}}",
            )
            .unit("s")
            .zero_based(),
            Panel::lines(
                "Clocks ahead of the coordinator's",
                "By pairs of records whose order is known; nothing without evidence.",
            )
            .ask(gauge("evenkeel_clock_skew_seconds", WORKER), "{{worker}}")
            .unit("s"),
        ],
    )
}

/// cAdvisor, the node exporter and JMX exporters know no worker: the agent beside a worker
/// tells which pod or host it is on.
const NOT_OURS: &str =
    "series of another exporter, joined by the pod or host of the agent beside the worker";

fn in_pod(series: &str) -> String {
    let beside = format!(
        "max by (cluster, namespace, pod, worker) ({})",
        of_group("evenkeel_sidecar_info", WORKER)
    );
    format!("{series} * on (cluster, namespace, pod) group_left (worker) {beside}")
}

fn on_host(series: &str) -> String {
    let host =
        |expr: &str| format!(r#"label_replace({expr}, "host", "$1", "instance", "(.+?)(:\\d+)?")"#);
    let beside = host(&of_group("evenkeel_sidecar_info", WORKER));
    format!(
        "{} * on (cluster, host) group_left (worker) max by (cluster, host, worker) ({beside})",
        host(series)
    )
}

fn resources() -> Row {
    let of_worker = r#"container!="", container!~"POD|evenkeel""#;
    let foreign = |panel: Panel| {
        panel
            .excused("target-job-rule", NOT_OURS)
            .excused("target-instance-rule", NOT_OURS)
            .nothing("no such exporter")
            .size(8, 7)
    };
    folded(
        "Resources, where other exporters tell them",
        vec![
            foreign(
                Panel::lines(
                    "Processor of each worker's pod",
                    "By cAdvisor. A worker without a turn misses heartbeats and is thrown out.",
                )
                .ask(
                    in_pod(&format!(
                        "sum by (cluster, namespace, pod) (rate(container_cpu_usage_seconds_total{{{of_worker}}}[$__rate_interval]))"
                    )),
                    "{{worker}}",
                )
                .zero_based(),
            ),
            foreign(
                Panel::lines(
                    "Turns withheld by the limit",
                    "By cAdvisor: the part of the scheduler's periods in which the container hit its processor limit. Much of it looks like a slow network.",
                )
                .ask(
                    in_pod(&format!(
                        "sum by (cluster, namespace, pod) (rate(container_cpu_cfs_throttled_periods_total{{{of_worker}}}[$__rate_interval])) / sum by (cluster, namespace, pod) (rate(container_cpu_cfs_periods_total{{{of_worker}}}[$__rate_interval]))"
                    )),
                    "{{worker}}",
                )
                .unit("percentunit")
                .zero_based()
                .up_to(1.0),
            ),
            foreign(
                Panel::lines(
                    "Memory of each worker's pod",
                    "By cAdvisor. At the container's limit the worker is killed: a departure that is crashed.",
                )
                .ask(
                    in_pod(&format!(
                        "sum by (cluster, namespace, pod) (container_memory_working_set_bytes{{{of_worker}}})"
                    )),
                    "{{worker}}",
                )
                .unit("bytes")
                .zero_based(),
            ),
            foreign(
                Panel::lines(
                    "Heap that is used",
                    "By the JMX exporter in the worker, of the most it may have. Near 1 the worker stops to collect garbage, and others see it as gone.",
                )
                .ask(
                    on_host(r#"(jvm_memory_used_bytes{area="heap"} / jvm_memory_max_bytes{area="heap"})"#),
                    "{{worker}}",
                )
                .unit("percentunit")
                .zero_based()
                .up_to(1.0),
            ),
            foreign(
                Panel::lines(
                    "Time spent collecting garbage",
                    "By the JMX exporter, as part of the time. A pause longer than session.timeout.ms throws the worker out.",
                )
                .ask(
                    on_host("sum by (cluster, instance) (rate(jvm_gc_collection_seconds_sum[$__rate_interval]))"),
                    "{{worker}}",
                )
                .unit("percentunit")
                .zero_based(),
            ),
            foreign(
                Panel::lines(
                    "Load of each worker's host",
                    "By the node exporter: processes that run or wait for a turn.",
                )
                .ask(on_host("node_load1"), "{{worker}}")
                .zero_based(),
            ),
        ],
    )
}
