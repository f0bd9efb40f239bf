//! An embedded broker that looks like a cluster with Connect groups, and the program
//! beside it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use evenkeel::commands::demo::broker::{Broker, GroupMember, GroupSpec, Record, TopicSpec};
use evenkeel_core::facts::partition::group_partition;
use evenkeel_core::wire::encode::{self, AssignmentSpec, SubscriptionSpec, topics};
use evenkeel_core::wire::group_record::{GroupMetadata, Member};
use evenkeel_testbed::{now_ms, request, wait_until};

const OFFSETS: &str = "__consumer_offsets";
const OFFSETS_PARTITIONS: i32 = 5;
const WAIT_MAX: Duration = Duration::from_secs(60);

/// The broker, with the topics of these groups.
pub(super) struct Cluster {
    pub(super) broker: Broker,
    groups: Vec<String>,
}

/// A member's worker and what it owns, as keys: `foo`, `foo-0`.
type Owner<'a> = (&'a str, &'a [&'a str]);

fn items<'a>(keys: &[&'a str]) -> encode::Items<'a> {
    encode::items_of(keys.iter().map(|key| match key.rsplit_once('-') {
        Some((name, task)) if task.parse::<i32>().is_ok() => (name, task.parse().unwrap()),
        _ => (*key, -1),
    }))
}

/// What a member said and was told: it keeps what it has.
fn member_bytes(
    leader: &str,
    (worker, owned): Owner<'_>,
    config_offset: i64,
) -> (Vec<u8>, Vec<u8>) {
    let (leader_id, leader_url) = (format!("{leader}-1"), format!("http://{leader}:8083/"));
    let said = AssignmentSpec {
        version: 2,
        error: 0,
        leader: &leader_id,
        leader_url: &leader_url,
        config_offset,
        assigned: Some(items(owned)),
        revoked: Some(Vec::new()),
        delay_ms: 0,
    };
    let told = AssignmentSpec {
        assigned: Some(Vec::new()),
        ..said.clone()
    };
    let subscription = encode::subscription(&SubscriptionSpec {
        version: 2,
        url: &format!("http://{worker}:8083/"),
        config_offset,
        claim: Some(said),
    });
    (subscription.unwrap(), encode::assignment(&told).unwrap())
}

// === impl Cluster ===

impl Cluster {
    pub(super) async fn start(groups: &[&str]) -> Self {
        Self::start_as("incidents", groups).await
    }

    /// A cluster with this id.
    pub(super) async fn start_as(id: &str, groups: &[&str]) -> Self {
        let mut specs = vec![TopicSpec {
            name: OFFSETS.to_owned(),
            partitions: OFFSETS_PARTITIONS,
        }];
        for group in groups {
            specs.extend(
                [config_topic(group), status_topic(group)].map(|name| TopicSpec {
                    name,
                    partitions: 1,
                }),
            );
        }
        let listen = "127.0.0.1:0".parse().unwrap();
        Self {
            broker: Broker::start(listen, id, &specs).await.unwrap(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        }
    }

    fn append(&self, topic: &str, partition: i32, key: Vec<u8>, value: Vec<u8>) {
        let record = Record {
            key: Some(Bytes::from(key)),
            value: Some(Bytes::from(value)),
            timestamp_ms: now_ms(),
            offset: None,
        };
        self.broker.append(topic, partition, record).unwrap();
    }

    pub(super) fn config(&self, group: &str, key: &str, value: Vec<u8>) {
        self.append(&config_topic(group), 0, key.into(), value);
    }

    pub(super) fn status(&self, group: &str, key: &str, value: Vec<u8>) {
        self.append(&status_topic(group), 0, key.into(), value);
    }

    /// A connector with its tasks; all of them have these settings.
    pub(super) fn connector(&self, group: &str, name: &str, tasks: i32, more: &[(&str, &str)]) {
        let class = [("connector.class", "org.example.Source")];
        let settings = class
            .iter()
            .chain(more)
            .map(|(key, value)| (*key, Some(*value)));
        let properties = topics::properties(settings);
        self.config(group, &format!("connector-{name}"), properties.clone());
        for task in 0..tasks {
            self.config(group, &format!("task-{name}-{task}"), properties.clone());
        }
        self.config(group, &format!("commit-{name}"), topics::commit(tasks));
    }

    /// The config offset of workers that have read everything.
    fn read_by_all(&self, group: &str) -> i64 {
        self.broker.end_offset(&config_topic(group), 0).unwrap()
    }

    /// The coordinator describes the group so; the first member leads.
    pub(super) fn describe(&self, group: &str, owners: &[Owner<'_>]) {
        let (leader, read) = (owners[0].0, self.read_by_all(group));
        let members = owners.iter().map(|owner| {
            let (metadata, assignment) = member_bytes(leader, *owner, read);
            GroupMember {
                member_id: format!("{}-1", owner.0),
                group_instance_id: None,
                client_id: format!("connect-{}", owner.0),
                client_host: "/192.0.2.1".to_owned(),
                metadata: metadata.into(),
                assignment: assignment.into(),
            }
        });
        self.broker.set_group(GroupSpec {
            group: group.to_owned(),
            state: "Stable".to_owned(),
            protocol_type: "connect".to_owned(),
            protocol: "sessioned".to_owned(),
            members: members.collect(),
        });
    }

    /// The same as a record of the group, and described so.
    pub(super) fn record(&self, group: &str, generation: i32, owners: &[Owner<'_>]) {
        self.describe(group, owners);
        let read = self.read_by_all(group);
        let leader = format!("{}-1", owners[0].0);
        let bytes: Vec<_> = owners
            .iter()
            .map(|owner| {
                (
                    format!("{}-1", owner.0),
                    member_bytes(owners[0].0, *owner, read),
                )
            })
            .collect();
        let members = bytes.iter().map(|(id, (subscription, assignment))| Member {
            member_id: id,
            group_instance_id: None,
            client_id: "connect",
            client_host: "/192.0.2.1",
            rebalance_timeout_ms: Some(60_000),
            session_timeout_ms: 10_000,
            subscription,
            assignment,
        });
        let value = encode::group_metadata(&GroupMetadata {
            version: 3,
            protocol_type: "connect",
            generation,
            protocol: Some("sessioned"),
            leader: Some(&leader),
            current_state_timestamp_ms: Some(now_ms()),
            members: members.collect(),
        });
        let key = encode::group_metadata_key(group).unwrap();
        let partition = group_partition(group, OFFSETS_PARTITIONS).unwrap();
        self.append(OFFSETS, partition, key, value.unwrap());
    }

    fn file(&self) -> String {
        let mut text = format!(
            "kafka: {{bootstrap: \"{}\"}}\nhttp: {{listen: \"127.0.0.1:0\"}}\ngroups:\n",
            self.broker.address()
        );
        for group in &self.groups {
            let (config, status) = (config_topic(group), status_topic(group));
            text += &format!(
                "  - {{group: {group}, config_topic: {config}, status_topic: {status}}}\n"
            );
        }
        text
    }
}

/// As MirrorMaker names them.
fn config_topic(group: &str) -> String {
    format!("mm2-configs.{group}.internal")
}

fn status_topic(group: &str) -> String {
    format!("mm2-status.{group}.internal")
}

/// The program, killed when the test is over, however it ends.
pub(super) struct Beside {
    child: Mutex<Child>,
    log: Arc<Mutex<String>>,
    reader: Mutex<Option<thread::JoinHandle<()>>>,
    _folder: tempfile::TempDir,
}

// === impl Beside ===

impl Beside {
    pub(super) fn run(cluster: &Cluster, args: &[&str]) -> Self {
        let started = Self::start(cluster, &["run"], args);
        started.until("the server", || started.port().is_some());
        started
    }

    pub(super) fn capture(cluster: &Cluster, file: &Path, args: &[&str]) -> Self {
        Self::start(cluster, &["capture", file.to_str().unwrap()], args)
    }

    fn start(cluster: &Cluster, verb: &[&str], args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("evenkeel.yaml");
        std::fs::write(&config, cluster.file()).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_evenkeel"))
            .args(verb)
            .args(["--config", config.to_str().unwrap()])
            .args(args)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::<Mutex<String>>::default();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let written = Arc::clone(&log);
        let reader = thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut log = written.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        Self {
            child: Mutex::new(child),
            log,
            reader: Mutex::new(Some(reader)),
            _folder: folder,
        }
    }

    /// What it logged so far.
    pub(super) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    fn port(&self) -> Option<u16> {
        let log = self.log();
        let (_, rest) = log.split_once("serving")?;
        let (_, rest) = rest.split_once("127.0.0.1:")?;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    }

    pub(super) fn get(&self, path: &str) -> String {
        let port = self.port().unwrap();
        request(port, "GET", path, None, Duration::from_secs(5))
            .unwrap()
            .body
    }

    /// Waits; a failure tells what the program logged.
    #[track_caller]
    pub(super) fn until(&self, what: &str, condition: impl Fn() -> bool) {
        let seen = wait_until(what, WAIT_MAX, || Ok(condition().then_some(())));
        if let Err(error) = seen {
            panic!("{error}\n{}", self.log());
        }
    }

    /// Ends it as a person does; gives its whole log.
    pub(super) fn end(&self) -> String {
        let mut child = self.child.lock().unwrap();
        let id = child.id().to_string();
        Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(child.wait().unwrap().success(), "{}", self.log());
        if let Some(reader) = self.reader.lock().unwrap().take() {
            reader.join().unwrap();
        }
        self.log()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Ok(child) = self.child.get_mut() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}
