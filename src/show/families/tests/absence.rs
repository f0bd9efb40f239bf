//! Absence: what is not known is not shown, and not shown as zero.

use std::collections::BTreeSet;
use std::sync::Arc;

use evenkeel_core::answers::{Answers, GroupState, Mode, OwnWorker, Role};
use evenkeel_core::facts::input::Trouble;

use super::{of, with_group};
use crate::config::GroupSeries;
use crate::show::catalog::{ALL, Scope};
use crate::show::families::families;
use crate::show::sample::{NOW, calm, incident, member, view};
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
    assert_eq!(of(&view, "evenkeel_mode").len(), Mode::ALL.len());
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
        [
            "mode=blind 1",
            "mode=full 0",
            "mode=no_offsets_topic 0",
            "mode=no_polls 0",
            "mode=sampled 0",
            "mode=topics_only 0"
        ]
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

/// The state at this moment follows the record.
fn with_state(view: &mut View, state: GroupState) {
    let mut answers = (*view.groups[0]).clone();
    (answers.state, answers.own) = (Some(state), None);
    view.groups[0] = Arc::new(answers);
}

/// The series of a state set that hold.
fn holds(view: &View, name: &str) -> Vec<String> {
    let mut series = of(view, name);
    series.retain(|series| series.ends_with(" 1"));
    series
}

#[test]
fn without_records_only_what_the_coordinator_tells_is_shown() {
    let mut answers = incident();
    answers.mode = Mode::NoOffsetsTopic;
    (answers.inputs[0].needed, answers.polls.needed) = (false, true);
    answers.inputs[0].trouble = Some(Trouble::Denied);
    let group = answers.group.as_mut().unwrap();
    (group.recorded, group.join_ended, group.record_bytes) = (None, None, None);
    for member in &mut group.members {
        (member.session_timeout_ms, member.rebalance_timeout_ms) = (None, None);
    }
    answers.rounds.clear();
    let view = view(vec![answers]);
    for absent in [
        "evenkeel_generations_total",
        "evenkeel_revocations_total",
        "evenkeel_assignments_total",
        "evenkeel_assignment_errors_total",
        "evenkeel_leader_changes_total",
        "evenkeel_recent_generations",
        "evenkeel_last_rebalance_timestamp_seconds",
        "evenkeel_group_record_bytes",
        "evenkeel_worker_timeout_seconds",
    ] {
        assert_eq!(of(&view, absent), [""; 0], "{absent}");
    }
    assert_eq!(of(&view, "evenkeel_members"), ["3"]);
    assert_eq!(of(&view, "evenkeel_worker_assignments").len(), 6);
    assert_eq!(of(&view, "evenkeel_trust"), ["0"]);
    assert_eq!(of(&view, "evenkeel_reporter"), ["1"]);
}

#[test]
fn a_large_group_is_shown_by_the_leader_and_the_deputy() {
    let of_group = |view: &View| of(view, "evenkeel_members").len();
    for (policy, members, role, shown) in [
        (GroupSeries::Auto, 5, Some(Role::Member), 1),
        (GroupSeries::Auto, 6, Some(Role::Member), 0),
        (GroupSeries::Auto, 6, Some(Role::Deputy), 1),
        (GroupSeries::Auto, 6, Some(Role::Leader), 1),
        // Nobody else may be there to show it.
        (GroupSeries::Auto, 6, None, 1),
        (GroupSeries::LeaderAndDeputy, 2, Some(Role::Member), 0),
        (GroupSeries::Always, 6, Some(Role::Member), 1),
        (GroupSeries::Never, 2, Some(Role::Leader), 0),
    ] {
        let workers = (0..members).map(|number| format!("worker-{number}:8083"));
        let mut answers = calm(workers.map(|worker| member(&worker, &[])).collect());
        answers.own = role.map(|role| OwnWorker {
            worker: Arc::from("worker-0:8083"),
            role,
        });
        let mut view = crate::show::sample::view(vec![answers]);
        view.limits.group_series = policy;
        assert_eq!(of_group(&view), shown, "{policy:?} {members} {role:?}");
        assert_eq!(of(&view, "evenkeel_mode").len(), Mode::ALL.len());
        let leads = if role == Some(Role::Leader) { "1" } else { "0" };
        assert_eq!(of(&view, "evenkeel_reporter"), [leads]);
    }
}

#[test]
fn a_group_without_records_is_dead() {
    let mut answers = calm(Vec::new());
    (answers.group, answers.rounds) = (None, Vec::new());
    (answers.state, answers.own) = (Some(GroupState::Dead), None);
    let view = view(vec![answers]);
    assert_eq!(holds(&view, "evenkeel_group_state"), ["state=dead 1"]);
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
    let mut deleted = with_group(|group| {
        group.state = GroupState::Dead;
        group.members.clear();
        (group.protocol, group.leader) = (None, None);
    });
    with_state(&mut deleted, GroupState::Dead);
    assert_eq!(
        of(&deleted, "evenkeel_group_info"),
        ["protocol=none,leader= 1"]
    );
    assert_eq!(holds(&deleted, "evenkeel_group_state"), ["state=dead 1"]);
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
    (answers.configured, answers.unassigned) = (None, None);
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

/// What was deleted has no series; who creates it again goes on where they were.
#[test]
fn downtime_of_what_is_deleted() {
    let name = "evenkeel_task_unavailable_seconds_total";
    let mut answers = incident();
    assert!(!of(&view(vec![answers.clone()]), name).is_empty());
    let configured = answers.configured.as_mut().unwrap();
    configured
        .connectors
        .retain(|one| &*one.connector != "orders");
    assert!(of(&view(vec![answers]), name).is_empty());
}
