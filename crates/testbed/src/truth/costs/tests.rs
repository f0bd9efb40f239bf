//! Costs from snippets of workers' logs.

use self::logs::{BASE_MS, Logs};
use super::*;
use crate::truth::event::{Verb, What};

mod logs;

/// `task reason from to end`, in milliseconds of the test.
fn stretches(costs: &Costs) -> Vec<String> {
    let told = |d: &Downtime| {
        let to = d.to_ms.map(|to_ms| to_ms - BASE_MS);
        format!(
            "{} {:?} {} {to:?} {:?}",
            d.task,
            d.reason,
            d.from_ms - BASE_MS,
            d.end
        )
    };
    costs.downtime.iter().map(told).collect()
}

fn reasons(costs: &Costs) -> Vec<Reason> {
    let all = costs.interruptions.iter();
    all.map(|interruption| interruption.reason).collect()
}

fn only(costs: &Costs) -> &Handover {
    assert_eq!(costs.handovers.len(), 1, "{:?}", costs.handovers);
    &costs.handovers[0]
}

#[test]
fn revoked_stopped_and_started_elsewhere() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.told(2_000, "w1", "a-0");
    logs.stops(2_010, "w1", "a-0");
    logs.applied(2_030, "w1", 2);
    logs.starts(2_500, "w2", "a-0");
    let costs = logs.costs();
    assert_eq!(reasons(&costs), [Reason::Handover]);
    assert_eq!(
        stretches(&costs),
        ["a-0 Handover 2020 Some(2500) Some(Running)"]
    );
    let handover = only(&costs);
    assert!(handover.clean, "{handover:?}");
    assert_eq!((handover.from.as_str(), handover.to.as_str()), ("w1", "w2"));
}

/// The worker gave up after its graceful timeout; the task went on for seconds beside the new.
#[test]
fn abandoned_and_overlapping() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.told(2_000, "w1", "a-0");
    logs.worker(2_000, "w1", "Stopping task a-0");
    logs.worker(4_000, "w1", "Graceful stop of task a-0 failed.");
    logs.applied(4_010, "w1", 2);
    logs.starts(4_500, "w2", "a-0");
    logs.fixture(9_000, "w1", "stop ends: task a-0");
    let costs = logs.costs();
    assert_eq!(costs.runs[0].end, Some(RunEnd::Abandoned));
    let handover = only(&costs);
    assert!(handover.abandoned && !handover.clean);
    assert_eq!(handover.overlap_ms, 4_500);
    assert_eq!(stretches(&costs), [""; 0]);
}

/// A task that is stopped too late on the worker that starts it again: the end of the stop is
/// the old run's.
#[test]
fn abandoned_and_started_on_the_same_worker() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.herder(
        1_990,
        "w1",
        "Handling task config update by stopping tasks [a-0], which will be restarted after \
         rebalance if still assigned to this worker",
    );
    logs.worker(2_000, "w1", "Stopping task a-0");
    logs.worker(4_000, "w1", "Graceful stop of task a-0 failed.");
    logs.starts(4_100, "w1", "a-0");
    logs.fixture(5_000, "w1", "stop begins: task a-0");
    logs.fixture(5_000, "w1", "stop ends: task a-0");
    let costs = logs.costs();
    assert_eq!(reasons(&costs), [Reason::Reconfigured]);
    assert_eq!(costs.runs[0].to_ms, Some(BASE_MS + 5_000));
    assert_eq!(costs.runs[1].to_ms, None);
    assert_eq!(only(&costs).overlap_ms, 900);
}

#[test]
fn killed_and_started_elsewhere() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.verb(3_000, "w1", Verb::Kill);
    logs.starts(20_000, "w2", "a-0");
    let costs = logs.costs();
    assert_eq!(reasons(&costs), [Reason::Lost]);
    assert_eq!(
        stretches(&costs),
        ["a-0 Lost 3000 Some(20000) Some(Running)"]
    );
    assert!(only(&costs).crash && !only(&costs).clean);
}

#[test]
fn a_worker_that_stops_in_order_loses_its_work_without_harm() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.herder(2_000, "w1", "Herder stopping");
    logs.stops(2_010, "w1", "a-0");
    logs.herder(2_100, "w1", "Herder stopped");
    logs.starts(9_000, "w2", "a-0");
    let costs = logs.costs();
    assert_eq!(reasons(&costs), [Reason::Lost]);
    assert!(only(&costs).clean);
}

/// While it was frozen another took over; thawed, both run until the revocation.
#[test]
fn a_zombie_overlaps_with_who_took_over() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.verb(2_000, "w1", Verb::Freeze);
    logs.starts(20_000, "w2", "a-0");
    logs.verb(30_000, "w1", Verb::Thaw);
    logs.told(31_000, "w1", "a-0");
    logs.stops(31_000, "w1", "a-0");
    let costs = logs.costs();
    let told: Vec<_> = costs.runs.iter().map(|run| (run.began, run.end)).collect();
    let expected = [
        (RunBegin::Started, Some(RunEnd::Frozen)),
        (RunBegin::Started, None),
        (RunBegin::Thawed, Some(RunEnd::Stopped)),
    ];
    assert_eq!(told, expected);
    let handover = only(&costs);
    assert!(handover.crash);
    assert_eq!(handover.overlap_ms, 1_010);
    assert_eq!(
        stretches(&costs),
        ["a-0 Lost 2000 Some(20000) Some(Running)"]
    );
}

#[test]
fn restarts_by_plan_and_of_one_task() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    let request = "restart request for {connectorName='a', onlyFailed=false, includeTasks=true}";
    let plan = format!("plan to restart connector and 1 of 1 tasks for {request}");
    logs.herder(2_000, "w1", &format!("Executing {plan}"));
    logs.stops(2_001, "w1", "a-0");
    logs.starts(2_050, "w1", "a-0");
    logs.herder(2_060, "w1", &format!("Completed {plan}"));
    let one = What::Request {
        method: "POST".to_owned(),
        path: "/connectors/a/tasks/0/restart".to_owned(),
        status: 204,
        ended_ms: BASE_MS + 9_100,
    };
    logs.does(9_000, "w2", one);
    logs.stops(9_010, "w1", "a-0");
    logs.starts(9_060, "w1", "a-0");
    let costs = logs.costs();
    assert_eq!(reasons(&costs), [Reason::Restarted; 2]);
    let expected = [
        "a-0 Restarted 2011 Some(2050) Some(Running)",
        "a-0 Restarted 9020 Some(9060) Some(Running)",
    ];
    assert_eq!(stretches(&costs), expected);
    // Without the request nobody knows why.
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.stops(9_010, "w1", "a-0");
    assert_eq!(reasons(&logs.costs()), [Reason::Unknown]);
}

/// The second task is no longer configured after the round: its stretch ends with it.
#[test]
fn reconfigured_to_fewer_tasks() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.starts(1_000, "w1", "a-1");
    logs.leads(1_100, "a-0, a-1", "");
    logs.herder(1_990, "w1", "Tasks [a-0] configs updated");
    for task in ["a-0", "a-1"] {
        logs.stops(2_000, "w1", task);
    }
    logs.leads(2_300, "a-0", "a-1");
    logs.applied(2_400, "w1", 2);
    logs.starts(2_500, "w1", "a-0");
    let costs = logs.costs();
    assert_eq!(reasons(&costs), [Reason::Reconfigured; 2]);
    let expected = [
        "a-0 Reconfigured 2010 Some(2500) Some(Running)",
        "a-1 Reconfigured 2010 Some(2300) Some(Removed)",
    ];
    assert_eq!(stretches(&costs), expected);
}

#[test]
fn paused_resumed_and_stopped() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.leads(1_100, "a-0", "");
    logs.worker(2_000, "w1", "Setting connector a state to PAUSED");
    logs.status(2_100, "w1", "a-0", "PAUSED");
    logs.worker(6_000, "w1", "Setting connector a state to STARTED");
    logs.status(6_050, "w1", "a-0", "RUNNING");
    // The stop: the round that takes the tasks away comes before the state.
    logs.leads(12_000, "", "a-0");
    logs.told(12_010, "w1", "a-0");
    logs.stops(12_020, "w1", "a-0");
    logs.applied(12_050, "w1", 2);
    logs.worker(12_060, "w1", "Setting connector a state to STOPPED");
    let costs = logs.costs();
    assert_eq!(reasons(&costs), [Reason::Paused, Reason::Stopped]);
    assert_eq!(costs.runs[1].began, RunBegin::Resumed);
    assert_eq!(
        stretches(&costs),
        ["a-0 Paused 2100 Some(6050) Some(Running)"]
    );
    assert!(costs.handovers.is_empty());
}

/// Asked for while the task waits for another owner, a pause ends the stretch.
#[test]
fn paused_while_it_is_parked() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.verb(2_000, "w1", Verb::Kill);
    logs.worker(5_000, "w2", "Setting connector a state to PAUSED");
    let costs = logs.costs();
    let expected = ["a-0 Lost 2000 Some(5000) Some(Paused)"];
    assert_eq!(stretches(&costs), expected);
}

#[test]
fn deleted() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.leads(1_100, "a-0", "");
    logs.herder(2_000, "w1", "Connector a config removed");
    logs.leads(2_100, "", "a-0");
    logs.told(2_110, "w1", "a-0");
    logs.stops(2_120, "w1", "a-0");
    let costs = logs.costs();
    assert_eq!(reasons(&costs), [Reason::Deleted]);
    assert_eq!(stretches(&costs), [""; 0]);
}

/// At the failure one stretch ends and another begins; a failure is no run.
#[test]
fn fails_where_it_is_started_next() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.herder(2_000, "w1", "Herder stopping");
    logs.stops(2_000, "w1", "a-0");
    logs.herder(2_100, "w1", "Herder stopped");
    logs.herder(9_000, "w2", "Starting task a-0");
    logs.fixture(9_010, "w2", "start begins: task a-0");
    logs.fails(9_020, "w2", "a-0");
    logs.starts(15_000, "w2", "a-0");
    logs.fails(16_000, "w2", "a-0");
    let costs = logs.costs();
    let expected = [
        "a-0 Lost 2010 Some(9020) Some(Failed)",
        "a-0 Failed 9020 Some(15000) Some(Running)",
        "a-0 Failed 16000 None None",
    ];
    assert_eq!(stretches(&costs), expected);
    let starting: Vec<bool> = costs
        .failures
        .iter()
        .map(|failure| failure.starting)
        .collect();
    assert_eq!(starting, [true, false]);
    assert_eq!(reasons(&costs), [Reason::Lost, Reason::Failed]);
}

/// An eager round gave it to another, and nobody stops it on the worker that had it.
#[test]
fn an_orphan_runs_on() {
    let mut logs = Logs::default();
    logs.starts(1_000, "w1", "a-0");
    logs.applied(2_000, "w1", 0);
    logs.starts(2_100, "w2", "a-0");
    logs.fixture(8_000, "w1", "alive: task a-0");
    // Given back, it cannot even be started.
    logs.herder(9_000, "w1", "Starting task a-0");
    logs.herder(
        9_000,
        "w1",
        "Couldn't instantiate task a-0 because it has an invalid task configuration. This task \
         will not execute until reconfigured.",
    );
    logs.fixture(9_500, "w1", "alive: task a-0");
    // A restart of its worker ends it.
    logs.herder(9_600, "w1", "Herder stopping");
    logs.stops(9_610, "w1", "a-0");
    let costs = logs.costs();
    assert_eq!(costs.runs.len(), 2);
    assert_eq!(costs.runs[0].last_alive_ms, Some(BASE_MS + 9_500));
    let handover = only(&costs);
    assert!(!handover.clean && handover.reason.is_none());
    assert_eq!(handover.overlap_ms, 7_520);
    assert_eq!(costs.failures.len(), 1);
    assert_eq!(reasons(&costs), [Reason::Lost]);
    assert_eq!(stretches(&costs), [""; 0]);
}

#[test]
fn eager_rounds_hand_over_what_did_not_change_and_a_lost_coordinator_drops_it() {
    let mut logs = Logs::default();
    logs.applied(500, "w1", 0);
    logs.fixture(900, "w1", "start ends: connector a");
    logs.starts(1_000, "w1", "a-0");
    logs.starts(1_000, "w1", "b-0");
    logs.herder(1_900, "w1", "Tasks [a-0] configs updated");
    logs.worker(1_990, "w1", "Stopping connector a");
    logs.stops(2_000, "w1", "a-0");
    logs.stops(2_001, "w1", "b-0");
    logs.applied(2_050, "w1", 2);
    logs.starts(2_100, "w1", "a-0");
    let logger = "org.apache.kafka.connect.runtime.distributed.WorkerCoordinator";
    let dropped = "[Worker clientId=c, groupId=connect] Broker coordinator was unreachable for \
                   3000ms. Revoking previous assignment Assignment{} to avoid running tasks while \
                   not being a member the group";
    logs.line(5_000, "w1", "WARN", logger, dropped);
    logs.stops(5_001, "w1", "a-0");
    let costs = logs.costs();
    let [moved, changed] = [Reason::Handover, Reason::Reconfigured];
    assert_eq!(reasons(&costs), [moved, changed, moved, Reason::Dropped]);
}

#[test]
fn a_truth_without_this_section_is_read() {
    let none: Costs = serde_json::from_str("{}").unwrap();
    assert_eq!(none, Costs::default());
}
