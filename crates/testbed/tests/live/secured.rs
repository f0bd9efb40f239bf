//! Secured listeners with a worker in each form of access, and rights that come and go.

use std::time::Duration;

use evenkeel_testbed::security::{AGENT_USER, Access, Resource, Right, Security, WORKER_USER};
use evenkeel_testbed::{
    BrokerSpec, Cluster, ClusterSpec, GroupSpec, WorkerSpec, consume_as, wait_until,
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
        let log = std::fs::read_to_string(cluster.broker("broker-1")?.log())?;
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

#[test]
fn rights_hold_at_once_for_workers_and_observers() {
    let mut spec = secured(true, &[Access::Scram512]);
    let group = spec.groups.remove(0);
    let mut cluster = Cluster::start(&spec).unwrap();
    cluster.add_group(&group).unwrap();

    // A worker that may not join its group gives up.
    let join = [Right::of(
        WORKER_USER,
        "READ",
        Resource::Group(GROUP.to_owned()),
    )];
    cluster.revoke(&join).unwrap();
    cluster.spawn_worker("worker-1").unwrap();
    wait_until("the worker to be refused", MAX, || {
        let log = std::fs::read_to_string(cluster.worker("worker-1")?.log())?;
        Ok(log.contains("GroupAuthorizationException").then_some(()))
    })
    .unwrap();
    cluster.grant(&join).unwrap();
    // It hangs for three quarters of a minute before it ends by itself.
    cluster.kill("worker-1").unwrap();
    cluster.start_process("worker-1").unwrap();
    cluster.await_settled(GROUP, MAX).unwrap();

    // An observer reads a topic once it is granted, without anything being restarted.
    let client = cluster.client_file(AGENT_USER, Access::Mtls).unwrap();
    let bootstrap = cluster.bootstrap_of(Access::Mtls.listener()).unwrap();
    let read = |records| {
        let place = ("connect-configs", 0);
        let patience = Duration::from_secs(5);
        consume_as(Some(&client), place, &bootstrap, records, patience)
    };
    let refused = format!("{:#}", read(1).unwrap_err());
    assert!(refused.contains("TopicAuthorizationException"), "{refused}");
    let rights = Right::of_observer(AGENT_USER, &cluster.groups()[0]);
    assert_eq!(rights.len(), 7);
    cluster.grant(&rights).unwrap();
    assert_eq!(read(1).unwrap().len(), 1);
    cluster.revoke(&rights).unwrap();
    assert!(read(1).is_err());
}
