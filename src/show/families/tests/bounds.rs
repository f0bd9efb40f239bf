//! Bounds: capped families, the hard cap.

use std::sync::Arc;

use evenkeel_core::answers::{FindingAnswer, ItemAnswer, UnassignedAnswer, UnassignedReason};

use super::{of, told};
use crate::show::catalog::Scope;
use crate::show::families::families;
use crate::show::sample::{calm, member, view};

fn unassigned(connector: &str, tasks: i32) -> impl Iterator<Item = UnassignedAnswer> {
    let connector: Arc<str> = Arc::from(connector);
    (0..tasks).map(move |task| UnassignedAnswer {
        item: ItemAnswer {
            connector: Arc::clone(&connector),
            task: Some(task),
        },
        reason: UnassignedReason::Lost,
        since: None,
        last_owner: None,
    })
}

#[test]
fn the_largest_subjects_are_kept() {
    let mut answers = calm(vec![member("worker-a:8083", &[])]);
    answers.unassigned = Some(
        unassigned("small-b", 1)
            .chain(unassigned("large", 3))
            .chain(unassigned("small-a", 1))
            .chain(unassigned("middle", 2))
            .collect(),
    );
    let mut view = view(vec![answers]);
    view.limits.subjects_max = 4;
    assert_eq!(of(&view, "evenkeel_unassigned_tasks").len(), 4);
    assert_eq!(
        families(&view).dropped,
        0,
        "at the bound nothing is left out"
    );
    view.limits.subjects_max = 3;
    view.series_dropped_before = 10;
    assert_eq!(
        of(&view, "evenkeel_unassigned_tasks"),
        [
            "connector=large,reason=lost 3",
            "connector=middle,reason=lost 2",
            "connector=small-a,reason=lost 1",
        ]
    );
    assert_eq!(families(&view).dropped, 1);
    assert_eq!(of(&view, "evenkeel_series_dropped_total"), ["11"]);
    let told = told(&view);
    assert_eq!(
        told["evenkeel_unassigned{group=connect-orders,kind=task,reason=lost}"],
        "7"
    );
}

#[test]
fn findings_are_bounded_and_their_text_is_no_label() {
    let mut answers = calm(vec![member("worker-a:8083", &[])]);
    let finding = |subject: &str, text: &str| FindingAnswer {
        finding: "shared_worker",
        subject: subject.to_owned(),
        text: text.to_owned(),
        since: None,
    };
    answers.findings = (0..60)
        .map(|index| finding(&format!("w{index:02}"), "one"))
        .collect();
    answers.findings.push(finding("w00", "two"));
    let view = view(vec![answers]);
    assert_eq!(of(&view, "evenkeel_finding_info").len(), 50);
    assert_eq!(families(&view).dropped, 10);
}

#[test]
fn unknown_records_beyond_the_bound_are_summed() {
    let mut answers = calm(vec![member("worker-a:8083", &[])]);
    answers.inputs[0].unknown = (0..5).map(|index| (format!("v{index}"), 10)).collect();
    answers.inputs[0].unknown.insert("other".to_owned(), 1);
    let mut view = view(vec![answers]);
    assert_eq!(of(&view, "evenkeel_unknown_records_total").len(), 6);
    view.limits.subjects_max = 3;
    assert_eq!(
        of(&view, "evenkeel_unknown_records_total"),
        [
            "input=offsets,version=other 31",
            "input=offsets,version=v0 10",
            "input=offsets,version=v1 10",
        ]
    );
    assert_eq!(families(&view).dropped, 0, "nothing is lost");
}

#[test]
fn beyond_the_hard_bound_whole_families_go_the_widest_first() {
    let members = (0..100).map(|index| member(&format!("worker-{index:03}:8083"), &[]));
    let mut view = view(vec![calm(members.collect())]);
    let all = families(&view);
    assert_eq!(all.dropped, 0);
    let full = all.samples;
    view.limits.series_max = full;
    assert_eq!(families(&view).dropped, 0, "at the bound all fit");
    view.limits.series_max = full - 1;
    let bound = families(&view);
    assert_eq!((bound.samples, bound.dropped), (full - 200, 200));
    assert_eq!(of(&view, "evenkeel_worker_timeout_seconds"), [""; 0]);
    assert_eq!(of(&view, "evenkeel_worker_assignments").len(), 200);
    // The agent's own always fit, and say what happened.
    view.limits.series_max = 0;
    let bound = families(&view);
    assert!(
        bound
            .families
            .iter()
            .all(|samples| samples.family.scope == Scope::Agent)
    );
    assert_eq!(
        of(&view, "evenkeel_series_dropped_total"),
        [bound.dropped.to_string()]
    );
}
