//! The sidecars of a stage: how each is started, and which of them are compared.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::Stage;
use crate::group::Group;
use crate::scenario::agent::{Agent, Told};
use crate::wait::wait_until;

/// Longest start of a sidecar on a loaded machine.
const LISTENS_MAX: Duration = Duration::from_secs(15);

/// Longest wait for its first answer from a coordinator.
const WATCHES_MAX: Duration = Duration::from_secs(30);

impl Stage {
    /// Starts one more sidecar.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn add_agent(&mut self, name: &str) -> anyhow::Result<()> {
        let group = self.group.group_id.clone();
        self.add_agent_of(name, &group)
    }

    /// Starts one more sidecar, that watches another group on the same topics.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn add_agent_of(&mut self, name: &str, group_id: &str) -> anyhow::Result<()> {
        let bootstrap = self.cluster.bootstrap();
        let group = Group {
            group_id: group_id.to_owned(),
            ..self.group.clone()
        };
        self.start_agent(name, &bootstrap, &group)
    }

    /// Starts one more sidecar, that begins at other addresses.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn add_agent_at(&mut self, name: &str, bootstrap: &str) -> anyhow::Result<()> {
        let group = self.group.clone();
        self.start_agent(name, bootstrap, &group)
    }

    fn start_agent(&mut self, name: &str, bootstrap: &str, group: &Group) -> anyhow::Result<()> {
        let places = (self.cluster.folder(), self.locks.as_path());
        let agent = Agent::start(
            &self.program,
            name,
            Told::Names(bootstrap, group),
            places,
            None,
        )?;
        // Answers are asked for as soon as it is here, whatever its brokers do.
        wait_until(&format!("{name} to listen"), LISTENS_MAX, || {
            ensure!(agent.status("/livez")? == 200, "{name} does not listen");
            Ok(Some(()))
        })?;
        self.agents.push(agent);
        Ok(())
    }

    /// Starts a sidecar in the network namespace of a worker.
    ///
    /// # Errors
    /// When it cannot be started, or the worker has none.
    pub fn add_agent_in(&mut self, name: &str, worker: &str) -> anyhow::Result<()> {
        let room = self.cluster.worker(worker)?.room();
        let room = room.with_context(|| format!("{worker} has no namespace"))?;
        let bootstrap = self.cluster.bootstrap();
        let told = Told::Names(&bootstrap, &self.group);
        let places = (self.cluster.folder(), self.locks.as_path());
        let agent = Agent::start(&self.program, name, told, places, Some(room))?;
        self.agents.push(agent);
        Ok(())
    }

    /// Starts a sidecar from a file, which is not compared until [`Stage::adopt`].
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn agent_with_file(&self, name: &str, file: &Path) -> anyhow::Result<Agent> {
        let places = (self.cluster.folder(), self.locks.as_path());
        Agent::start(&self.program, name, Told::File(file), places, None)
    }

    /// The same in the network namespace of a worker.
    ///
    /// # Errors
    /// When the worker has no namespace, or the sidecar cannot be started.
    pub fn agent_with_file_in(
        &self,
        name: &str,
        file: &Path,
        worker: &str,
    ) -> anyhow::Result<Agent> {
        let places = (self.cluster.folder(), self.locks.as_path());
        let room = self.cluster.worker(worker)?.room();
        let room = room.with_context(|| format!("{worker} has no network namespace"))?;
        Agent::start(&self.program, name, Told::File(file), places, Some(room))
    }

    /// Starts a sidecar from a worker's properties file, which is not compared either.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn agent_beside(&self, name: &str, worker_file: &Path) -> anyhow::Result<Agent> {
        let places = (self.cluster.folder(), self.locks.as_path());
        Agent::start(
            &self.program,
            name,
            Told::WorkerFile(worker_file),
            places,
            None,
        )
    }

    /// From now on the sidecar is one of those that are compared.
    pub fn adopt(&mut self, agent: Agent) {
        self.agents.push(agent);
    }

    /// From now on the sidecar is compared as one that may not read the group's records.
    pub fn adopt_without_records(&mut self, agent: Agent) {
        self.without_records.push(agent);
    }

    /// A sidecar may read the group's records from now on, or may not any more: it is compared
    /// by other rules.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn records_allowed(&mut self, name: &str, allowed: bool) -> anyhow::Result<()> {
        let (from, to) = if allowed {
            (&mut self.without_records, &mut self.agents)
        } else {
            (&mut self.agents, &mut self.without_records)
        };
        let place = from.iter().position(|agent| agent.name() == name);
        let agent = from.remove(place.with_context(|| format!("no sidecar {name}"))?);
        to.push(agent);
        Ok(())
    }

    /// Stops a sidecar for good.
    ///
    /// # Errors
    /// When there is none, or it does not end well.
    pub fn remove_agent(&mut self, name: &str) -> anyhow::Result<()> {
        let place = self.agents.iter().position(|agent| agent.name() == name);
        self.agents
            .remove(place.with_context(|| format!("no sidecar {name}"))?)
            .stop()
    }

    /// Kills a sidecar for good.
    ///
    /// # Errors
    /// When there is none.
    pub fn kill_agent(&mut self, name: &str) -> anyhow::Result<()> {
        let place = self.agents.iter().position(|agent| agent.name() == name);
        self.agents
            .remove(place.with_context(|| format!("no sidecar {name}"))?)
            .kill()
    }

    /// Kills a sidecar and starts it again under its name.
    ///
    /// # Errors
    /// When there is none, or it cannot be started.
    pub fn restart_agent(&mut self, name: &str) -> anyhow::Result<()> {
        self.kill_agent(name)?;
        self.add_agent(name)
    }

    /// Waits until these sidecars see the coordinator: what happens from then on is watched.
    ///
    /// # Errors
    /// One of them does not in time.
    pub fn await_watching(&self, names: &[String]) -> anyhow::Result<()> {
        for name in names {
            wait_until(&format!("{name} to watch"), WATCHES_MAX, || {
                let polled = !self.agent(name)?.state()?["polls"]["confirmed"].is_null();
                ensure!(polled, "no answer yet");
                Ok(Some(()))
            })?;
        }
        Ok(())
    }

    /// A sidecar.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn agent(&self, name: &str) -> anyhow::Result<&Agent> {
        let mut all = self.agents.iter().chain(&self.without_records);
        let found = all.find(|agent| agent.name() == name);
        found.with_context(|| format!("no sidecar {name}"))
    }
}
