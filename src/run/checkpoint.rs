//! Keeps the state of one group on disk, so that a restart changes nothing that is counted.
//!
//! A counter that falls is taken for one that began anew at zero, and all it holds for an
//! increase. So what is shown of counters is never more than what a restart would bring
//! back: they are shown as the newest state on disk has them, which is written as soon as one
//! of them changes. Where it cannot be written, the one on disk goes away, and a restart
//! begins at zero, as it does without a folder.
//!
//! What was written while no agent watched is read as history after a restart: it is shown,
//! and never counted (`Engine::resume`).

mod file;
mod form;
mod track;
mod writing;

use std::future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evenkeel_core::answers::{Answers, Counters};
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Input, InputKind};
use evenkeel_core::facts::time::ArrivalTime;
use tokio::time::Instant;

use crate::read::kafka::{ReadSettings, ReadTo};
use file::StateFile;
use form::{Owner, Refused, Restored};
pub use track::Source;
use track::Track;
use writing::{Writing, Wrote};

/// How soon after the last one a state is written when a counter changed.
const COUNTED_AFTER: Duration = Duration::from_secs(1);

/// The same when only something was read that may still be counted.
const READ_AFTER: Duration = Duration::from_secs(5);

/// The same when nothing changed but how far was read: a busy offsets partition gets a
/// million records in that time, which are read in a second.
const IDLE_AFTER: Duration = Duration::from_secs(60);

/// How much longer than one took to make nothing is written: a fiftieth of a core at most.
/// Measured: 3 ms with 3 workers and 100 tasks; with 50 workers and 10,000 tasks 20 ms at rest
/// and 150 ms when the last 80 rounds each moved something. The loop itself only copies what
/// is shared by reference, 2 ms in the largest of these.
const REST_FACTOR: u32 = 50;

/// How soon a state is written again after it could not be.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// How long counters are held back for a disk that does not answer.
const HELD_MAX: Duration = Duration::from_secs(5);

/// How long the end waits for the last state, and for one that is being written.
const END_MAX: Duration = Duration::from_millis(1_200);

/// Keeps the state of one group.
#[derive(Debug)]
pub struct Keeper {
    file: Arc<StateFile>,
    owner: Owner,
    track: Track,
    /// The counters of the state on disk.
    kept: Option<Counters>,
    writing: Option<Writing>,
    /// When the last state was begun to be written, and how long nothing is to be.
    written_at: Option<Instant>,
    rest: Duration,
    /// Whether something was read since that may be counted.
    has_news: bool,
    /// Whether the answers were true once: before, a state on disk is the better one.
    caught_up: bool,
    /// Why states cannot be written, once that was said.
    failing: Option<String>,
}

/// What a group begins with.
#[derive(Debug, Default)]
pub struct Begun {
    /// The engine, where the state was taken up that was kept.
    pub engine: Engine,
    /// Where the readers go on.
    pub read_to: ReadTo,
    /// Keeps the state from now on; absent where that is not possible.
    pub keeper: Option<Keeper>,
}

/// Begins with the state that `folder` holds of a group, or says why not.
#[must_use]
pub fn begin(folder: &Path, settings: &ReadSettings, now: ArrivalTime) -> Begun {
    let anew = |keeper| Begun {
        engine: Engine::new(),
        read_to: ReadTo::default(),
        keeper,
    };
    let group = settings.group.as_str();
    let file = match StateFile::open(folder, group) {
        Ok(Some(file)) => file,
        Ok(None) => {
            let hint = "give each agent a state.dir of its own";
            tracing::warn!(
                group,
                hint,
                "another agent keeps its state in state.dir: this one keeps none"
            );
            return anew(None);
        }
        Err(error) => {
            tracing::warn!(group, %error, "state.dir cannot be used: no state is kept");
            return anew(None);
        }
    };
    let owner = Owner::of(settings);
    let read = file.read().map_err(Refused::Unread);
    let restored = read.and_then(|bytes| {
        bytes
            .map(|bytes| form::decode(&bytes, &owner, now))
            .transpose()
    });
    let keeper = Keeper::new(file, owner);
    match restored {
        Ok(Some(restored)) => keeper.take_up(restored, now),
        Ok(None) => {
            let file = keeper.file.path().display();
            tracing::info!(group, %file, "no state was kept so far");
            anew(Some(keeper))
        }
        Err(refused) => {
            let file = keeper.file.path().display();
            let error = describe(&refused);
            tracing::warn!(group, %file, reason = error, "state not restored: counters begin at zero");
            anew(Some(keeper))
        }
    }
}

fn describe(refused: &Refused) -> String {
    match std::error::Error::source(refused) {
        Some(source) => format!("{refused}: {source}"),
        None => refused.to_string(),
    }
}

// === impl Keeper ===

impl Keeper {
    fn new(file: StateFile, owner: Owner) -> Self {
        Self {
            file: Arc::new(file),
            owner,
            track: Track::default(),
            kept: None,
            writing: None,
            written_at: None,
            rest: Duration::ZERO,
            has_news: false,
            caught_up: false,
            failing: None,
        }
    }

    fn take_up(mut self, restored: Restored, now: ArrivalTime) -> Begun {
        let read_to = restored.read_to();
        let away_ms = now.since_ms(ArrivalTime(restored.header.written_ms));
        tracing::info!(
            group = self.owner.group,
            file = %self.file.path().display(),
            written_by = restored.header.evenkeel,
            written_s_ago = away_ms / 1_000,
            generation = restored.state.generation(),
            "state restored: what was written since is shown and not counted"
        );
        self.track = Track::after(&restored.header, &read_to);
        self.kept = Some(restored.state.counters().clone());
        Begun {
            engine: Engine::resume(restored.state, now),
            read_to,
            keeper: Some(self),
        }
    }

    /// Looks at an input before it is taken. Gives an engine that knows nothing where the
    /// one that was restored turns out to be of another cluster.
    #[must_use]
    pub fn meet(&mut self, input: &mut Input) -> Option<Engine> {
        let refused = self.track.meet(input, &self.owner.group)?;
        let group = &self.owner.group;
        tracing::warn!(group, reason = %refused, "state not restored: counters begin at zero");
        self.kept = None;
        Some(Engine::new())
    }

    /// An input was taken.
    pub fn took(&mut self, input: &Input, changes: &[Change], source: &impl Source) {
        self.track.took(input, source);
        self.has_news |= matches!(input.kind, InputKind::Record(_)) || !changes.is_empty();
    }

    /// Something is about to be shown: begins to write what there is where it is time, and
    /// puts the counters back to those that a restart would bring back.
    pub fn show(&mut self, engine: &Engine, answers: &mut Answers, source: &impl Source) {
        self.caught_up |= answers.fresh;
        let now = Instant::now();
        if self.is_due(engine, now) {
            self.begin_writing(engine, source, now);
        }
        if let Some(held) = self.held(now)
            && *held != answers.counters
        {
            answers.counters.clone_from(held);
        }
    }

    fn is_due(&self, engine: &Engine, now: Instant) -> bool {
        if self.writing.is_some() || !self.caught_up {
            return false;
        }
        let Some(written_at) = self.written_at else {
            return true;
        };
        let after = if self.failing.is_some() {
            RETRY_AFTER
        } else if self.kept.as_ref() != Some(engine.state().counters()) {
            COUNTED_AFTER
        } else if self.has_news {
            READ_AFTER
        } else {
            IDLE_AFTER
        };
        now.duration_since(written_at) >= after.max(self.rest)
    }

    fn begin_writing(&mut self, engine: &Engine, source: &impl Source, now: Instant) {
        let header = self.track.header(&self.owner, engine, source);
        let file = Arc::clone(&self.file);
        self.writing = Some(Writing::begin(file, header, engine.state().clone(), now));
        self.written_at = Some(now);
        self.has_news = false;
    }

    /// The counters that may be shown; `None` where those of the engine may be.
    fn held(&mut self, now: Instant) -> Option<&Counters> {
        if let Some(writing) = &mut self.writing
            && writing.is_late(now, HELD_MAX)
        {
            // Better told late on a broken disk than not at all.
            if writing.is_news() {
                let file = self.file.path().display();
                tracing::warn!(group = self.owner.group, %file, "the disk does not answer: counters may begin at zero after a restart");
            }
            return None;
        }
        let writing = self.writing.as_ref().map(Writing::counters);
        self.kept.as_ref().or(writing)
    }

    /// Why the state is not kept, where it is not.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.failing.clone()
    }

    /// Ready once a state was written, or could not be; never where none is being written.
    pub async fn wrote(&mut self) {
        let Some(writing) = &mut self.writing else {
            return future::pending().await;
        };
        let wrote = writing.wrote().await;
        self.written(wrote);
    }

    fn written(&mut self, wrote: Wrote) {
        let Some(writing) = self.writing.take() else {
            return;
        };
        let group = &self.owner.group;
        let file = self.file.path().display();
        match wrote {
            Ok(took) => {
                self.rest = took.saturating_mul(REST_FACTOR);
                self.kept = Some(writing.into_counters());
                if self.failing.take().is_some() {
                    tracing::info!(group, %file, "the state is kept again");
                }
            }
            Err(error) => {
                // What is on disk holds less than what is shown from now on.
                self.kept = None;
                let removed = self.file.remove();
                if self.failing.replace(error.to_string()).is_none() {
                    let hint = "until it can be written, counters begin at zero after a restart";
                    tracing::warn!(group, %file, %error, hint, "state not written");
                    if let Err(error) = removed {
                        tracing::warn!(group, %file, %error, "nor could the one before be removed");
                    }
                }
            }
        }
    }

    /// The end: writes what there is.
    pub async fn end(&mut self, engine: &Engine, source: &impl Source) {
        if self.writing.is_some() && tokio::time::timeout(END_MAX, self.wrote()).await.is_err() {
            tracing::warn!(
                group = self.owner.group,
                "the disk does not answer: state not written"
            );
            return;
        }
        if !self.caught_up {
            return;
        }
        self.begin_writing(engine, source, Instant::now());
        if tokio::time::timeout(END_MAX, self.wrote()).await.is_err() {
            tracing::warn!(
                group = self.owner.group,
                "the disk does not answer: state not written"
            );
        }
    }
}

#[cfg(test)]
mod tests;
