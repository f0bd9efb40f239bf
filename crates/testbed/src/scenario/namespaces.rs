//! Workers and sidecars as pods have them: each pair with an address of its own. A sidecar
//! finds its worker by that address, without being told which it is.

use std::time::Duration;

use anyhow::ensure;
use serde_json::Value;

use super::compare::Expected;
use super::stage::Stage;
use crate::spec::{BrokerSpec, ClusterSpec, GroupSpec, WorkerSpec};
use crate::truth::Comparison;
use crate::wait::wait_until;

const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};

const TOLD_MAX: Duration = Duration::from_secs(40);
const WORKERS: [&str; 2] = ["worker-1", "worker-2"];

pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    Ok(ClusterSpec {
        brokers: BrokerSpec {
            namespaces: true,
            ..BrokerSpec::default()
        },
        groups: vec![GroupSpec::new("connect", vec![WorkerSpec::default(); 2])],
        jmx: false,
    })
}

pub(super) fn namespaces(stage: &mut Stage) -> anyhow::Result<()> {
    stage.cluster.start_processes(&WORKERS)?;
    for worker in WORKERS {
        stage.add_agent_in(&beside(worker), worker)?;
    }
    let truth = stage.rest("two workers, each with a sidecar", NOTHING)?;
    let mut comparison = Comparison::new();
    let leader = truth.last().and_then(|last| last.leader_url.clone());
    for worker in WORKERS {
        let url = stage.cluster.worker(worker)?.url();
        let role = if leader.as_ref() == Some(&url) {
            "leader"
        } else {
            "deputy"
        };
        let own = own_of(stage, worker)?;
        comparison.equal(
            &format!("{worker}: role"),
            &Some(role),
            &own["role"].as_str(),
        );
    }
    // The first one runs where the brokers do, and no worker does.
    let first = stage.agent("first")?.state()?;
    comparison.equal("first: beside nobody", &Value::Null, &first["own"]);

    // A worker that stops and comes back is the sidecar's own again, as another member.
    stage.cluster.stop("worker-2")?;
    wait_until("the own worker to be gone", TOLD_MAX, || {
        let state = stage.agent(&beside("worker-2"))?.state()?;
        let present = matches!(state["own"]["role"].as_str(), Some("leader" | "deputy"));
        ensure!(!present, "{}", state["own"]);
        Ok(Some(()))
    })?;
    stage.cluster.start_process("worker-2")?;
    stage.rest("it is back", NOTHING)?;
    own_of(stage, "worker-2")?;
    stage.count(comparison)
}

fn beside(worker: &str) -> String {
    format!("beside-{worker}")
}

/// Waits until the sidecar names the worker beside it; gives what it says of it.
fn own_of(stage: &Stage, worker: &str) -> anyhow::Result<Value> {
    let id = stage.cluster.worker(worker)?.worker_id();
    let agent = stage.agent(&beside(worker))?;
    wait_until(&format!("{worker} to be known"), TOLD_MAX, || {
        let own = agent.state()?["own"].clone();
        ensure!(own["worker"] == id.as_str(), "{own} is not {id}");
        Ok(Some(own))
    })
}
