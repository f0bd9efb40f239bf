//! Absence: what is not known is not shown, and not shown as zero.

use std::collections::BTreeSet;

use evenkeel_core::answers::{Answers, GroupState};
use evenkeel_core::facts::input::Trouble;

use super::{of, with_group};
use crate::show::catalog::{ALL, Scope};
use crate::show::families::families;
use crate::show::sample::{NOW, calm, incident, view};
use crate::show::view::View;

#[test]
fn group_series_go_when_they_are_not_known_to_be_true_and_come_back() {
    let own: BTreeSet<_> = ALL
        .iter()
        .filter(|f| f.scope == Scope::Agent)
        .map(|f| f.name)
        .collect();
    let only_own = |view: &View| {
        families(view)
            .families
            .iter()
            .all(|samples| own.contains(samples.family.name))
    };
    let mut view = view(vec![incident()]);
    assert!(!only_own(&view));
    view.now = Some(NOW.plus_ms(26_000));
    assert!(!only_own(&view), "confirmed 30 s ago");
    view.now = Some(NOW.plus_ms(26_001));
    assert!(only_own(&view), "confirmed more than 30 s ago");
    assert_eq!(of(&view, "evenkeel_trust"), ["0"]);
    assert_eq!(of(&view, "evenkeel_mode").len(), 3);
    assert_eq!(of(&view, "evenkeel_records_total").len(), 3);
    view.now = Some(NOW);
    assert!(!only_own(&view));

    let mut answers = incident();
    answers.fresh = false;
    assert!(only_own(&crate::show::sample::view(vec![answers])));
}

#[test]
fn before_anything_is_known() {
    let mut answers = Answers::default();
    answers.settings.group = "connect-orders".to_owned();
    let view = view(vec![answers]);
    assert_eq!(
        of(&view, "evenkeel_mode"),
        ["mode=blind 1", "mode=full 0", "mode=no_offsets_topic 0"]
    );
    assert_eq!(
        of(&view, "evenkeel_input_caught_up"),
        ["input=config 0", "input=offsets 0", "input=status 0"]
    );
    // Not zero: nobody knows.
    let mut unheard = calm(Vec::new());
    for input in &mut unheard.inputs {
        (input.caught_up, input.records, input.confirmed) = (false, 0, None);
    }
    let unheard = crate::show::sample::view(vec![unheard]);
    assert_eq!(of(&unheard, "evenkeel_input_lag_records"), [""; 0]);
    assert_eq!(of(&view, "evenkeel_input_lag_records"), [""; 0]);
    assert_eq!(
        of(&view, "evenkeel_build_info"),
        ["version=0.1.0,librdkafka=2.12.1 1"]
    );
}

#[test]
fn a_group_without_records_is_dead() {
    let mut answers = calm(Vec::new());
    (answers.group, answers.rounds) = (None, Vec::new());
    let view = view(vec![answers]);
    assert_eq!(
        of(&view, "evenkeel_group_state"),
        ["state=dead 1", "state=empty 0", "state=stable 0"]
    );
    assert_eq!(of(&view, "evenkeel_members"), ["0"]);
    for absent in [
        "evenkeel_generation",
        "evenkeel_group_info",
        "evenkeel_last_rebalance_timestamp_seconds",
    ] {
        assert_eq!(of(&view, absent), [""; 0], "{absent}");
    }
    assert_eq!(
        of(&view, "evenkeel_configured"),
        ["kind=connector 3", "kind=task 6"]
    );
}

#[test]
fn deleted_and_empty_groups() {
    let deleted = with_group(|group| {
        group.state = GroupState::Dead;
        group.members.clear();
        (group.protocol, group.leader) = (None, None);
    });
    assert_eq!(
        of(&deleted, "evenkeel_group_info"),
        ["protocol=none,leader= 1"]
    );
    assert_eq!(
        of(&deleted, "evenkeel_group_state"),
        ["state=dead 1", "state=empty 0", "state=stable 0"]
    );
    assert_eq!(of(&deleted, "evenkeel_worker_assignments"), [""; 0]);
    let foreign = with_group(|group| group.protocol = None);
    assert_eq!(
        of(&foreign, "evenkeel_group_info"),
        ["protocol=unknown,leader=worker-a:8083 1"]
    );
}

#[test]
fn a_config_topic_that_cannot_be_read_is_absent_not_zero() {
    let mut answers = incident();
    answers.configured = None;
    answers.inputs[1].trouble = Some(Trouble::Denied);
    let view = view(vec![answers]);
    for absent in [
        "evenkeel_configured",
        "evenkeel_unassigned",
        "evenkeel_unassigned_tasks",
    ] {
        assert_eq!(of(&view, absent), [""; 0], "{absent}");
    }
    assert_eq!(of(&view, "evenkeel_generation"), ["8"]);
    assert_eq!(of(&view, "evenkeel_trust"), ["0"]);
}
