//! The `process_*` numbers, from the collector of the `prometheus` crate. Its text
//! encoder knows neither OpenMetrics nor our snapshot, so only its numbers are taken.

use std::fmt;

use prometheus::core::Collector;
use prometheus::process_collector::ProcessCollector;
use prometheus::proto::MetricType;

/// What the operating system says of this process, by metric name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProcessStats {
    values: Vec<(String, f64)>,
}

/// Reads the numbers of the calling process.
pub struct ProcessReader {
    collector: ProcessCollector,
}

// === impl ProcessStats ===

impl ProcessStats {
    /// The value of one metric, by its full name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        let (_, value) = self.values.iter().find(|(known, _)| known == name)?;
        Some(*value)
    }

    /// The names there are values for.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }
}

impl<'a> FromIterator<(&'a str, f64)> for ProcessStats {
    fn from_iter<I: IntoIterator<Item = (&'a str, f64)>>(values: I) -> Self {
        let values = values
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        Self {
            values: values.collect(),
        }
    }
}

// === impl ProcessReader ===

impl ProcessReader {
    /// A reader for the calling process.
    #[must_use]
    pub fn new() -> Self {
        Self {
            collector: ProcessCollector::for_self(),
        }
    }

    /// The numbers now; `None` where `/proc` cannot be read.
    #[must_use]
    pub fn read(&self) -> Option<ProcessStats> {
        let mut values = Vec::new();
        for family in self.collector.collect() {
            let counts = family.get_field_type() == MetricType::COUNTER;
            for metric in family.get_metric() {
                let value = if counts {
                    metric.get_counter().get_value()
                } else {
                    metric.get_gauge().get_value()
                };
                values.push((family.name().to_owned(), value));
            }
        }
        (!values.is_empty()).then_some(ProcessStats { values })
    }
}

impl Default for ProcessReader {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ProcessReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProcessReader")
    }
}
