//! Writes a snapshot in both text formats, from one walk.
//!
//! Text 0.0.4 is what Prometheus calls the text-based format; OpenMetrics is version
//! 1.0.0 of that specification. They differ in the name of a counter's family (with
//! and without `_total`), in `# UNIT` and `# EOF`, in escaping inside HELP, in how an
//! edge is written, and in types: 0.0.4 has no info. Neither gets `stateset`:
//! OpenMetrics wants its label to be named like the family
//! (`evenkeel_mode{evenkeel_mode="full"}`), ours are named for people, so a stateset
//! is written as the gauges it consists of. Only OpenMetrics has exemplars; their names
//! and values may be 128 characters together, of which two ids take 63.

use std::fmt::{self, Write};

use crate::show::catalog::{Family, MetricType};
use crate::show::families::{Exemplar, Histogram, Series, Snapshot, Value};

/// The formats a scraper can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Prometheus text 0.0.4.
    Text,
    /// OpenMetrics 1.0.0.
    OpenMetrics,
}

/// The snapshot in that format.
#[must_use]
pub fn encode(snapshot: &Snapshot<'_>, format: Format) -> String {
    // A sample takes about a hundred bytes.
    let mut out = String::with_capacity(snapshot.samples.saturating_mul(128).max(1024));
    // Writing to a string cannot fail.
    if write(&mut out, snapshot, format).is_err() {
        debug_assert!(false, "a string takes all that is written to it");
    }
    out
}

fn write(out: &mut String, snapshot: &Snapshot<'_>, format: Format) -> fmt::Result {
    for samples in &snapshot.families {
        head(out, samples.family, format)?;
        for series in &samples.series {
            sample(out, samples.family, series, format)?;
        }
    }
    if format == Format::OpenMetrics {
        out.push_str("# EOF\n");
    }
    Ok(())
}

fn head(out: &mut String, family: &Family, format: Format) -> fmt::Result {
    let name = family_name(family, format);
    write!(out, "# HELP {name} ")?;
    escape(out, family.help, format == Format::OpenMetrics);
    writeln!(out, "\n# TYPE {name} {}", type_name(family.kind, format))?;
    match family.unit {
        Some(unit) if format == Format::OpenMetrics => writeln!(out, "# UNIT {name} {unit}"),
        _ => Ok(()),
    }
}

/// The name of the family, where a sample has the full one.
fn family_name(family: &Family, format: Format) -> &'static str {
    let suffix = match (family.kind, format) {
        (MetricType::Counter, Format::OpenMetrics) => "_total",
        (MetricType::Info, Format::OpenMetrics) => "_info",
        _ => "",
    };
    family.name.strip_suffix(suffix).unwrap_or(family.name)
}

fn type_name(kind: MetricType, format: Format) -> &'static str {
    match (kind, format) {
        (MetricType::Info, Format::OpenMetrics) => "info",
        (MetricType::Counter, _) => "counter",
        (MetricType::Histogram, _) => "histogram",
        (MetricType::Gauge | MetricType::StateSet | MetricType::Info, _) => "gauge",
    }
}

fn sample(out: &mut String, family: &Family, series: &Series<'_>, format: Format) -> fmt::Result {
    match &series.value {
        Value::Histogram(value) => histogram(out, family, series, value, format),
        value => {
            out.push_str(family.name);
            labels(out, family, series, None);
            out.push(' ');
            number(out, value)?;
            out.push('\n');
            Ok(())
        }
    }
}

fn histogram(
    out: &mut String,
    family: &Family,
    series: &Series<'_>,
    value: &Histogram,
    format: Format,
) -> fmt::Result {
    let edges = value.buckets.iter().copied();
    let mut exemplars = value.exemplars.iter().peekable();
    for (place, (edge, count)) in edges.chain([(f64::INFINITY, value.count)]).enumerate() {
        write!(out, "{}_bucket", family.name)?;
        labels(out, family, series, Some(&edge_text(edge, format)));
        write!(out, " {count}")?;
        if let Some((_, of_it)) = exemplars.next_if(|(of, _)| *of == place)
            && format == Format::OpenMetrics
        {
            exemplar(out, of_it)?;
        }
        out.push('\n');
    }
    write!(out, "{}_sum", family.name)?;
    labels(out, family, series, None);
    out.push(' ');
    real(out, value.sum)?;
    write!(out, "\n{}_count", family.name)?;
    labels(out, family, series, None);
    writeln!(out, " {}", value.count)
}

fn exemplar(out: &mut String, of_it: &Exemplar) -> fmt::Result {
    let Exemplar {
        trace_id, span_id, ..
    } = of_it;
    write!(out, " # {{trace_id=\"{trace_id}\",span_id=\"{span_id}\"}} ")?;
    real(out, of_it.value)?;
    out.push(' ');
    number(out, &Value::Millis(of_it.at_ms))
}

/// OpenMetrics writes edges as floats (`10.0`), text 0.0.4 as short as can be (`10`).
fn edge_text(edge: f64, format: Format) -> String {
    match format {
        _ if edge.is_infinite() => "+Inf".to_owned(),
        Format::OpenMetrics => format!("{edge:?}"),
        Format::Text => format!("{edge}"),
    }
}

fn labels(out: &mut String, family: &Family, series: &Series<'_>, edge: Option<&str>) {
    let names = family.labels.iter().map(|label| label.name);
    let pairs = names.zip(series.labels.iter().copied());
    let mut open = '{';
    for (name, value) in edge.map(|edge| ("le", edge)).into_iter().chain(pairs) {
        out.push(open);
        out.push_str(name);
        out.push_str("=\"");
        escape(out, value, true);
        out.push('"');
        open = ',';
    }
    if open == ',' {
        out.push('}');
    }
}

fn number(out: &mut String, value: &Value) -> fmt::Result {
    match value {
        Value::Count(count) => write!(out, "{count}"),
        Value::Whole(whole) => write!(out, "{whole}"),
        // Written digit by digit: an instant keeps its milliseconds exactly.
        Value::Millis(ms) => {
            let sign = if *ms < 0 { "-" } else { "" };
            let (seconds, rest) = (ms.unsigned_abs() / 1000, ms.unsigned_abs() % 1000);
            match rest {
                0 => write!(out, "{sign}{seconds}"),
                _ => write!(out, "{sign}{seconds}.{rest:03}"),
            }
        }
        Value::Real(value) => real(out, *value),
        Value::Histogram(value) => write!(out, "{}", value.count),
    }
}

fn real(out: &mut String, value: f64) -> fmt::Result {
    match value {
        _ if value.is_nan() => write!(out, "NaN"),
        f64::INFINITY => write!(out, "+Inf"),
        f64::NEG_INFINITY => write!(out, "-Inf"),
        _ => write!(out, "{value}"),
    }
}

/// Backslash and newline always, quotes inside label values and OpenMetrics HELP.
fn escape(out: &mut String, text: &str, quotes: bool) {
    if !text.contains(['\\', '\n', '"']) {
        out.push_str(text);
        return;
    }
    for piece in text.chars() {
        match piece {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if quotes => out.push_str("\\\""),
            _ => out.push(piece),
        }
    }
}

// === impl Format ===

impl Format {
    /// The content type of an answer in this format.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

#[cfg(test)]
mod tests;
