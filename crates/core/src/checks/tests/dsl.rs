//! What is known of a group, in lines of words:
//!
//! - `worker NAME KEY=VALUE…`: its file, whole; `member NAME KEY=NUMBER…`: what it told, and
//!   no file; `told NAME KEY=NUMBER…`: what a worker with a file told besides
//! - `advertised NAME ADDRESS`, `deployment NAME RESOURCE`, `grace NAME MS`, `held NAME MS`, `replicas NAME COUNT`, `release RELEASE`
//!   (of all; `none`; `assumed`, which is the newest)
//! - `alone NAME`: nothing else sets it up; `variable NAME SETTING VARIABLE`: as it is written
//! - `group NAME`, `count N`, `hosts N`, `neighbour NAME SETTING=TOPIC…`
//! - `live FIELD NUMBER`, `delays NUMBER…`: records, measurements, brokers
//! - `topic SETTING NAME FIELD=NUMBER…`, `topics`; `sink NAME FIELD=NUMBER…`;
//!   `producer NAME FIELD=NUMBER…`, `producers`

use crate::checks::known::{Given, Known, Neighbour, Producer, Sink, Topic, Unknown, Worker};
use crate::checks::releases::tables;
use crate::checks::source::{Source, Value};
use crate::checks::spelling::{Spelling, VARIABLE_PREFIX};
use crate::facts::observation::Override;

pub(super) fn known(text: &str) -> Known {
    let mut known = Known::default();
    let mut release = Some(tables().newest());
    let mut is_assumed = false;
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let Some(kind) = words.next() else { continue };
        let rest: Vec<&str> = words.collect();
        if kind == "release" {
            is_assumed = rest[0] == "assumed";
            release = match rest[0] {
                "none" => None,
                "assumed" => Some(tables().newest()),
                release => Some(release.parse().unwrap()),
            };
            continue;
        }
        read(&mut known, kind, &rest, index + 1);
    }
    for worker in &mut known.workers {
        worker.release = release.map(|release| match is_assumed {
            true => Value::new(release, Source::Default { release }),
            false => Value::new(release, Source::Said),
        });
    }
    known
}

fn read(known: &mut Known, kind: &str, rest: &[&str], line: usize) {
    let at = Source::File {
        file: "test".to_owned(),
        line: Some(line),
    };
    let pairs = |words: &[&str]| -> Vec<(String, String)> {
        let pairs = words.iter().map(|word| word.split_once('=').unwrap());
        pairs
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    };
    let numbers = |words: &[&str]| -> Vec<(String, Value<i64>)> {
        let pairs = pairs(words).into_iter();
        let value = |text: &str| Some(Value::new(text.parse().ok()?, Source::Broker));
        pairs
            .filter_map(|(key, text)| Some((key, value(&text)?)))
            .collect()
    };
    match kind {
        "worker" => known.workers.push(Worker {
            name: rest[0].to_owned(),
            settings: pairs(&rest[1..])
                .into_iter()
                .map(|(key, value)| (key, given(&value, &at)))
                .collect(),
            is_complete: true,
            ..Worker::default()
        }),
        "member" => known.workers.push(Worker {
            name: rest[0].to_owned(),
            told: numbers(&rest[1..]).into_iter().collect(),
            ..Worker::default()
        }),
        "told" => worker(known, rest[0]).told = numbers(&rest[1..]).into_iter().collect(),
        "advertised" => {
            worker(known, rest[0]).advertised = Some(Value::new(rest[1].to_owned(), at));
        }
        "alone" => worker(known, rest[0]).is_started_so = true,
        "variable" => {
            let given = worker(known, rest[0]).settings.get_mut(rest[1]).unwrap();
            given.variable = Some(rest[2].to_owned());
            worker(known, rest[0]).spelling = if rest[2].starts_with(VARIABLE_PREFIX) {
                Spelling::Prefixed
            } else {
                Spelling::Debezium
            };
        }
        "deployment" => {
            worker(known, rest[0]).deployment = Some(Value::new(rest[1].to_owned(), at));
        }
        "grace" => worker(known, rest[0]).grace_ms = number(rest[1], at),
        "replicas" => worker(known, rest[0]).replicas = number(rest[1], at),
        "group" => known.group = Some(Value::new(rest[0].to_owned(), at)),
        "count" => known.worker_count = number(rest[0], at),
        "hosts" => known.hosts = number(rest[0], at),
        "neighbour" => known.neighbours.push(Neighbour {
            group: rest[0].to_owned(),
            topics: pairs(&rest[1..])
                .into_iter()
                .map(|(setting, topic)| (setting_named(&setting), Value::new(topic, at.clone())))
                .collect(),
        }),
        "delays" => {
            let delays = rest.iter().filter_map(|delay| number(delay, at.clone()));
            known.records.leader_delays = Some(delays.collect());
        }
        "live" => live(
            known,
            rest[0],
            Value::new(rest[1].parse().unwrap(), Source::Broker),
        ),
        "topics" => known.broker.topics = Some(Vec::new()),
        "topic" => {
            let fields = numbers(&rest[2..]);
            let field = |name| {
                fields
                    .iter()
                    .find(|(field, _)| field == name)
                    .map(|(_, value)| value.clone())
            };
            let word = |name: &str| {
                let mut pairs = rest[2..].iter().filter_map(|word| word.split_once('='));
                let (_, value) = pairs.find(|(field, _)| *field == name)?;
                Some(Value::new(value.to_owned(), Source::Broker))
            };
            let topic = Topic {
                setting: setting_named(rest[0]),
                name: rest[1].to_owned(),
                partitions: field("partitions"),
                cleanup: word("cleanup"),
                replicas: field("replicas"),
            };
            known.broker.topics.get_or_insert_default().push(topic);
        }
        "sink" => {
            let fields = numbers(&rest[1..]);
            let field = |name| {
                fields
                    .iter()
                    .find(|(field, _)| field == name)
                    .map(|(_, value)| value.clone())
            };
            known.sinks.get_or_insert_default().push(Sink {
                connector: rest[0].to_owned(),
                session_ms: field("session_ms"),
                poll_interval_ms: field("poll_interval_ms"),
                poll_gap_ms: field("poll_gap_ms"),
            });
        }
        "producers" => known.producers = Some(Vec::new()),
        "producer" => {
            let fields = pairs(&rest[1..]);
            let field = |name| match fields.iter().find(|(field, _)| field == name) {
                None => Override::Unset,
                Some((_, text)) => text.parse().map_or(Override::Untold, Override::To),
            };
            known.producers.get_or_insert_default().push(Producer {
                connector: rest[0].to_owned(),
                delivery: field("delivery_ms"),
                request: field("request_ms"),
                topic: "configs".to_owned(),
            });
        }
        "held" => {
            worker(known, rest[0]).held_up_ms = number(rest[1], Source::Measured { count: 1 });
        }
        _ => panic!("line {line}: no {kind:?}"),
    }
}

/// `?` is looked up elsewhere, `+` goes on with the next line.
fn given(value: &str, at: &Source) -> Given {
    let text = match value {
        "?" => Err(Unknown::Reference),
        "+" => Err(Unknown::Swallowed),
        text => Ok(text.to_owned()),
    };
    Given {
        text,
        source: at.clone(),
        variable: None,
    }
}

fn number(text: &str, at: Source) -> Option<Value<i64>> {
    Some(Value::new(text.parse().unwrap(), at))
}

fn worker<'a>(known: &'a mut Known, name: &str) -> &'a mut Worker {
    let mut workers = known.workers.iter_mut();
    workers.find(|worker| worker.name == name).unwrap()
}

fn setting_named(name: &str) -> &'static str {
    let settings = [
        "config.storage.topic",
        "offset.storage.topic",
        "status.storage.topic",
    ];
    settings
        .into_iter()
        .find(|setting| *setting == name)
        .unwrap()
}

fn live(known: &mut Known, field: &str, value: Value<i64>) {
    let (records, measured, broker) = (&mut known.records, &mut known.measured, &mut known.broker);
    let place = match field {
        "delay_at_loss" => &mut records.delay_at_loss,
        "leader_changed_at_loss" => &mut records.leader_changed_at_loss,
        "revoked_at_once" => &mut records.revoked_at_once,
        "mismatches" => &mut records.mismatches,
        "behind_in_a_row" => &mut records.behind_in_a_row,
        "missing_generations" => &mut records.missing_generations,
        "protocol" => &mut records.protocol,
        "protocol_best" => &mut records.protocol_best,
        "record_bytes" => &mut records.record_bytes,
        "key_age_ms" => &mut records.key_age_ms,
        "stray_running_ms" => &mut records.stray_running_ms,
        "restart_ms" => &mut measured.restart_ms,
        "stop_ms" => &mut measured.stop_ms,
        "rebalance_ms" => &mut measured.rebalance_ms,
        "sync_ms" => &mut measured.sync_ms,
        "start_spread_ms" => &mut measured.start_spread_ms,
        "brokers" => &mut broker.count,
        "session_min_ms" => &mut broker.session_min_ms,
        "session_max_ms" => &mut broker.session_max_ms,
        "initial_delay_ms" => &mut broker.initial_delay_ms,
        "record_bytes_max" => &mut broker.record_bytes_max,
        _ => panic!("no {field:?}"),
    };
    *place = Some(value);
}
