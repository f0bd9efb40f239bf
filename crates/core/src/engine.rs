//! One engine, one group: takes inputs, gives answers.
//!
//! `apply` is a function of the engine's state and one input; the state is one
//! serialisable value. No clock is read: time passes by inputs alone, and a timer fires
//! only when it is proven that no record older than it is still unread. So the same
//! inputs give the same answers, on any day, on any machine.

mod balance;
mod checked;
mod clock;
mod counting;
mod disagreements;
mod findings;
mod judge;
mod known;
mod patterns;
mod polls;
mod publish;
mod records;
mod resume;
mod snapshots;
mod states;
mod unowned;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{Answers, ClosingAnswer, Counters, EpisodeAnswer, Outcome, RoundAnswer};
use crate::facts::cluster::Cluster;
use crate::facts::ids::Names;
use crate::facts::input::{Ends, Input, InputKind, Sampled, Settings, Start, Topic};
use crate::facts::observation::GroupSnapshot;
use crate::facts::time::{ArrivalTime, EventTime};
use crate::limits::LAST_STOPS_MS;
use crate::story::barrier::{Progress, Started};
use crate::story::findings::{Findings, Kind};
use crate::story::recent::RecentGenerations;
use crate::story::rounds::{Due, Evidence, Round, Rounds};
use crate::story::switches::{StoryRule, Switches};
use crate::view::configured::Configured;
use crate::view::polled::PolledView;
use crate::view::protocol::ProtocolView;
use crate::view::statuses::Statuses;
use crate::view::unassigned::Ownership;
pub use resume::STATE_VERSION;

/// Derives everything about one group.
#[derive(Debug, Default)]
pub struct Engine {
    state: State,
}

/// Everything an engine knows: one value that can be written down and read back.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    settings: Settings,
    names: Names,
    clock: clock::Clock,
    progress: Progress,
    /// Whether the reader leaves records of the group out.
    sampled: bool,
    tallies: records::Tallies,
    group: GroupNow,
    configured: Configured,
    statuses: Statuses,
    ownership: Ownership,
    protocol: ProtocolView,
    polled: PolledView,
    /// What brokers said last; none where nobody asked or they do not say.
    cluster: Option<Cluster>,
    rounds: Rounds,
    story: judge::Story,
    recent: RecentGenerations,
    counters: Counters,
    findings: Findings,
    weighed: balance::Weighed,
    /// What the checks said last.
    #[serde(skip)]
    checked: checked::Checked,
    /// What arrived that may settle a round.
    #[serde(skip)]
    due: Due,
    /// What the input at hand changed; empty between inputs.
    #[serde(skip)]
    changes: Vec<Change>,
}

/// The newest group record and where it stands in the group's life.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct GroupNow {
    newest: Option<Arc<GroupSnapshot>>,
    /// The config offset that it and all records since one name, where it lies beyond what was
    /// read then, and when the agent had the first of them.
    config_ahead: Option<(i64, ArrivalTime)>,
    /// Whether it was written while the agent watched.
    newest_live: bool,
    /// When the group was deleted, if its newest record says so.
    deleted: Option<EventTime>,
    /// Creations seen; the first record that was read makes it 1.
    incarnation: u32,
    /// When the newest of them began.
    began: Option<EventTime>,
    /// The oldest record that was read.
    history_from: Option<EventTime>,
    /// The config offset of the oldest record that names one.
    seen_from: Option<i64>,
    /// Whether the round before the newest one revoked something.
    revoked_before: bool,
    /// Whether a record since the newest could not be read: numbers are missing here only.
    hole: bool,
    /// Whether records since the newest were left out: any number of them.
    left_out: bool,
}

/// What an input changed: what the log tells a person, and what replays compare.
#[derive(Debug, Clone)]
pub enum Change {
    /// A generation was settled; [`Engine::describe`] says it in names.
    Settled(Box<Round>),
    /// Numbers that left no record.
    Missing {
        /// The first of them.
        first: i32,
        /// How many.
        count: u64,
        /// How they ended.
        outcome: Outcome,
    },
    /// The group was created, as far as the agent saw.
    Created {
        /// How many creations were seen so far.
        incarnation: u32,
        /// The first generation seen of it.
        generation: i32,
    },
    /// The group was deleted.
    Deleted,
    /// An episode began.
    Opened(Box<EpisodeAnswer>),
    /// An episode is over.
    Closed(Arc<EpisodeAnswer>, Box<ClosingAnswer>),
    /// An input was read to the end it had at start.
    CaughtUp {
        /// Which.
        input: Topic,
    },
}

// === impl Engine ===

impl Engine {
    /// An engine that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An engine that goes on where another stood.
    #[must_use]
    pub fn restore(state: State) -> Self {
        Self { state }
    }

    /// Everything this engine knows.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes one input.
    pub fn apply(&mut self, input: &Input) -> Vec<Change> {
        let state = &mut self.state;
        let blind = Topic::ALL.map(|topic| state.progress.of(topic).confirmed().is_none());
        state.clock.arrived = state.clock.arrived.max(Some(input.at));
        match &input.kind {
            InputKind::Settings(settings) => state.take_settings(settings),
            InputKind::Start(start) => state.take_start(start, input.at),
            InputKind::Record(record) => {
                if state
                    .progress
                    .record(record.topic, record.partition, record.offset)
                {
                    state.take_record(record, input.at);
                }
            }
            InputKind::Reached(reached) => state.progress.reached(reached),
            InputKind::Sampled(sampled) => state.take_sampled(sampled),
            // No question is sent after its answer is had, whatever an input says.
            InputKind::Ends(ends) => state.progress.ends(ends, input.at),
            InputKind::Access(access) => state.progress.access(access, input.at),
            InputKind::Polled(polled) => state.take_polled(polled, input.at),
            InputKind::Cluster(cluster) => state.cluster = Some(cluster.clone()),
            InputKind::Tick => {}
        }
        state.review_sight();
        state.advance();
        for (topic, was_blind) in Topic::ALL.into_iter().zip(blind) {
            if was_blind && state.progress.of(topic).confirmed().is_some() {
                state.changes.push(Change::CaughtUp { input: topic });
            }
        }
        std::mem::take(&mut state.changes)
    }

    /// Whether the agent should ask now where the topics end: a verdict waits for it.
    #[must_use]
    pub fn wants_ends(&self) -> bool {
        let waits = |since| !self.state.progress.passed(since);
        self.state.rounds.waits_since().is_some_and(waits)
            || self.state.rounds.waits_for_quiet(self.state.evidence())
            || self.state.story_waits()
    }

    /// Inputs that say that every topic ends where reading stands: for a capture whose end is
    /// to be taken for the end of the topics, so that what waits for proof is settled.
    #[must_use]
    pub fn ends_here(&self) -> Vec<Input> {
        let Some(at) = self.state.clock.arrived else {
            return Vec::new();
        };
        let ends = |topic| {
            let ends = self.state.progress.of(topic).read_to();
            let asked = at.plus_ms(LAST_STOPS_MS);
            let kind = InputKind::Ends(Ends { topic, asked, ends });
            Input { at, kind }
        };
        Topic::ALL.map(ends).to_vec()
    }

    /// The same engine without one of its rules: tests show that each is needed.
    #[doc(hidden)]
    #[must_use]
    pub fn without(rule: StoryRule) -> Self {
        let mut engine = Self::new();
        engine.state.story.switches = Switches::without(rule);
        engine
    }

    /// A settled round as it may be shown.
    #[must_use]
    pub fn describe(&self, round: &Round) -> RoundAnswer {
        publish::round(&self.state.names, round)
    }

    /// All that may be shown.
    #[must_use]
    pub fn answers(&self) -> Answers {
        publish::answers(&self.state)
    }
}

// === impl State ===

impl State {
    fn take_settings(&mut self, settings: &Settings) {
        if self.configured.next_offset() == 0 {
            let discards = settings
                .worker_release
                .as_deref()
                .is_none_or(discards_early_commits);
            self.configured = Configured::new(discards);
        }
        self.settings = settings.clone();
    }

    fn take_start(&mut self, start: &Start, at: ArrivalTime) {
        if start.topic == Topic::Offsets {
            self.clock.watched_since = self.clock.watched_since.or(Some(at.as_event(0)));
            self.sampled = false;
        }
        if self.progress.start(start) == Started::Anew {
            self.topic_anew(start.topic);
        }
    }

    fn take_sampled(&mut self, sampled: &Sampled) {
        self.group.left_out |= self.progress.left_out(sampled);
        self.sampled = sampled.on;
    }

    fn topic_anew(&mut self, topic: Topic) {
        let name = match topic {
            Topic::Offsets => &self.settings.offsets_topic,
            Topic::Config => &self.settings.config_topic,
            Topic::Status => &self.settings.status_topic,
        };
        self.findings.raise(Kind::TopicAnew, name.clone(), self.clock.now(), || {
            "the topic was deleted and created again; what was read from it before no longer holds"
                .to_owned()
        });
        match topic {
            // Its records are read again, as history: what they tell is derived again.
            Topic::Offsets => {
                self.group = GroupNow {
                    incarnation: self.group.incarnation,
                    ..GroupNow::default()
                };
                self.ownership = Ownership::default();
                for round in self.rounds.give_up() {
                    self.settled(round);
                }
                self.forget_story();
                self.weighed = balance::Weighed::default();
                self.recent = RecentGenerations::default();
            }
            Topic::Config => {
                self.configured.clear();
                self.story.config.clear();
                self.story.steps.config_anew();
                self.story.episodes.config_anew();
                self.story.patterns.forget_writes();
            }
            Topic::Status => {
                self.statuses.clear();
                self.story.statuses.clear();
                self.story.downtimes.clear();
                self.story.disagreements.statuses_anew();
            }
        }
    }

    /// Lets time pass as far as it is proven that no older group record is unread, and
    /// settles what can be settled.
    fn advance(&mut self) {
        let proven = Topic::ALL.map(|topic| self.progress.of(topic).proven());
        if self.clock.proven != proven {
            self.clock.proven = proven;
            self.due.all();
        }
        self.clock.event = self.clock.event.max(self.quiet_until());
        if let Some(now) = self.clock.now() {
            self.findings.expire(now);
        }
        // What steps tell of clocks may settle a round, which may let a step be judged.
        loop {
            if self.story.skews.take_learnt() {
                self.due.all();
            }
            if self.due.is_empty() {
                break;
            }
            let due = std::mem::take(&mut self.due);
            self.settle_rounds(&due);
            self.judge_steps();
        }
    }

    /// The instant up to which no group record is unread, on the coordinator's clock.
    fn quiet_until(&self) -> Option<EventTime> {
        let confirmed = self.progress.of(Topic::Offsets).confirmed();
        // Without a record the coordinator's clock is not known.
        Some(confirmed?.as_event(self.clock.delay_ms_min?))
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            statuses: &self.statuses,
            skews: &self.story.skews,
            progress: &self.progress,
            steps_taken: self.story.steps.taken(),
            steps_wait: !self.story.steps.is_empty(),
            quiet_until: self.quiet_until(),
        }
    }

    pub(crate) fn settle_rounds(&mut self, due: &Due) {
        let mut rounds = std::mem::take(&mut self.rounds);
        let evidence = self.evidence();
        let settled = rounds.settle(evidence, due);
        let applied = rounds.take_applied(evidence, due);
        self.rounds = rounds;
        for round in settled {
            self.settled(round);
        }
        for took in applied {
            self.note_took(took);
        }
    }
}

/// Whether workers of this release discard a commit that precedes its connector:
/// 3.7.1, and 3.8.0 and later (KAFKA-16838). A release that cannot be read counts as new.
fn discards_early_commits(release: &str) -> bool {
    let mut numbers = release.split(['.', '-']).map(str::parse::<u32>);
    let mut number = || numbers.next().and_then(Result::ok);
    let Some(major) = number() else {
        return true;
    };
    (major, number().unwrap_or(0), number().unwrap_or(0)) >= (3, 7, 1)
}
