//! The catalogue for people and programs: `docs/metrics.md`, JSON and plain text.

use std::fmt::Write;

use serde_json::{Value, json as value};

use super::{ALL, Count, Family, Label, Scope, Values};

const HEAD: &str = "\
# Metrics

Written by `evenkeel metrics --format markdown` from the catalogue in the code; do not
edit. Every metric that evenkeel exposes is here, and nothing else.

- Series about a **group** are withdrawn while the agent cannot vouch for them: before
  each topic was read to its end once, and 30 s after one was last confirmed current. A
  config or status topic that may not be read at all is done without: what needs it is
  absent, `evenkeel_trust` is 0. Series about the **agent** stay, and say why.
- Counters count what ends while the agent watches. A restart begins at zero, as
  `rate` and `increase` expect, or, with `state.dir`, where the one before was
  ([restarts.md](restarts.md)); history that is read at start never makes them jump.
- Several sidecars of one cluster expose the same group series: take
  `max without (instance, pod)` of them.
- Scrape as Prometheus text 0.0.4 or OpenMetrics 1.0.0. An *info* is always 1, its
  labels are what it says; a *stateset* has one series a state, 1 for the one that
  holds. Both are gauges in text 0.0.4; a stateset is a gauge in OpenMetrics too, which
  would want its label named like the metric.
- In OpenMetrics, buckets of the duration of rebalances, of their phases and of lost work
  have an exemplar where this agent sends a trace: `trace_id` and `span_id` of the newest such
  rebalance that is counted in the bucket, with its value and the instant at which it was over
  ([traces.md](traces.md)). Prometheus keeps them with `--enable-feature=exemplar-storage`.
- A label that is empty is one that Prometheus treats as absent.
";

/// `docs/metrics.md`.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::from(HEAD);
    out.push_str(&budget());
    for (scope, title) in [
        (Scope::Group, "About a group"),
        (Scope::Agent, "About the agent"),
    ] {
        out.push_str(&format!("\n## {title}\n"));
        for family in ALL.iter().filter(|family| family.scope == scope) {
            out.push_str(&section(family));
        }
    }
    out
}

/// The catalogue in lines: name, type, labels, help.
#[must_use]
pub fn text() -> String {
    let mut out = String::new();
    for family in ALL {
        let labels: Vec<_> = family.labels.iter().map(|label| label.name).collect();
        let labels = labels.join(",");
        line(
            &mut out,
            format_args!("{}{{{labels}}} ({})", family.name, family.kind.label()),
        );
        line(&mut out, format_args!("    {}", family.help));
    }
    out
}

/// The catalogue as JSON.
#[must_use]
pub fn json() -> String {
    let families: Vec<Value> = ALL.iter().map(|family| family_json(family)).collect();
    format!("{:#}\n", value!({ "metrics": families }))
}

fn family_json(family: &Family) -> Value {
    let labels: Vec<Value> = family.labels.iter().map(label_json).collect();
    value!({
        "name": family.name,
        "type": family.kind.label(),
        "unit": family.unit,
        "about": family.scope.label(),
        "labels": labels,
        "help": family.help,
        "since": family.since,
    })
}

fn label_json(label: &Label) -> Value {
    match label.values {
        Values::Closed(values) => value!({ "name": label.name, "values": values() }),
        Values::Open(what) => value!({ "name": label.name, "any": what }),
    }
}

/// How many series a fresh group has: for each group, each worker, and the agent.
#[must_use]
pub(super) fn fresh_series() -> (usize, usize, usize) {
    let mut series = (0, 0, 0);
    for family in ALL {
        match family.count {
            Count::PerGroup(count) => series.0 += count,
            Count::PerWorker(count) => series.1 += count,
            Count::Once(count) => series.2 += count,
            Count::PerConnector | Count::Subjects | Count::OnDemand => {}
        }
    }
    series
}

fn budget() -> String {
    let (group, worker, agent) = fresh_series();
    let three = group + 3 * worker + agent;
    let per_connector = ALL.iter();
    let per_connector = per_connector.filter(|family| family.count == Count::PerConnector);
    let connector = per_connector.count();
    format!(
        "
## How many series

A fresh group with nothing wrong has **{group} series, {worker} a worker**, and the agent
{agent}: {three} for a group of three workers. A connector whose tasks all run adds
**{connector}**, and one more for each other state that some of them are in and for each reason
why tasks of it did not run since the agent came. What else has a series a connector or a
finding exists only while there is something to say, at most `metrics.subjects_max` a family and
group. Beyond `metrics.series_max` families are left out whole, those with a series a
worker first; `evenkeel_series_dropped_total` grows by every series left out.
"
    )
}

fn section(family: &Family) -> String {
    let mut out = String::new();
    line(&mut out, format_args!("\n### `{}`\n", family.name));
    let unit = family
        .unit
        .map(|unit| format!(", {unit}"))
        .unwrap_or_default();
    let kind = family.kind.label();
    line(
        &mut out,
        format_args!(
            "{kind}{unit} · {} · since {}\n",
            presence(family),
            family.since
        ),
    );
    line(&mut out, format_args!("{}", family.help));
    if family.labels.is_empty() {
        return out;
    }
    line(
        &mut out,
        format_args!("\n| label | values |\n| --- | --- |"),
    );
    for label in family.labels {
        let values = match label.values {
            Values::Closed(values) => {
                let values: Vec<_> = values().iter().map(|each| format!("`{each}`")).collect();
                values.join(", ")
            }
            Values::Open(what) => what.to_owned(),
        };
        line(&mut out, format_args!("| `{}` | {values} |", label.name));
    }
    out
}

fn presence(family: &Family) -> String {
    match family.count {
        Count::PerGroup(1) => "one a group".to_owned(),
        Count::PerGroup(count) => format!("{count} a group"),
        Count::PerWorker(count) => format!("{count} a worker"),
        Count::PerConnector => "one for each state of a connector's work that there is".to_owned(),
        Count::Once(_) => "one".to_owned(),
        Count::Subjects => "only while there is something to say, bounded".to_owned(),
        Count::OnDemand => "only while there is something to say".to_owned(),
    }
}

/// Appends a line. Writing to a string cannot fail.
fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = writeln!(out, "{text}");
    debug_assert!(written.is_ok(), "a string takes all that is written to it");
}
