//! The verbs of a script: what is done to brokers, workers, topics and connectors.

use anyhow::bail;
use serde_json::Value;

use super::{Cluster, Node};
use crate::admin::{self, TopicVerb};
use crate::clock::now_ms;
use crate::fixtures;
use crate::jars::Artifact;
use crate::properties::Properties;
use crate::proxy::Fault;
use crate::rest::Response;
use crate::truth::{TruthEvent, Verb, What};
use crate::version::Version;

impl Cluster {
    /// Starts a stopped broker or worker on the port and folder it had.
    ///
    /// # Errors
    /// When it runs already or does not start.
    pub fn start_process(&mut self, name: &str) -> anyhow::Result<()> {
        self.start_processes(&[name])
    }

    /// Starts several at once, then waits for all.
    ///
    /// # Errors
    /// When one runs already or does not start.
    pub fn start_processes(&mut self, names: &[&str]) -> anyhow::Result<()> {
        let began_ms = now_ms();
        let mut log_ends = Vec::new();
        let training = self.training();
        for name in names {
            let cache = self.cache.clone();
            match self.node(name)? {
                Node::Broker(broker) => {
                    log_ends.push(std::fs::metadata(broker.log()).map_or(0, |meta| meta.len()));
                    broker.spawn(&cache, training.as_deref())?;
                }
                Node::Worker(worker) => {
                    log_ends.push(0);
                    worker.spawn(&cache, training.as_deref())?;
                }
            }
        }
        for (name, log_end) in names.iter().zip(log_ends) {
            match self.node(name)? {
                Node::Broker(broker) => broker.await_started(log_end)?,
                Node::Worker(worker) => worker.await_started()?,
            }
            self.record(Verb::Start, name, began_ms);
        }
        Ok(())
    }

    /// Starts a worker and does not wait, for workers that will not come up.
    ///
    /// # Errors
    /// When it runs already.
    pub fn spawn_worker(&mut self, name: &str) -> anyhow::Result<()> {
        let began_ms = now_ms();
        let cache = self.cache.clone();
        match self.node(name)? {
            Node::Worker(worker) => worker.spawn(&cache, None)?,
            Node::Broker(_) => bail!("{name} is a broker"),
        }
        self.record(Verb::Start, name, began_ms);
        Ok(())
    }

    /// SIGTERM, and waits for the end: an orderly departure.
    ///
    /// # Errors
    /// When it does not run or does not end.
    pub fn stop(&mut self, name: &str) -> anyhow::Result<()> {
        let began_ms = now_ms();
        match self.node(name)? {
            Node::Broker(broker) => broker.stop()?,
            Node::Worker(worker) => worker.stop()?,
        }
        self.record(Verb::Stop, name, began_ms);
        Ok(())
    }

    /// SIGTERM, without waiting for the end: what comes next meets a process that stops.
    ///
    /// # Errors
    /// When it does not run.
    pub fn begin_stop(&mut self, name: &str) -> anyhow::Result<()> {
        let began_ms = now_ms();
        self.process_mut(name)?.ask_to_end()?;
        self.record(Verb::Stop, name, began_ms);
        Ok(())
    }

    /// SIGKILL: the process is gone without a word.
    ///
    /// # Errors
    /// When it does not run.
    pub fn kill(&mut self, name: &str) -> anyhow::Result<()> {
        let began_ms = now_ms();
        match self.node(name)? {
            Node::Broker(broker) => broker.kill()?,
            Node::Worker(worker) => worker.kill()?,
        }
        self.record(Verb::Kill, name, began_ms);
        Ok(())
    }

    /// SIGSTOP: the process keeps its sockets and does nothing.
    ///
    /// # Errors
    /// When it does not run.
    pub fn freeze(&mut self, name: &str) -> anyhow::Result<()> {
        let began_ms = now_ms();
        self.process_mut(name)?.freeze()?;
        self.record(Verb::Freeze, name, began_ms);
        Ok(())
    }

    /// SIGCONT.
    ///
    /// # Errors
    /// When it does not run.
    pub fn thaw(&mut self, name: &str) -> anyhow::Result<()> {
        let began_ms = now_ms();
        self.process_mut(name)?.thaw()?;
        self.record(Verb::Thaw, name, began_ms);
        Ok(())
    }

    /// Changes settings of a broker or worker; they count from its next start.
    ///
    /// # Errors
    /// When there is no such process.
    pub fn set(&mut self, name: &str, settings: &Properties) -> anyhow::Result<()> {
        match self.node(name)? {
            Node::Broker(broker) => broker.set(settings),
            Node::Worker(worker) => worker.set(settings),
        }
        Ok(())
    }

    /// Takes a setting of a worker out, from its next start.
    ///
    /// # Errors
    /// When there is no such worker.
    pub fn unset(&mut self, worker: &str, setting: &str) -> anyhow::Result<()> {
        match self.node(worker)? {
            Node::Worker(worker) => worker.unset(setting),
            Node::Broker(_) => bail!("{worker} is a broker"),
        }
        Ok(())
    }

    /// Changes the release of a worker from its next start, as an upgrade does.
    ///
    /// # Errors
    /// When there is no such worker or its jars cannot be resolved.
    pub fn set_worker_version(&mut self, name: &str, version: Version) -> anyhow::Result<()> {
        let artifact = Artifact::Worker(version);
        self.cache.jars(artifact)?;
        fixtures::connectors(&self.cache, artifact)?;
        match self.node(name)? {
            Node::Worker(worker) => worker.set_version(version),
            Node::Broker(_) => bail!("{name} is a broker"),
        }
        Ok(())
    }

    /// Stops, changes settings, starts.
    ///
    /// # Errors
    /// When it does not stop or does not start.
    pub fn restart(&mut self, name: &str, settings: &Properties) -> anyhow::Result<()> {
        self.stop(name)?;
        self.set(name, settings)?;
        self.start_process(name)
    }

    /// Any REST call to a worker.
    ///
    /// # Errors
    /// When there is no such worker or no answer; an HTTP error status is an answer.
    pub fn request(
        &self,
        worker: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Response> {
        self.worker(worker)?.request(method, path, body)
    }

    /// A REST call that changes something, kept as part of the truth.
    ///
    /// # Errors
    /// When there is no such worker, no answer, or an HTTP error status.
    pub fn change(
        &mut self,
        worker: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<()> {
        let began_ms = now_ms();
        let answer = self.request(worker, method, path, body)?;
        answer.ok()?;
        self.script.push(TruthEvent {
            at_ms: began_ms,
            process: worker.to_owned(),
            what: What::Request {
                method: method.to_owned(),
                path: path.to_owned(),
                status: answer.status,
                ended_ms: now_ms(),
            },
        });
        Ok(())
    }

    /// The proxy before a broker closes all connections and takes no new ones.
    ///
    /// # Errors
    /// When there is no such broker, or it has no proxy.
    pub fn cut(&mut self, broker: &str) -> anyhow::Result<()> {
        let began_ms = now_ms();
        let proxy = self.proxy(broker)?;
        proxy.set(Fault::Refuse);
        proxy.cut();
        self.record(Verb::Cut, broker, began_ms);
        Ok(())
    }

    /// The proxy before a broker passes on again.
    ///
    /// # Errors
    /// When there is no such broker, or it has no proxy.
    pub fn mend(&mut self, broker: &str) -> anyhow::Result<()> {
        let began_ms = now_ms();
        self.proxy(broker)?.set(Fault::None);
        self.record(Verb::Mend, broker, began_ms);
        Ok(())
    }

    /// Creates or deletes a topic or group.
    ///
    /// # Errors
    /// When the broker refuses.
    pub fn topics(&self, verb: &TopicVerb) -> anyhow::Result<()> {
        admin::run(&self.cache, self.version, &self.bootstrap(), verb)
    }

    fn record(&mut self, verb: Verb, name: &str, began_ms: i64) {
        self.script.push(TruthEvent {
            at_ms: began_ms,
            process: name.to_owned(),
            what: What::Script {
                verb,
                ended_ms: now_ms(),
            },
        });
    }
}
