//! What a test may do to the brokers and the network: take the coordinator away, hang, unplug.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use evenkeel_testbed::security::{Access, Listener, Security};
use evenkeel_testbed::{
    BrokerSpec, Cluster, ClusterSpec, Fault, GroupSpec, Network, WorkerSpec, consume, wait_until,
};
use serde_json::json;

const GROUP: &str = "connect";
const MAX: Duration = Duration::from_secs(60);

fn spec(brokers: BrokerSpec, workers: Vec<WorkerSpec>) -> ClusterSpec {
    ClusterSpec {
        brokers,
        groups: vec![GroupSpec::new(GROUP, workers)],
        jmx: false,
    }
}

#[test]
fn a_group_goes_on_when_its_coordinator_is_gone() {
    let spec = spec(BrokerSpec::pair(), vec![WorkerSpec::default()]);
    let mut cluster = Cluster::start(&spec).unwrap();
    let before = cluster.coordinator(GROUP).unwrap();
    let generation = |cluster: &Cluster| {
        let truth = cluster.truth(GROUP)?;
        anyhow::Ok(truth.last().map_or(0, |last| last.generation))
    };
    let first = generation(&cluster).unwrap();
    cluster.kill(&before).unwrap();
    let other = if before == "broker-1" {
        "broker-2"
    } else {
        "broker-1"
    };
    let after = wait_until("the coordinator to move", MAX, || {
        let now = cluster.coordinator(GROUP)?;
        Ok((now != before).then_some(now))
    })
    .unwrap();
    assert_eq!(after, other);
    // A connector makes a new generation, which the other broker stores.
    let config = json!({"connector.class": "FixtureSource", "tasks.max": "1"});
    wait_until("the worker to take a connector", MAX, || {
        let path = "/connectors/source/config";
        let answer = cluster.request("worker-1", "PUT", path, Some(&config))?;
        answer.ok().map(Some)
    })
    .unwrap();
    cluster
        .await_state("worker-1", ("source", 1, "RUNNING"), MAX)
        .unwrap();
    let last = wait_until("the log to tell it", MAX, || {
        let last = generation(&cluster)?;
        Ok((last > first).then_some(last))
    })
    .unwrap();
    assert!(last > first);
    cluster.start_process(&before).unwrap();
    cluster.await_settled(GROUP, MAX).unwrap();
}

#[test]
fn a_proxied_broker_hangs_only_for_those_who_come_through_the_proxy() {
    let brokers = BrokerSpec {
        proxied: true,
        ..BrokerSpec::default()
    };
    let mut cluster = Cluster::start(&spec(brokers, vec![WorkerSpec::default()])).unwrap();
    let through = cluster.bootstrap_of(Listener::Proxied).unwrap();
    assert_ne!(through, cluster.bootstrap());
    let read =
        |bootstrap: &str, patience| consume(("connect-configs", 0), bootstrap, 1, patience).is_ok();
    let proxy = cluster.proxy("broker-1").unwrap();
    assert!(read(&through, Duration::from_secs(10)));
    proxy.set(Fault::Hang);
    assert!(!read(&through, Duration::from_secs(3)));
    assert!(read(&cluster.bootstrap(), Duration::from_secs(10)));
    proxy.set(Fault::Delay(Duration::from_millis(300)));
    let began = Instant::now();
    assert!(read(&through, Duration::from_secs(20)));
    assert!(began.elapsed() > Duration::from_millis(900));
    cluster.stop("worker-1").unwrap();
}

#[test]
fn workers_in_namespaces_have_addresses_and_cables() {
    if let Some(obstacle) = Network::obstacle() {
        println!("skipped: {obstacle}");
        return;
    }
    let brokers = BrokerSpec {
        namespaces: true,
        security: Some(Security::new().unwrap()),
        ..BrokerSpec::default()
    };
    let plain = WorkerSpec {
        scheduled_delay_ms: 2_000,
        ..WorkerSpec::default()
    };
    let secured = WorkerSpec {
        access: Access::Scram512,
        ..plain.clone()
    };
    let workers = vec![plain, secured];
    let mut cluster = Cluster::start(&spec(brokers, workers)).unwrap();
    let hosts: Vec<Ipv4Addr> = cluster.workers().iter().map(|w| w.host()).collect();
    assert_ne!(hosts[0], hosts[1]);
    assert!(hosts.iter().all(|host| host.octets()[0] == 10));
    let prefix = {
        let room = cluster.worker("worker-2").unwrap().room().unwrap();
        room.namespace().split_once('-').unwrap().0.to_owned()
    };
    assert!(names(&prefix).len() >= 5, "{:?}", names(&prefix));

    // Each worker is asked at its own address; the broker saw it come from there.
    let config = json!({"connector.class": "FixtureSource", "tasks.max": "2", "topic": "data-a"});
    cluster
        .request(
            "worker-2",
            "PUT",
            "/connectors/source/config",
            Some(&config),
        )
        .unwrap()
        .ok()
        .unwrap();
    cluster
        .await_state("worker-1", ("source", 2, "RUNNING"), MAX)
        .unwrap();

    // Without its cable a worker expires, and comes back with it.
    let before = cluster.await_settled(GROUP, MAX).unwrap();
    let generation = before.last().unwrap().generation;
    let room = cluster.worker("worker-2").unwrap().room().unwrap().clone();
    room.unplug().unwrap();
    wait_until("the unplugged worker to expire", MAX, || {
        let truth = cluster.truth(GROUP)?;
        let last = truth
            .last()
            .map(|last| (last.generation, last.member_count));
        Ok(last
            .is_some_and(|(now, members)| now > generation && members == 1)
            .then_some(()))
    })
    .unwrap();
    room.plug().unwrap();
    cluster.await_settled(GROUP, MAX).unwrap();
    drop(cluster);
    assert_eq!(names(&prefix), Vec::<String>::new());
}

/// Namespaces and devices of this machine whose name has a prefix.
fn names(prefix: &str) -> Vec<String> {
    [["netns", "list"], ["-br", "link"]]
        .into_iter()
        .flat_map(|args| {
            let output = std::process::Command::new("ip")
                .args(args)
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let names = text.lines().filter(|line| line.starts_with(prefix));
            names.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}
