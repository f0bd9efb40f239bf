//! A night as Prometheus would have scraped it: a capture derived again, an agent beside each
//! of its first workers, a scrape every few seconds of event time, and a while after it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use evenkeel::read::capture::CaptureReader;
use evenkeel::show::exposition::{Format, encode};
use evenkeel::show::families::families;
use evenkeel::show::process::ProcessStats;
use evenkeel::show::view::{
    AgentStats, BuildInfo, CertificateUse, InputStats, PollStats, ReloadStats, StartUp, TraceStats,
    View,
};
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{Input, InputKind, Topic};
use evenkeel_core::facts::poll::{PollAnswer, Polled};
use evenkeel_core::facts::time::ArrivalTime;
use evenkeel_testbed::history::STEP_S;

/// How long the group is watched after the capture ends: what settles after ten minutes
/// without a word settles in it.
const AFTER_MS: i64 = 12 * 60_000;

/// Agents: one worker of a group of three stays without.
const COPIES: usize = 2;

/// What one capture gave.
pub(super) struct Night {
    /// The capture, which is the label `cluster` of its series.
    pub(super) name: String,
    /// First and last scrape, in seconds.
    pub(super) from: i64,
    pub(super) to: i64,
    /// When the capture itself ended.
    pub(super) recorded_to: i64,
    /// The samples, each with its instant.
    pub(super) samples: String,
}

/// Derives a capture again.
pub(super) fn night(capture: &Path) -> Night {
    let name = crate::replays::name(capture);
    let inputs: Vec<Input> = CaptureReader::open(capture)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let begin = inputs.first().unwrap().at.0;
    let end = inputs.last().unwrap().at.0;
    let mut samples = String::new();
    let beside = workers(&inputs);
    for (copy, worker) in beside.iter().enumerate().take(COPIES) {
        let mut agent = Agent::new(&name, copy, worker, begin);
        agent.watch(&inputs, end, &mut samples);
    }
    Night {
        name,
        from: begin / 1000,
        to: (end + AFTER_MS) / 1000,
        recorded_to: end / 1000,
        samples,
    }
}

/// All workers that were ever a member, by their `host:port`.
fn workers(inputs: &[Input]) -> Vec<String> {
    let mut engine = Engine::new();
    let mut found = Vec::new();
    for input in inputs {
        engine.apply(input);
        if !matches!(input.kind, InputKind::Record(_)) {
            continue;
        }
        for member in engine
            .answers()
            .group
            .iter()
            .flat_map(|group| &group.members)
        {
            let worker = member.worker.to_string();
            if !found.contains(&worker) {
                found.push(worker);
            }
        }
    }
    if found.is_empty() {
        found.push("nobody:8083".to_owned());
    }
    found
}

/// One sidecar.
struct Agent {
    labels: String,
    worker: String,
    engine: Engine,
    begin: i64,
    read: BTreeMap<Topic, u64>,
    answered: [u64; 3],
    failed: u64,
    /// The newest answer of the coordinator: afterwards it goes on saying so.
    polled: Option<Polled>,
}

impl Agent {
    fn new(cluster: &str, copy: usize, worker: &str, begin: i64) -> Agent {
        Agent {
            labels: format!(
                "job=\"evenkeel\",cluster=\"{cluster}\",namespace=\"kafka\",pod=\"connect-{copy}\",instance=\"10.0.0.{}:9790\"",
                copy + 1
            ),
            worker: worker.to_owned(),
            engine: Engine::new(),
            begin,
            read: BTreeMap::new(),
            answered: [0; 3],
            failed: 0,
            polled: None,
        }
    }

    fn watch(&mut self, inputs: &[Input], end: i64, samples: &mut String) {
        let step = i64::try_from(STEP_S).unwrap() * 1000;
        let mut rest = inputs;
        let mut now = self.begin + step;
        while now <= end + AFTER_MS {
            while let Some((input, others)) = rest.split_first()
                && input.at.0 <= now
            {
                self.apply(input);
                rest = others;
            }
            if now > end {
                self.go_on(ArrivalTime(now));
            }
            self.scrape(now, samples);
            now += step;
        }
    }

    fn apply(&mut self, input: &Input) {
        let mut input = input.clone();
        match &mut input.kind {
            InputKind::Settings(settings) => settings.own_worker = Some(self.worker.clone()),
            InputKind::Record(record) => *self.read.entry(record.topic).or_default() += 1,
            InputKind::Polled(polled) => match &polled.answer {
                PollAnswer::Listed(_) => self.answered[1] += 1,
                PollAnswer::Described(_) => self.answered[2] += 1,
                PollAnswer::Failed(_) => self.failed += 1,
            },
            _ => {}
        }
        if let InputKind::Polled(polled) = &input.kind
            && !matches!(polled.answer, PollAnswer::Failed(_))
        {
            self.polled = Some(polled.clone());
        }
        self.engine.apply(&input);
    }

    /// Nothing more happens: every topic ends where it did.
    fn go_on(&mut self, now: ArrivalTime) {
        for mut input in self.engine.ends_here() {
            input.at = now;
            if let InputKind::Ends(ends) = &mut input.kind {
                ends.asked = now;
            }
            self.engine.apply(&input);
        }
        if let Some(polled) = &self.polled {
            let polled = Polled {
                asked: now,
                ..polled.clone()
            };
            let kind = InputKind::Polled(polled);
            self.engine.apply(&Input { at: now, kind });
        }
        self.engine.apply(&Input {
            at: now,
            kind: InputKind::Tick,
        });
    }

    fn scrape(&self, now: i64, samples: &mut String) {
        let answers = Arc::new(self.engine.answers());
        let view = View {
            agent: self.stats(&Arc::from(&*answers.settings.group), now),
            groups: vec![answers],
            process: Some(self.process(now)),
            now: Some(ArrivalTime(now)),
            ..View::default()
        };
        let text = encode(&families(&view), Format::OpenMetrics);
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            // Exemplars are no answers, and promtool takes none.
            let sample = line.split_once(" # ").map_or(line, |(sample, _)| sample);
            super::series::line(samples, sample, &self.labels, now);
        }
    }

    /// What the shell would count; no capture holds it.
    fn stats(&self, group: &Arc<str>, now: i64) -> AgentStats {
        let since = now - self.begin;
        let inputs = Topic::ALL.map(|topic| InputStats {
            group: group.clone(),
            topic,
            records_read: self.read.get(&topic).copied().unwrap_or_default(),
            start_up: (topic == Topic::Offsets && since < 20_000).then(|| StartUp {
                done: since.unsigned_abs(),
                total: 20_000,
                rate: Some(1000.0),
            }),
        });
        AgentStats {
            build: BuildInfo {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                librdkafka: "2.12.1".to_owned(),
            },
            inputs: inputs.to_vec(),
            polls: vec![PollStats {
                group: group.clone(),
                answered: self.answered,
                failed: self.failed,
                off: None,
            }],
            reloads: ReloadStats {
                ok: u64::from(since > 60_000),
                failed: u64::from(since > 90_000),
            },
            traces: Some(TraceStats {
                exported: since.unsigned_abs() / 1000,
                failed: u64::from(since > 60_000) * 2,
                dropped: u64::from(since > 90_000) * 7,
                waiting: u64::from((60_000..120_000).contains(&since)) * 12,
            }),
            expiries: BTreeMap::from([(CertificateUse::Client, self.begin / 1000 + 90 * 86_400)]),
            ..AgentStats::default()
        }
    }

    fn process(&self, now: i64) -> ProcessStats {
        let since = u32::try_from((now - self.begin) / 1000).unwrap();
        ProcessStats::from_iter([
            ("process_cpu_seconds_total", f64::from(since / 300)),
            ("process_open_fds", 24.0),
            ("process_max_fds", 1024.0),
            ("process_virtual_memory_bytes", 180e6),
            (
                "process_resident_memory_bytes",
                16e6 + f64::from(since) * 100.0,
            ),
            ("process_start_time_seconds", (self.begin / 1000) as f64),
            ("process_threads", 5.0),
        ])
    }
}
