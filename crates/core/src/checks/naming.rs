//! Names of settings: misspelt, of another scope, of another release, or nobody's.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::inputs::{FILE, INSTANCE, RELEASE, SINK_INSTANCE};
use super::known::{Given, Worker};
use super::lacking::unmarked;
use super::look::{Look, Verdict, each_worker, fires_if, look_at, passes};
use super::near::{meant, nearest};
use super::releases::{Release, Whose, tables};
use super::spelling::Spelling;
use super::{Check, Harm, Judgement, Known, Severity};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "setting_misspelt",
        severity: Severity::Warning,
        harm: Harm::Inert,
        title: "a setting that Kafka does not have looks like one that it has",
        inputs: &[FILE, RELEASE],
        consequence: "Kafka ignores it, and what it was meant to change keeps its default.",
        advice: "Correct the name.",
        decide: setting_misspelt,
    },
    Check {
        id: "wrong_scope",
        severity: Severity::Warning,
        harm: Harm::Inert,
        title: "a setting of tasks' clients, of topics or of connectors stands at the top of a worker's file",
        inputs: &[FILE, RELEASE],
        consequence: "There it reaches at most the clients that the worker has for its own topics, and no task and no connector.",
        advice: "Move it to where it works.",
        decide: wrong_scope,
    },
    Check {
        id: "instance_id_ignored",
        severity: Severity::Warning,
        harm: Harm::Inert,
        title: "`group.instance.id` is set for a worker",
        inputs: &[FILE],
        consequence: "Connect workers have no static membership: it does nothing, and each restart is still a departure and an arrival.",
        advice: "Take it out. Restarts without moves of work are what scheduled.rebalance.max.delay.ms is for.",
        decide: instance_id_ignored,
    },
    Check {
        id: "setting_not_in_release",
        severity: Severity::Warning,
        harm: Harm::Inert,
        title: "a setting is not one of this release of Kafka, but of an earlier or later one",
        inputs: &[FILE, RELEASE],
        consequence: "This release ignores it, and what it is meant to change is as if it were not there.",
        advice: "Take it out, or use what came in its place.",
        decide: setting_not_in_release,
    },
    Check {
        id: "setting_overruled",
        severity: Severity::Info,
        harm: Harm::Inert,
        title: "partitions of the config topic, or the cleanup policy of an internal topic, are set",
        inputs: &[FILE],
        consequence: "Connect ignores them: its config topic has one partition, and all three topics are compacted.",
        advice: "Take them out.",
        decide: setting_overruled,
    },
    Check {
        id: "setting_unknown",
        severity: Severity::Info,
        harm: Harm::Inert,
        title: "a setting is none of Kafka's",
        inputs: &[FILE, RELEASE],
        consequence: "Kafka ignores it; a plug-in may read it.",
        advice: "Take it out, unless a plug-in of this worker needs it.",
        decide: setting_unknown,
    },
];

/// Sizes that the worker's own clients need at the top for large configurations.
const OF_SIZES: [&str; 6] = [
    "buffer.memory",
    "compression.type",
    "fetch.max.bytes",
    "fetch.message.max.bytes",
    "max.partition.fetch.bytes",
    "max.request.size",
];

/// What plug-ins find behind these is theirs.
const OPEN: [&str; 9] = [
    "admin.listeners.",
    "config.providers.",
    "header.converter.",
    "internal.key.converter",
    "internal.value.converter",
    "key.converter.",
    "listeners.",
    "metrics.context.",
    "value.converter.",
];

const STORAGE: [&str; 3] = ["config.storage.", "offset.storage.", "status.storage."];

pub(super) const CLIENTS: [(&str, Whose); 3] = [
    ("consumer.", Whose::Consumer),
    ("producer.", Whose::Producer),
    ("admin.", Whose::Admin),
];

/// What a name is to one release.
enum Naming {
    /// Nothing to say.
    Fine,
    /// Perhaps this is meant.
    Misspelt(String),
    /// It works there.
    WrongScope(String),
    /// Known from the first to the last of these.
    OtherRelease(Release, Release),
    /// Ignored by design.
    Overruled,
    /// Nobody's.
    Unknown,
}

/// A setting that somebody wrote.
struct Written<'a> {
    name: &'a str,
    given: &'a Given,
    spelling: Spelling,
}

impl Written<'_> {
    fn called(&self) -> String {
        self.given.called(self.name)
    }

    fn spelled(&self, name: &str) -> String {
        self.given.spelled(name, self.spelling)
    }
}

/// Which setting of a worker each name is near: many workers may have the same one.
type Near<'a> = RefCell<BTreeMap<&'a str, Option<&'static str>>>;

fn naming<'a>(name: &'a str, worker: &Worker, release: Release, near: &Near<'a>) -> Naming {
    let tables = tables();
    if tables.has(Whose::Worker, name, release)
        || [INSTANCE, SINK_INSTANCE].contains(&name)
        || unmarked(name).is_some()
    {
        return Naming::Fine;
    }
    for (prefix, whose) in CLIENTS {
        if let Some(rest) = name.strip_prefix(prefix)
            && !OPEN.iter().any(|open| name.starts_with(open))
        {
            return of_client(prefix, rest, whose, release);
        }
    }
    for prefix in STORAGE {
        if let Some(rest) = name.strip_prefix(prefix)
            && tables.lifetime(Whose::Worker, name).is_none()
        {
            return of_topic(prefix, rest, release);
        }
    }
    if OPEN.iter().any(|open| name.starts_with(open)) {
        return Naming::Fine;
    }
    if let Some((first, last)) = tables.lifetime(Whose::Worker, name) {
        return Naming::OtherRelease(first, last);
    }
    if let Some(places) = elsewhere(name, worker, release) {
        let is_meant = CLIENTS
            .iter()
            .any(|(prefix, _)| worker.settings.contains_key(&format!("{prefix}{name}")));
        return if is_meant || OF_SIZES.contains(&name) {
            Naming::Fine
        } else {
            Naming::WrongScope(places)
        };
    }
    let mut near = near.borrow_mut();
    let near = near
        .entry(name)
        .or_insert_with(|| meant(name, tables.names(Whose::Worker)));
    match near {
        Some(near) => Naming::Misspelt(near.to_owned()),
        None => Naming::Unknown,
    }
}

fn of_client(prefix: &str, rest: &str, whose: Whose, release: Release) -> Naming {
    let tables = tables();
    if tables.has(whose, rest, release) {
        return Naming::Fine;
    }
    if rest.starts_with("override.") {
        let there = format!(
            "in a connector; in a worker's file leave override. out, behind {prefix} itself"
        );
        return Naming::WrongScope(there);
    }
    if let Some((first, last)) = tables.lifetime(whose, rest) {
        return Naming::OtherRelease(first, last);
    }
    match meant(rest, tables.names(whose)) {
        Some(near) => Naming::Misspelt(format!("{prefix}{near}")),
        // Interceptors and the like have settings of their own.
        None => Naming::Fine,
    }
}

fn of_topic(prefix: &str, rest: &str, release: Release) -> Naming {
    let tables = tables();
    if rest == "cleanup.policy" || (prefix == STORAGE[0] && rest == "partitions") {
        return Naming::Overruled;
    }
    if tables.has(Whose::Topic, rest, release) {
        return Naming::Fine;
    }
    let of_worker = tables.names(Whose::Worker);
    let of_worker = of_worker.filter_map(|name| name.strip_prefix(prefix));
    match nearest(rest, tables.names(Whose::Topic).chain(of_worker)) {
        Some(near) => Naming::Misspelt(format!("{prefix}{near}")),
        None => Naming::Unknown,
    }
}

/// Where a name works that does not at the top of a worker's file.
fn elsewhere(name: &str, worker: &Worker, release: Release) -> Option<String> {
    let given = worker.settings.get(name);
    let spelled = |name: String| match given {
        Some(given) => given.spelled(&name, worker.spelling),
        None => name,
    };
    let has = |whose| tables().has(whose, name, release);
    let is_connector = has(Whose::Connector)
        || ["transforms.", "predicates.", "topic.creation."]
            .iter()
            .any(|prefix| name.starts_with(prefix));
    let mut places = Vec::new();
    for (prefix, tasks) in [("consumer.", "sink"), ("producer.", "source")] {
        let whose = if tasks == "sink" {
            Whose::Consumer
        } else {
            Whose::Producer
        };
        if has(whose) {
            let there = spelled(format!("{prefix}{name}"));
            places.push(format!(
                "as {there} for all {tasks} tasks, or as {prefix}override.{name} in a connector"
            ));
        }
    }
    if places.is_empty() && has(Whose::Admin) {
        let there = spelled(format!("admin.{name}"));
        places.push(format!("as {there} for admin clients of connectors"));
    }
    if is_connector {
        places.push("in the configuration of a connector".to_owned());
    }
    if has(Whose::Topic) {
        places.push(format!(
            "on topics themselves, or as topic.creation.default.{name} in a source connector"
        ));
    }
    (!places.is_empty()).then(|| places.join("; "))
}

/// A name as it may be shown, as whoever wrote it spells it: what is like no name, as where a
/// line was broken, may be a secret.
fn shown(name: &str, given: &Given) -> String {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let is_near = nearest(name, tables().names(Whose::Worker)).is_some();
    if is_near || name.contains('.') && name.chars().all(is_letter) {
        return given.called(name);
    }
    "what stands there".to_owned()
}

/// One judgement for each setting that fires, or one for the worker.
fn each_name(
    known: &Known,
    fires: impl Fn(&Naming, &Written<'_>, Release) -> Option<(String, String)>,
) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    let near = Near::default();
    for worker in &known.workers {
        let mut of_worker = Vec::new();
        let release = worker.release.as_ref().map(|release| release.value);
        // Without a release, what is true from the oldest to the newest.
        let releases = match release {
            Some(release) => [release; 2],
            None => [tables().oldest(), tables().newest()],
        };
        for (name, given) in &worker.settings {
            let written = Written {
                name,
                given,
                spelling: worker.spelling,
            };
            let [first, last] = releases.map(|release| {
                let naming = naming(name, worker, release, &near);
                fires(&naming, &written, release)
            });
            let told = first.filter(|first| last.as_ref() == Some(first));
            if let Some((said, advice)) = told {
                of_worker.push(look_at(known, worker, |look| {
                    look.mention(&shown(name, given), &given.source);
                    fires_if(true, || said.clone())?.advise(|| advice.clone())
                }));
            }
        }
        if of_worker.is_empty() {
            of_worker.push(look_at(known, worker, no_name));
        }
        judgements.extend(of_worker);
    }
    judgements
}

/// Nothing fires, or nothing can be said.
pub(super) fn no_name(look: &mut Look<'_>) -> Option<Verdict> {
    let (file, release) = (look.file(), look.release());
    file?;
    release?;
    passes()
}

fn setting_misspelt(known: &Known) -> Vec<Judgement> {
    each_name(known, |naming, written, _| match naming {
        Naming::Misspelt(near) => Some((
            format!("{} is no setting", written.called()),
            format!("Did you mean {}?", written.spelled(near)),
        )),
        _ => None,
    })
}

fn wrong_scope(known: &Known) -> Vec<Judgement> {
    each_name(known, |naming, written, _| match naming {
        Naming::WrongScope(places) => Some((
            format!("{} does nothing for tasks here", written.called()),
            format!("It works {places}."),
        )),
        _ => None,
    })
}

fn setting_not_in_release(known: &Known) -> Vec<Judgement> {
    each_name(known, |naming, written, release| match naming {
        Naming::OtherRelease(first, last) => {
            let name = written.called();
            let said = format!("{name} is not a setting of Kafka {release}");
            let advice = if release > *last {
                format!("It is gone; the last release known here that has it is {last}.")
            } else {
                format!("The first release known here that has it is {first}.")
            };
            Some((said, advice))
        }
        _ => None,
    })
}

fn setting_overruled(known: &Known) -> Vec<Judgement> {
    each_name(known, |naming, written, _| match naming {
        Naming::Overruled => Some((
            format!("{} is ignored", written.called()),
            "Take it out.".to_owned(),
        )),
        _ => None,
    })
}

fn setting_unknown(known: &Known) -> Vec<Judgement> {
    each_name(known, |naming, written, _| match naming {
        Naming::Unknown => {
            let name = shown(written.name, written.given);
            Some((
                format!("{name} is none of Kafka's settings"),
                "Take it out, unless a plug-in of this worker needs it.".to_owned(),
            ))
        }
        _ => None,
    })
}

fn instance_id_ignored(known: &Known) -> Vec<Judgement> {
    each_worker(known, |look| {
        let Some(given) = look.worker.settings.get(INSTANCE) else {
            look.file()?;
            return passes();
        };
        look.mention(&given.called(INSTANCE), &given.source);
        fires_if(true, || "no effect for workers".to_owned())
    })
}
