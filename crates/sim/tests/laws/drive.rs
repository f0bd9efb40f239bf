//! Runs worlds and engines for the laws: seeds, the loop between engine and observer.

use std::sync::Arc;

use evenkeel_core::answers::{EpisodeAnswer, RoundAnswer};
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::Input;
use evenkeel_sim::observer::ObserverSpec;
use evenkeel_sim::plan::Plan;
use evenkeel_sim::world::World;

/// How many broken seeds are told.
const BROKEN_TOLD_MAX: usize = 12;

/// What one sidecar made of a world.
pub(crate) struct Watched {
    pub(crate) engine: Engine,
    pub(crate) inputs: Vec<Input>,
    /// Settled rounds with a record, in order of settling.
    pub(crate) settled: Vec<RoundAnswer>,
    /// Numbers without a record: first, how many, and how they ended.
    pub(crate) missing: Vec<(i32, u64, evenkeel_core::answers::Outcome)>,
    /// Episodes as they were told when they opened and closed.
    pub(crate) opened: Vec<Arc<str>>,
    pub(crate) closed: Vec<Arc<EpisodeAnswer>>,
}

/// Feeds an engine all that an observer gives.
pub(crate) fn watch(world: &World, spec: ObserverSpec) -> Watched {
    let mut observer = world.observer(spec);
    let mut watched = Watched::of(Engine::new());
    while let Some(input) = observer.next_input(watched.engine.wants_ends()) {
        watched.take(&input);
        watched.inputs.push(input);
    }
    // Proofs come in any order.
    watched
        .settled
        .sort_by_key(|round| (round.incarnation, round.generation));
    watched
}

impl Watched {
    pub(crate) fn of(engine: Engine) -> Self {
        Self {
            engine,
            inputs: Vec::new(),
            settled: Vec::new(),
            missing: Vec::new(),
            opened: Vec::new(),
            closed: Vec::new(),
        }
    }

    pub(crate) fn take(&mut self, input: &Input) {
        for change in self.engine.apply(input) {
            match change {
                Change::Settled(round) => self.settled.push(self.engine.describe(&round)),
                Change::Missing {
                    first,
                    count,
                    outcome,
                } => self.missing.push((first, count, outcome)),
                Change::Opened(episode) => self.opened.push(episode.id),
                Change::Closed(episode, _) => self.closed.push(episode),
                Change::Created { .. } | Change::Deleted | Change::CaughtUp { .. } => {}
            }
        }
    }

    /// All answers; those of episodes are shown by themselves.
    pub(crate) fn answers_json(&self) -> String {
        let answers = self.engine.answers();
        serde_json::to_string(&(&answers, &answers.episodes)).unwrap()
    }

    /// All episodes as they are known at the end, oldest first, the open one last.
    pub(crate) fn episodes(&self) -> Vec<Arc<EpisodeAnswer>> {
        let episodes = self.engine.answers().episodes.unwrap_or_default();
        episodes.closed.into_iter().chain(episodes.open).collect()
    }
}

/// Runs a law over many seeds; what does not hold is told with its seed, and all at once.
#[track_caller]
pub(crate) fn over_seeds(usual: u64, law: impl Fn(&World) -> Result<(), String>) {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().expect("a number"))
    };
    let seeds: Vec<u64> = match number("EVENKEEL_SIM_SEED") {
        Some(seed) => vec![seed],
        None => (1..=number("EVENKEEL_SIM_SEEDS").unwrap_or(usual)).collect(),
    };
    let mut broken = Vec::new();
    let mut plan_told = String::new();
    for seed in &seeds {
        let plan = Plan::of(*seed);
        let told = plan.to_string();
        if let Err(what) = law(&plan.run()) {
            plan_told.clone_from(&told);
            broken.push(format!("seed {seed}: {what}"));
        }
    }
    let count = broken.len();
    if seeds.len() > 1 {
        plan_told = "EVENKEEL_SIM_SEED repeats one and tells its plan".to_owned();
    }
    let told_max = number("EVENKEEL_SIM_TOLD").and_then(|max| usize::try_from(max).ok());
    broken.truncate(told_max.unwrap_or(BROKEN_TOLD_MAX));
    assert!(
        broken.is_empty(),
        "{count} of {} seeds break the law:\n{}\n{plan_told}",
        seeds.len(),
        broken.join("\n")
    );
}
