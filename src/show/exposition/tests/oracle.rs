//! The same snapshot, written by the `prometheus-client` crate.

use std::collections::HashMap;
use std::time::{Duration, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, prometheus_text, text};
use prometheus_client::metrics::MetricType as TheirType;
use prometheus_client::metrics::exemplar::{Exemplar, HistogramWithExemplars};
use prometheus_client::registry::{Registry, Unit};

use crate::show::catalog::{Family, MetricType};
use crate::show::exposition::Format;
use crate::show::families::{Histogram, Snapshot, Value};

type Labels = Vec<(String, String)>;

#[derive(Debug)]
struct Copy {
    families: Vec<(&'static Family, Vec<(Labels, Value)>)>,
}

/// The snapshot in their words.
pub(super) fn encode(snapshot: &Snapshot<'_>, format: Format) -> String {
    let families = snapshot.families.iter().map(|samples| {
        let series = samples.series.iter().map(|series| {
            let names = samples
                .family
                .labels
                .iter()
                .map(|label| label.name.to_owned());
            let values = series.labels.iter().map(|value| (*value).to_owned());
            (names.zip(values).collect(), series.value.clone())
        });
        (samples.family, series.collect())
    });
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Copy {
        families: families.collect(),
    }));
    let mut out = String::new();
    match format {
        Format::Text => prometheus_text::encode(&mut out, &registry).unwrap(),
        Format::OpenMetrics => text::encode(&mut out, &registry).unwrap(),
    }
    out
}

/// A histogram of this family whose exemplars were observed, the others without one.
pub(super) fn exemplars(family: &Family, histogram: &Histogram) -> String {
    let edges = histogram.buckets.iter().map(|(edge, _)| *edge);
    let theirs: HistogramWithExemplars<Labels> = HistogramWithExemplars::new(edges);
    for (_, exemplar) in &histogram.exemplars {
        let labels = vec![
            ("trace_id".to_owned(), exemplar.trace_id.clone()),
            ("span_id".to_owned(), exemplar.span_id.clone()),
        ];
        let at = UNIX_EPOCH + Duration::from_millis(u64::try_from(exemplar.at_ms).unwrap());
        theirs.observe(exemplar.value, Some(labels), Some(at));
    }
    let mut registry = Registry::default();
    registry.register(family.name, family.help, theirs);
    let mut out = String::new();
    text::encode(&mut out, &registry).unwrap();
    out
}

impl Collector for Copy {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        for (family, series) in &self.families {
            // They append the unit and the suffix of the type themselves.
            let unit = family.unit.map(|unit| Unit::Other(unit.to_owned()));
            let (kind, suffix) = match family.kind {
                MetricType::Counter => (TheirType::Counter, "_total"),
                MetricType::Info => (TheirType::Info, "_info"),
                MetricType::Gauge | MetricType::StateSet => (TheirType::Gauge, ""),
                MetricType::Histogram => (TheirType::Histogram, ""),
            };
            let name = family.name.strip_suffix(suffix).unwrap();
            let name = match family.unit {
                Some(unit) => name.strip_suffix(unit).unwrap().trim_end_matches('_'),
                None => name,
            };
            let mut metric = encoder.encode_descriptor(name, family.help, unit.as_ref(), kind)?;
            for (labels, value) in series {
                let mut one = metric.encode_family(labels)?;
                let none: Option<&Exemplar<Labels, f64>> = None;
                if let Value::Histogram(histogram) = value {
                    let buckets = apart(histogram);
                    let none: Option<&HashMap<usize, Exemplar<Labels, f64>>> = None;
                    one.encode_histogram(histogram.sum, histogram.count, &buckets, none)?;
                    continue;
                }
                match (family.kind, number(value)) {
                    (MetricType::Counter, value) => one.encode_counter(&value, none)?,
                    (MetricType::Info, _) => one.encode_info(&Labels::new())?,
                    (_, value) => one.encode_gauge(&value)?,
                }
            }
        }
        Ok(())
    }
}

/// Their buckets hold what lies between two edges.
fn apart(histogram: &Histogram) -> Vec<(f64, u64)> {
    let mut below = 0;
    let edges = histogram.buckets.iter().copied();
    edges
        .chain([(f64::INFINITY, histogram.count)])
        .map(|(edge, cumulative)| (edge, cumulative - std::mem::replace(&mut below, cumulative)))
        .collect()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Count(value) => *value as f64,
        Value::Whole(value) => *value as f64,
        Value::Millis(value) => *value as f64 / 1000.0,
        Value::Real(value) => *value,
        Value::Histogram(_) => f64::NAN,
    }
}
