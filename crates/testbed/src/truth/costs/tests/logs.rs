//! Snippets of workers' logs, as workers of 4.4.0 write them.

use std::collections::BTreeMap;

use crate::truth::Costs;
use crate::truth::collect::{ProcessLog, read};
use crate::truth::event::{TruthEvent, Verb, What};

/// 2026-11-30 07:00:00 UTC.
pub(super) const BASE_MS: i64 = 1_796_022_000_000;

/// A log in the making, and what the script did meanwhile.
#[derive(Default)]
pub(super) struct Logs {
    text: BTreeMap<String, String>,
    script: Vec<TruthEvent>,
}

impl Logs {
    pub(super) fn line(
        &mut self,
        at_ms: i64,
        worker: &str,
        level: &str,
        logger: &str,
        message: &str,
    ) {
        let (seconds, millis) = (at_ms / 1_000, at_ms % 1_000);
        let text = self.text.entry(worker.to_owned()).or_default();
        text.push_str(&format!(
            "2026-11-30 07:00:{seconds:02},{millis:03} {level} {logger} [x-1] {message}\n"
        ));
    }

    pub(super) fn herder(&mut self, at_ms: i64, worker: &str, message: &str) {
        let logger = "org.apache.kafka.connect.runtime.distributed.DistributedHerder";
        let message = format!("[Worker clientId=c, groupId=connect] {message}");
        self.line(at_ms, worker, "INFO", logger, &message);
    }

    pub(super) fn worker(&mut self, at_ms: i64, worker: &str, message: &str) {
        let logger = "org.apache.kafka.connect.runtime.Worker";
        self.line(at_ms, worker, "INFO", logger, message);
    }

    pub(super) fn fixture(&mut self, at_ms: i64, worker: &str, message: &str) {
        self.line(at_ms, worker, "INFO", "evenkeel.testbed", message);
    }

    pub(super) fn status(&mut self, at_ms: i64, worker: &str, task: &str, state: &str) {
        let logger = "org.apache.kafka.connect.storage.KafkaStatusBackingStore";
        let status =
            format!("Status{{id={task}, state={state}, workerId='{worker}:1', generation=1}}");
        for reader in ["w1", "w2"] {
            let message = format!("Received task {task} status update {status}");
            self.line(at_ms, reader, "TRACE", logger, &message);
        }
    }

    pub(super) fn starts(&mut self, at_ms: i64, worker: &str, task: &str) {
        self.herder(at_ms - 1, worker, &format!("Starting task {task}"));
        self.fixture(at_ms, worker, &format!("start begins: task {task}"));
        self.fixture(at_ms, worker, &format!("start ends: task {task}"));
        let logger = "org.apache.kafka.connect.runtime.AbstractWorkerSourceTask";
        let message =
            format!("WorkerSourceTask{{id={task}}} Source task finished initialization and start");
        self.line(at_ms, worker, "INFO", logger, &message);
    }

    pub(super) fn stops(&mut self, at_ms: i64, worker: &str, task: &str) {
        self.worker(at_ms, worker, &format!("Stopping task {task}"));
        self.fixture(at_ms + 5, worker, &format!("stop begins: task {task}"));
        self.fixture(at_ms + 10, worker, &format!("stop ends: task {task}"));
        let message = format!("Graceful stop of task {task} succeeded.");
        self.worker(at_ms + 11, worker, &message);
    }

    pub(super) fn fails(&mut self, at_ms: i64, worker: &str, task: &str) {
        let logger = "org.apache.kafka.connect.runtime.WorkerTask";
        let message = format!(
            "WorkerSourceTask{{id={task}}} Task threw an uncaught and unrecoverable exception. \
             Task is being killed and will not recover until manually restarted"
        );
        self.line(at_ms, worker, "ERROR", logger, &message);
    }

    pub(super) fn told(&mut self, at_ms: i64, worker: &str, revoked: &str) {
        let logger = "org.apache.kafka.connect.runtime.distributed.WorkerCoordinator";
        let message = format!(
            "[Worker clientId=c, groupId=connect] Deserialized new assignment: Assignment{{error=0, \
             leader='l', leaderUrl='http://l:1/', offset=7, connectorIds=[], taskIds=[], \
             revokedConnectorIds=[], revokedTaskIds=[{revoked}], delay=0}}"
        );
        self.line(at_ms, worker, "DEBUG", logger, &message);
    }

    pub(super) fn leads(&mut self, at_ms: i64, configured: &str, deleted: &str) {
        let logger = "org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeAssignor";
        for (label, tasks) in [("Configured", configured), ("Deleted", deleted)] {
            let message = format!(
                "[Worker clientId=c, groupId=connect] {label} assignments: \
                 {{ connectorIds=[a], taskIds=[{tasks}]}}"
            );
            self.line(at_ms, "w1", "DEBUG", logger, &message);
        }
        let message = "[Worker clientId=c, groupId=connect] Actual assignments: {}";
        self.line(at_ms, "w1", "DEBUG", logger, message);
    }

    pub(super) fn applied(&mut self, at_ms: i64, worker: &str, protocol: u8) {
        let message = format!(
            "Joined group at generation 3 with protocol version {protocol} and got assignment: \
             Assignment{{error=0, leader='l', leaderUrl='http://l:1/', offset=7, connectorIds=[], \
             taskIds=[], revokedConnectorIds=[], revokedTaskIds=[], delay=0}} with rebalance delay: 0"
        );
        self.herder(at_ms, worker, &message);
    }

    pub(super) fn does(&mut self, at_ms: i64, worker: &str, what: What) {
        self.script.push(TruthEvent {
            at_ms: BASE_MS + at_ms,
            process: worker.to_owned(),
            what,
        });
    }

    pub(super) fn verb(&mut self, at_ms: i64, worker: &str, verb: Verb) {
        let ended_ms = BASE_MS + at_ms + 3;
        self.does(at_ms, worker, What::Script { verb, ended_ms });
    }

    pub(super) fn costs(self) -> Costs {
        let logs: Vec<ProcessLog> = self
            .text
            .into_iter()
            .map(|(name, text)| ProcessLog {
                worker_url: Some(format!("http://{name}:1/")),
                skew_ms: 0,
                name,
                text,
            })
            .collect();
        read("connect", &logs, &self.script).costs.unwrap()
    }
}
