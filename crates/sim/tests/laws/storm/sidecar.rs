//! One sidecar beside the storm: reads what is written, asks for ends as the agent does,
//! and notes each generation that it is told of.

use evenkeel_core::answers::Outcome;
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Ends, Input, InputKind, Record, Settings, Start, Topic};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};
use evenkeel_core::wire::config_record::ConfigKey;
use evenkeel_core::wire::encode::{group_metadata_key, topics};
use evenkeel_sim::world::{BASE_MS, GROUP};

use super::group::{CONFIG_END, Storm, connectors};

/// As the agent's loop asks.
const ASK_AFTER_MS_MIN: i64 = 100;
const ASK_AFTER_MS_MAX: i64 = 10_000;

/// Answers are made this often.
const PUBLISH_MS: i64 = 1_000;

pub(super) struct Sidecar {
    pub(super) engine: Engine,
    key: Vec<u8>,
    read: i64,
    configs: i64,
    ask_at_ms: i64,
    ask_after_ms: i64,
    publish_at_ms: i64,
    /// By generation: how it ended, each time that it was told.
    told: Vec<Vec<Outcome>>,
}

impl Sidecar {
    pub(super) fn new(storm: &mut Storm) -> Self {
        let mut sidecar = Self {
            engine: Engine::new(),
            key: group_metadata_key(GROUP).unwrap(),
            read: 0,
            configs: 0,
            ask_at_ms: BASE_MS,
            ask_after_ms: ASK_AFTER_MS_MIN,
            publish_at_ms: BASE_MS,
            told: Vec::new(),
        };
        let settings = Settings {
            group: GROUP.to_owned(),
            offsets_topic: "__consumer_offsets".to_owned(),
            config_topic: "connect-configs".to_owned(),
            config_partitions: 1,
            status_topic: "connect-status".to_owned(),
            status_partitions: 1,
            ..Settings::default()
        };
        sidecar.take(BASE_MS, InputKind::Settings(settings));
        for topic in Topic::ALL {
            let start = Start {
                topic,
                partition: 0,
                offset: 0,
                end: 0,
                anew: false,
            };
            sidecar.take(BASE_MS, InputKind::Start(start));
        }
        sidecar.read_configs();
        sidecar.ask(storm.now_ms);
        sidecar
    }

    /// One more round of the storm, read at once.
    pub(super) fn round(&mut self, storm: &mut Storm, ms: i64) {
        storm.round(ms);
        while let Some((at_ms, saved)) = storm.written.pop_front() {
            let pair = (self.key.clone(), saved.encode().unwrap());
            let offset = self.read;
            self.read += 1;
            self.take(at_ms + 1, record(Topic::Offsets, offset, at_ms, pair));
        }
        self.pass(storm.now_ms);
    }

    /// Nothing more is written, for long enough that every timer has fired.
    pub(super) fn quiet(&mut self, storm: &Storm) {
        for second in 1..=300 {
            self.pass(storm.now_ms + second * 1_000);
        }
    }

    /// Each generation was told once, as it ended.
    #[track_caller]
    pub(super) fn each_is_told_once(&self, storm: &Storm) {
        let truth: Vec<Vec<Outcome>> = storm.ended.iter().map(|ended| vec![*ended]).collect();
        for (place, (told, ended)) in self.told.iter().zip(&truth).enumerate() {
            assert_eq!(told, ended, "generation {}", place + 1);
        }
        assert_eq!(self.told.len(), truth.len());
    }

    fn read_configs(&mut self) {
        let pairs = connectors().flat_map(|(connector, tasks)| {
            let connector = connector.as_str();
            let settings = || topics::properties([("name", Some("x"))]);
            let mut pairs = vec![(ConfigKey::Connector { connector }, settings())];
            let task = |task| (ConfigKey::Task { connector, task }, settings());
            pairs.extend((0..tasks).map(task));
            pairs.push((ConfigKey::Commit { connector }, topics::commit(tasks)));
            let written = |(key, value)| (topics::config_key(&key).into_bytes(), value);
            pairs.into_iter().map(written).collect::<Vec<_>>()
        });
        for pair in pairs {
            let offset = self.configs;
            self.configs += 1;
            self.take(BASE_MS, record(Topic::Config, offset, BASE_MS, pair));
        }
        assert_eq!(self.configs, CONFIG_END);
    }

    fn pass(&mut self, now_ms: i64) {
        self.take(now_ms, InputKind::Tick);
        self.ask(now_ms);
        if now_ms >= self.publish_at_ms {
            self.publish_at_ms = now_ms + PUBLISH_MS;
            assert!(self.engine.answers().group.is_some());
        }
    }

    fn ask(&mut self, at_ms: i64) {
        if !self.engine.wants_ends() {
            (self.ask_at_ms, self.ask_after_ms) = (at_ms, ASK_AFTER_MS_MIN);
        }
        if at_ms < self.ask_at_ms {
            return;
        }
        self.ask_at_ms = at_ms + self.ask_after_ms;
        self.ask_after_ms = (self.ask_after_ms * 2).min(ASK_AFTER_MS_MAX);
        for (topic, end) in [
            (Topic::Offsets, self.read),
            (Topic::Config, self.configs),
            (Topic::Status, 0),
        ] {
            let asked = ArrivalTime(at_ms + 1);
            let ends = vec![(0, end)];
            self.take(at_ms + 2, InputKind::Ends(Ends { topic, asked, ends }));
        }
    }

    fn take(&mut self, at_ms: i64, kind: InputKind) {
        let at = ArrivalTime(at_ms);
        for change in self.engine.apply(&Input { at, kind }) {
            match change {
                Change::Settled(round) => {
                    let (outcome, _) = round.outcome.expect("settled");
                    self.note(round.generation, 1, outcome);
                }
                Change::Missing {
                    first,
                    count,
                    outcome,
                } => self.note(first, count, outcome),
                _ => {}
            }
        }
    }

    fn note(&mut self, first: i32, count: u64, outcome: Outcome) {
        let first = usize::try_from(first).unwrap() - 1;
        let end = first + usize::try_from(count).unwrap();
        if self.told.len() < end {
            self.told.resize(end, Vec::new());
        }
        for told in &mut self.told[first..end] {
            told.push(outcome);
        }
    }
}

fn record(topic: Topic, offset: i64, at_ms: i64, (key, value): (Vec<u8>, Vec<u8>)) -> InputKind {
    InputKind::Record(Record {
        topic,
        partition: 0,
        offset,
        leader_epoch: Some(0),
        timestamp: Some(EventTime(at_ms)),
        append_time: false,
        key: Some(key),
        value: Some(value),
    })
}
