//! A storm: 250 generations a second of twelve items, for as much of a day as fits into
//! two minutes of processor time, or for as many hours as are asked for. Time is simulated.

use anyhow::ensure;
use evenkeel_core::answers::Outcome;
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Ends, Input, InputKind, Record, Settings, Start, Topic};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};

use crate::fleet::{Fleet, GROUP};
use crate::report::{Held, Report, short};
use crate::stopwatch::thread_cpu_s;
use crate::{Scale, process};

const BASE_MS: i64 = 1_700_000_000_000;
const PER_SECOND: i64 = 250;
const HOUR_S: i64 = 3_600;

/// As the agent's loop does it (`run/group.rs`).
const PUBLISH_EVERY_MS: i64 = 50;
const ASK_AFTER_MS_MIN: i64 = 100;
const ENDS_EVERY_MS: i64 = 10_000;

pub(crate) fn run(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let mut storm = Storm::new()?;
    report.settings(
        "storm",
        "250 generations/s, 3 workers, 3 connectors, 9 tasks; \
         one item of each worker moves in every round",
    );
    report.settings(
        "engine",
        "answers projected 20 times a second, ends asked for as the agent does; no reader, no HTTP",
    );
    let cpu_max_s = match scale.hours {
        Some(_) => f64::INFINITY,
        None => scale.of(110.0, 5.0),
    };
    let hours = scale.hours.unwrap_or(24);
    // How many rounds wait for the next question changes all the time, and with them the
    // size of the state: the peak of one span is compared with the peak of what follows.
    let look_every_s = scale.of(61, 7);
    // All windows (30 minutes at most) have filled up once.
    let warm_s = scale.of(HOUR_S, 60);
    let (mut early, mut late) = (Size::default(), Size::default());
    let began = thread_cpu_s();
    while storm.seconds < hours * HOUR_S && thread_cpu_s() - began < cpu_max_s {
        storm.second()?;
        if storm.seconds < warm_s || storm.seconds % look_every_s != 0 {
            continue;
        }
        let size = storm.size()?;
        if storm.seconds < 2 * warm_s {
            early = early.max(size);
        } else {
            late = late.max(size);
        }
    }
    let core = storm.cpu_s / storm.seconds as f64 * 100.0;
    let hours = storm.seconds as f64 / 3_600.0;
    report.row(
        "engine in a storm of 250 generations/s",
        (
            format!("{} % of a core", short(core)),
            format!("{} µs a generation", short(core * 1e4 / PER_SECOND as f64)),
        ),
        ("≤ 5 % of a core", Held::of(core <= 5.0)),
    );
    storm.quiet();
    let [completed, aborted, unknown] =
        [Outcome::Completed, Outcome::Aborted, Outcome::Unknown].map(|how| storm.ended(how));
    let written = u64::try_from(storm.records)?;
    report.row(
        "storm: every generation accounted for",
        (
            format!(
                "{written} written: {completed} completed, {aborted} aborted, {unknown} unknown, \
                 {} without a record",
                storm.missing
            ),
            format!("{} h simulated", short(hours)),
        ),
        (
            "each counted once, with a known end",
            Held::of(storm.missing == 0 && unknown == 0 && completed + aborted == written),
        ),
    );
    if late.state == 0 {
        report.note("too slow for a comparison of memory");
        return Ok(());
    }
    let told = |size: Size| {
        format!(
            "at most state {} KiB, process {} MiB",
            size.state / 1024,
            short(size.resident / 1024.0)
        )
    };
    let flat = late.state <= early.state * 11 / 10 && late.resident <= early.resident * 1.1;
    let warm_h = warm_s as f64 / 3_600.0;
    report.row(
        "storm: memory",
        (
            format!(
                "{} from {} h to {} h",
                told(late),
                short(warm_h * 2.0),
                short(hours)
            ),
            format!(
                "{} from {} h to {} h",
                told(early),
                short(warm_h),
                short(warm_h * 2.0)
            ),
        ),
        (
            "flat over 24 h",
            // In a quick run the windows are still filling.
            if scale.quick {
                Held::None
            } else {
                Held::of(flat)
            },
        ),
    );
    Ok(())
}

#[derive(Debug, Clone, Copy, Default)]
struct Size {
    /// Bytes of the engine's state, written down.
    state: usize,
    /// Resident KiB of this process.
    resident: f64,
}

// === impl Size ===

impl Size {
    fn max(self, other: Size) -> Size {
        Size {
            state: self.state.max(other.state),
            resident: self.resident.max(other.resident),
        }
    }
}

struct Storm {
    engine: Engine,
    fleet: Fleet,
    key: Vec<u8>,
    seconds: i64,
    records: i64,
    /// Of the records, those that the engine has.
    taken: i64,
    ask_at_ms: i64,
    ask_after_ms: i64,
    configs: i64,
    missing: u64,
    /// What the engine alone took.
    cpu_s: f64,
}

// === impl Storm ===

impl Storm {
    fn new() -> anyhow::Result<Storm> {
        let mut storm = Storm {
            engine: Engine::new(),
            fleet: Fleet::new(3, 3, 3),
            key: Fleet::key()?,
            seconds: 0,
            records: 0,
            taken: 0,
            ask_at_ms: 0,
            ask_after_ms: ASK_AFTER_MS_MIN,
            configs: 0,
            missing: 0,
            cpu_s: 0.0,
        };
        storm.take(
            BASE_MS,
            InputKind::Settings(Settings {
                group: GROUP.to_owned(),
                offsets_topic: "__consumer_offsets".to_owned(),
                config_topic: "connect-configs".to_owned(),
                config_partitions: 1,
                status_topic: "connect-status".to_owned(),
                status_partitions: 1,
                ..Settings::default()
            }),
        );
        for topic in Topic::ALL {
            storm.take(
                BASE_MS,
                InputKind::Start(Start {
                    topic,
                    partition: 0,
                    offset: 0,
                    end: 0,
                    anew: false,
                }),
            );
        }
        for (key, value) in storm.fleet.configs() {
            let offset = storm.configs;
            storm.configs += 1;
            storm.take(
                BASE_MS,
                record(Topic::Config, offset, BASE_MS, (key, value)),
            );
        }
        Ok(storm)
    }

    fn take(&mut self, at_ms: i64, kind: InputKind) {
        let at = ArrivalTime(at_ms);
        for change in self.engine.apply(&Input { at, kind }) {
            if let Change::Missing { count, .. } = change {
                self.missing += count;
            }
        }
    }

    /// One simulated second. The records are written before the stopwatch runs.
    fn second(&mut self) -> anyhow::Result<()> {
        let mut inputs = Vec::new();
        for number in 0..PER_SECOND {
            let now_ms = BASE_MS + 1_000 + self.seconds * 1_000 + number * 1_000 / PER_SECOND;
            let value = self.fleet.round(1, now_ms)?;
            let pair = (self.key.clone(), value);
            inputs.push((
                now_ms + 1,
                record(Topic::Offsets, self.records, now_ms, pair),
            ));
            self.records += 1;
        }
        let cpu = thread_cpu_s();
        let mut published_ms = 0;
        for (at_ms, kind) in inputs {
            self.taken += 1;
            self.take(at_ms, kind);
            self.ask(at_ms);
            if at_ms - published_ms >= PUBLISH_EVERY_MS {
                published_ms = at_ms;
                std::hint::black_box(self.engine.answers());
            }
        }
        self.seconds += 1;
        let at_ms = BASE_MS + 1_000 + self.seconds * 1_000;
        self.take(at_ms, InputKind::Tick);
        self.cpu_s += thread_cpu_s() - cpu;
        Ok(())
    }

    /// The storm is over, and everything that waited is judged: a round is proven by the
    /// quiet after it once two rebalance timeouts have passed.
    fn quiet(&mut self) {
        for second in 1..=180 {
            let at_ms = BASE_MS + 1_000 + (self.seconds + second) * 1_000;
            self.take(at_ms, InputKind::Tick);
            self.ask(at_ms);
        }
    }

    /// Asks for ends when the agent's loop would (`run/group.rs`): soon while a verdict
    /// waits, and each time twice as late. All that was written is read.
    fn ask(&mut self, at_ms: i64) {
        if !self.engine.wants_ends() {
            (self.ask_at_ms, self.ask_after_ms) = (at_ms, ASK_AFTER_MS_MIN);
        }
        if at_ms < self.ask_at_ms {
            return;
        }
        self.ask_at_ms = at_ms + self.ask_after_ms;
        self.ask_after_ms = (self.ask_after_ms * 2).min(ENDS_EVERY_MS);
        for (topic, end) in [
            (Topic::Offsets, self.taken),
            (Topic::Config, self.configs),
            (Topic::Status, 0),
        ] {
            let asked = ArrivalTime(at_ms + 1);
            let ends = vec![(0, end)];
            self.take(at_ms + 2, InputKind::Ends(Ends { topic, asked, ends }));
        }
    }

    /// How many generations ended so, as the answers count them.
    fn ended(&self, outcome: Outcome) -> u64 {
        let counters = self.engine.answers().counters;
        counters.generations_of(outcome)
    }

    fn size(&self) -> anyhow::Result<Size> {
        let state = serde_json::to_vec(self.engine.state())?.len();
        ensure!(state > 0, "an engine without a state");
        let resident = process::memory(std::process::id())?.resident_kib;
        Ok(Size { state, resident })
    }
}

fn record(topic: Topic, offset: i64, now_ms: i64, (key, value): (Vec<u8>, Vec<u8>)) -> InputKind {
    InputKind::Record(Record {
        topic,
        partition: 0,
        offset,
        leader_epoch: Some(0),
        timestamp: Some(EventTime(now_ms)),
        append_time: false,
        key: Some(key),
        value: Some(value),
    })
}
