//! The language of the scenarios. One line, one input, at a time in seconds:
//!
//! ```text
//! 0.0  config connector foo            a record of the config topic; also: task foo-0 |
//!                                      commit foo 2 | delete foo | target foo STOPPED | key
//! 0.1  config tasks foo 2              two task records and their commit
//! 1.0  group 1 sessioned a off=3 delay=0 join=0.9 | a: claim=none add=foo,foo-0 rev= | b: ...
//! 1.0  group 2 empty                   a record without members
//! 1.0  group gone                      a tombstone
//! 2.0  status foo-0 RUNNING a 1        worker and generation
//! 2.0  status foo-0 gone
//! 2.5  ends                            everything is read up to the ends asked now
//! 2.5  show                            print the state now
//! ```
//! The member `a` has id `a-1`, URL `http://a:8083/`; `a#2` is another process of the
//! same worker. `claim=none` is a null claim, `claim=-` an empty one. The first group
//! record that is at or after `live` is watched, those before are history.

use std::fmt::Write as _;

use evenkeel_core::answers::Answers;
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Ends, Input, InputKind, Record, Settings, Start, Topic};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};
use evenkeel_core::wire::encode::{self, AssignmentSpec, Items, SubscriptionSpec, items_of};
use evenkeel_core::wire::group_record::{GroupMetadata, Member};

/// Second 0 of every scenario.
pub(crate) const BASE_MS: i64 = 1_700_000_000_000;

/// Feeds the scenario and compares what is printed.
#[track_caller]
pub(crate) fn check(scenario: &str, expected: &str) {
    let printed = run(scenario);
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let printed_lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    assert_eq!(printed_lines, expected, "\n--- the engine says:\n{printed}");
}

/// Feeds the scenario; returns what `show` lines and the end print.
pub(crate) fn run(scenario: &str) -> String {
    let mut out = String::new();
    let mut engine = Engine::new();
    for step in inputs(scenario) {
        match step {
            Step::Input(input) => {
                for change in engine.apply(&input) {
                    print_change(&mut out, &engine, &change);
                }
            }
            Step::Show => print_answers(&mut out, &engine.answers()),
        }
    }
    out
}

/// One step of a scenario.
#[derive(Clone)]
pub(crate) enum Step {
    Input(Input),
    Show,
}

/// The scenario as inputs.
pub(crate) fn inputs(scenario: &str) -> Vec<Step> {
    let mut writer = Writer::default();
    let mut steps = vec![writer.settings()];
    let lines: Vec<&str> = scenario
        .lines()
        .map(|line| line.split(" //").next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
        .collect();
    let live_from = lines
        .iter()
        .position(|line| line.contains(" live"))
        .map_or(0, |at| {
            lines[..at]
                .iter()
                .filter(|line| line.contains(" group "))
                .count()
        });
    for topic in Topic::ALL {
        let end = if topic == Topic::Offsets {
            i64::try_from(live_from).unwrap()
        } else {
            0
        };
        steps.push(Step::Input(Input {
            at: ArrivalTime(BASE_MS),
            kind: InputKind::Start(Start {
                topic,
                partition: 0,
                offset: 0,
                end,
                anew: false,
            }),
        }));
    }
    for line in lines {
        let (time, rest) = line
            .split_once(char::is_whitespace)
            .expect("time and command");
        let at = BASE_MS + (time.parse::<f64>().expect("seconds") * 1000.0).round() as i64;
        steps.extend(writer.line(at, rest.trim()));
    }
    steps
}

#[derive(Default)]
struct Writer {
    next: [i64; 3],
}

impl Writer {
    fn settings(&self) -> Step {
        Step::Input(Input {
            at: ArrivalTime(BASE_MS),
            kind: InputKind::Settings(Settings {
                group: "cg".into(),
                offsets_topic: "__consumer_offsets".into(),
                config_topic: "configs".into(),
                config_partitions: 1,
                status_topic: "statuses".into(),
                status_partitions: 1,
                ..Settings::default()
            }),
        })
    }

    fn line(&mut self, at: i64, rest: &str) -> Vec<Step> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        match words[0] {
            "config" if words[1] == "tasks" => {
                let tasks = words[3].parse::<i32>().expect("a number");
                let mut steps: Vec<Step> = (0..tasks)
                    .map(|task| self.config(at, &["task", &format!("{}-{task}", words[2])]))
                    .collect();
                steps.push(self.config(at, &["commit", words[2], words[3]]));
                steps
            }
            "config" => vec![self.config(at, &words[1..])],
            "status" => vec![self.status(at, &words[1..])],
            "group" => vec![self.group(at, rest)],
            "ends" => self.ends(at),
            "live" => Vec::new(),
            "skip" => {
                self.next[topic_index(Topic::Config)] += words[1].parse::<i64>().unwrap();
                Vec::new()
            }
            "show" => vec![Step::Show],
            other => panic!("unknown command {other}"),
        }
    }

    fn record(&mut self, topic: Topic, at: i64, key: Vec<u8>, value: Option<Vec<u8>>) -> Step {
        let next = &mut self.next[topic_index(topic)];
        let offset = *next;
        *next += 1;
        Step::Input(Input {
            at: ArrivalTime(at),
            kind: InputKind::Record(Record {
                topic,
                partition: 0,
                offset,
                leader_epoch: Some(0),
                timestamp: Some(EventTime(at)),
                append_time: false,
                key: Some(key),
                value,
            }),
        })
    }

    fn ends(&self, at: i64) -> Vec<Step> {
        let ends = |topic| {
            Step::Input(Input {
                at: ArrivalTime(at),
                kind: InputKind::Ends(Ends {
                    topic,
                    asked: ArrivalTime(at),
                    ends: vec![(0, self.next[topic_index(topic)])],
                }),
            })
        };
        let mut reached: Vec<Step> = Vec::new();
        for topic in Topic::ALL {
            reached.push(Step::Input(Input {
                at: ArrivalTime(at),
                kind: InputKind::Reached(evenkeel_core::facts::input::Reached {
                    topic,
                    partition: 0,
                    offset: self.next[topic_index(topic)],
                }),
            }));
        }
        reached.extend(Topic::ALL.map(ends));
        reached
    }

    fn config(&mut self, at: i64, words: &[&str]) -> Step {
        let (key, value) = match *words {
            ["connector", name] => (format!("connector-{name}"), Some(redacted())),
            ["task", item] => (format!("task-{item}"), Some(redacted())),
            ["commit", name, tasks] => (
                format!("commit-{name}"),
                Some(format!(r#"{{"tasks":{tasks}}}"#)),
            ),
            ["target", name, state] => (
                format!("target-state-{name}"),
                Some(format!(r#"{{"state.v2":"{state}"}}"#)),
            ),
            ["delete", name] => (format!("connector-{name}"), None),
            ["key"] => ("session-key".to_owned(), Some(redacted())),
            ref other => panic!("unknown config record {other:?}"),
        };
        self.record(
            Topic::Config,
            at,
            key.into_bytes(),
            value.map(String::into_bytes),
        )
    }

    fn status(&mut self, at: i64, words: &[&str]) -> Step {
        let key = |item: &str| match item.rsplit_once('-') {
            Some((_, task)) if task.parse::<i32>().is_ok() => format!("status-task-{item}"),
            _ => format!("status-connector-{item}"),
        };
        let (key, value) = match *words {
            [item, "gone"] => (key(item), None),
            [item, state, worker, generation] => (
                key(item),
                Some(format!(
                    r#"{{"state":"{state}","trace":null,"worker_id":"{worker}:8083","generation":{generation}}}"#
                )),
            ),
            ref other => panic!("unknown status {other:?}"),
        };
        self.record(
            Topic::Status,
            at,
            key.into_bytes(),
            value.map(String::into_bytes),
        )
    }

    fn group(&mut self, at: i64, rest: &str) -> Step {
        let key = encode::group_metadata_key("cg").unwrap();
        let mut parts = rest.split('|').map(str::trim);
        let head: Vec<&str> = parts.next().unwrap().split_whitespace().skip(1).collect();
        if head[0] == "gone" {
            return self.record(Topic::Offsets, at, key, None);
        }
        let field = |name: &str| head.iter().find_map(|word| word.strip_prefix(name));
        let number = |name: &str, default: i64| {
            field(name).map_or(default, |text| text.parse::<i64>().expect("a number"))
        };
        let join = field("join=").map_or(at, |seconds| {
            BASE_MS + (seconds.parse::<f64>().unwrap() * 1000.0).round() as i64
        });
        let protocol = head[1];
        let members: Vec<MemberSpec> = parts.map(MemberSpec::parse).collect();
        let leader = head
            .get(2)
            .filter(|_| protocol != "empty")
            .map(|name| id_of(name));
        let timeout = i32::try_from(number("timeout=", 60_000)).unwrap();
        let spec = RoundSpec {
            version: match protocol {
                "default" => 0,
                "compatible" => 1,
                _ => 2,
            },
            leader: leader.clone().unwrap_or_default(),
            leader_url: head.get(2).map_or_else(String::new, |name| {
                format!(
                    "http://{}:8083/",
                    name.split('#').next().unwrap_or_default()
                )
            }),
            config_offset: number("off=", 0),
            delay_ms: i32::try_from(number("delay=", 0)).unwrap(),
            error: i16::try_from(number("err=", 0)).unwrap(),
        };
        let bytes: Vec<(String, String, Vec<u8>, Vec<u8>)> = members
            .iter()
            .map(|member| {
                let client = format!("connect-{}", member.name);
                (
                    member.id(),
                    client,
                    member.subscription(&spec),
                    member.assignment(&spec),
                )
            })
            .collect();
        let value = encode::group_metadata(&GroupMetadata {
            version: 3,
            protocol_type: "connect",
            generation: head[0].parse().expect("a generation"),
            protocol: (protocol != "empty").then_some(protocol),
            leader: leader.as_deref(),
            current_state_timestamp_ms: Some(join),
            members: bytes
                .iter()
                .map(|(id, client, subscription, assignment)| Member {
                    member_id: id,
                    group_instance_id: None,
                    client_id: client,
                    client_host: "/192.0.2.1",
                    rebalance_timeout_ms: Some(timeout),
                    session_timeout_ms: 10_000,
                    subscription,
                    assignment,
                })
                .collect(),
        })
        .unwrap();
        self.record(Topic::Offsets, at, key, Some(value))
    }
}

struct RoundSpec {
    version: i16,
    leader: String,
    leader_url: String,
    config_offset: i64,
    delay_ms: i32,
    error: i16,
}

struct MemberSpec {
    name: String,
    url: String,
    claim: Option<String>,
    add: String,
    rev: String,
}

impl MemberSpec {
    fn parse(text: &str) -> Self {
        let (name, rest) = text.split_once(':').expect("member: fields");
        let field = |wanted: &str| {
            rest.split_whitespace()
                .find_map(|word| word.strip_prefix(wanted))
                .map(str::to_owned)
        };
        let worker = name.split('#').next().unwrap();
        Self {
            name: name.to_owned(),
            url: field("url=").unwrap_or_else(|| format!("http://{worker}:8083/")),
            claim: field("claim="),
            add: field("add=").unwrap_or_default(),
            rev: field("rev=").unwrap_or_default(),
        }
    }

    fn id(&self) -> String {
        id_of(&self.name)
    }

    fn subscription(&self, round: &RoundSpec) -> Vec<u8> {
        let claim = match self.claim.as_deref() {
            None | Some("none") => None,
            Some(items) => Some(AssignmentSpec {
                version: round.version,
                error: 0,
                leader: &round.leader,
                leader_url: &round.leader_url,
                config_offset: round.config_offset,
                assigned: Some(list(items)),
                revoked: Some(Vec::new()),
                delay_ms: 0,
            }),
        };
        encode::subscription(&SubscriptionSpec {
            version: round.version,
            url: &self.url,
            config_offset: round.config_offset,
            claim: claim.filter(|_| round.version > 0),
        })
        .unwrap()
    }

    fn assignment(&self, round: &RoundSpec) -> Vec<u8> {
        encode::assignment(&AssignmentSpec {
            version: round.version,
            error: round.error,
            leader: &round.leader,
            leader_url: &round.leader_url,
            config_offset: round.config_offset,
            assigned: Some(list(&self.add)),
            revoked: (round.version > 0).then(|| list(&self.rev)),
            delay_ms: round.delay_ms,
        })
        .unwrap()
    }
}

fn id_of(name: &str) -> String {
    match name.split_once('#') {
        Some((worker, process)) => format!("{worker}-{process}"),
        None => format!("{name}-1"),
    }
}

fn list(text: &str) -> Items<'_> {
    items_of(
        text.split(',')
            .filter(|item| !item.is_empty() && *item != "-")
            .map(|item| {
                match item
                    .rsplit_once('-')
                    .map(|(name, task)| (name, task.parse::<i32>()))
                {
                    Some((name, Ok(task))) => (name, task),
                    _ => (item, -1),
                }
            }),
    )
}

/// What `redact` leaves of a configuration.
fn redacted() -> String {
    let mut contents = evenkeel_core::wire::contents::Contents::new([0; 16], 0);
    let value = evenkeel_core::wire::redact::redact_config(
        b"connector-x",
        Some(br#"{"properties":{"connector.class":"X"}}"#),
        &mut contents,
    );
    String::from_utf8(value.into_value().unwrap()).unwrap()
}

fn topic_index(topic: Topic) -> usize {
    Topic::ALL.iter().position(|each| *each == topic).unwrap()
}

fn seconds(at: EventTime) -> String {
    let text = format!("{:.3}", (at.0 - BASE_MS) as f64 / 1000.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn print_change(out: &mut String, engine: &Engine, change: &Change) {
    match change {
        Change::Settled(round) => {
            let round = engine.describe(round);
            writeln!(
                out,
                "gen {} {} by {}",
                round.generation,
                round.outcome.map_or("open", |outcome| outcome.label()),
                round
                    .settled_by
                    .unwrap_or("-")
                    .trim_start_matches("generation "),
            )
            .unwrap();
        }
        Change::Missing {
            first,
            count,
            outcome,
        } => {
            writeln!(out, "missing {count} from {first}: {}", outcome.label()).unwrap();
        }
        Change::Created {
            incarnation,
            generation,
        } => {
            writeln!(
                out,
                "incarnation {incarnation} from generation {generation}"
            )
            .unwrap();
        }
        Change::Deleted => writeln!(out, "deleted").unwrap(),
        Change::CaughtUp { .. } => {}
    }
}

fn print_answers(out: &mut String, answers: &Answers) {
    match &answers.group {
        None => writeln!(out, "no group").unwrap(),
        Some(group) => {
            let protocol = group.protocol.map_or("-", |protocol| protocol.label());
            let leader = group
                .leader
                .as_deref()
                .unwrap_or("-")
                .trim_end_matches(":8083");
            writeln!(
                out,
                "{} {} {protocol} led by {leader}",
                group.state.label(),
                group.generation
            )
            .unwrap();
            if let Some(workers) = &group.downgraded {
                let workers: Vec<&str> = workers
                    .iter()
                    .map(|worker| worker.trim_end_matches(":8083"))
                    .collect();
                writeln!(out, "downgraded by {}", workers.join(",")).unwrap();
            }
            for member in &group.members {
                let owned: Vec<String> = member.owned.iter().map(item_text).collect();
                let worker = member.worker.trim_end_matches(":8083");
                writeln!(out, "{worker} owns {}", owned.join(",")).unwrap();
            }
        }
    }
    for unassigned in &answers.unassigned {
        let since = unassigned.since.map_or_else(|| "?".to_owned(), seconds);
        let owner = unassigned
            .last_owner
            .as_deref()
            .unwrap_or("-")
            .trim_end_matches(":8083");
        writeln!(
            out,
            "unassigned {} {} since {since} of {owner}",
            item_text(&unassigned.item),
            unassigned.reason.label(),
        )
        .unwrap();
    }
    if let Some(deadline) = answers.deadline {
        writeln!(
            out,
            "deadline {} {}",
            seconds(deadline.at),
            deadline.reason.label()
        )
        .unwrap();
    }
    let counters = &answers.counters;
    let mut counted: Vec<String> = Vec::new();
    counted.extend(
        counters
            .generations
            .iter()
            .map(|(k, v)| format!("{}={v}", k.label())),
    );
    counted.extend(
        counters
            .revocations
            .iter()
            .map(|((kind, how), v)| format!("revoked.{kind}.{}={v}", how.label())),
    );
    counted.extend(
        counters
            .assignments
            .iter()
            .map(|(kind, v)| format!("assigned.{kind}={v}")),
    );
    counted.extend(
        counters
            .assignment_errors
            .iter()
            .map(|(error, v)| format!("{}={v}", error.label())),
    );
    if counters.leader_changes > 0 {
        counted.push(format!("leaders={}", counters.leader_changes));
    }
    writeln!(out, "counted {}", counted.join(" ")).unwrap();
    for finding in &answers.findings {
        writeln!(out, "finding {} {}", finding.finding, finding.subject).unwrap();
    }
}

fn item_text(item: &evenkeel_core::answers::ItemAnswer) -> String {
    match item.task {
        Some(task) => format!("{}-{task}", item.connector),
        None => item.connector.to_string(),
    }
}
