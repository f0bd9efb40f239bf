//! Where a script plays: a cluster, sidecars beside it, a recorder, and the comparisons
//! made so far.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use super::Run;
use super::agent::{Agent, Recorder};
use super::compare::{Expected, LIVE_DATED_MS_MAX, compare_state};
use super::described::await_described;
use super::episodes::compare_episodes;
use super::replay::{compare_history_within, replay};
use crate::cache;
use crate::cluster::Cluster;
use crate::group::Group;
use crate::spec::{ClusterSpec, WorkerSpec};
use crate::truth::{Comparison, Expectations, TruthLog};
use crate::version::Version;
use crate::wait::wait_until;

/// Longest wait for the group to rest: a start on a loaded machine, a session, a delay.
const SETTLE_MAX: Duration = Duration::from_secs(120);

/// Longest wait for a sidecar to say what the log already says: no budget, a busy machine is slow.
const TOLD_MAX: Duration = Duration::from_secs(40);

mod agents;
mod expectations;

/// A cluster with everything beside it.
#[derive(Debug)]
pub struct Stage {
    /// The cluster; scripts use its verbs.
    pub cluster: Cluster,
    /// Whether all steps are to be made.
    pub whole: bool,
    name: &'static str,
    group: Group,
    program: PathBuf,
    locks: PathBuf,
    keep: Option<PathBuf>,
    agents: Vec<Agent>,
    /// Those that may not read the group's records.
    without_records: Vec<Agent>,
    recorder: Option<Recorder>,
    /// Of the broker and of the workers.
    releases: (Version, Version),
    compared: usize,
    /// The step that is being played, of a script that says what it expects.
    step: Option<expectations::OpenStep>,
    expected: Expectations,
    /// Whether the script says of nothing why it happened: then only its steps are kept.
    unexplained: bool,
}

impl Stage {
    /// Starts the broker, a sidecar and the recorder; the workers are up to the script, so
    /// that evenkeel sees the group from nothing.
    pub(super) fn set(name: &'static str, spec: &ClusterSpec, run: &Run) -> anyhow::Result<Stage> {
        let mut cluster = Cluster::start_brokers(&spec.brokers, spec.jmx)?;
        let group_spec = spec.groups.first().context("a scenario has a group")?;
        cluster.add_group(group_spec)?;
        let group = cluster
            .groups()
            .first()
            .context("the group was added")?
            .clone();
        let mut stage = Stage {
            whole: run.whole,
            name,
            group,
            program: run.program.clone(),
            locks: cache::port_locks()?,
            keep: run.keep.clone(),
            agents: Vec::new(),
            without_records: Vec::new(),
            recorder: None,
            compared: 0,
            step: None,
            expected: Expectations::default(),
            unexplained: false,
            releases: (
                spec.brokers.version,
                group_spec
                    .workers
                    .first()
                    .map_or(Version::DEFAULT, |worker| worker.version),
            ),
            cluster,
        };
        let file = stage.cluster.folder().join("capture.evk.gz");
        let folder = stage.cluster.folder().to_owned();
        let bootstrap = stage.cluster.bootstrap();
        stage.recorder = Some(Recorder::start(
            &stage.program,
            name,
            (&bootstrap, &stage.group),
            stage.releases,
            (&folder, &file),
        )?);
        stage.add_agent("first")?;
        Ok(stage)
    }

    /// A worker of the release that is played, with this delay.
    #[must_use]
    pub fn worker_spec(&self, scheduled_delay_ms: u32) -> WorkerSpec {
        WorkerSpec {
            version: self.releases.1,
            scheduled_delay_ms,
            ..WorkerSpec::default()
        }
    }

    /// The evenkeel program.
    pub fn program(&self) -> &std::path::Path {
        &self.program
    }

    /// The group that is played.
    pub fn group_id(&self) -> &str {
        &self.group.group_id
    }

    /// Waits until the group rests, then compares what every sidecar says.
    ///
    /// # Errors
    /// When the group does not rest in time, a sidecar does not follow, or something differs.
    pub fn rest(&mut self, step: &str, expected: Expected) -> anyhow::Result<TruthLog> {
        let truth = self
            .cluster
            .await_settled(&self.group.group_id, SETTLE_MAX)
            .context(step.to_owned())?;
        self.compare(step, truth, expected, &|_| true)
    }

    /// Waits until the newest generation is after `generation` and `holds` says so of the
    /// truth, then compares.
    ///
    /// # Errors
    /// As [`Stage::rest`].
    pub fn await_truth(
        &mut self,
        step: &str,
        expected: Expected,
        holds: impl Fn(&TruthLog) -> bool,
    ) -> anyhow::Result<TruthLog> {
        let truth = wait_until(step, SETTLE_MAX, || {
            let truth = self.cluster.truth(&self.group.group_id)?;
            Ok((truth.is_settled() && holds(&truth)).then_some(truth))
        })?;
        self.compare(step, truth, expected, &holds)
    }

    /// How far instants may be off: a recording is strict, a live pass is not.
    fn dated_ms_max(&self) -> Option<i64> {
        self.keep.is_none().then_some(LIVE_DATED_MS_MAX)
    }

    /// Compares every sidecar with the truth; gives the truth that the last was compared with.
    /// A group that seemed to rest may go on: between the two rounds of a new connector, say.
    /// A sidecar that is ahead is held against what the logs say by then.
    fn compare(
        &mut self,
        step: &str,
        mut truth: TruthLog,
        expected: Expected,
        holds: &dyn Fn(&TruthLog) -> bool,
    ) -> anyhow::Result<TruthLog> {
        let expected = Expected {
            dated_ms_max: self.dated_ms_max(),
            ..expected
        };
        let newest =
            |truth: &TruthLog| anyhow::Ok(truth.last().context("no generation")?.generation);
        for agent in &self.agents {
            // A sidecar may be a moment behind the log; it must get there, and stay right.
            self.compared += wait_until(&format!("{step}: {}", agent.name()), TOLD_MAX, || {
                let state = agent.state()?;
                ensure!(state["current"] == true, "{} is not current", agent.name());
                let told = state
                    .pointer("/group/generation")
                    .and_then(serde_json::Value::as_i64);
                if told > Some(newest(&truth)?) {
                    let now = self.cluster.truth(&self.group.group_id)?;
                    ensure!(now.is_settled() && holds(&now), "the group went on");
                    truth = now;
                }
                let generation = newest(&truth)?;
                ensure!(
                    told == Some(generation),
                    "told {told:?}, truth {generation}"
                );
                let mut comparison = Comparison::new();
                compare_state(&mut comparison, agent.name(), &state, (&truth, &expected))?;
                comparison.finish().map(Some)
            })?;
        }
        for agent in &self.without_records {
            self.compared += await_described(step, agent, (&truth, &expected))?;
        }
        let generation = newest(&truth)?;
        eprintln!(
            "  {step}: generation {generation}, {} compared",
            self.compared
        );
        Ok(truth)
    }

    /// Counts comparisons that the script made itself.
    ///
    /// # Errors
    /// When something differed, or nothing was compared.
    pub fn count(&mut self, comparison: Comparison) -> anyhow::Result<()> {
        self.compared += comparison.finish()?;
        Ok(())
    }

    /// Ends the recording, compares the whole history by its replay, keeps capture and
    /// truth; gives how much was compared.
    pub(super) fn finish(mut self) -> anyhow::Result<usize> {
        let mut truth = self.cluster.truth(&self.group.group_id)?;
        truth.expected = self.take_expected();
        if !truth.void.is_empty() {
            bail!("the run proves nothing: {}", truth.void.join("; "));
        }
        let described = std::mem::take(&mut self.without_records);
        for agent in std::mem::take(&mut self.agents)
            .into_iter()
            .chain(described)
        {
            agent.stop()?;
        }
        let capture = self
            .recorder
            .take()
            .context("nothing was recorded")?
            .finish()?;
        let mut comparison = Comparison::new();
        let lines = replay(&self.program, &capture, false)?;
        compare_history_within(&mut comparison, &lines, &truth, self.dated_ms_max())?;
        let lines = replay(&self.program, &capture, true)?;
        compare_episodes(&mut comparison, &lines, &truth)?;
        let compared = comparison.finish();
        if let Some(folder) = &self.keep {
            // What differs is kept apart, to be looked at.
            let folder = match compared {
                Ok(_) => folder.clone(),
                Err(_) => folder.join("differs"),
            };
            fs::create_dir_all(&folder)?;
            let [kept, truth_file] = files(self.name, self.releases);
            fs::copy(&capture, folder.join(kept))?;
            let mut text = serde_json::to_string(&truth)?;
            text.push('\n');
            fs::write(folder.join(truth_file), text)?;
        }
        self.compared += compared?;
        Ok(self.compared)
    }
}

/// The names of a capture and its truth.
pub(super) fn files(name: &str, releases: (Version, Version)) -> [String; 2] {
    let stem = match releases {
        (Version::DEFAULT, Version::DEFAULT) => name.to_owned(),
        (broker, workers) if broker == workers => format!("{name}-{workers}"),
        (broker, workers) => format!("{name}-{broker}-{workers}"),
    };
    ["evk.gz", "truth.json"].map(|ending| format!("{stem}.{ending}"))
}
