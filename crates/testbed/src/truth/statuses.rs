//! `GET /connectors?expand=status` as data.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What one worker's view of the status topic says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statuses {
    pub connectors: BTreeMap<String, ConnectorStatus>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectorStatus {
    pub connector: ItemStatus,
    pub tasks: BTreeMap<u32, ItemStatus>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemStatus {
    pub state: String,
    pub worker_id: String,
}

impl Statuses {
    /// Reads the answer of a worker.
    ///
    /// # Errors
    /// When it has another form.
    pub fn parse(answer: &Value) -> anyhow::Result<Statuses> {
        let mut connectors = BTreeMap::new();
        for (name, value) in answer.as_object().context("no object")? {
            let status = &value["status"];
            let mut tasks = BTreeMap::new();
            for task in status["tasks"].as_array().context("no tasks")? {
                let id = task["id"].as_u64().context("task without id")?;
                tasks.insert(u32::try_from(id)?, ItemStatus::parse(task)?);
            }
            let connector = ItemStatus::parse(&status["connector"])?;
            connectors.insert(name.clone(), ConnectorStatus { connector, tasks });
        }
        Ok(Statuses { connectors })
    }

    /// Whether the connector and exactly `tasks` tasks of it are in `state`.
    pub fn all_in(&self, connector: &str, tasks: usize, state: &str) -> bool {
        self.connectors.get(connector).is_some_and(|status| {
            status.connector.state == state
                && status.tasks.len() == tasks
                && status.tasks.values().all(|task| task.state == state)
        })
    }
}

impl ItemStatus {
    fn parse(value: &Value) -> anyhow::Result<ItemStatus> {
        let text = |name: &str| {
            value[name]
                .as_str()
                .map(str::to_owned)
                .with_context(|| format!("no {name} in {value}"))
        };
        Ok(ItemStatus {
            state: text("state")?,
            worker_id: text("worker_id")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_an_answer_of_4_4() {
        // Answered by a 4.4.0 worker; 4.1 and later add the version.
        let text = r#"{"snk":{"status":{"name":"snk","connector":{"state":"RUNNING",
            "worker_id":"127.0.0.1:27093","version":"1"},"tasks":[{"id":0,"state":"RUNNING",
            "worker_id":"127.0.0.1:21630","version":"1"},{"id":1,"state":"FAILED","trace":"x",
            "worker_id":"127.0.0.1:27093","version":"1"}],"type":"sink"}}}"#;
        let statuses = Statuses::parse(&serde_json::from_str(text).unwrap()).unwrap();
        let snk = &statuses.connectors["snk"];
        assert_eq!(snk.connector.state, "RUNNING");
        assert_eq!(snk.tasks[&1].state, "FAILED");
        assert!(!statuses.all_in("snk", 2, "RUNNING"));
        assert!(!statuses.all_in("other", 0, "RUNNING"));
    }

    #[test]
    fn refuses_another_form() {
        for text in [r#"["snk"]"#, r#"{"snk":{}}"#] {
            assert!(Statuses::parse(&serde_json::from_str(text).unwrap()).is_err());
        }
    }
}
