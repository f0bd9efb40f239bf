//! *Agent*: what each sidecar sees, how far behind it is, what it could not read, and what it
//! costs.

use super::dashboard::{Dashboard, Row, row};
use super::expr::{Copies, coded, gauge, of_agent, of_group, one, sum};
use super::look::{self, BAD, GOOD, WARN};
use super::panel::Panel;
use super::tables::{CLUSTER, GROUP, SUBJECT, column, value};

pub(crate) fn dashboard() -> Dashboard {
    Dashboard {
        file: "agent",
        title: "evenkeel / Agent",
        description: "The agents themselves: what each can see, how far behind it is, what it could not read, what it costs.",
        from: "now-6h",
        variables: &[],
        rows: vec![sight(), reading(), trouble(), program()],
    }
}

fn sight() -> Row {
    row(
        "What do they see?",
        vec![
            Panel::stat(
                "Agents that can be trusted",
                "Agents with every input current and readable and history that is whole, of those that are there.",
            )
            .ask(
                format!(
                    "avg without (instance, pod) ({})",
                    of_group("evenkeel_trust", "")
                ),
                "{{group}} {{cluster}}",
            )
            .unit("percentunit")
            .bad_below(&[(0.01, WARN), (1.0, GOOD)])
            .nothing("no agent")
            .size(4, 5),
            Panel::stat(
                "Agents that say different things",
                "How many generations the copies of a group lie apart. More than a moment of difference: one of them is behind.",
            )
            .ask(
                format!(
                    "{} - min without (instance, pod) ({})",
                    gauge("evenkeel_generation", ""),
                    of_group("evenkeel_generation", "")
                ),
                "{{group}} {{cluster}}",
            )
            .good_below(&[(1.0, WARN)])
            .nothing("not known")
            .size(4, 5),
            Panel::table(
                "Workers without an agent",
                "Members of the group beside which no agent says that it stands. Their departures are seen all the same, by the others.",
            )
            .ask(
                format!(
                    "max by (cluster, group, worker) ({}) unless on (cluster, group, worker) {}",
                    of_group("evenkeel_worker_assignments", r#"kind="task""#),
                    of_group("evenkeel_sidecar_info", "")
                ),
                "",
            )
            .columns(&[CLUSTER, GROUP, column("worker", "Worker"), value("Value", "Tasks", "short")])
            .nothing("none, or not known")
            .size(7, 5),
            Panel::table(
                "Where agents stand",
                "The worker beside each agent, and which agent is beside the leader.",
            )
            .ask(
                format!(
                    "max by (cluster, group, instance, worker) ({})",
                    of_group("evenkeel_sidecar_info", "")
                ),
                "",
            )
            .ask(
                format!(
                    "max by (cluster, group, instance) ({})",
                    of_group("evenkeel_reporter", "")
                ),
                "",
            )
            .columns(&[
                CLUSTER,
                GROUP,
                column("instance", "Agent"),
                column("worker", "Worker"),
                value("Value #B", "Beside the leader", "bool_yes_no"),
            ])
            .nothing("no agent")
            .size(9, 5),
            Panel::stripes(
                "What each agent can see",
                "full: everything. Anything else: /readyz of that agent names the missing right or topic.",
            )
            .ask(coded("evenkeel_mode", "mode", look::MODES, Copies::Each), "{{instance}} {{group}} {{cluster}}")
            .words(look::MODE_WORDS)
            .size(12, 7),
            Panel::stripes(
                "Who may be trusted",
                "Yes while every input of that agent is current and readable and its history is whole.",
            )
            .ask(of_group("evenkeel_trust", ""), "{{instance}} {{group}} {{cluster}}")
            .words(look::YES_IS_GOOD)
            .size(12, 7),
        ],
    )
}

fn reading() -> Row {
    row(
        "Do they keep up?",
        vec![
            Panel::lines(
                "Records behind the end",
                "Between what was read of a topic and its newest known end.",
            )
            .ask(of_group("evenkeel_input_lag_records", ""), "{{input}} {{instance}} {{cluster}}")
            .zero_based()
            .decimals(0),
            Panel::lines(
                "Records read",
                "Those of the offsets topic include the other groups of its partition.",
            )
            .ask(
                format!(
                    "rate({}[$__rate_interval])",
                    of_group("evenkeel_records_total", "")
                ),
                "{{input}} {{instance}} {{cluster}}",
            )
            .unit("cps")
            .zero_based(),
            Panel::stripes(
                "Topics read to the end they had at start",
                "The group's series are withdrawn until all that can be read are.",
            )
            .ask(of_group("evenkeel_input_caught_up", ""), "{{input}} {{instance}} {{cluster}}")
            .words(look::YES_IS_GOOD)
            .size(12, 9),
            Panel::lines(
                "First search through a topic",
                "The part that is done. A cold start on a large offsets topic takes as long as reading it once.",
            )
            .ask(of_group("evenkeel_input_start_up_ratio", ""), "{{input}} {{instance}} {{cluster}}")
            .unit("percentunit")
            .zero_based()
            .up_to(1.0)
            .nothing("no search runs")
            .size(12, 9),
            Panel::lines(
                "Questions to the coordinator",
                "Those that were answered. Twice a second beside the leader and the next worker by name, every 10 s elsewhere.",
            )
            .ask(
                format!(
                    "rate({}[$__rate_interval])",
                    of_group("evenkeel_polls_total", "")
                ),
                "{{api}} {{instance}} {{cluster}}",
            )
            .unit("reqps")
            .zero_based(),
            Panel::bars(
                "Questions that failed",
                "Refused or not answered. While they fail, the start of a rebalance is not seen live.",
            )
            .ask(
                format!(
                    "increase({}[$__rate_interval])",
                    of_group("evenkeel_polls_failed_total", "")
                ),
                "{{instance}} {{cluster}}",
            ),
            spans(),
            Panel::lines(
                "Spans that are still to be sent",
                "While this does not come down, the receiver is away or too slow; the log says what went wrong. When too many wait, new ones are dropped.",
            )
            .ask(of_agent("evenkeel_spans_waiting"), "{{instance}} {{cluster}}")
            .zero_based()
            .decimals(0)
            .nothing("traces go nowhere"),
        ],
    )
}

/// Where traces go to no receiver, the agent has none of these series.
fn spans() -> Panel {
    let fate = |metric: &str| format!("increase({}[$__rate_interval])", of_agent(metric));
    Panel::bars(
        "Spans of traces, by what became of them",
        "refused: by the receiver, for good; the agent's log says why. dropped: never sent, since the receiver was away or slow for too long. Both are missing in the traces.",
    )
    .ask(fate("evenkeel_spans_exported_total"), "taken {{instance}} {{cluster}}")
    .ask(fate("evenkeel_spans_failed_total"), "refused {{instance}} {{cluster}}")
    .ask(fate("evenkeel_spans_dropped_total"), "dropped {{instance}} {{cluster}}")
    .palette(&[("taken", GOOD), ("refused", BAD), ("dropped", WARN)])
    .nothing("traces go nowhere")
}

fn trouble() -> Row {
    row(
        "What could they not read?",
        vec![
            Panel::bars(
                "Records that could not be decoded",
                "They are skipped. Any at all: please report it with a capture (evenkeel capture).",
            )
            .ask(
                sum(
                    "kind",
                    &one(&format!(
                        "increase({}[$__rate_interval])",
                        of_group("evenkeel_decode_errors_total", "")
                    )),
                ),
                "{{input}}",
            )
            .size(8, 7),
            Panel::table(
                "Records of unknown types",
                "Types and versions that this release does not know; they are skipped. After an upgrade of Kafka: upgrade evenkeel.",
            )
            .ask(
                format!(
                    "max by (cluster, group, input, version) ({})",
                    of_group("evenkeel_unknown_records_total", "")
                ),
                "",
            )
            .columns(&[
                CLUSTER,
                GROUP,
                column("input", "Topic"),
                column("version", "What it says it is"),
                value("Value", "Records", "short"),
            ])
            .excused("target-counter-agg-rule", "how many there were at all since the start")
            .nothing("none, or not known")
            .size(8, 7),
            Panel::table("Findings", "What a person should know about the inputs.")
                .ask(
                    format!(
                        "max by (cluster, group, finding, subject) ({})",
                        of_group("evenkeel_finding_info", "")
                    ),
                    "",
                )
                .columns(&[CLUSTER, GROUP, column("finding", "Finding"), SUBJECT])
                .nothing("none, or not known")
                .size(8, 7),
        ],
    )
}

/// Names that every program has: only those of evenkeel are meant, whatever the variables
/// match.
fn ours(expr: &str) -> String {
    format!(
        "{expr} and on (job, instance, cluster) {}",
        of_agent("evenkeel_build_info")
    )
}

fn program() -> Row {
    row(
        "What do they cost?",
        vec![
            Panel::lines("Memory", "Resident memory of each agent.")
                .ask(ours(&of_agent("process_resident_memory_bytes")), "{{instance}} {{cluster}}")
                .unit("bytes")
                .zero_based()
                .size(8, 7),
            Panel::lines("Processor", "As part of one core.")
                .ask(
                    ours(&format!(
                        "rate({}[$__rate_interval])",
                        of_agent("process_cpu_seconds_total")
                    )),
                    "{{instance}} {{cluster}}",
                )
                .unit("percentunit")
                .zero_based()
                .size(8, 7),
            Panel::lines("Open files and threads", "Of each agent; the limit of files is in the table.")
                .ask(ours(&of_agent("process_open_fds")), "files {{instance}} {{cluster}}")
                .ask(ours(&of_agent("process_threads")), "threads {{instance}} {{cluster}}")
                .zero_based()
                .size(8, 7),
            Panel::lines("Series in a scrape", "What each agent exposes.")
                .ask(of_agent("evenkeel_series"), "{{instance}} {{cluster}}")
                .zero_based()
                .decimals(0)
                .size(8, 7),
            Panel::bars(
                "Series left out by a bound",
                "metrics.series_max or metrics.subjects_max kept them out of scrapes: something that is wrong is not shown.",
            )
            .ask(
                format!(
                    "increase({}[$__rate_interval])",
                    of_agent("evenkeel_series_dropped_total")
                ),
                "{{instance}} {{cluster}}",
            )
            .size(8, 7),
            Panel::bars(
                "Changed settings taken up",
                "Files that changed while the agent runs: ok are in use, failed were refused and the log says why.",
            )
            .ask(
                format!(
                    "increase({}[$__rate_interval])",
                    of_agent("evenkeel_config_reloads_total")
                ),
                "{{result}} {{instance}} {{cluster}}",
            )
            .palette(&[("ok", GOOD), ("failed", BAD)])
            .size(8, 7),
            Panel::table("Programs", "Version, Kafka client, start and limits of each agent.")
                .ask(
                    format!(
                        "max by (cluster, instance, version, librdkafka) ({})",
                        of_agent("evenkeel_build_info")
                    ),
                    "",
                )
                .ask(by_instance("1000 * ", "process_start_time_seconds"), "")
                .ask(by_instance("", "process_max_fds"), "")
                .columns(&[
                    CLUSTER,
                    column("instance", "Agent"),
                    column("version", "Version"),
                    column("librdkafka", "librdkafka"),
                    value("Value #B", "Started", "dateTimeFromNow"),
                    value("Value #C", "Most files", "short"),
                ])
                .nothing("no agent")
                .size(14, 7),
            Panel::table(
                "Certificates that expire first",
                "server: on the agent's own port; client: shown to Kafka.",
            )
            .ask(
                format!(
                    "1000 * min by (cluster, instance, use) ({})",
                    of_agent("evenkeel_tls_certificate_expiry_timestamp_seconds")
                ),
                "",
            )
            .columns(&[
                CLUSTER,
                column("instance", "Agent"),
                column("use", "Use"),
                value("Value", "Expires", "dateTimeFromNow"),
            ])
            .nothing("no TLS")
            .size(10, 7),
        ],
    )
}

fn by_instance(factor: &str, metric: &str) -> String {
    format!(
        "{factor}max by (cluster, instance) ({})",
        ours(&of_agent(metric))
    )
}
