//! Each panel and each of its questions.

use evenkeel_testbed::grafana::{Board, list, text};
use serde_json::{Value, json};

use super::promql::{Selector, selectors};
use super::{Catalogue, Told};

/// Grafana's names of units that boards here may use.
const UNITS: [&str; 11] = [
    "short",
    "none",
    "s",
    "bytes",
    "percentunit",
    "cps",
    "reqps",
    "dateTimeFromNow",
    "dateTimeAsIso",
    "bool_yes_no",
    "ms",
];

/// Functions over a range that count.
const RATES: [&str; 3] = ["rate", "irate", "increase"];

/// Labels that a scrape adds.
const OF_SCRAPES: [&str; 7] = [
    "job",
    "instance",
    "pod",
    "namespace",
    "cluster",
    "le",
    "host",
];

pub(super) fn check(board: &Board, catalogue: &Catalogue, told: &mut Told<'_>) {
    for panel in board.panels() {
        let title = text(panel, "title");
        if title.is_empty() || text(panel, "description").is_empty() {
            told.tell_of(
                "panel-title-description-rule",
                title,
                "no title, or no description",
            );
        }
        if panel["datasource"]["uid"] != json!("${datasource}") {
            told.tell_of("panel-datasource-rule", title, "does not use the variable");
        }
        units(panel, title, told);
        let targets = list(panel, "targets");
        if targets.is_empty() {
            told.tell(format!("\"{title}\" asks nothing"));
        }
        for target in targets {
            if target["datasource"]["uid"] != json!("${datasource}") {
                told.tell_of(
                    "panel-datasource-rule",
                    title,
                    "a target does not use the variable",
                );
            }
            question(text(target, "expr"), title, catalogue, told);
            legend(text(target, "legendFormat"), title, told);
        }
    }
    for (name, expr) in board.annotations() {
        question(&expr, &name, catalogue, told);
    }
}

/// Groups and addresses of agents are unique within a cluster, no further.
fn legend(legend: &str, title: &str, told: &mut Told<'_>) {
    let names = |label: &str| legend.contains(&format!("{{{{{label}}}}}"));
    if (names("group") || names("instance")) && !names("cluster") {
        told.tell(format!("\"{title}\": its legend names no cluster"));
    }
}

fn units(panel: &Value, title: &str, told: &mut Told<'_>) {
    let config = &panel["fieldConfig"];
    let mut units = vec![text(&config["defaults"], "unit")];
    for part in list(config, "overrides") {
        let properties = list(part, "properties").iter();
        let of_unit = properties.filter(|property| text(property, "id") == "unit");
        units.extend(of_unit.map(|property| text(property, "value")));
    }
    for unit in units {
        if !UNITS.contains(&unit) {
            told.tell_of("panel-units-rule", title, format!("{unit:?} is no unit"));
        }
    }
}

fn question(expr: &str, title: &str, catalogue: &Catalogue, told: &mut Told<'_>) {
    let asked = selectors(expr);
    if asked.is_empty() {
        told.tell_of("target-promql-rule", title, "asks for no series");
    }
    for selector in &asked {
        for label in ["job", "instance"] {
            let wanted = (label.to_owned(), "=~".to_owned(), format!("${label}"));
            if !selector.matchers.contains(&wanted) {
                let what = format!("{} does not match {label}", selector.metric);
                told.tell_of(&format!("target-{label}-rule"), title, what);
            }
        }
        let counted = selector
            .within
            .iter()
            .any(|name| RATES.contains(&name.as_str()));
        if counted && selector.range.as_deref() != Some("$__rate_interval") {
            let what = format!("{} looks back another time", selector.metric);
            told.tell_of("target-rate-interval-rule", title, what);
        }
        known(selector, title, catalogue, counted, told);
    }
}

/// Its metric, labels and values are in the catalogue, and what only grows is counted.
fn known(
    selector: &Selector,
    title: &str,
    catalogue: &Catalogue,
    counted: bool,
    told: &mut Told<'_>,
) {
    let metric = &selector.metric;
    let Some((_, family)) = catalogue.family_of(metric) else {
        if metric.starts_with("evenkeel_") {
            told.tell(format!("\"{title}\": {metric} is not in the catalogue"));
        }
        return;
    };
    if family.grows() && !counted {
        let what = format!("{metric} only grows: only how much says something");
        told.tell_of("target-counter-agg-rule", title, what);
    }
    if !family.grows() && counted {
        told.tell(format!("\"{title}\": {metric} is no counter"));
    }
    for (label, operator, value) in &selector.matchers {
        let Some(values) = family.labels.get(label) else {
            if !OF_SCRAPES.contains(&label.as_str()) {
                told.tell(format!("\"{title}\": {metric} has no label {label}"));
            }
            continue;
        };
        let Some(values) = values else { continue };
        let words = if operator.ends_with('~') {
            value.split('|').collect()
        } else {
            vec![value.as_str()]
        };
        for word in words {
            if !word.starts_with('$') && !values.contains(word) {
                told.tell(format!("\"{title}\": {metric} has no {label} {word:?}"));
            }
        }
    }
}
