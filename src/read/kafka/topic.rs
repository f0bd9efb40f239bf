//! The life of one topic's reader: reach it, find out where to begin, read on, and
//! begin again with a new client when something is wrong, for ever.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{InputKind, Reached, Record, Start, Topic, Trouble};
use evenkeel_core::facts::partition::group_partition;
use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::redact::{redact_config, redact_status};
use rdkafka::consumer::Consumer;
use rdkafka::types::RDKafkaRespErr;

use super::client::{self, Client};
use super::emit::{Emitter, Stopped, TopicAccess};
use super::frontier::{Answer, Frontier};
use super::resume::{Bounds, Identity, Resume, Saved, resume};
use super::search::{Limits, search};
use super::session::{Again, Halt, Session};
use super::source::ChunkReader;
use super::watched::Watched;
use super::{ReadSettings, tail};

/// How long to wait for metadata. Short, since a topic that is not reachable is to
/// be said soon; it is asked for ever.
const METADATA_TIMEOUT: Duration = Duration::from_secs(3);

/// Waits between two attempts, doubled up to the second.
const RETRY_MIN: Duration = Duration::from_millis(200);
const RETRY_MAX: Duration = Duration::from_secs(5);

/// A reader that lived this long had no trouble of its own: its next wait is short.
const LIVED: Duration = Duration::from_secs(10);

/// What a topic's two threads share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) topic: Topic,
    pub(super) name: String,
    pub(super) emitter: Arc<Emitter>,
    pub(super) access: Arc<TopicAccess>,
    question: Mutex<Question>,
    wake: Condvar,
    answers: Mutex<Vec<Answer>>,
    has_answers: AtomicBool,
    /// Which contents of configurations were seen; outlives the clients.
    contents: Mutex<Contents>,
}

#[derive(Debug, Default)]
struct Question {
    asked: Option<Asked>,
    /// Counts clients, so that answers of an old one are not mistaken.
    session: u64,
    is_wanted: bool,
}

/// Whom to ask about which partitions.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) client: Arc<Client>,
    pub(super) partitions: Arc<[i32]>,
    pub(super) session: u64,
}

/// The thread that reads.
#[derive(Debug)]
pub(super) struct TopicReader {
    settings: Arc<ReadSettings>,
    shared: Arc<Shared>,
    watched: Arc<Watched>,
    limits: Limits,
}

/// The topic as the brokers describe it.
struct Description {
    partitions: i32,
    identity: Identity,
}

// === impl TopicReader ===

impl TopicReader {
    pub(super) fn new(
        settings: &Arc<ReadSettings>,
        shared: &Arc<Shared>,
        watched: &Arc<Watched>,
    ) -> Self {
        Self {
            settings: Arc::clone(settings),
            shared: Arc::clone(shared),
            watched: Arc::clone(watched),
            limits: Limits::default(),
        }
    }

    pub(super) fn run(self) {
        let emitter = &self.shared.emitter;
        let mut saved = Saved::default();
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
                Again::Missing => {
                    saved.trouble.was_missing = true;
                    let access = &self.shared.access;
                    if access.questions(emitter, Some(Trouble::Missing)).is_err() {
                        break;
                    }
                }
                Again::Shorter => saved.trouble.was_shorter = true,
                Again::OutOfRange => saved.trouble.was_out_of_range = true,
                Again::Changed | Again::Failed => {}
            }
            if began.elapsed() > LIVED {
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
        let client = match client::create_for(&self.settings, shared.topic, access) {
            Ok(client) => Arc::new(client),
            Err(error) => {
                // It worked at start: a file it names is gone, say.
                tracing::warn!(topic = shared.topic.label(), %error, "kafka client not created");
                shared.access.questions(&shared.emitter, Some(Trouble::Other))?;
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
        let session = Session::new(Arc::clone(&client), shared, partitions);
        let bounds = self.bounds(&session)?;
        let plan = resume(saved, &description.identity, &bounds);
        saved.identity = description.identity;
        saved.trouble = Default::default();
        let positions = match shared.topic {
            Topic::Offsets => self.begin_offsets(&session, &bounds, &plan)?,
            Topic::Config | Topic::Status => self.begin(&session, &bounds, &plan)?,
        };
        let now = Instant::now();
        let mut frontier = Frontier::new(&positions, now);
        saved.positions = positions.into_iter().collect();
        let result = tail::read(&session, &self.settings.group, &mut frontier);
        saved.positions = frontier.positions().collect();
        result
    }

    /// Asks for the topic until there is an answer that says where it is.
    fn reach(&self, client: &Client) -> Result<Description, Halt> {
        let shared = &self.shared;
        let emitter = &shared.emitter;
        let mut wait = RETRY_MIN;
        loop {
            // Callbacks (log lines, errors, tokens) are served by polling alone.
            while client.poll(Duration::ZERO).is_some() {}
            let trouble = match describe(client, &shared.name) {
                Ok(description) => {
                    let cluster_id = description.identity.cluster_id.clone();
                    let partitions = Some(description.partitions);
                    self.watched
                        .report(emitter, shared.topic, partitions, cluster_id)?;
                    shared.access.questions(emitter, None)?;
                    return Ok(description);
                }
                Err(trouble) => trouble,
            };
            while client.poll(Duration::ZERO).is_some() {}
            self.watched.report(emitter, shared.topic, None, None)?;
            shared.access.questions(emitter, Some(trouble))?;
            emitter.sleep(wait)?;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    fn bounds(&self, session: &Session) -> Result<Vec<Bounds>, Halt> {
        let mut wait = RETRY_MIN;
        loop {
            while session.client.poll(Duration::ZERO).is_some() {}
            if let Some(bounds) = session.bounds()? {
                return Ok(bounds);
            }
            self.shared.emitter.sleep(wait)?;
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
    ) -> Result<Vec<(i32, i64)>, Halt> {
        let mut positions = Vec::with_capacity(bounds.len());
        for (bounds, plan) in bounds.iter().zip(plan) {
            let offset = match *plan {
                Resume::Continue { next } => next,
                Resume::Begin { anew } => {
                    self.send_start(bounds, bounds.low, anew)?;
                    bounds.low
                }
            };
            positions.push((bounds.partition, offset));
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
    ) -> Result<Vec<(i32, i64)>, Halt> {
        let (Some(bounds), Some(plan)) = (bounds.first(), plan.first()) else {
            return Err(Halt::Again(Again::Failed));
        };
        let partition = bounds.partition;
        let next = match *plan {
            Resume::Continue { next } => {
                session.assign(&[(partition, next)])?;
                self.shared.set_session(Some(session));
                next
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
                session.assign(&[(partition, offset)])?;
                offset
            }
        };
        Ok(vec![(partition, next)])
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

fn describe(client: &Client, name: &str) -> Result<Description, Trouble> {
    let metadata = client
        .fetch_metadata(Some(name), METADATA_TIMEOUT)
        .map_err(|error| client::trouble(client::code(&error)).unwrap_or(Trouble::Other))?;
    let topic = metadata.topics().first().ok_or(Trouble::Missing)?;
    if let Some(error) = topic.error() {
        return Err(trouble_of(error));
    }
    let partitions = i32::try_from(topic.partitions().len()).unwrap_or(i32::MAX);
    if partitions == 0 {
        return Err(Trouble::Missing);
    }
    Ok(Description {
        partitions,
        identity: Identity {
            cluster_id: client.client().fetch_cluster_id(METADATA_TIMEOUT),
        },
    })
}

/// A key nobody can guess, from the seed that the standard library takes from the
/// operating system for its hash maps.
fn random_key() -> [u8; 16] {
    let random = RandomState::new();
    let (low, high) = (random.hash_one(0), random.hash_one(1));
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

fn trouble_of(error: RDKafkaRespErr) -> Trouble {
    client::trouble(error.into()).unwrap_or(Trouble::Other)
}

// === impl Shared ===

impl Shared {
    pub(super) fn new(topic: Topic, settings: &ReadSettings, emitter: &Arc<Emitter>) -> Self {
        Self {
            topic,
            name: settings.topic_name(topic).to_owned(),
            emitter: Arc::clone(emitter),
            access: Arc::new(TopicAccess::new(topic)),
            question: Mutex::default(),
            wake: Condvar::new(),
            answers: Mutex::default(),
            has_answers: AtomicBool::new(false),
            contents: Mutex::new(Contents::new(random_key(), 0)),
        }
    }

    /// Wants the end offsets to be asked for now.
    pub(super) fn ask(&self) {
        self.question().is_wanted = true;
        self.wake.notify_all();
    }

    /// Waits until somebody wants to know, or until `due`; gives whom to ask, if anybody.
    pub(super) fn wait_for_question(&self, due: Instant) -> Result<Option<Asked>, Stopped> {
        let mut question = self.question();
        loop {
            if self.emitter.is_stopped() {
                return Err(Stopped);
            }
            let left = due.saturating_duration_since(Instant::now());
            if question.is_wanted || left.is_zero() {
                question.is_wanted = false;
                return Ok(question.asked.clone());
            }
            let waited = self.wake.wait_timeout(question, left);
            question = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The answers that came for the present client since the last call.
    pub(super) fn take_answers(&self) -> Vec<Answer> {
        if !self.has_answers.swap(false, Ordering::Acquire) {
            return Vec::new();
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *answers)
    }

    pub(super) fn put_answers(&self, session: u64, new: impl Iterator<Item = Answer>) {
        let question = self.question();
        if question.session != session {
            return;
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.extend(new);
        self.has_answers.store(true, Ordering::Release);
    }

    /// Hands on a record: the one place where values of configurations and traces
    /// of statuses are taken out.
    pub(super) fn pass(&self, mut record: Record) -> Result<(), Stopped> {
        let key = record.key.as_deref().unwrap_or_default();
        let value = record.value.as_deref();
        match self.topic {
            // Membership holds no secrets, and its bytes are what a capture is for.
            Topic::Offsets => {}
            Topic::Config => {
                let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
                record.value = redact_config(key, value, &mut contents).into_value();
            }
            Topic::Status => record.value = redact_status(key, value).into_value(),
        }
        self.emitter.counters.topic(self.topic).passed.add(1);
        self.emitter.send(InputKind::Record(record))
    }

    fn set_session(&self, session: Option<&Session>) {
        let mut question = self.question();
        question.session += 1;
        question.asked = session.map(|session| Asked {
            client: Arc::clone(&session.client),
            partitions: session.partitions.clone().into(),
            session: question.session,
        });
        question.is_wanted = session.is_some();
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.clear();
        self.has_answers.store(false, Ordering::Release);
        drop(answers);
        drop(question);
        self.wake.notify_all();
    }

    fn question(&self) -> std::sync::MutexGuard<'_, Question> {
        self.question.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Asked ===

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asked")
            .field("partitions", &self.partitions)
            .finish_non_exhaustive()
    }
}
