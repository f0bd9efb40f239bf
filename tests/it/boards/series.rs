//! Samples of OpenMetrics, and series that no capture can have: of other exporters, of rules,
//! and of trouble that the testbed does not make.

use super::night::Night;
use evenkeel_testbed::history::STEP_S;

/// One sample of an exposition with more labels and its instant in milliseconds.
pub(super) fn line(out: &mut String, sample: &str, labels: &str, at_ms: i64) {
    let at = format!("{}.{:03}", at_ms / 1000, at_ms % 1000);
    let (series, value) = sample.rsplit_once(' ').unwrap();
    let line = match series.split_once('{') {
        Some((name, rest)) => format!("{name}{{{labels},{rest} {value} {at}\n"),
        None => format!("{series}{{{labels}}} {value} {at}\n"),
    };
    out.push_str(&line);
}

/// What the boards ask of others, each with how its value changes: from, and per second.
const FOREIGN: &[(&str, f64, f64)] = &[
    (
        r#"ALERTS{alertname="EvenkeelWorkLost",alertstate="firing",severity="critical",group="connect""#,
        1.0,
        0.0,
    ),
    (
        r#"container_cpu_usage_seconds_total{namespace="kafka",pod="connect-0",container="connect""#,
        0.0,
        0.7,
    ),
    (
        r#"container_cpu_cfs_throttled_periods_total{namespace="kafka",pod="connect-0",container="connect""#,
        0.0,
        2.0,
    ),
    (
        r#"container_cpu_cfs_periods_total{namespace="kafka",pod="connect-0",container="connect""#,
        0.0,
        10.0,
    ),
    (
        r#"container_memory_working_set_bytes{namespace="kafka",pod="connect-0",container="connect""#,
        2e9,
        1e5,
    ),
    (
        r#"jvm_memory_used_bytes{job="jmx",instance="10.0.0.1:9404",area="heap""#,
        1e9,
        5e4,
    ),
    (
        r#"jvm_memory_max_bytes{job="jmx",instance="10.0.0.1:9404",area="heap""#,
        2e9,
        0.0,
    ),
    (
        r#"jvm_gc_collection_seconds_sum{job="jmx",instance="10.0.0.1:9404",gc="G1 Young Generation""#,
        0.0,
        0.02,
    ),
    (
        r#"node_load1{job="node",instance="10.0.0.1:9100""#,
        1.5,
        0.0005,
    ),
    // Types of records that no release of Kafka writes yet.
    (
        r#"evenkeel_unknown_records_total{job="evenkeel",instance="10.0.0.1:9790",pod="connect-0",namespace="kafka",group="connect",input="offsets",version="offsets_key 9""#,
        1.0,
        0.01,
    ),
];

/// Those series during a night.
pub(super) fn foreign(night: &Night) -> String {
    let mut out = String::new();
    let cluster = format!("cluster=\"{}\"", night.name);
    for (series, from, per_second) in FOREIGN {
        for at in (night.from..=night.to).step_by(usize::try_from(STEP_S).unwrap()) {
            let since = f64::from(i32::try_from(at - night.from).unwrap());
            let value = from + per_second * since;
            out.push_str(&format!("{series},{cluster}}} {value} {at}\n"));
        }
    }
    out
}
