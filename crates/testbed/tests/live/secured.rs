//! Secured listeners with a worker in each form of access, and rights that come and go.

use std::time::Duration;

use evenkeel_testbed::security::{Access, Resource, Right, Security, WORKER_USER};
use evenkeel_testbed::{
    BrokerSpec, Cluster, ClusterSpec, GroupSpec, TopicSpec, TopicVerb, WorkerSpec, wait_until,
};
use serde_json::json;

const GROUP: &str = "connect";
const MAX: Duration = Duration::from_secs(60);

fn secured(acls: bool, forms: &[Access]) -> ClusterSpec {
    let mut security = Security::new().unwrap();
    security.acls = acls;
    let workers = forms
        .iter()
        .map(|access| WorkerSpec {
            access: *access,
            ..WorkerSpec::default()
        })
        .collect();
    ClusterSpec {
        brokers: BrokerSpec {
            security: Some(security),
            ..BrokerSpec::default()
        },
        groups: vec![GroupSpec::new(GROUP, workers)],
        jmx: false,
    }
}

/// A source that writes and a sink that reads what it wrote, with a task for each worker.
fn move_data(cluster: &mut Cluster, workers: usize) {
    let tasks = workers.to_string();
    for (name, config) in [
        (
            "source",
            json!({"connector.class": "FixtureSource", "tasks.max": tasks, "topic": "data-a"}),
        ),
        (
            "sink",
            json!({"connector.class": "FixtureSink", "tasks.max": tasks, "topics": "data-a"}),
        ),
    ] {
        let path = format!("/connectors/{name}/config");
        wait_until("the worker to take a connector", MAX, || {
            let answer = cluster.request("worker-1", "PUT", &path, Some(&config))?;
            answer.ok().map(Some)
        })
        .unwrap();
        cluster
            .await_state("worker-1", (name, workers, "RUNNING"), MAX)
            .unwrap();
    }
    cluster.await_settled(GROUP, MAX).unwrap();
    // The sinks' own group is a group of the same broker: that it has members shows that the
    // connectors' clients came in, too.
    wait_until("the sink to join its group", MAX, || {
        let truth = cluster.truth("connect-sink");
        let log = std::fs::read_to_string(cluster.broker("broker-1")?.log())?;
        drop(truth);
        Ok(log.contains("Stabilized group connect-sink").then_some(()))
    })
    .unwrap();
}

#[test]
fn workers_come_in_by_password_and_token() {
    let forms = [
        Access::Scram512,
        Access::Scram256,
        Access::Plain,
        Access::Oauth,
        Access::SaslPlaintext,
    ];
    let mut cluster = Cluster::start(&secured(true, &forms)).unwrap();
    move_data(&mut cluster, forms.len());
}

#[test]
fn workers_come_in_by_certificate() {
    let forms = [Access::Mtls, Access::MtlsPem, Access::MtlsInline];
    let mut cluster = Cluster::start(&secured(true, &forms)).unwrap();
    move_data(&mut cluster, forms.len());
}
