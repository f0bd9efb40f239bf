//! One real broker, two real workers, and everything the testbed promises of them.
#![allow(clippy::unwrap_used)]

mod faults;
mod secured;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use evenkeel_testbed::truth::{Comparison, DepartureWay, Step, TruthLog, What, Work};
use evenkeel_testbed::{
    BrokerSpec, Cluster, ClusterSpec, TopicSpec, TopicVerb, WorkerSpec, wait_until,
};
use serde_json::{Value, json};

const GROUP: &str = "connect";
const MAX: Duration = Duration::from_secs(60);

/// REST must say of each task what the logs say of its owner.
fn compare_owners(cluster: &mut Cluster, truth: &TruthLog) -> anyhow::Result<usize> {
    let statuses = cluster.statuses("worker-1")?;
    let mut comparison = Comparison::new();
    for member in &truth.last().unwrap().members {
        let worker = cluster.worker(member.worker.as_deref().unwrap())?;
        let mut told = Work::default();
        for (name, status) in &statuses.connectors {
            if status.connector.worker_id == worker.worker_id() {
                told.connectors.insert(name.clone());
            }
            for (task, status) in &status.tasks {
                if status.worker_id == worker.worker_id() {
                    told.tasks.insert(format!("{name}-{task}"));
                }
            }
        }
        comparison.equal(worker.name(), member.owned.as_ref().unwrap(), &told);
    }
    comparison.finish()
}

/// JMX must say of each worker what the logs say of it.
fn compare_jmx(cluster: &mut Cluster, truth: &TruthLog) -> anyhow::Result<usize> {
    let mut comparison = Comparison::new();
    let last = truth.last().unwrap();
    for member in &last.members {
        let worker = member.worker.as_deref().unwrap();
        let sample = cluster.jmx(worker)?;
        let owned = member.owned.as_ref().unwrap();
        let count = |names: usize| i64::try_from(names).unwrap();
        let what = |name: &str| format!("{worker} {name}");
        comparison.equal(&what("epoch"), &last.generation, &sample.epoch);
        comparison.equal(&what("rebalancing"), &false, &sample.rebalancing);
        comparison.equal(
            &what("tasks"),
            &count(owned.tasks.len()),
            &sample.assigned_tasks,
        );
        comparison.equal(
            &what("connectors"),
            &count(owned.connectors.len()),
            &sample.assigned_connectors,
        );
    }
    comparison.finish()
}

#[test]
fn a_cluster_and_its_truth() {
    let mut spec = ClusterSpec::of(2);
    spec.jmx = true;
    for worker in &mut spec.groups[0].workers {
        worker.scheduled_delay_ms = 3_000;
    }
    let mut cluster = Cluster::start(&spec).unwrap();
    let folder = cluster.folder().to_owned();

    let config = json!({
        "connector.class": "evenkeel.testbed.FixtureSource",
        "tasks.max": "3",
        "topic": "numbers",
        "stop.delay.ms": "200",
    });
    let created = cluster
        .request("worker-2", "PUT", "/connectors/src/config", Some(&config))
        .unwrap();
    assert_eq!(created.status, 201, "{created:?}");
    cluster
        .await_state("worker-1", ("src", 3, "RUNNING"), MAX)
        .unwrap();
    let truth = cluster.await_settled(GROUP, MAX).unwrap();
    let last = truth.last().unwrap();
    assert_eq!(last.member_count, 2);
    assert_eq!(last.protocol.as_deref(), Some("sessioned"));
    let configured = &last.leader_view.as_ref().unwrap().configured;
    assert_eq!(
        (configured.connectors.len(), configured.tasks.len()),
        (1, 3)
    );
    assert_eq!(compare_owners(&mut cluster, &truth).unwrap(), 2);
    assert_eq!(compare_jmx(&mut cluster, &truth).unwrap(), 8);

    // A frozen follower expires, its work is parked for the delay, then handed out.
    let follower = last
        .members
        .iter()
        .find(|member| Some(&member.member_id) != last.leader.as_ref())
        .and_then(|member| member.worker.clone())
        .unwrap();
    let before = last.generation;
    cluster.freeze(&follower).unwrap();
    assert!(cluster.process(&follower).unwrap().is_frozen());
    wait_until("the frozen worker to expire", MAX, || {
        let truth = cluster.truth(GROUP)?;
        Ok((truth.last().unwrap().generation > before).then_some(()))
    })
    .unwrap();
    cluster.kill(&follower).unwrap();
    let handed_out = wait_until("its work to be handed out", MAX, || {
        let truth = cluster.truth(GROUP)?;
        let nothing_left = truth.last().unwrap().unassigned();
        Ok(nothing_left
            .is_some_and(|work| work.is_empty())
            .then_some(truth))
    })
    .unwrap();
    let parked = handed_out.generation(before + 1).unwrap();
    assert_eq!(parked.departures[0].way, DepartureWay::SessionExpired);
    assert_eq!(parked.departures[0].worker.as_ref(), Some(&follower));
    assert_eq!(parked.members[0].delay_ms, Some(3_000));
    assert!(!parked.unassigned().unwrap().is_empty());
    assert_eq!(handed_out.void, Vec::<String>::new());

    // The broker comes back on its port with what it knew.
    let port = cluster.broker("broker-1").unwrap().port();
    cluster
        .topics(&TopicVerb::Create(TopicSpec::compacted("three", 3)))
        .unwrap();
    cluster.restart("broker-1", &[].into()).unwrap();
    assert_eq!(cluster.broker("broker-1").unwrap().port(), port);
    let again = TopicVerb::Create(TopicSpec::compacted("three", 3));
    assert!(cluster.topics(&again).is_err());
    cluster
        .topics(&TopicVerb::Delete("three".to_owned()))
        .unwrap();

    let pids: Vec<u32> = cluster
        .state()
        .nodes
        .iter()
        .filter_map(|node| node.pid)
        .collect();
    assert_eq!(pids.len(), 2);
    drop(cluster);
    assert!(!folder.exists());
    assert!(!pids.iter().any(|pid| lives(*pid, &folder)));
}

/// Whether a process of a cluster still runs: its folder stands in its command line.
fn lives(pid: u32, folder: &Path) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline"))
        .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&*folder.to_string_lossy()))
}

fn create(cluster: &Cluster, name: &str, settings: &[(&str, &str)]) {
    let mut config = json!({"connector.class": "FixtureSource", "poll.interval.ms": "50"});
    for (key, value) in settings {
        config[*key] = Value::from(*value);
    }
    let path = format!("/connectors/{name}/config");
    wait_until("the worker to take a connector", MAX, || {
        // 409 while a rebalance is under way.
        let answer = cluster.request("worker-1", "PUT", &path, Some(&config))?;
        answer.ok().map(Some)
    })
    .unwrap();
}

/// When an item of that name came to that step, in order.
fn times(truth: &TruthLog, name: &str, step: Step) -> Vec<i64> {
    let matches = |what: &What| matches!(what, What::Item { item, step: s } if item.name == name && *s == step);
    let events = truth.events.iter().filter(|event| matches(&event.what));
    events.map(|event| event.at_ms).collect()
}

#[test]
fn fixtures_do_what_they_are_told() {
    let mut spec = ClusterSpec::of(0);
    spec.groups[0].workers =
        vec![WorkerSpec::default().with("task.shutdown.graceful.timeout.ms", 1_000)];
    let mut cluster = Cluster::start(&spec).unwrap();
    let file = |name: &str| cluster.folder().join(name);
    let (count, fail) = (file("count"), file("fail"));
    std::fs::write(&count, "1").unwrap();
    let tasks = |text: &'static str| ("tasks.max", text);

    let fail_file = ("fail.file", fail.to_str().unwrap());
    create(
        &cluster,
        "fails",
        &[tasks("2"), ("fail.tasks", "1"), fail_file],
    );
    create(
        &cluster,
        "stubborn",
        &[
            tasks("1"),
            ("start.delay.ms", "700"),
            ("stop.delay.ms", "4000"),
            ("stop.ignore.interrupt", "true"),
        ],
    );
    create(
        &cluster,
        "same",
        &[tasks("1"), ("reconfigure.every.ms", "200")],
    );
    create(
        &cluster,
        "counted",
        &[tasks("5"), ("tasks.file", count.to_str().unwrap())],
    );
    for (name, tasks) in [("fails", 2), ("stubborn", 1), ("same", 1), ("counted", 1)] {
        cluster
            .await_state("worker-1", (name, tasks, "RUNNING"), MAX)
            .unwrap();
    }
    let quiet = cluster.await_settled(GROUP, MAX).unwrap();
    let began = times(&quiet, "stubborn-0", Step::StartBegins)[0];
    assert!(times(&quiet, "stubborn-0", Step::StartEnds)[0] - began >= 700);

    // Reconfiguration with the same content changes nothing; ten have been asked for by now.
    std::thread::sleep(Duration::from_secs(2));
    let truth = cluster.truth(GROUP).unwrap();
    assert_eq!(truth.generations.len(), quiet.generations.len());

    // A failure on demand hits the task it is meant for.
    std::fs::write(&fail, "").unwrap();
    wait_until("task fails-1 to fail", MAX, || {
        let statuses = cluster.statuses("worker-1")?;
        Ok((statuses.connectors["fails"].tasks[&1].state == "FAILED").then_some(()))
    })
    .unwrap();
    let statuses = cluster.statuses("worker-1").unwrap();
    assert_eq!(statuses.connectors["fails"].tasks[&0].state, "RUNNING");

    // The task count follows the file, up and down.
    for (text, tasks) in [("3", 3), ("2", 2)] {
        std::fs::write(&count, text).unwrap();
        cluster
            .await_state("worker-1", ("counted", tasks, "RUNNING"), MAX)
            .unwrap();
    }

    // Changing content restarts the task time and again.
    create(
        &cluster,
        "changing",
        &[
            tasks("1"),
            ("reconfigure.every.ms", "500"),
            ("reconfigure.content", "changing"),
        ],
    );
    wait_until("task changing-0 to start three times", MAX, || {
        let truth = cluster.truth(GROUP)?;
        Ok((times(&truth, "changing-0", Step::StartEnds).len() >= 3).then_some(()))
    })
    .unwrap();
    cluster
        .request("worker-1", "DELETE", "/connectors/changing", None)
        .unwrap();

    // A stop that takes too long is given up by the worker and ends when it said it would.
    wait_until("the worker to delete a connector", MAX, || {
        let path = "/connectors/stubborn";
        let answer = cluster.request("worker-1", "DELETE", path, None)?;
        answer.ok().map(Some)
    })
    .unwrap();
    let truth = wait_until("task stubborn-0 to end", MAX, || {
        let truth = cluster.truth(GROUP)?;
        let ended = !times(&truth, "stubborn-0", Step::StopEnds).is_empty();
        Ok(ended.then_some(truth))
    })
    .unwrap();
    let at = |step| times(&truth, "stubborn-0", step)[0];
    assert!(at(Step::StopTimedOut) - at(Step::StopAsked) >= 1_000);
    assert!(at(Step::StopEnds) - at(Step::StopBegins) >= 4_000);
    assert!(times(&truth, "stubborn-0", Step::StopInTime).is_empty());
}

const OWNER: &str = "EVENKEEL_TESTBED_OWNER";

/// Not a test of its own: `nothing_stays_behind_after_sigkill` runs it in another process.
#[test]
fn owner() {
    if std::env::var_os(OWNER).is_none() {
        return;
    }
    let cluster = Cluster::start_brokers(&BrokerSpec::default(), false).unwrap();
    println!(
        "\nstate {}",
        serde_json::to_string(&cluster.state()).unwrap()
    );
    loop {
        std::thread::park();
    }
}

#[test]
fn nothing_stays_behind_after_sigkill() {
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "owner", "--nocapture"])
        .env(OWNER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let state = BufReader::new(owner.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .find_map(|line| Some(line.strip_prefix("state ")?.to_owned()))
        .unwrap();
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    let folder = PathBuf::from(state["folder"].as_str().unwrap());
    let pid = u32::try_from(state["nodes"][0]["pid"].as_u64().unwrap()).unwrap();
    assert!(folder.exists() && lives(pid, &folder));
    owner.kill().unwrap();
    owner.wait().unwrap();
    wait_until("the broker and its folder to be gone", MAX, || {
        Ok((!folder.exists() && !lives(pid, &folder)).then_some(()))
    })
    .unwrap();
}
