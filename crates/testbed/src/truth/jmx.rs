//! A worker's rebalance metrics, read through the Prometheus Java agent.

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// The values of one scrape that can be compared with the truth of the logs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JmxSample {
    /// Generation that the herder handled last.
    pub epoch: i64,
    /// Between receiving an assignment and having started its work; not during the join.
    pub rebalancing: bool,
    pub completed_rebalances: i64,
    pub assigned_connectors: i64,
    pub assigned_tasks: i64,
}

impl JmxSample {
    /// Reads the text form of Prometheus. The agent may or may not keep the suffix `_total`.
    ///
    /// # Errors
    /// When a value is missing.
    pub fn parse(text: &str) -> anyhow::Result<JmxSample> {
        let value = |name: &str| {
            text.lines()
                .filter(|line| !line.starts_with('#'))
                .find_map(|line| {
                    let rest = line.strip_prefix(name)?;
                    let rest = rest.strip_prefix("_total").unwrap_or(rest);
                    let rest = match rest.strip_prefix('{') {
                        Some(labels) => labels.split_once('}')?.1,
                        None => rest,
                    };
                    rest.strip_prefix(' ')?.trim().parse::<f64>().ok()
                })
                .with_context(|| format!("no {name}"))
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "counts and generations are small"
        )]
        let whole = |name: &str| value(name).map(|number| number as i64);
        Ok(JmxSample {
            epoch: whole("connect_worker_rebalance_metrics_epoch")?,
            rebalancing: value("connect_worker_rebalance_metrics_rebalancing")? > 0.5,
            completed_rebalances: whole("connect_worker_rebalance_metrics_completed_rebalances")?,
            assigned_connectors: whole("connect_coordinator_metrics_assigned_connectors")?,
            assigned_tasks: whole("connect_coordinator_metrics_assigned_tasks")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Cut from the answer of the agent 1.0.1 in a 4.4.0 worker.
    const ANSWER: &str = "# TYPE connect_coordinator_metrics_assigned_connectors gauge\n\
        connect_coordinator_metrics_assigned_connectors 1.0\n\
        connect_coordinator_metrics_assigned_tasks{x=\"y\"} 3.0\n\
        connect_worker_rebalance_metrics_completed_rebalances_total 2.0\n\
        connect_worker_rebalance_metrics_epoch 2.0\n\
        connect_worker_rebalance_metrics_rebalancing 0.0\n";

    #[test]
    fn reads_what_is_compared() {
        let sample = JmxSample::parse(ANSWER).unwrap();
        assert_eq!((sample.epoch, sample.rebalancing), (2, false));
        assert_eq!((sample.assigned_connectors, sample.assigned_tasks), (1, 3));
        assert_eq!(sample.completed_rebalances, 2);
    }

    #[test]
    fn misses_nothing_silently() {
        for (index, _) in ANSWER.lines().enumerate().skip(1) {
            let cut: Vec<&str> = ANSWER
                .lines()
                .enumerate()
                .filter(|(line, _)| *line != index)
                .map(|(_, line)| line)
                .collect();
            assert!(JmxSample::parse(&cut.join("\n")).is_err(), "{index}");
        }
    }
}
