//! `evenkeel check --live`: reads each group as the agent would, for a bounded time, until
//! what can be known is known; says how far it is on standard error.

mod progress;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use evenkeel_core::answers::Answers;
use evenkeel_core::checks::Finding;
use evenkeel_core::checks::known::{Known, Worker};
use evenkeel_core::checks::source::{Source, Value};
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Input, Topic};
use evenkeel_core::facts::time::ArrivalTime;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::commands::exit::{Exit, chain};
use crate::commands::{start, wiring};
use crate::config::{Config, ConfigFlags, Loaded, LogLevel};
use crate::read::group as reading;
use crate::read::group::GroupReader;
use crate::read::hitch::Hitch;
use crate::read::kafka::ReadSettings;
use crate::run::shutdown::Shutdown;
use crate::run::{clock, group};
use crate::show::checks::LiveRead;
use crate::show::health::is_heard_of;
use crate::show::view::{AgentStats, HitchStats, PollStats};
use crate::show::{api, log};
use progress::{Progress, progress};

/// Inputs between a reader and its engine.
const INPUTS_MAX: usize = 4096;

/// How long what cannot be read has to stay so before it is believed: a broker may be asked
/// once more, and the polls look at a connection more closely than librdkafka tells.
const LASTS: Duration = Duration::from_secs(3);

/// The same where no broker answers at all: one may be starting.
const UNREACHABLE_LASTS: Duration = Duration::from_secs(10);

/// How long what was read is judged at most: a few questions for the ends of topics.
const JUDGED_BY: Duration = Duration::from_secs(10);

/// How often it is said what is waited for.
const SAID_EVERY: Duration = Duration::from_secs(5);

/// A running group.
#[derive(Debug)]
pub(super) struct Watched {
    /// What is known of it, without any file.
    pub(super) known: Known,
    /// What the checks say of it, with the settings of the worker's file that the connection
    /// is made from.
    pub(super) findings: Vec<Finding>,
    /// What is shown of the reading.
    pub(super) read: LiveRead,
    /// Where it runs, as brokers call it.
    pub(super) cluster: Option<String>,
    /// Whether any broker let us in.
    pub(super) is_reached: bool,
    /// The worker whose file the connection is made from: its file, and its name in the group.
    own: Option<(PathBuf, Option<String>)>,
}

/// Reads all configured groups at once.
///
/// # Errors
/// The configuration has mistakes, which were said.
pub(super) fn read(flags: &ConfigFlags, wait: Duration) -> Result<Vec<Watched>, Exit> {
    let Loaded {
        mut config,
        warnings,
        ..
    } = wiring::configuration(flags).map_err(|mistakes| {
        eprintln!("{mistakes}");
        Exit::Config
    })?;
    if flags.log_level.is_none() {
        // Standard error is for what a person waits for.
        config.log.level = LogLevel::Error;
    }
    log::start(config.log);
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    let readers = wiring::readers(&config).map_err(|mistakes| {
        eprintln!("{mistakes}");
        Exit::Config
    })?;
    let file = flags.worker_properties.as_deref().map(PathBuf::from);
    let watched = start::on_this_thread(watch_all(readers, &config, file.as_deref(), wait));
    match watched {
        Ok(watched) => Ok(watched),
        Err(error) => Err(Exit::of_error(&error)),
    }
}

async fn watch_all(
    readers: Vec<ReadSettings>,
    config: &Config,
    file: Option<&Path>,
    wait: Duration,
) -> Vec<Watched> {
    let until = Instant::now() + wait;
    let groups = readers.into_iter().zip(&config.groups);
    let reading = groups.map(|(settings, group)| {
        let principal = group.principal.clone();
        let file = file.map(Path::to_owned);
        let name = settings.group.clone();
        let watching = watch(settings, principal.clone(), file, until);
        (name, principal, watching)
    });
    all(reading.collect()).await
}

/// All groups at once, in their order; one that cannot be read at all is told beside the others.
async fn all<F>(reading: Vec<(String, Option<String>, F)>) -> Vec<Watched>
where
    F: Future<Output = io::Result<Watched>> + Send + 'static,
{
    let begun = reading.into_iter();
    let begun = begun.map(|(group, who, watching)| (group, who, tokio::spawn(watching)));
    let begun: Vec<_> = begun.collect();
    let mut watched = Vec::new();
    for (group, principal, watching) in begun {
        let read = watching.await.map_err(io::Error::other);
        let read = read.and_then(|read| read);
        watched.push(read.unwrap_or_else(|error| Watched::failed(group, principal, &error)));
    }
    watched
}

async fn watch(
    settings: ReadSettings,
    principal: Option<String>,
    file: Option<PathBuf>,
    until: Instant,
) -> io::Result<Watched> {
    let (sender, inputs) = mpsc::channel(INPUTS_MAX);
    let group: Arc<str> = settings.group.as_str().into();
    eprintln!("group {group}: reading");
    let reader =
        reading::start(settings, Arc::new(clock::now), sender).map_err(io::Error::other)?;
    let shutdown = Arc::new(Shutdown::new());
    let mut watcher = Watcher {
        agent: AgentStats::default(),
        group,
        reader,
        principal,
        progress: (Progress::Reading, Instant::now()),
        said: Instant::now(),
        shutdown: Arc::clone(&shutdown),
        file,
        watched: None,
    };
    {
        let ending = shutdown.ending();
        let watching = group::run(Engine::new(), inputs, &mut watcher, ending);
        tokio::pin!(watching);
        // It ends by itself with what it found; only time can make it end before.
        tokio::select! {
            result = &mut watching => result?,
            () = sleep_until(until) => {
                shutdown.begin();
                watching.await?;
            }
        }
    }
    let watched = watcher.watched.take();
    drop(watcher);
    watched.ok_or_else(|| io::Error::other("nothing was read"))
}

/// What surrounds the loop of a group that is read once.
struct Watcher {
    group: Arc<str>,
    reader: GroupReader,
    principal: Option<String>,
    agent: AgentStats,
    /// How far it is, and since when.
    progress: (Progress, Instant),
    said: Instant,
    shutdown: Arc<Shutdown>,
    file: Option<PathBuf>,
    watched: Option<Watched>,
}

impl group::Surroundings for Watcher {
    fn ask_ends(&mut self) {
        self.reader.ask_ends();
    }

    fn took(&mut self, _engine: &Engine, _input: &Input, _changes: &[Change]) -> io::Result<()> {
        Ok(())
    }

    fn publish(&mut self, engine: &Engine, answers: Answers, now: ArrivalTime) {
        self.reader.heed(&answers);
        self.agent = self.stats();
        if self.is_done(engine, &answers, now) {
            self.shutdown.begin();
        } else if self.said.elapsed() >= SAID_EVERY {
            self.said = Instant::now();
            self.say(&answers, now);
        }
    }

    async fn ended(&mut self, engine: &Engine) {
        let (answers, now) = (engine.answers(), clock::now());
        self.watched = Some(self.found(engine, &answers, now));
    }
}

// === impl Watcher ===

impl Watcher {
    /// Whether nothing more is to be waited for.
    fn is_done(&mut self, engine: &Engine, answers: &Answers, now: ArrivalTime) -> bool {
        let progress = progress(answers, now);
        if self.progress.0 != progress {
            self.progress = (progress, Instant::now());
        }
        let lasted = self.progress.1.elapsed();
        match progress {
            Progress::Reading => false,
            Progress::Outside => lasted >= UNREACHABLE_LASTS,
            Progress::Refused | Progress::Stuck => lasted >= LASTS,
            // What brokers say comes with the first answers; what was read is judged soon.
            Progress::Current => {
                let has_all = engine.cluster().is_some() && !engine.wants_ends();
                has_all || lasted >= JUDGED_BY
            }
        }
    }

    /// What stands in the way, as `/readyz` words it.
    fn stats(&self) -> AgentStats {
        let told = |topic: Option<Topic>, hitch: Option<Hitch>| {
            Some(HitchStats {
                group: Arc::clone(&self.group),
                topic,
                text: hitch?.text(),
            })
        };
        let of_topics = Topic::ALL.map(|topic| told(Some(topic), self.reader.hitch(topic)));
        let of_polls = told(None, self.reader.polls_hitch());
        let principal = self.principal.iter();
        AgentStats {
            principals: principal
                .map(|who| (self.group.to_string(), who.clone()))
                .collect(),
            polls: vec![PollStats {
                group: Arc::clone(&self.group),
                off: self.reader.polls_off(),
                ..PollStats::default()
            }],
            hitches: of_topics.into_iter().chain([of_polls]).flatten().collect(),
            ..AgentStats::default()
        }
    }

    fn say(&self, answers: &Answers, now: ArrivalTime) {
        let troubles = api::troubles(answers, &self.agent, now);
        let group = &self.group;
        if troubles.is_empty() {
            eprintln!("group {group}: still reading");
        }
        for trouble in troubles {
            eprintln!("group {group}: {trouble}");
        }
    }

    fn found(&self, engine: &Engine, answers: &Answers, now: ArrivalTime) -> Watched {
        let progress = progress(answers, now);
        let known = engine.known();
        let by_records = answers.checks.is_some();
        let mut troubles = api::troubles(answers, &self.agent, now);
        // The time may be over before a broker that is not there counts as one.
        let is_heard = engine.cluster().is_some() || answers.inputs.iter().any(is_heard_of);
        let is_mute = progress == Progress::Reading && !is_heard;
        if is_mute && troubles.is_empty() {
            troubles.push("no broker answered in the time there was (--wait)".to_owned());
        }
        let read = LiveRead {
            group: self.group.to_string(),
            principal: self.principal.clone(),
            workers: by_records.then(|| answers.group.as_ref().map_or(0, |it| it.members.len())),
            troubles,
            notes: match is_mute {
                true => Vec::new(),
                false => self.notes(engine, answers, progress),
            },
        };
        let own = answers.own.as_ref().map(|own| own.worker.to_string());
        Watched {
            known,
            findings: engine.checked(),
            read,
            cluster: answers.settings.cluster_id.clone(),
            is_reached: !is_mute && !matches!(progress, Progress::Outside | Progress::Refused),
            own: self.file.clone().map(|file| (file, own)),
        }
    }

    /// What is known less of than could be.
    fn notes(&self, engine: &Engine, answers: &Answers, progress: Progress) -> Vec<String> {
        let mut notes = Vec::new();
        let who = self.principal.as_deref().unwrap_or("the agent's principal");
        match engine.cluster() {
            Some(cluster) => {
                for (right, on) in cluster.rights_missing() {
                    notes.push(format!(
                        "{who} lacks {right} on {on}: what is set there is not known"
                    ));
                }
            }
            None if matches!(progress, Progress::Current | Progress::Reading) => notes.push(
                "brokers did not say how they and the topics are set: checks that need it are \
                 undecided"
                    .to_owned(),
            ),
            None => {}
        }
        if progress == Progress::Reading {
            let told = "the time to read was over before all was read (--wait): what is said may \
                        not be all";
            notes.push(told.to_owned());
        }
        if progress == Progress::Current && answers.group.is_none() {
            let told = "no record of this group exists: no worker has joined yet, or the group.id \
                        is another";
            notes.push(told.to_owned());
        }
        notes
    }
}

// === impl Watched ===

impl Watched {
    /// A group that could not be read at all.
    fn failed(group: String, principal: Option<String>, error: &io::Error) -> Self {
        Self {
            known: Known {
                group: Some(Value::new(group.clone(), Source::Said)),
                ..Known::default()
            },
            findings: Vec::new(),
            read: LiveRead {
                group,
                principal,
                troubles: vec![format!("it could not be read: {}", chain(error))],
                ..LiveRead::default()
            },
            cluster: None,
            is_reached: true,
            own: None,
        }
    }

    /// Whether the settings are those of the file that the connection is made from.
    pub(super) fn is_of_own(&self, worker: &Worker) -> bool {
        let Some((file, _)) = &self.own else {
            return false;
        };
        let mut sources = worker.settings.values().map(|given| &given.source);
        sources
            .any(|source| matches!(source, Source::File { file: of, .. } if Path::new(of) == file))
    }

    /// Whether that is the worker beside whom the file lies.
    pub(super) fn is_own(&self, member: &Worker) -> bool {
        let own = self.own.as_ref().and_then(|(_, name)| name.as_deref());
        own == Some(member.name.as_str())
    }
}

#[cfg(test)]
impl Watched {
    /// A group with the worker whose file was the connection's, by name.
    pub(super) fn for_tests(known: Known, own: Option<(&str, &str)>) -> Self {
        Self {
            known,
            findings: Vec::new(),
            read: LiveRead::default(),
            cluster: None,
            is_reached: true,
            own: own.map(|(file, name)| (PathBuf::from(file), Some(name.to_owned()))),
        }
    }
}

#[cfg(test)]
mod tests;
