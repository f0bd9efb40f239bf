//! The program is killed and comes back, with a state and without: no counter falls that was
//! scraped, and none takes in what happened while nobody watched.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use super::beside::{Beside, Cluster};
use super::{lines, ready};

const FAMILY: &str = "evenkeel_generations_total";

fn generations(agent: &Beside) -> u64 {
    let lines = lines(agent, FAMILY);
    let counts = lines.iter().filter_map(|line| line.rsplit_once(' '));
    counts.map(|(_, count)| count.parse::<u64>().unwrap()).sum()
}

fn shows_generation(agent: &Beside, generation: i32) -> bool {
    let line = format!("evenkeel_generation{{group=\"cg\"}} {generation}");
    lines(agent, "evenkeel_generation") == [line]
}

/// The program with its state in `folder`, once its answers are true.
fn run(cluster: &Cluster, folder: Option<&Path>) -> Beside {
    let mut args = vec!["--group", "cg"];
    if let Some(folder) = folder {
        args.extend(["--state-dir", folder.to_str().unwrap()]);
    }
    let agent = Beside::run(cluster, &args);
    agent.until("current", || ready(&agent)["current"] == true);
    agent
}

/// A group whose rounds follow each other, and how far it is.
struct Group {
    cluster: Cluster,
    generation: i32,
}

impl Group {
    async fn of(id: &str) -> Self {
        let cluster = Cluster::start_as(id, &["cg"]).await;
        cluster.connector("cg", "foo", 2, &[]);
        let mut group = Self {
            cluster,
            generation: 0,
        };
        group.rounds(2);
        group
    }

    /// So many rounds; each shows that the one before was completed.
    fn rounds(&mut self, count: i32) {
        let owners: &[(&str, &[&str])] = &[("a", &["foo", "foo-0"]), ("b", &["foo-1"])];
        for _ in 0..count {
            self.generation += 1;
            self.cluster.record("cg", self.generation, owners);
        }
    }
}

/// Killed at any moment, also while it writes. What was scraped is there again; what was
/// written while nobody watched never is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_it_goes_on_counting_where_it_was_scraped() {
    let mut group = Group::of("incidents").await;
    let folder = tempfile::tempdir().unwrap();
    let (mut scraped, mut watched) = (0, 0);
    for kill in 0..6_u64 {
        let agent = run(&group.cluster, Some(folder.path()));
        let first = generations(&agent);
        assert!(
            scraped <= first && first <= watched,
            "{scraped} {first} {watched}\n{}",
            agent.log()
        );
        assert_eq!(
            agent.log().contains("state restored"),
            kill > 0,
            "{}",
            agent.log()
        );
        group.rounds(3);
        watched += 3;
        agent.until("the rounds", || shows_generation(&agent, group.generation));
        // All but the newest are settled; some kills come before they are.
        if kill % 2 == 0 {
            agent.until("the counters", || generations(&agent) >= first + 2);
        }
        tokio::time::sleep(Duration::from_millis(kill * 97 % 250)).await;
        group.rounds(1);
        watched += 1;
        scraped = generations(&agent);
        drop(agent);
        group.rounds(2);
    }
    let agent = run(&group.cluster, Some(folder.path()));
    agent.until("the rounds", || shows_generation(&agent, group.generation));
    let last = generations(&agent);
    assert!(
        scraped <= last && last <= watched,
        "{scraped} {last} {watched}"
    );
    assert!(scraped > 6, "{scraped}");
}

/// Ended as a person ends it, it loses nothing at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ended_in_order_it_counts_every_round_that_it_saw() {
    let mut group = Group::of("incidents").await;
    let folder = tempfile::tempdir().unwrap();
    let mut watched = 0;
    for _ in 0..3 {
        let agent = run(&group.cluster, Some(folder.path()));
        agent.until("all that was watched", || generations(&agent) == watched);
        group.rounds(3);
        watched += 3;
        agent.until("the rounds", || shows_generation(&agent, group.generation));
        agent.end();
        group.rounds(2);
    }
    // Without a state the same history counts nothing.
    let agent = run(&group.cluster, None);
    assert!(shows_generation(&agent, group.generation));
    assert_eq!(generations(&agent), 0);
}

/// Of another cluster, in a broken file, of a topic that was made anew: it says so, and what
/// it shows is true all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_that_does_not_hold_is_not_taken_up() {
    let mut group = Group::of("incidents").await;
    let folder = tempfile::tempdir().unwrap();
    let agent = run(&group.cluster, Some(folder.path()));
    group.rounds(4);
    agent.until("the counters", || generations(&agent) == 3);
    agent.end();
    let file = folder.path().join("cg.state");
    let kept = fs::read(&file).unwrap();

    // The same names in another cluster, whose logs are as long.
    let other = Group::of("another").await;
    let agent = run(&other.cluster, Some(folder.path()));
    assert!(
        agent
            .log()
            .contains("it is foreign: cluster incidents, now another"),
        "{}",
        agent.log()
    );
    assert!(shows_generation(&agent, other.generation));
    assert_eq!(generations(&agent), 0);
    assert!(!agent.get("/api/v1/state").contains("created again"));
    drop(agent);

    let mut broken = kept.clone();
    let middle = broken.len() / 2;
    broken[middle] ^= 1;
    fs::write(&file, broken).unwrap();
    let agent = run(&group.cluster, Some(folder.path()));
    assert!(agent.log().contains("it is corrupt"), "{}", agent.log());
    assert!(shows_generation(&agent, group.generation));
    assert_eq!(generations(&agent), 0);
    drop(agent);

    // The topic alone, whose log is longer by now, is read anew; what was counted stays.
    fs::write(&file, kept).unwrap();
    group
        .cluster
        .broker
        .recreate_topic("mm2-configs.cg.internal")
        .unwrap();
    group.cluster.connector("cg", "bar", 4, &[]);
    let agent = run(&group.cluster, Some(folder.path()));
    assert!(
        agent.log().contains("it is not the topic that was read"),
        "{}",
        agent.log()
    );
    agent.until("what is configured", || {
        let state = agent.get("/api/v1/state");
        state.contains("\"bar\"")
    });
    // The last round that was watched is settled by none that follows.
    assert_eq!(generations(&agent), 3);
}

/// A folder that goes away while the program runs: said once, and kept again once it can be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_that_cannot_be_written_holds_nothing_up() {
    let mut group = Group::of("incidents").await;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("state");
    fs::create_dir(&place).unwrap();
    let agent = run(&group.cluster, Some(&place));
    fs::remove_dir_all(&place).unwrap();
    group.rounds(4);
    agent.until("the counters", || generations(&agent) == 3);
    agent.until("the trouble", || agent.log().contains("state not written"));
    let note = ready(&agent)["note"].as_str().unwrap().to_owned();
    assert!(note.starts_with("the state cannot be written"), "{note}");
    group.rounds(2);
    agent.until("the counters", || generations(&agent) == 5);
    fs::create_dir(&place).unwrap();
    agent.until("the state", || {
        agent.log().contains("the state is kept again")
    });
    agent.until("no trouble", || ready(&agent)["note"].is_null());
    let log = agent.end();
    assert_eq!(log.matches("state not written").count(), 1, "{log}");
    let agent = run(&group.cluster, Some(&place));
    assert_eq!(generations(&agent), 5);
}

/// The text of the state that was written last.
fn text(folder: &Path) -> String {
    let bytes = fs::read(folder.join("cg.state")).unwrap();
    let body = bytes
        .windows(2)
        .position(|two| two == [0x1f, 0x8b])
        .unwrap();
    let mut text = String::new();
    let mut body = flate2::read::GzDecoder::new(&bytes[body..]);
    body.read_to_string(&mut text).unwrap();
    text
}

/// Where names are masked they are in the state, too; and values of configurations are not
/// in it, masked or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_holds_no_secret_and_no_name_that_is_masked() {
    let group = Group::of("incidents").await;
    let settings = [
        ("connection.password", "hunter2"),
        ("topics", "orders-canary"),
    ];
    group.cluster.connector("cg", "customers", 1, &settings);
    let folder = tempfile::tempdir().unwrap();
    let agent = run(&group.cluster, Some(folder.path()));
    agent.end();
    let plain = text(folder.path());
    assert!(
        plain.contains("customers") && plain.contains("a:8083"),
        "{plain}"
    );
    assert!(!plain.contains("hunter2") && !plain.contains("orders-canary"));
    let args = [
        "--group",
        "cg",
        "--mask-names",
        "--state-dir",
        folder.path().to_str().unwrap(),
    ];
    let agent = Beside::run(&group.cluster, &args);
    agent.until("current", || ready(&agent)["current"] == true);
    let log = agent.end();
    assert!(log.contains("it is foreign: names not masked"), "{log}");
    let masked = text(folder.path());
    assert!(!masked.contains("customers") && !masked.contains("hunter2"));
}

/// Two agents with one folder would each bring back what the other counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_agent_in_a_folder_keeps_no_state() {
    let group = Group::of("incidents").await;
    let folder = tempfile::tempdir().unwrap();
    let first = run(&group.cluster, Some(folder.path()));
    let second = run(&group.cluster, Some(folder.path()));
    let told = "another agent keeps its state in state.dir";
    assert!(second.log().contains(told), "{}", second.log());
    assert!(!first.log().contains(told));
    second.end();
    first.end();
}
