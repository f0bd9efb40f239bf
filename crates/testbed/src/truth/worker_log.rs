//! What a worker says of its joins, its assignments, its starts and stops, in all releases.

use super::assignment::{Assignment, Work};
use super::event::{Item, ItemKind, LeaderView, Step, TruthEvent, What};
use super::line::Line;
use super::text::{after, between, number_after};

/// Events of one worker's log.
pub(super) fn parse(process: &str, log: &str) -> Vec<TruthEvent> {
    let mut reader = Reader::default();
    log.lines()
        .filter_map(Line::parse)
        .filter_map(|line| {
            Some(TruthEvent {
                at_ms: line.at_ms,
                process: process.to_owned(),
                what: reader.what(&line)?,
            })
        })
        .collect()
}

/// Some lines only make sense after others: an assignment belongs to the generation of the
/// last JoinGroup response.
#[derive(Debug, Default)]
struct Reader {
    generation: i64,
    view: LeaderView,
}

impl Reader {
    fn what(&mut self, line: &Line<'_>) -> Option<What> {
        if line.logger == "evenkeel.testbed" {
            return fixture(line.message);
        }
        // "[Worker clientId=..., groupId=...] message": what consumers of connectors say of
        // their groups has another prefix.
        let own = line
            .message
            .strip_prefix("[Worker ")
            .and_then(|rest| rest.split_once("] "))
            .map(|(_, message)| message);
        match (line.class(), own) {
            // Before 2.7 or so the join was logged by the base class.
            ("WorkerCoordinator" | "AbstractCoordinator", Some(message)) => {
                self.coordinator(message)
            }
            ("IncrementalCooperativeAssignor", Some(message)) => self.assignor(message),
            ("DistributedHerder", Some(message)) => herder(message),
            ("Worker", _) => worker(line.message),
            ("KafkaStatusBackingStore", _) => status(line.message),
            ("WorkerConnector", _) if line.level == "ERROR" => {
                let name = between(line.message, "WorkerConnector{id=", "}")?;
                item(ItemKind::Connector, name, Step::Failed)
            }
            (_, _) => task(line.message),
        }
    }

    fn coordinator(&mut self, message: &str) -> Option<What> {
        if let Some(response) = after(message, "Received successful JoinGroup response: ") {
            self.generation = number_after(response, "generationId=")?;
            self.view = LeaderView::default();
            let (own, others) = response.split_once("members=[")?;
            return Some(What::Joined {
                generation: self.generation,
                member_id: between(own, "memberId='", "'")?.to_owned(),
                leader: between(own, "leader='", "'")?.to_owned(),
                protocol: between(own, "protocolName='", "'")?.to_owned(),
                members: others
                    .split("memberId='")
                    .skip(1)
                    .filter_map(|rest| rest.split_once('\''))
                    .map(|(member, _)| member.to_owned())
                    .collect(),
            });
        }
        if let Some(assignment) = after(message, "Deserialized new assignment: ") {
            return Some(What::Received {
                generation: self.generation,
                assignment: Assignment::parse(assignment)?,
            });
        }
        if message.contains("to avoid running tasks while not being a member") {
            return Some(What::WorkDropped);
        }
        if message.contains("sending LeaveGroup request to coordinator") {
            return Some(What::Leaving {
                reason: after(message, "due to ").unwrap_or_default().to_owned(),
            });
        }
        (message == "(Re-)joining group").then_some(What::Rejoining)
    }

    fn assignor(&mut self, message: &str) -> Option<What> {
        let (label, value) = message.split_once(": ")?;
        match label {
            "Configured assignments" => self.view.configured = Work::parse(value)?,
            "Deleted assignments" => self.view.deleted = Work::parse(value)?,
            "Lost assignments" => self.view.lost = Work::parse(value)?,
            // "New assignments" before 3.4.
            "Created" | "New assignments" => self.view.created = Work::parse(value)?,
            "Actual assignments" => {
                return Some(What::LeaderAssigned {
                    generation: self.generation,
                    assignments: Assignment::parse_all(value)?,
                    view: std::mem::take(&mut self.view),
                });
            }
            _ => {}
        }
        None
    }
}

fn item(kind: ItemKind, name: &str, step: Step) -> Option<What> {
    Some(What::Item {
        item: Item {
            kind,
            name: name.to_owned(),
        },
        step,
    })
}

fn fixture(message: &str) -> Option<What> {
    let (step, subject) = message.split_once(": ")?;
    let (kind, name) = subject.split_once(' ')?;
    let kind = match kind {
        "connector" => ItemKind::Connector,
        "task" => ItemKind::Task,
        _ => return None,
    };
    if step == "alive" {
        let name = name.to_owned();
        return Some(What::Alive {
            item: Item { kind, name },
        });
    }
    let step = match step {
        "start begins" => Step::StartBegins,
        "start ends" => Step::StartEnds,
        "stop begins" => Step::StopBegins,
        "stop ends" => Step::StopEnds,
        _ => return None,
    };
    item(kind, name, step)
}

fn herder(message: &str) -> Option<What> {
    if let Some(rest) = after(message, "Joined group at generation ") {
        return Some(What::Applied {
            generation: number_after(message, "at generation ")?,
            protocol_version: number_after(rest, "protocol version ")?,
            assignment: Assignment::parse(rest)?,
        });
    }
    if message.contains("does not match group assignment") {
        return Some(What::ConfigAhead {
            own_offset: number_after(message, "config state offset ")?,
            assigned_offset: number_after(message, "group assignment ")?,
        });
    }
    if let Some(name) = message.strip_prefix("Starting connector ") {
        return item(ItemKind::Connector, name, Step::StartAsked);
    }
    if let Some(name) = message.strip_prefix("Starting task ") {
        return item(ItemKind::Task, name, Step::StartAsked);
    }
    if let Some(name) = between(message, "Couldn't instantiate task ", " because") {
        return item(ItemKind::Task, name, Step::StartRefused);
    }
    match message {
        "Finished starting connectors and tasks" => Some(What::WorkFinished),
        "Finished stopping tasks in preparation for rebalance" => Some(What::StopsFinished),
        "Finished flushing status backing store in preparation for rebalance" => {
            Some(What::StatusesFlushed)
        }
        "Herder stopping" => Some(What::HerderStopping),
        "Herder stopped" => Some(What::HerderStopped),
        _ => change(message),
    }
}

/// What makes a worker stop something although it still owns it.
fn change(message: &str) -> Option<What> {
    let tasks = |list: &str| -> Vec<String> {
        let names = list.split(", ").filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    if let Some(rest) = message.strip_prefix("Connector ") {
        let (name, what) = rest.split_once(" config ")?;
        let connector = name.to_owned();
        return match what {
            "updated" => Some(What::ConnectorChanged { connector }),
            "removed" => Some(What::ConnectorRemoved { connector }),
            _ => None,
        };
    }
    if let Some(list) = between(message, "Tasks [", "] configs updated") {
        return Some(What::TasksChanged { tasks: tasks(list) });
    }
    if message.starts_with("Handling task config update by ") {
        let tasks = tasks(between(message, " tasks [", "]")?);
        return Some(What::TasksStoppedToChange { tasks });
    }
    let connector = || Some(between(message, "{connectorName='", "'")?.to_owned());
    if message.starts_with("Executing plan to restart ") {
        let connector = connector()?;
        return Some(What::RestartPlanned { connector });
    }
    let done = message.starts_with("Completed plan to restart ");
    done.then(|| {
        Some(What::RestartDone {
            connector: connector()?,
        })
    })?
}

fn worker(message: &str) -> Option<What> {
    if let Some(rest) = after(message, "Setting connector ") {
        let (connector, state) = rest.split_once(" state to ")?;
        return Some(What::TargetState {
            connector: connector.to_owned(),
            state: state.to_owned(),
        });
    }
    // A client of a connector may be named in front: "[name|worker] ...".
    for (kind, word) in [(ItemKind::Connector, "connector"), (ItemKind::Task, "task")] {
        if let Some(name) = after(message, &format!("Stopping {word} ")) {
            return item(kind, name, Step::StopAsked);
        }
        if let Some(rest) = after(message, &format!("Graceful stop of {word} ")) {
            let (name, how) = rest.split_once(' ')?;
            let step = if how.starts_with("succeeded") {
                Step::StopInTime
            } else {
                Step::StopTimedOut
            };
            return item(kind, name, step);
        }
    }
    if message.contains("failed to properly shut down") {
        // The quotes around the name changed between releases.
        let name = between(message, "Connector ", " failed")?;
        let name = name.trim_matches(['\'', '"', '‘', '’']);
        return item(ItemKind::Connector, name, Step::StopTimedOut);
    }
    None
}

/// `Received task a-0 status update Status{id=a-0, state=RUNNING, workerId='h:1', ...}`
fn status(message: &str) -> Option<What> {
    let (subject, status) = message.split_once(" status update ")?;
    let (kind, name) = subject.strip_prefix("Received ")?.split_once(' ')?;
    let kind = match kind {
        "connector" => ItemKind::Connector,
        "task" => ItemKind::Task,
        _ => return None,
    };
    Some(What::StatusRead {
        item: Item {
            kind,
            name: name.to_owned(),
        },
        state: between(status, ", state=", ",")?.to_owned(),
        worker_id: between(status, "workerId='", "'")?.to_owned(),
    })
}

/// "WorkerSourceTask{id=foo-3} ...", whichever class says it.
fn task(message: &str) -> Option<What> {
    let name = between(message, "Task{id=", "}")?;
    let step = if message.contains("finished initialization and start") {
        Step::Started
    } else if message.contains("Task threw an uncaught and unrecoverable exception") {
        Step::Failed
    } else {
        return None;
    };
    item(ItemKind::Task, name, step)
}

#[cfg(test)]
mod tests;
