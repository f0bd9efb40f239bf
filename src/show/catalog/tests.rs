//! The catalogue keeps the naming rules of Prometheus, and its document is up to date.

use std::collections::BTreeSet;

use super::markdown::fresh_series;
use super::*;
use crate::config::golden::committed;
use crate::show::families::families;
use crate::show::sample::{calm, member, view};

#[test]
fn the_document_is_up_to_date() {
    committed("docs/metrics.md", &markdown());
}

#[test]
fn names_keep_the_rules() {
    let mut names = BTreeSet::new();
    for family in ALL {
        let name = family.name;
        assert!(names.insert(name), "{name} is there twice");
        let ours = name.starts_with("evenkeel_") || name.starts_with("process_");
        let plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(ours && plain, "{name}");
        assert_eq!(
            name.ends_with("_total"),
            family.kind == MetricType::Counter,
            "{name}"
        );
        // An info takes the name without its suffix, too, unless that is a family's own.
        let taken = find(name.trim_end_matches("_info")).is_some_and(|other| other.name != name);
        assert_eq!(
            name.ends_with("_info") && !taken,
            family.kind == MetricType::Info,
            "{name}"
        );
        let base = name.strip_suffix("_total").unwrap_or(name);
        for unit in ["seconds", "bytes", "ratio"] {
            let is_named = base.ends_with(&format!("_{unit}"));
            assert_eq!(is_named, family.unit == Some(unit), "{name}");
        }
        if let Some(unit) = family.unit {
            assert!(base.ends_with(&format!("_{unit}")), "{name}");
            assert!(
                !matches!(family.kind, MetricType::Info | MetricType::StateSet),
                "{name}"
            );
        }
        for suffix in ["_bucket", "_sum", "_count", "_created"] {
            assert!(!base.ends_with(suffix), "{name}");
        }
        assert!(
            family.help.ends_with('.') && family.help.len() > 10,
            "{name}"
        );
        assert_eq!(find(name).map(|found| found.name), Some(name));
    }
    // OpenMetrics: no family's name is that of another's sample.
    for family in ALL {
        for (suffix, kind) in [("_total", MetricType::Counter), ("_info", MetricType::Info)] {
            if family.kind != kind {
                continue;
            }
            let base = family.name.strip_suffix(suffix).unwrap_or(family.name);
            let shared = ALL
                .iter()
                .filter(|other| other.name == base && other.name != family.name);
            assert_eq!(shared.count(), 0, "{base}");
        }
    }
    assert!(find("evenkeel_generation_total").is_none());
}

#[test]
fn labels_keep_the_rules() {
    for family in ALL {
        let mut names = BTreeSet::new();
        for label in family.labels {
            assert!(
                names.insert(label.name),
                "{} twice in {}",
                label.name,
                family.name
            );
            let plain = label
                .name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '_');
            assert!(plain && label.name != "le", "{}", label.name);
            if let Values::Closed(values) = label.values {
                let distinct: BTreeSet<_> = values().into_iter().collect();
                assert_eq!(distinct.len(), values().len());
                assert!(!distinct.is_empty() && !distinct.contains(""));
            }
        }
        let is_group = family
            .labels
            .first()
            .is_some_and(|label| label.name == "group");
        assert!(is_group || family.scope == Scope::Agent, "{}", family.name);
        let fits = match family.count {
            Count::Once(_) => !is_group,
            Count::OnDemand => true,
            _ => is_group,
        };
        assert!(fits, "{}", family.name);
    }
}

/// The figures in `docs/metrics.md` are those of a fresh group.
#[test]
fn a_fresh_group_has_as_many_series_as_the_document_says() {
    let (group, worker, agent) = fresh_series();
    for workers in [1, 3, 10] {
        let members = (0..workers).map(|index| member(&format!("worker-{index}:8083"), &[]));
        let mut view = view(vec![calm(members.collect())]);
        view.agent
            .inputs
            .iter_mut()
            .for_each(|input| input.start_up = None);
        view.agent.expiries.clear();
        view.agent.traces = None;
        assert_eq!(families(&view).samples, group + worker * workers + agent);
    }
    assert!(
        // About 300 a group.
        group <= 350 && worker <= 12,
        "the budget: {group} a group, {worker} a worker"
    );
    let told = format!("**{group} series, {worker} a worker**, and the agent\n{agent}:");
    assert!(markdown().contains(&told), "{told}");
}

#[test]
fn all_forms_have_every_family() {
    let json: serde_json::Value = serde_json::from_str(&json()).unwrap();
    let listed = json["metrics"].as_array().unwrap();
    assert_eq!(listed.len(), ALL.len());
    for (family, entry) in ALL.iter().zip(listed) {
        assert_eq!(entry["name"], family.name);
        assert_eq!(
            entry["labels"].as_array().unwrap().len(),
            family.labels.len()
        );
        assert!(markdown().contains(&format!("### `{}`\n", family.name)));
        assert!(text().contains(family.name) && text().contains(family.help));
    }
}
