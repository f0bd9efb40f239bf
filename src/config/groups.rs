//! Puts what workers say under what the tree says: keys of a group that nobody set come
//! from its worker's file and variables.

use std::path::Path;

use super::load::Override;
use super::mistake::Mistake;
use super::tree::{GroupTree, Tree};
use super::validate::is_broker;
use super::worker::{self, Given, Place, Worker};

/// A value that the configuration holds and where it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The key, as in `groups[0].group`, or a property of a worker or of librdkafka.
    pub key: String,
    /// The value, where it may be shown and stands nowhere else.
    pub value: Option<String>,
    /// File and line, variable or flag.
    pub source: String,
}

/// What the workers of the groups say, one for each group.
#[derive(Debug, Default)]
pub(super) struct Workers {
    /// Those that were read.
    pub(super) each: Vec<Option<Worker>>,
    /// The keys of the tree that they filled.
    pub(super) filled: Vec<Origin>,
    /// What may be wrong.
    pub(super) warnings: Vec<String>,
}

/// Reads the workers' settings and fills the tree with them.
pub(super) fn fill(
    tree: &mut Tree,
    vars: &[(String, String)],
    env: &dyn Fn(&str) -> Option<String>,
    mistakes: &mut Vec<Mistake>,
) -> Workers {
    let mut workers = Workers::default();
    let has_variables = worker::is_used(vars);
    if tree.groups.is_empty() && has_variables {
        tree.groups.push(GroupTree::default());
    }
    // Variables describe one worker.
    let vars = if tree.groups.len() == 1 { vars } else { &[] };
    if has_variables && tree.groups.len() > 1 {
        let told = "CONNECT_* variables are left alone: they describe one worker, and there are several groups";
        workers.warnings.push(told.to_owned());
    }
    // What leads nowhere is told by the validation.
    let (properties, _) = tree.kafka.properties.looked_up(env);
    for (index, group) in tree.groups.iter_mut().enumerate() {
        let key = format!("groups[{index}].worker_properties");
        // A variable that is empty is one that a template left out.
        let path = group.worker_properties.clone();
        let path = path.filter(|path| !path.is_empty());
        let file = path.as_deref().map(|path| (Path::new(path), key.as_str()));
        if file.is_none() && !worker::is_used(vars) {
            workers.each.push(None);
            continue;
        }
        let set = [
            ("group", !group.group.is_empty()),
            ("config_topic", !group.config_topic.is_empty()),
            ("status_topic", !group.status_topic.is_empty()),
        ];
        let set: Vec<_> = set
            .iter()
            .filter(|(_, set)| *set)
            .map(|(key, _)| *key)
            .collect();
        let place = Place {
            file,
            vars,
            env,
            properties: &properties,
            has_token_file: tree.kafka.token_file.is_some(),
            has_brokers: !tree.kafka.bootstrap.is_empty(),
            set: &set,
        };
        let (mut read, wrong) = worker::read(&place);
        mistakes.extend(wrong);
        workers.warnings.append(&mut read.warnings);
        fill_group(index, group, &read, &mut workers);
        workers.each.push(Some(read));
    }
    workers
}

fn fill_group(index: usize, group: &mut GroupTree, read: &Worker, workers: &mut Workers) {
    let mut fill = |key: &str, slot: &mut String, given: &Option<Given>| {
        if let (true, Some(given)) = (slot.is_empty(), given) {
            slot.clone_from(&given.value);
            workers.filled.push(Origin {
                key: format!("groups[{index}].{key}"),
                value: None,
                source: given.source.clone(),
            });
        }
    };
    fill("group", &mut group.group, &read.group);
    fill("config_topic", &mut group.config_topic, &read.config_topic);
    fill("status_topic", &mut group.status_topic, &read.status_topic);
    if let (None, Some(given)) = (&group.own_worker, &read.own_worker) {
        if is_broker(&given.value) {
            let mut name = String::new();
            fill("own_worker", &mut name, &read.own_worker);
            group.own_worker = Some(name);
        } else {
            workers.warnings.push(format!(
                "{}: what the worker advertises is no host:port, and is left out",
                given.source
            ));
        }
    }
}

/// The variables and flags that set something, as origins.
pub(super) fn of_overrides(overrides: &[Override]) -> Vec<Origin> {
    let origin = |over: &Override| Origin {
        key: over.key.clone(),
        value: None,
        source: over.origin.clone(),
    };
    overrides.iter().map(origin).collect()
}

// === impl Workers ===

impl Workers {
    pub(super) fn get(&self, index: usize) -> Option<&Worker> {
        self.each.get(index).and_then(Option::as_ref)
    }

    /// Whether any group has one.
    pub(super) fn has_any(&self) -> bool {
        self.each.iter().any(Option::is_some)
    }

    /// Whether the value at `path` may stand in a worker's file that cannot be read.
    pub(super) fn may_say(&self, path: &str) -> bool {
        let each = self.each.iter().enumerate();
        let mut unread = each.filter(|(_, worker)| worker.as_ref().is_some_and(|it| it.is_unread));
        unread.any(|(index, _)| {
            let keys = ["group", "config_topic", "status_topic"];
            keys.iter()
                .any(|key| path == format!("groups[{index}].{key}"))
        })
    }

    /// Whether every group knows brokers from its worker.
    pub(super) fn have_brokers(&self) -> bool {
        let has = |worker: &Option<Worker>| {
            let worker = worker.as_ref();
            // A worker whose settings could not be read has had its mistake told.
            worker.is_some_and(|worker| {
                worker
                    .connection
                    .properties
                    .contains_key("bootstrap.servers")
                    || worker.has_mistakes
            })
        };
        !self.each.is_empty() && self.each.iter().all(has)
    }
}
