//! Both formats against committed files, another implementation, a strict parser and
//! promtool.

mod oracle;
mod strict;

use std::io::Write as _;
use std::process::{Command, Stdio};

use evenkeel_core::answers::Answers;

use super::*;
use crate::config::golden::committed;
use crate::show::catalog::{Count, Label, Scope, Values};
use crate::show::families::{Samples, families};
use crate::show::sample::{calm, incident, member, view};
use crate::show::view::View;

/// Views that differ in what they show.
fn views() -> Vec<View> {
    let mut troubled = incident();
    troubled.inputs[0]
        .decode_errors
        .insert("truncated".to_owned(), 2);
    troubled.inputs[0]
        .unknown
        .insert("offsets_key \\ 9\n".to_owned(), 1);
    let mut blind = Answers::default();
    blind.settings.group = "other".to_owned();
    vec![
        view(vec![incident()]),
        view(vec![troubled, blind]),
        view(vec![calm(vec![member("worker-a:8083", &[])])]),
        View::default(),
    ]
}

#[test]
fn the_committed_files_are_what_an_incident_gives() {
    let view = view(vec![incident()]);
    let snapshot = families(&view);
    committed(
        "tests/fixtures/exposition/incident.txt",
        &encode(&snapshot, Format::Text),
    );
    committed(
        "tests/fixtures/exposition/incident.openmetrics",
        &encode(&snapshot, Format::OpenMetrics),
    );
}

#[test]
fn another_implementation_writes_the_same() {
    for view in views() {
        let snapshot = families(&view);
        for format in [Format::Text, Format::OpenMetrics] {
            let ours = encode(&snapshot, format);
            let theirs = oracle::encode(&snapshot, format);
            // The order of a histogram's lines is theirs.
            let (mut ours, mut theirs): (Vec<_>, Vec<_>) =
                (normal(&ours).collect(), normal(&theirs).collect());
            ours.sort_unstable();
            theirs.sort_unstable();
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert_eq!(ours, theirs, "{format:?}");
            }
            assert_eq!(ours.len(), theirs.len());
        }
    }
}

/// Lines with the value of a sample as the number it is: `10` and `10.0` are one. Where among
/// the labels an edge stands says nothing.
fn normal(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| match line.rsplit_once(' ') {
        Some((series, value)) if !line.starts_with('#') => {
            let value = value.parse::<f64>().unwrap();
            let Some((name, labels)) = series.split_once("_bucket{") else {
                return format!("{series} {value:?}");
            };
            let mut labels: Vec<&str> = labels.trim_end_matches('}').split(',').collect();
            labels.sort_unstable();
            format!("{name}_bucket{labels:?} {value:?}")
        }
        _ => line.to_owned(),
    })
}

#[test]
fn both_formats_say_the_same_and_keep_the_rules() {
    for view in views() {
        let snapshot = families(&view);
        let open = strict::parse(&encode(&snapshot, Format::OpenMetrics)).unwrap();
        assert_eq!(open.len(), snapshot.samples);
        let text = encode(&snapshot, Format::Text);
        assert!(!text.contains("# EOF") && !text.contains("# UNIT"));
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut count = 0;
        for line in lines {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let value: f64 = value.parse().unwrap();
            assert_eq!(open.get(&as_float(series)), Some(&value), "{series}");
            count += 1;
        }
        assert_eq!(count, open.len());
    }
}

/// A series with its edge written as OpenMetrics wants it.
fn as_float(series: &str) -> String {
    let Some((before, after)) = series.split_once("le=\"") else {
        return series.to_owned();
    };
    let (edge, rest) = after.split_once('"').unwrap();
    match edge.parse::<f64>() {
        Ok(edge) if edge.is_finite() => format!("{before}le=\"{edge:?}\"{rest}"),
        _ => series.to_owned(),
    }
}

const fn family(name: &'static str, kind: MetricType, unit: Option<&'static str>) -> Family {
    Family {
        name,
        kind,
        unit,
        help: "A back\\slash, a \"quote\" and a\nline.",
        labels: &[Label {
            name: "text",
            values: Values::Open("anything"),
        }],
        scope: Scope::Agent,
        count: Count::OnDemand,
        since: "0.1.0",
    }
}

static ODD: Family = family(
    "evenkeel_odd_seconds",
    MetricType::Histogram,
    Some("seconds"),
);
static PLAIN_BUCKETS: Family = family(
    "evenkeel_plain_seconds",
    MetricType::Histogram,
    Some("seconds"),
);
static PLAIN: Family = family("evenkeel_plain", MetricType::Gauge, None);

/// A series with that value in both formats.
fn odd(family: &'static Family, value: Value) -> String {
    labelled(family, "a\\b\"c\nd é", value)
}

fn labelled(family: &'static Family, label: &str, value: Value) -> String {
    let series = vec![Series {
        labels: vec![label],
        value,
    }];
    let families = vec![Samples { family, series }];
    let snapshot = Snapshot {
        families,
        samples: 1,
        dropped: 0,
    };
    format!(
        "{}\n{}",
        encode(&snapshot, Format::Text),
        encode(&snapshot, Format::OpenMetrics)
    )
}

#[test]
fn a_histogram_and_what_must_be_escaped() {
    let value = Histogram {
        buckets: vec![(0.5, 1), (10.0, 3)],
        count: 4,
        sum: 71.25,
        exemplars: Vec::new(),
    };
    assert_eq!(
        odd(&ODD, Value::Histogram(value)),
        r##"# HELP evenkeel_odd_seconds A back\\slash, a "quote" and a\nline.
# TYPE evenkeel_odd_seconds histogram
evenkeel_odd_seconds_bucket{le="0.5",text="a\\b\"c\nd é"} 1
evenkeel_odd_seconds_bucket{le="10",text="a\\b\"c\nd é"} 3
evenkeel_odd_seconds_bucket{le="+Inf",text="a\\b\"c\nd é"} 4
evenkeel_odd_seconds_sum{text="a\\b\"c\nd é"} 71.25
evenkeel_odd_seconds_count{text="a\\b\"c\nd é"} 4

# HELP evenkeel_odd_seconds A back\\slash, a \"quote\" and a\nline.
# TYPE evenkeel_odd_seconds histogram
# UNIT evenkeel_odd_seconds seconds
evenkeel_odd_seconds_bucket{le="0.5",text="a\\b\"c\nd é"} 1
evenkeel_odd_seconds_bucket{le="10.0",text="a\\b\"c\nd é"} 3
evenkeel_odd_seconds_bucket{le="+Inf",text="a\\b\"c\nd é"} 4
evenkeel_odd_seconds_sum{text="a\\b\"c\nd é"} 71.25
evenkeel_odd_seconds_count{text="a\\b\"c\nd é"} 4
# EOF
"##
    );
}

/// A histogram with an exemplar in a bucket with an edge, and in the one that holds everything.
fn exemplified() -> Histogram {
    let exemplar = |value, at_ms| Exemplar {
        trace_id: "5b8efff798038103d269b633813fc60c".to_owned(),
        span_id: "eee19b7ec3c1b174".to_owned(),
        value,
        at_ms,
    };
    Histogram {
        buckets: vec![(0.5, 1), (10.0, 3)],
        count: 4,
        sum: 71.25,
        exemplars: vec![
            (1, exemplar(7.5, 1_700_000_090_250)),
            (2, exemplar(61.0, 1_700_000_090_000)),
        ],
    }
}

#[test]
fn exemplars_stand_in_open_metrics_alone() {
    let text = labelled(&PLAIN_BUCKETS, "x", Value::Histogram(exemplified()));
    let (text, open) = text.split_once("\n\n").unwrap();
    assert!(!text.contains("trace_id"), "{text}");
    let told = "{trace_id=\"5b8efff798038103d269b633813fc60c\",span_id=\"eee19b7ec3c1b174\"}";
    let expected = [
        "evenkeel_plain_seconds_bucket{le=\"0.5\",text=\"x\"} 1".to_owned(),
        format!(
            "evenkeel_plain_seconds_bucket{{le=\"10.0\",text=\"x\"}} 3 # {told} 7.5 1700000090.250"
        ),
        format!("evenkeel_plain_seconds_bucket{{le=\"+Inf\",text=\"x\"}} 4 # {told} 61 1700000090"),
    ];
    let buckets: Vec<&str> = open
        .lines()
        .filter(|line| line.contains("_bucket"))
        .collect();
    assert_eq!(buckets, expected);
    strict::parse(open).unwrap();
}

#[test]
fn another_implementation_writes_the_same_exemplars() {
    let theirs = oracle::exemplars(&PLAIN_BUCKETS, &exemplified());
    let ours = labelled(&PLAIN_BUCKETS, "x", Value::Histogram(exemplified()));
    let (_, ours) = ours.split_once("\n\n").unwrap();
    let exemplar = |line: &str| {
        let (_, exemplar) = line.split_once(" # ")?;
        let (labels, numbers) = exemplar.split_once("} ")?;
        let numbers = numbers.split(' ').map(|number| number.parse::<f64>());
        Some((
            labels.to_owned(),
            numbers.collect::<Result<Vec<_>, _>>().ok()?,
        ))
    };
    let of = |text: &str| -> Vec<_> { text.lines().filter_map(exemplar).collect() };
    assert_eq!(of(ours), of(&theirs));
    assert_eq!(of(ours).len(), 2);
}

#[test]
fn numbers() {
    let number = |value: Value| {
        let text = odd(&PLAIN, value);
        let line = text.lines().find(|line| !line.starts_with('#')).unwrap();
        line.rsplit_once(' ').unwrap().1.to_owned()
    };
    for (value, expected) in [
        (Value::Count(u64::MAX), "18446744073709551615"),
        (Value::Whole(-1), "-1"),
        (Value::Millis(1_700_000_090_250), "1700000090.250"),
        (Value::Millis(10_000), "10"),
        (Value::Millis(1), "0.001"),
        (Value::Millis(-1_050), "-1.050"),
        (Value::Millis(i64::MIN), "-9223372036854775.808"),
        (Value::Real(0.1), "0.1"),
        (Value::Real(12_500_000.0), "12500000"),
        (Value::Real(f64::NAN), "NaN"),
        (Value::Real(f64::INFINITY), "+Inf"),
        (Value::Real(f64::NEG_INFINITY), "-Inf"),
    ] {
        assert_eq!(number(value), expected);
    }
}

#[test]
fn the_strict_parser_is_strict() {
    for (text, why) in [
        ("a 1\n# EOF\n", "type"),
        ("# TYPE a gauge\na 1\n", "EOF"),
        ("# TYPE a gauge\na 1\n# EOF\n\n", "after"),
        ("# TYPE a gauge\na 1\na 2\n# EOF\n", "twice"),
        ("# TYPE a counter\na 1\n# EOF\n", "_total"),
        ("# TYPE a counter\na_total -1\n# EOF\n", "negative"),
        ("# TYPE a gauge\n# TYPE b gauge\na 1\n# EOF\n", "family"),
        ("# TYPE a gauge\na 1\n# HELP a x\n# EOF\n", "metadata"),
        ("# TYPE a gauge\n# UNIT a seconds\na 1\n# EOF\n", "unit"),
        ("# TYPE a gauge\na{b=\"\\x\"} 1\n# EOF\n", "escape"),
        ("# TYPE a gauge\na{b=\"1\",b=\"2\"} 1\n# EOF\n", "label"),
        ("# TYPE a info\na_info 2\n# EOF\n", "info"),
        ("# TYPE a stateset\na{state=\"x\"} 1\n# EOF\n", "stateset"),
        ("# TYPE a gauge\na one\n# EOF\n", "value"),
        ("# TYPE a gauge\n# TYPE a gauge\na 1\n# EOF\n", "metadata"),
        ("# TYPE a gauge\na 1 # {b=\"c\"} 1\n# EOF\n", "exemplar at"),
        (
            "# TYPE a counter\na_total 1 # 1 1\n# EOF\n",
            "without labels",
        ),
        (
            "# TYPE a counter\na_total 1 # {b=\"c\"}\n# EOF\n",
            "a value",
        ),
        (
            "# TYPE a histogram\na_bucket{le=\"1.0\"} 1 # {b=\"c\"} 1.5\n# EOF\n",
            "beyond",
        ),
        (
            "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\n# EOF\n",
            "twice",
        ),
    ] {
        let told = strict::parse(text).unwrap_err();
        assert!(told.contains(why), "{text}\n{told}");
    }
}

#[test]
fn promtool_has_nothing_to_say() {
    let mut checked = 0;
    for view in views() {
        let text = encode(&families(&view), Format::Text);
        let promtool = Command::new("promtool")
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut promtool) = promtool else {
            println!("skipped: promtool is not installed (Debian package prometheus)");
            return;
        };
        promtool
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        let output = promtool.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && told.is_empty(), "{told}");
        checked += 1;
    }
    assert!(checked > 0);
}
