//! The life of one topic's reader: reach it, find out where to begin, read on, and
//! begin again with a new client when something is wrong, for ever.

use std::sync::Arc;
use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{InputKind, Reached, Start, Topic, Trouble};
use evenkeel_core::facts::partition::group_partition;

use super::client::{self, Client};
use super::emit::Stopped;
use super::frontier::{Frontier, Progress};
use super::resume::{Bounds, PastTrouble, Resume, Saved, TopicReadTo, resume};
use super::search::{Limits, search};
use super::session::{Again, Description, Halt, Session, describe};
use super::shared::Shared;
use super::source::ChunkReader;
use super::watched::Watched;
use super::{ReadSettings, sample, tail};

/// Waits between two attempts, doubled up to the second.
const RETRY_MIN: Duration = Duration::from_millis(200);
const RETRY_MAX: Duration = Duration::from_secs(5);

/// A reader that lived this long had no trouble of its own: its next wait is short.
const LIVED: Duration = Duration::from_secs(10);

/// The thread that reads.
#[derive(Debug)]
pub(super) struct TopicReader {
    settings: Arc<ReadSettings>,
    shared: Arc<Shared>,
    watched: Arc<Watched>,
    limits: Limits,
    /// How far another process read it.
    read_to: Option<TopicReadTo>,
}

// === impl TopicReader ===

impl TopicReader {
    pub(super) fn new(
        settings: &Arc<ReadSettings>,
        shared: &Arc<Shared>,
        watched: &Arc<Watched>,
        limits: Limits,
        read_to: Option<TopicReadTo>,
    ) -> Self {
        Self {
            settings: Arc::clone(settings),
            shared: Arc::clone(shared),
            watched: Arc::clone(watched),
            limits,
            read_to,
        }
    }

    pub(super) fn run(self) {
        let emitter = &self.shared.emitter;
        let inherited = self.read_to.as_ref().map(Saved::inherit);
        let mut saved = inherited.unwrap_or_default();
        let mut wait = RETRY_MIN;
        loop {
            let began = Instant::now();
            let why = match self.read(&mut saved) {
                Err(Halt::Stopped) => break,
                Err(Halt::Again(why)) => why,
                Ok(()) => continue,
            };
            self.shared.set_session(None);
            emitter.counters.topic(self.shared.topic).restarts.add(1);
            let topic = self.shared.topic.label();
            tracing::info!(topic, why = ?why, "reading begins again with a new client");
            match why {
                // Whether it is, the brokers are asked next.
                Again::Missing => saved.trouble.was_missing = true,
                Again::Replaced => saved.trouble.was_replaced = true,
                Again::OutOfRange => saved.trouble.was_out_of_range = true,
                Again::Changed | Again::Connection | Again::Failed => {}
            }
            if why == Again::Connection || began.elapsed() > LIVED {
                wait = RETRY_MIN;
            }
            if emitter.sleep(wait).is_err() {
                break;
            }
            wait = (wait * 2).min(RETRY_MAX);
        }
        self.shared.set_session(None);
    }

    /// One client's life.
    fn read(&self, saved: &mut Saved) -> Result<(), Halt> {
        let shared = &self.shared;
        let access = Some(Arc::clone(&shared.access));
        let connection = shared.connection();
        let client = match client::create_for(&connection, shared.topic, access) {
            Ok(client) => Arc::new(client),
            Err(error) => {
                // It worked at start: a file it names is gone, say.
                tracing::warn!(topic = shared.topic.label(), %error, "kafka client not created");
                let emitter = &shared.emitter;
                shared
                    .access
                    .questions(emitter, emitter.now(), Some(Trouble::Other))?;
                return Err(Halt::Again(Again::Failed));
            }
        };
        let description = self.reach(&client)?;
        let partitions: Vec<i32> = match shared.topic {
            Topic::Offsets => group_partition(&self.settings.group, description.partitions)
                .into_iter()
                .collect(),
            Topic::Config | Topic::Status => (0..description.partitions).collect(),
        };
        if saved.is_inherited && saved.identity.is_untold(&description.identity) {
            // What another cluster's topic held must not be taken for this one's.
            return Err(Halt::Again(Again::Failed));
        }
        let session = Session::new(client, shared, description, partitions);
        let bounds = self.bounds(&session)?;
        let plan = resume(saved, &session.description.identity, &bounds);
        shared.set_identity(&session.description.identity);
        if std::mem::take(&mut saved.is_inherited) {
            self.send_continued(&bounds, &plan)?;
        }
        let positions = match shared.topic {
            Topic::Offsets => self.begin_offsets(&session, &bounds, &plan)?,
            Topic::Config | Topic::Status => self.begin(&session, &bounds, &plan)?,
        };
        let now = Instant::now();
        let mut frontier = Frontier::new(&positions, now);
        saved.identity = session.description.identity.clone();
        saved.trouble = PastTrouble::default();
        saved.keep(positions);
        if plan.contains(&(Resume::Begin { anew: true })) {
            saved.epochs.clear();
        }
        let group = &self.settings.group;
        let result = loop {
            let read = tail::read(&session, group, &mut frontier, &mut saved.epochs);
            let beyond = frontier.progress().next().filter(|_| read.is_ok());
            let Some(mut progress) = beyond else {
                break read;
            };
            let read = sample::read(&session, group, &mut progress, &mut saved.epochs);
            frontier = Frontier::new(&[progress], Instant::now());
            if read.is_err() {
                break read;
            }
        };
        saved.keep(frontier.progress());
        result
    }

    /// Asks for the topic until there is an answer that says where it is.
    fn reach(&self, client: &Client) -> Result<Description, Halt> {
        let shared = &self.shared;
        let emitter = &shared.emitter;
        let mut wait = RETRY_MIN;
        loop {
            if let Some(again) = shared.outdated() {
                return Err(Halt::Again(again));
            }
            serve(client);
            let asked = emitter.now();
            let trouble = match describe(client, &shared.name) {
                Ok(description) => {
                    let cluster_id = description.identity.cluster_id.clone();
                    let partitions = Some(description.partitions);
                    self.watched
                        .report(emitter, shared.topic, partitions, cluster_id)?;
                    shared.access.questions(emitter, asked, None)?;
                    return Ok(description);
                }
                Err(trouble) => trouble,
            };
            serve(client);
            self.watched.report(emitter, shared.topic, None, None)?;
            shared.access.questions(emitter, asked, Some(trouble))?;
            emitter.sleep(wait)?;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    fn bounds(&self, session: &Session) -> Result<Vec<Bounds>, Halt> {
        let mut wait = RETRY_MIN;
        loop {
            serve(&session.client);
            if let Some(bounds) = session.bounds()? {
                return Ok(bounds);
            }
            self.shared.emitter.sleep(wait)?;
            if let Some(again) = self.shared.outdated() {
                return Err(Halt::Again(again));
            }
            if wait >= RETRY_MAX {
                // Perhaps it is not the topic any more that metadata described.
                return Err(Halt::Again(Again::Failed));
            }
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    /// Begins to read all partitions, from the beginning unless they were read before.
    fn begin(
        &self,
        session: &Session,
        bounds: &[Bounds],
        plan: &[Resume],
    ) -> Result<Vec<Progress>, Halt> {
        let mut positions = Vec::with_capacity(bounds.len());
        for (bounds, plan) in bounds.iter().zip(plan) {
            positions.push(match *plan {
                Resume::Continue(progress) => progress,
                Resume::Begin { anew } => {
                    self.send_start(bounds, bounds.low, anew)?;
                    Progress::begin(bounds.partition, bounds.low)
                }
            });
        }
        session.assign(&positions)?;
        self.shared.set_session(Some(session));
        Ok(positions)
    }

    /// Searches the group's partition backwards, unless it was read before, hands on
    /// what was found, and begins to read from where the search began.
    fn begin_offsets(
        &self,
        session: &Session,
        bounds: &[Bounds],
        plan: &[Resume],
    ) -> Result<Vec<Progress>, Halt> {
        let (Some(bounds), Some(plan)) = (bounds.first(), plan.first()) else {
            return Err(Halt::Again(Again::Failed));
        };
        let partition = bounds.partition;
        let progress = match *plan {
            Resume::Continue(progress) => {
                session.assign(&[progress])?;
                self.shared.set_session(Some(session));
                progress
            }
            Resume::Begin { anew } => {
                self.shared.set_session(Some(session));
                let mut reader = ChunkReader::new(session, &self.settings.group, bounds);
                let found = search(&mut reader, bounds.low, bounds.end, &self.limits)?;
                reader.finish(&found);
                self.send_start(bounds, found.first, anew)?;
                for record in found.records {
                    self.shared.pass(record)?;
                }
                let offset = bounds.end;
                let topic = self.shared.topic;
                let emitter = &self.shared.emitter;
                emitter.send(InputKind::Reached(Reached {
                    topic,
                    partition,
                    offset,
                }))?;
                // A new assignment, not a seek: an empty log was not assigned at all.
                let progress = Progress::begin(partition, offset);
                session.assign(&[progress])?;
                progress
            }
        };
        Ok(vec![progress])
    }

    /// Says where reading goes on of what another process read: what lies between there and
    /// the end was written while nobody watched.
    fn send_continued(&self, bounds: &[Bounds], plan: &[Resume]) -> Result<(), Stopped> {
        for (bounds, plan) in bounds.iter().zip(plan) {
            if let Resume::Continue(progress) = plan {
                self.send_start(bounds, progress.next, false)?;
            }
        }
        Ok(())
    }

    fn send_start(&self, bounds: &Bounds, offset: i64, anew: bool) -> Result<(), Stopped> {
        let start = Start {
            topic: self.shared.topic,
            partition: bounds.partition,
            offset,
            end: bounds.end,
            anew,
        };
        self.shared.emitter.send(InputKind::Start(start))
    }
}

/// Callbacks (errors, log lines, tokens) are served by polling alone. A poll without a
/// wait ends at the first log line, so it waits a little.
fn serve(client: &Client) {
    const EVENTS_MAX: usize = 100;
    for _ in 0..EVENTS_MAX {
        if client::poll(client, Duration::from_millis(5)).is_none() {
            return;
        }
    }
}
