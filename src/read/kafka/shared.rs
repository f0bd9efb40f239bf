//! What a topic's two threads share: whom to ask, the answers, and the way out for
//! its inputs.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use evenkeel_core::facts::input::{InputKind, Record, Topic};
use evenkeel_core::wire::contents::Contents;
use evenkeel_core::wire::redact::{redact_config, redact_status};

use super::ReadSettings;
use super::client::Client;
use super::emit::{Emitter, Stopped, TopicAccess};
use super::frontier::Answer;
use super::resume::Identity;
use super::session::{Again, Description, Session};
use crate::read::connection::Connection;
use crate::read::mask::NameMask;

/// Answers kept for a reader that is busy: ten a second, for as many partitions as the
/// status topic may have, until it looks.
const ANSWERS_MAX: usize = 1_024;

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
    /// Whether an answer is awaited.
    is_asking: AtomicBool,
    /// Whether the topic is not any more what the present client reads.
    is_changed: AtomicBool,
    /// How the next client reaches the cluster.
    connection: Mutex<Arc<Connection>>,
    /// Whether that is another way than the present client's.
    is_reconnecting: AtomicBool,
    /// Whether records of the group may be left out.
    may_sample: AtomicBool,
    /// Which contents of configurations were seen; outlives the clients.
    contents: Mutex<Contents>,
    /// Replaces connector names, where they are to be hidden.
    mask: Option<NameMask>,
    /// Which topic the present client reads, or the last one that began to.
    identity: Mutex<Identity>,
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
    pub(super) description: Description,
    pub(super) session: u64,
}

/// A key nobody can guess, from the seed that the standard library takes from the
/// operating system for its hash maps.
fn random_key() -> [u8; 16] {
    let random = RandomState::new();
    let (low, high) = (random.hash_one(0), random.hash_one(1));
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

// === impl Shared ===

impl Shared {
    /// Contents of configurations are numbered from `contents` on.
    pub(super) fn new(
        topic: Topic,
        settings: &ReadSettings,
        emitter: &Arc<Emitter>,
        contents: u32,
    ) -> Self {
        Self {
            topic,
            name: settings.topic_name(topic).to_owned(),
            emitter: Arc::clone(emitter),
            access: Arc::new(TopicAccess::new(topic)),
            question: Mutex::default(),
            wake: Condvar::new(),
            answers: Mutex::default(),
            has_answers: AtomicBool::new(false),
            is_asking: AtomicBool::new(false),
            is_changed: AtomicBool::new(false),
            connection: Mutex::new(Arc::new(settings.connection.clone())),
            is_reconnecting: AtomicBool::new(false),
            may_sample: AtomicBool::new(false),
            contents: Mutex::new(Contents::new(random_key(), contents)),
            mask: settings.mask.clone(),
            identity: Mutex::default(),
        }
    }

    /// Reading of this topic begins, or goes on: said before any input of it.
    pub(super) fn set_identity(&self, identity: &Identity) {
        let mut place = self.identity.lock().unwrap_or_else(PoisonError::into_inner);
        place.clone_from(identity);
    }

    /// Which topic is read.
    pub(super) fn identity(&self) -> Identity {
        let place = self.identity.lock().unwrap_or_else(PoisonError::into_inner);
        place.clone()
    }

    /// The number that the next new content of a configuration gets.
    pub(super) fn next_content(&self) -> u32 {
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.next_ordinal()
    }

    /// The present client is to be replaced by one that reaches the cluster so.
    pub(super) fn reconnect(&self, connection: &Arc<Connection>) {
        let mut place = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *place = Arc::clone(connection);
        self.access.reconnecting();
        self.is_reconnecting.store(true, Ordering::Release);
    }

    /// How a new client reaches the cluster.
    pub(super) fn connection(&self) -> Arc<Connection> {
        let place = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.is_reconnecting.store(false, Ordering::Release);
        Arc::clone(&place)
    }

    /// Wants the end offsets to be asked for now.
    pub(super) fn ask(&self) {
        self.question().is_wanted = true;
        self.is_asking.store(true, Ordering::Relaxed);
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
                self.is_asking.store(true, Ordering::Relaxed);
                return Ok(question.asked.clone());
            }
            let waited = self.wake.wait_timeout(question, left);
            question = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The question was answered, or not in time.
    pub(super) fn asked(&self) {
        let question = self.question();
        self.is_asking.store(question.is_wanted, Ordering::Relaxed);
    }

    /// Whether an answer is awaited.
    pub(super) fn is_asking(&self) -> bool {
        self.is_asking.load(Ordering::Relaxed)
    }

    /// The answers that came for the present client since the last call.
    pub(super) fn take_answers(&self) -> Vec<Answer> {
        if !self.has_answers.swap(false, Ordering::Acquire) {
            return Vec::new();
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *answers)
    }

    /// Whether the answers are of the present client.
    pub(super) fn put_answers(&self, session: u64, new: impl Iterator<Item = Answer>) -> bool {
        let question = self.question();
        if question.session != session {
            return false;
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.extend(new);
        // A newer answer says all that an older one did.
        let too_many = answers.len().saturating_sub(ANSWERS_MAX);
        answers.drain(..too_many);
        self.has_answers.store(true, Ordering::Release);
        true
    }

    /// The topic is not any more what the client of `session` reads.
    pub(super) fn changed(&self, session: u64) {
        let question = self.question();
        if question.session == session {
            self.is_changed.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn set_sampling(&self, may: bool) {
        self.may_sample.store(may, Ordering::Relaxed);
    }

    /// Whether records of the group may be left out where they are beyond the budget.
    pub(super) fn may_sample(&self) -> bool {
        self.may_sample.load(Ordering::Relaxed)
    }

    /// Why the present client is to be replaced although it has no trouble.
    pub(super) fn outdated(&self) -> Option<Again> {
        if self.is_reconnecting.load(Ordering::Acquire) {
            Some(Again::Connection)
        } else {
            let is_changed = self.is_changed.load(Ordering::Relaxed);
            is_changed.then_some(Again::Changed)
        }
    }

    /// Hands on a record: the one place where values of configurations and traces
    /// of statuses are taken out, and where names are masked.
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
        if let Some(mask) = &self.mask {
            mask.record(&mut record);
        }
        self.emitter.counters.topic(self.topic).passed.add(1);
        self.emitter.send(InputKind::Record(record))
    }

    pub(super) fn set_session(&self, session: Option<&Session>) {
        let mut question = self.question();
        question.session += 1;
        question.asked = session.map(|session| Asked {
            client: Arc::clone(&session.client),
            partitions: session.partitions.clone().into(),
            description: session.description.clone(),
            session: question.session,
        });
        question.is_wanted = session.is_some();
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.clear();
        self.has_answers.store(false, Ordering::Release);
        self.is_changed.store(false, Ordering::Relaxed);
        drop(answers);
        drop(question);
        self.wake.notify_all();
    }

    fn question(&self) -> MutexGuard<'_, Question> {
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
