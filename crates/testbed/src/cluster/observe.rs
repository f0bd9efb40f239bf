//! What the script sees: statuses, JMX, the logs, and waiting for what it wants to see.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail};

use super::Cluster;
use crate::clock::now_ms;
use crate::process::Process;
use crate::rest;
use crate::truth::{self, JmxSample, ProcessLog, Statuses, TruthEvent, TruthLog, What};
use crate::wait::wait_until;

const SCRAPE_MAX: Duration = Duration::from_secs(5);

impl Cluster {
    /// What the script did and saw so far.
    pub fn script(&self) -> &[TruthEvent] {
        &self.script
    }

    /// The truth about a group, from all logs as they stand now.
    ///
    /// # Errors
    /// When there is no such group or a log cannot be read.
    pub fn truth(&self, group_id: &str) -> anyhow::Result<TruthLog> {
        if !self.groups.iter().any(|group| group.group_id == group_id) {
            bail!("no group {group_id}");
        }
        let mut logs = Vec::new();
        for broker in &self.brokers {
            logs.push((broker.name(), broker.log(), None, 0));
        }
        for worker in self.workers.iter().filter(|w| w.group_id() == group_id) {
            // A worker that was never started has no log.
            if worker.log().exists() {
                let url = Some(worker.url());
                logs.push((worker.name(), worker.log(), url, worker.skew_ms()));
            }
        }
        let logs = logs
            .into_iter()
            .map(|(name, file, worker_url, skew_ms)| {
                let bytes =
                    std::fs::read(&file).with_context(|| format!("read {}", file.display()))?;
                Ok(ProcessLog {
                    name: name.to_owned(),
                    text: String::from_utf8_lossy(&bytes).into_owned(),
                    worker_url,
                    skew_ms,
                })
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        Ok(truth::read(group_id, &logs, &self.script))
    }

    /// A worker's view of all statuses, kept as part of the truth.
    ///
    /// # Errors
    /// When the worker does not answer.
    pub fn statuses(&mut self, worker: &str) -> anyhow::Result<Statuses> {
        let answer = self
            .request(worker, "GET", "/connectors?expand=status", None)?
            .json()?;
        let statuses = Statuses::parse(&answer)?;
        self.saw(worker, What::Statuses(statuses.clone()));
        Ok(statuses)
    }

    /// A worker's rebalance metrics, kept as part of the truth.
    ///
    /// # Errors
    /// When the cluster runs without JMX or the agent does not answer.
    pub fn jmx(&mut self, worker: &str) -> anyhow::Result<JmxSample> {
        let carrier = self.worker(worker)?;
        let port = carrier
            .jmx_port()
            .with_context(|| format!("{worker} runs without the JMX agent"))?;
        let address = SocketAddr::from((carrier.host(), port));
        let answer = rest::request_at(address, "GET", "/metrics", None, SCRAPE_MAX)?;
        answer.ok()?;
        let sample = JmxSample::parse(&answer.body)?;
        self.saw(worker, What::Jmx(sample.clone()));
        Ok(sample)
    }

    fn saw(&mut self, process: &str, what: What) {
        self.script.push(TruthEvent {
            at_ms: now_ms(),
            process: process.to_owned(),
            what,
        });
    }

    /// Waits until the group rests with exactly its running workers as members, and gives
    /// the truth so far.
    ///
    /// # Errors
    /// When the deadline passes first.
    pub fn await_settled(&self, group_id: &str, at_most: Duration) -> anyhow::Result<TruthLog> {
        let mut running: Vec<&str> = self
            .workers
            .iter()
            .filter(|worker| worker.group_id() == group_id && worker.process().is_some())
            .map(|worker| worker.name())
            .collect();
        running.sort_unstable();
        let mut dead = None;
        let settled = wait_until(&format!("group {group_id} to settle"), at_most, || {
            if let Some(process) = self.dead(group_id) {
                dead = Some(format!("{} ended{}", process.name(), process.last_words()));
                return Ok(Some(None));
            }
            let truth = self.truth(group_id)?;
            let mut members: Vec<&str> = truth
                .last()
                .into_iter()
                .flat_map(|last| &last.members)
                .filter_map(|member| member.worker.as_deref())
                .collect();
            members.sort_unstable();
            if truth.is_settled() && members == running {
                return Ok(Some(Some(truth)));
            }
            match truth.last() {
                Some(last) => bail!("running: {running:?}; newest generation: {last}"),
                None => bail!("running: {running:?}; no generation yet"),
            }
        })?;
        settled.with_context(|| dead.unwrap_or_default())
    }

    /// A worker of the group that ended by itself.
    fn dead(&self, group_id: &str) -> Option<&Process> {
        self.workers
            .iter()
            .filter(|worker| worker.group_id() == group_id)
            .filter_map(|worker| worker.process())
            .find(|process| process.has_ended())
    }

    /// Waits until a connector and exactly `tasks` tasks of it are in `state`, as `worker`
    /// sees it.
    ///
    /// # Errors
    /// When the deadline passes first; names the last statuses seen.
    pub fn await_state(
        &mut self,
        worker: &str,
        (connector, tasks, state): (&str, usize, &str),
        at_most: Duration,
    ) -> anyhow::Result<Statuses> {
        let what = format!("connector {connector} with {tasks} tasks {state}");
        wait_until(&what, at_most, || {
            let answer = self
                .request(worker, "GET", "/connectors?expand=status", None)?
                .json()?;
            let statuses = Statuses::parse(&answer)?;
            if !statuses.all_in(connector, tasks, state) {
                bail!("{answer}");
            }
            Ok(Some(()))
        })?;
        self.statuses(worker)
    }
}
