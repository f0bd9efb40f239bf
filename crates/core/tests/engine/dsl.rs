//! The language of the scenarios. One line, one input, at a time in seconds:
//!
//! ```text
//! 0.0  config connector foo content=1  a record of the config topic, its content by number; also: task foo-0 |
//!                                      connector foo producer.override.… | commit foo 2 | delete foo | target foo STOPPED | key |
//!                                      sink foo | sink foo its.consumers.group
//! 0.1  config tasks foo 2              two task records and their commit
//! 1.0  group 1 sessioned a off=3 delay=0 join=0.9 | a: claim=none add=foo,foo-0 rev= | b: ...
//!                                      stamped=9: a record whose time is another; epoch=1
//! 1.0  group 2 empty                   a record without members
//! 1.0  group gone                      a tombstone
//! 1.0  group unreadable                a record of an unknown version
//! 2.0  status foo-0 RUNNING a 1        worker and generation; stamped=9 as above
//! 2.0  status foo-0 gone
//! 2.5  ends                            everything is read up to the ends asked now; also of one
//!                                      topic alone: ends offsets
//! 2.5  show                            print the state now
//! 2.5  story                           print the episodes alone; nothing else is printed then
//! 2.5  costs                           print what it cost, and what is down now; likewise
//! 2.5  balance                         print how evenly work is spread; also: pattern, habits,
//!                                      moves, states, disagreements, checks (those that fire)
//! 2.5  sampled 40                      so many group records are left out; `sampled off`: none any more
//! 3.0  access offsets denied           a topic became unreadable, or `ok`
//! 3.1  poll stable sessioned a off=3 | a: claim=foo | ...    a description; also: poll
//!                                      empty | dead | preparing | listed none |
//!                                      listed preparing | failed denied
//! 3.2  own a 192.0.2.1                 the worker and the addresses beside the agent, and
//!                                      `name=value` of its file
//! 3.2  cluster 3 name=1 | config configs 1 3 cleanup.policy=compact | ...    what brokers say:
//!                                      how many, settings of the coordinator; topics with
//!                                      partitions, replicas, settings; `denied`: not told
//! 3.2  mode                            print what can be seen, and the state by polls
//! ```
//! The member `a` has id `a-1`, URL `http://a:8083/`; `a#2` is another process of the
//! same worker. `host=192.0.2.7` is where it connects from, `type=consumer` among the
//! words of a group or poll another type of group.
//! `claim=none` is a null claim, `claim=-` an empty one; `missed` among a member's words says
//! that it did not receive the round before, whose marks its claim would carry. The first group
//! record that is at or after `live` is watched, those before are history.

mod cluster;
mod group;
mod poll;
mod print;
mod story;
mod tell;

use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{Ends, Input, InputKind, Record, Settings, Start, Topic};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};
use evenkeel_core::wire::encode;
use print::{print_answers, print_change, print_mode};
pub(crate) use tell::told;

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
    let printed_lines: Vec<&str> = printed.lines().map(str::trim).collect();
    assert_eq!(printed_lines, expected, "\n--- the engine says:\n{printed}");
}

/// Feeds the scenario; returns what `show` lines and the end print.
pub(crate) fn run(scenario: &str) -> String {
    run_on(Engine::new(), scenario)
}

/// The same on an engine that may lack a rule.
pub(crate) fn run_on(mut engine: Engine, scenario: &str) -> String {
    let mut out = String::new();
    for step in inputs(scenario) {
        match step {
            Step::Input(input) => {
                for change in engine.apply(&input) {
                    print_change(&mut out, &engine, &change);
                }
            }
            Step::Show => print_answers(&mut out, &engine.answers()),
            Step::Mode => print_mode(&mut out, &engine.answers()),
            Step::Costs => {
                out.clear();
                story::print_costs(&mut out, &engine.answers());
            }
            Step::Tell(what) => tell::print(&mut out, what, &engine.answers()),
            Step::Story => {
                out.clear();
                story::print_story(&mut out, &engine.answers());
            }
        }
    }
    out
}

/// One step of a scenario.
#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // A scenario has dozens.
pub(crate) enum Step {
    Input(Input),
    Show,
    Mode,
    Story,
    Costs,
    Tell(tell::What),
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
    /// Topics that cannot be read: nothing is said of their ends.
    hidden: Vec<Topic>,
    /// The rounds so far.
    last: Vec<group::RoundSpec>,
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
            "status" => {
                let unstamped = words[1..].iter().copied();
                let unstamped = unstamped.filter(|word| !word.starts_with("stamped="));
                let mut step = self.status(at, &unstamped.collect::<Vec<_>>());
                stamp(&mut step, rest);
                vec![step]
            }
            "group" => vec![self.group(at, rest)],
            "ends" => self.ends(at, words.get(1).copied()),
            "live" => Vec::new(),
            "skip" => {
                self.next[topic_index(Topic::Config)] += words[1].parse::<i64>().unwrap();
                Vec::new()
            }
            "show" => vec![Step::Show],
            "mode" => vec![Step::Mode],
            "story" => vec![Step::Story],
            "costs" => vec![Step::Costs],
            "balance" => vec![Step::Tell(tell::What::Balance)],
            "pattern" => vec![Step::Tell(tell::What::Pattern)],
            "habits" => vec![Step::Tell(tell::What::Habits)],
            "checks" => vec![Step::Tell(tell::What::Checks)],
            "moves" => vec![Step::Tell(tell::What::Moves)],
            "states" => vec![Step::Tell(tell::What::States)],
            "disagreements" => vec![Step::Tell(tell::What::Disagreements)],
            "access" => {
                self.hidden.retain(|topic| topic.label() != words[1]);
                if words[2] != "ok" {
                    self.hidden
                        .extend(Topic::ALL.iter().filter(|t| t.label() == words[1]));
                }
                vec![poll::access(at, words[1], words[2])]
            }
            "sampled" => vec![poll::sampled(at, &mut self.next[0], words[1])],
            "poll" => vec![poll::answer(at, rest)],
            "cluster" => vec![cluster::told(at, rest)],
            "own" => vec![poll::own(self.settings(), &words)],
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

    fn ends(&self, at: i64, only: Option<&str>) -> Vec<Step> {
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
        let asked = |topic: &Topic| only.is_none_or(|only| topic.label() == only);
        let seen = Topic::ALL.into_iter();
        let seen = seen.filter(|t| !self.hidden.contains(t) && asked(t));
        for topic in seen.clone() {
            reached.push(Step::Input(Input {
                at: ArrivalTime(at),
                kind: InputKind::Reached(evenkeel_core::facts::input::Reached {
                    topic,
                    partition: 0,
                    offset: self.next[topic_index(topic)],
                }),
            }));
        }
        reached.extend(seen.map(ends));
        reached
    }

    fn config(&mut self, at: i64, words: &[&str]) -> Step {
        let (key, value) = match *words {
            ["connector", name, ref clocks @ ..] if clocks.iter().all(|c| c.contains('.')) => {
                let more = clocks.join("\",\"").replace('=', "\":\"");
                let more = format!(",\"{more}\"").replace(",\"\"", "");
                (format!("connector-{name}"), Some(redacted_of(&more)))
            }
            ["connector", name, content] => {
                let content = format!(r#""content":{}"#, content.trim_start_matches("content="));
                let value = redacted().replace(r#""content":0"#, &content);
                assert!(value.contains(&content), "{value}");
                (format!("connector-{name}"), Some(value))
            }
            ["sink", name] => (
                format!("connector-{name}"),
                Some(redacted_of(r#","topics":"t""#)),
            ),
            ["sink", name, group] => (
                format!("connector-{name}"),
                Some(redacted_of(&format!(
                    r#","topics":"t","consumer.override.group.id":"{group}""#
                ))),
            ),
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
        let value = group::value(at, rest, &mut self.last);
        let mut step = self.record(Topic::Offsets, at, key, value);
        stamp(&mut step, rest);
        let epoch = rest
            .split_whitespace()
            .find_map(|word| word.strip_prefix("epoch="));
        if let (Some(epoch), Step::Input(input)) = (epoch, &mut step)
            && let InputKind::Record(record) = &mut input.kind
        {
            record.leader_epoch = epoch.parse().ok();
        }
        step
    }
}

/// What `redact` leaves of a configuration.
fn redacted() -> String {
    redacted_of("")
}

/// The same of one with more settings.
fn redacted_of(more: &str) -> String {
    let mut contents = evenkeel_core::wire::contents::Contents::new([0; 16], 0);
    let value = evenkeel_core::wire::redact::redact_config(
        b"connector-x",
        Some(format!(r#"{{"properties":{{"connector.class":"X"{more}}}}}"#).as_bytes()),
        &mut contents,
    );
    String::from_utf8(value.into_value().unwrap()).unwrap()
}

fn topic_index(topic: Topic) -> usize {
    Topic::ALL.iter().position(|each| *each == topic).unwrap()
}

/// Gives a record the time that `stamped=` says.
fn stamp(step: &mut Step, rest: &str) {
    let mut words = rest.split_whitespace();
    let stamped = words.find_map(|word| word.strip_prefix("stamped="));
    if let (Some(seconds), Step::Input(input)) = (stamped, step)
        && let InputKind::Record(record) = &mut input.kind
    {
        let ms = (seconds.parse::<f64>().unwrap() * 1000.0).round() as i64;
        record.timestamp = Some(EventTime(BASE_MS + ms));
    }
}
