//! Columns of tables: which labels and values are shown, what they are called, and where they
//! lead.

use serde_json::{Map, Value, json};

use super::panel::{Column, Panel};

/// A label or value under a title.
pub(crate) const fn column(field: &'static str, title: &'static str) -> Column {
    Column {
        field,
        title,
        unit: None,
        leads_to: None,
    }
}

/// A value with its unit.
pub(crate) const fn value(field: &'static str, title: &'static str, unit: &'static str) -> Column {
    Column {
        field,
        title,
        unit: Some(unit),
        leads_to: None,
    }
}

pub(crate) const CLUSTER: Column = column("cluster", "Cluster");
pub(crate) const GROUP: Column = column("group", "Group");
pub(crate) const WORKER: Column = Column {
    field: "worker",
    title: "Worker",
    unit: None,
    leads_to: Some(("evenkeel-workers", "worker")),
};
pub(crate) const CONNECTOR: Column = Column {
    field: "connector",
    title: "Connector",
    unit: None,
    leads_to: Some(("evenkeel-connectors", "connector")),
};
pub(crate) const REASON: Column = column("reason", "Reason");
pub(crate) const SUBJECT: Column = column("subject", "About");

/// Answers of all queries side by side, by the labels that they share; then the columns, in
/// their order, and no others that Prometheus always sends.
pub(crate) fn transformations(panel: &Panel) -> Value {
    let mut steps = Vec::new();
    if panel.targets.len() > 1 {
        steps.push(json!({"id": "merge", "options": {}}));
    }
    let named: Map<String, Value> = panel
        .columns
        .iter()
        .map(|column| (column.field.to_owned(), json!(column.title)))
        .collect();
    let order: Map<String, Value> = panel
        .columns
        .iter()
        .zip(0..)
        .map(|(column, place): (&Column, u32)| (column.field.to_owned(), json!(place)))
        .collect();
    let values = panel.targets.iter().zip('A'..).map(|(_, name)| {
        if panel.targets.len() > 1 {
            format!("Value #{name}")
        } else {
            "Value".to_owned()
        }
    });
    let hidden: Map<String, Value> = values
        .filter(|field| !named.contains_key(field))
        .chain(["Time".to_owned()])
        .map(|field| (field, json!(true)))
        .collect();
    steps.push(json!({
        "id": "organize",
        "options": {"excludeByName": hidden, "indexByName": order, "renameByName": named},
    }));
    Value::Array(steps)
}
