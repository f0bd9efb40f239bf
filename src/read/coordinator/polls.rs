//! The loop of one group's polls: asks when it is time, hands answers on, says trouble
//! once. Whom it asks is behind a trait, so that it is tested with a script.

mod unsaid;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use evenkeel_core::facts::cluster::Cluster;
use evenkeel_core::facts::input::{Input, InputKind, Trouble};
use evenkeel_core::facts::poll::{Description, PollAnswer, Polled, PolledState};
use evenkeel_core::facts::time::ArrivalTime;
use tokio::sync::mpsc::error::SendTimeoutError;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::asks::Answered;
use super::counters::PollCounters;
use super::error::AskError;
use super::pace::{Ask, Failure, Next, Pace, Pacer};
use crate::read::connection::Connection;
use crate::read::kafka::Now;
use crate::read::mask::NameMask;
use unsaid::Unsaid;

/// How long an answer waits for a place in the channel. Nothing is asked meanwhile.
const SEND_WAIT: Duration = Duration::from_secs(5);

/// How often a failure that lasts is handed on again: inputs count as fresh for 30 s.
const TOLD_AGAIN: Duration = Duration::from_secs(30);

/// How often the same failure is logged as news.
const SAID_AGAIN: Duration = Duration::from_secs(300);

/// Who answers.
pub(super) trait GroupSource: Send {
    /// `None` where the broker cannot list by state.
    fn list(
        &mut self,
    ) -> impl Future<Output = Result<Option<Answered<Option<PolledState>>>, AskError>> + Send;

    fn describe(&mut self) -> impl Future<Output = Result<Answered<Description>, AskError>> + Send;

    /// What brokers and topics are set to; `None` where the broker cannot say.
    fn cluster(
        &mut self,
    ) -> impl Future<Output = Result<Option<Answered<Cluster>>, AskError>> + Send;

    /// Other settings from now on.
    fn reconnect(&mut self, connection: &Connection);
}

/// What the owner of the polls wants.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) pace: Pace,
    pub(super) every_turn: bool,
    pub(super) stop: bool,
    connection: Connection,
    /// Counts connections, so that a new one is noticed.
    version: u64,
}

/// Where answers go, and what was said.
pub(super) struct Polls {
    group: Arc<str>,
    inputs: mpsc::Sender<Input>,
    now: Now,
    counters: Arc<PollCounters>,
    mask: Option<NameMask>,
    /// The failure that was handed on last, unless there was an answer since.
    told: Option<(Trouble, Instant)>,
    /// The failure that was logged last.
    said: Option<(AskError, Instant)>,
    /// What was said of settings that brokers do not tell.
    unsaid: Unsaid,
    is_failing: bool,
    has_said_large: bool,
    /// Since an answer was taken.
    has_said_dropped: bool,
}

/// Nobody wants answers any more.
#[derive(Debug)]
struct Ended;

// === impl Wanted ===

impl Wanted {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            pace: Pace::default(),
            every_turn: false,
            stop: false,
            connection,
            version: 0,
        }
    }

    pub(super) fn reconnect(&mut self, connection: Connection) {
        self.connection = connection;
        self.version = self.version.wrapping_add(1);
    }
}

// === impl Polls ===

impl Polls {
    pub(super) fn new(
        group: Arc<str>,
        inputs: mpsc::Sender<Input>,
        now: Now,
        counters: Arc<PollCounters>,
    ) -> Self {
        Self {
            group,
            inputs,
            now,
            counters,
            mask: None,
            told: None,
            said: None,
            unsaid: Unsaid::default(),
            is_failing: false,
            has_said_large: false,
            has_said_dropped: false,
        }
    }

    /// Under this mask, if any.
    pub(super) fn masked(self, mask: Option<NameMask>) -> Self {
        Self { mask, ..self }
    }

    /// Asks until told to stop, or until nobody takes the answers.
    pub(super) async fn run(mut self, source: impl GroupSource, wishes: watch::Receiver<Wanted>) {
        let Err(Ended) = self.ask_on(source, wishes).await;
        tracing::debug!(group = %self.group, "polls of the group's state ended");
    }

    async fn ask_on(
        &mut self,
        mut source: impl GroupSource,
        mut wishes: watch::Receiver<Wanted>,
    ) -> Result<std::convert::Infallible, Ended> {
        let started = Instant::now();
        let mut pacer = Pacer::new();
        let mut version = 0;
        loop {
            {
                let wanted = wishes.borrow_and_update();
                if wanted.stop {
                    return Err(Ended);
                }
                if wanted.version != version {
                    version = wanted.version;
                    source.reconnect(&wanted.connection);
                    pacer.restart(started.elapsed());
                    self.told = None;
                    self.counters.set_hitch(None);
                }
                pacer.set(wanted.pace, wanted.every_turn);
            }
            let next = pacer.next(started.elapsed());
            if pacer.take_put_off() {
                self.say_large();
            }
            let ask = match next {
                Next::Ask(ask) => ask,
                Next::Wait(until) => {
                    self.wait(started, until, &mut wishes).await?;
                    continue;
                }
            };
            let asked = (self.now)();
            let interrupt = wishes.wait_for(|wanted| wanted.stop || wanted.version != version);
            // An interrupted question is dropped, and with it the connection it was on.
            let answer = tokio::select! {
                biased;
                interrupted = interrupt => match interrupted {
                    Ok(_) => continue,
                    Err(_) => return Err(Ended),
                },
                () = self.inputs.closed() => return Err(Ended),
                answer = question(&mut source, ask) => answer,
            };
            self.take(answer, ask, asked, &mut pacer, started).await?;
        }
    }

    /// Rests until `until`, or until something else is wanted.
    async fn wait(
        &self,
        started: Instant,
        until: Duration,
        wishes: &mut watch::Receiver<Wanted>,
    ) -> Result<(), Ended> {
        let at = started.checked_add(until);
        let rest = async {
            match at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            changed = wishes.changed() => changed.map_err(|_| Ended),
            () = self.inputs.closed() => Err(Ended),
            () = rest => Ok(()),
        }
    }

    async fn take(
        &mut self,
        answer: Result<Answer, AskError>,
        ask: Ask,
        asked: ArrivalTime,
        pacer: &mut Pacer,
        started: Instant,
    ) -> Result<(), Ended> {
        let now = started.elapsed();
        match answer {
            Ok(Answer::Listed(None)) => {
                pacer.unlisted();
                Ok(())
            }
            Ok(Answer::Listed(Some(listed))) => {
                self.counters.lists.add(1);
                pacer.listed(now, listed.bytes, listed.value.is_some());
                self.answered(listed.map(PollAnswer::Listed)).await
            }
            Ok(Answer::Described(described)) => {
                self.counters.descriptions.add(1);
                pacer.described(now, described.bytes);
                self.answered(described.map(PollAnswer::Described)).await
            }
            Ok(Answer::Cluster(told)) => {
                pacer.cluster_told(now);
                match told {
                    Some(told) => self.cluster_told(told).await,
                    None => Ok(()),
                }
            }
            Err(error) if ask == Ask::Cluster => {
                // No poll of the group's state failed: whatever hinders those, they say.
                pacer.failed(now, ask, failure(&error));
                self.unsaid.failed(&self.group, error);
                Ok(())
            }
            Err(error) => {
                self.counters.failures.add(1);
                pacer.failed(now, ask, failure(&error));
                self.failed(error, asked).await
            }
        }
    }

    async fn answered(&mut self, answer: Answered<PollAnswer>) -> Result<(), Ended> {
        if std::mem::take(&mut self.is_failing) {
            tracing::info!(group = %self.group, "group state is polled again");
        }
        self.told = None;
        self.counters.set_hitch(None);
        self.send(answer.asked, answer.at, answer.value).await
    }

    async fn cluster_told(&mut self, told: Answered<Cluster>) -> Result<(), Ended> {
        self.unsaid.answered(&self.group, &told.value);
        self.hand_on(told.at, InputKind::Cluster(told.value)).await
    }

    async fn failed(&mut self, error: AskError, asked: ArrivalTime) -> Result<(), Ended> {
        let trouble = error.trouble();
        self.counters.set_hitch(error.hitch());
        self.say_failed(error);
        self.is_failing = true;
        let now = Instant::now();
        let is_old = |at: Instant| now.saturating_duration_since(at) >= TOLD_AGAIN;
        match self.told {
            Some((told, at)) if told == trouble && !is_old(at) => return Ok(()),
            _ => self.told = Some((trouble, now)),
        }
        let at = (self.now)();
        self.send(asked, at, PollAnswer::Failed(trouble)).await
    }

    fn say_failed(&mut self, error: AskError) {
        let now = Instant::now();
        let is_old = |at: Instant| now.saturating_duration_since(at) >= SAID_AGAIN;
        match &self.said {
            Some((said, at)) if *said == error && !is_old(*at) => {
                tracing::debug!(group = %self.group, %error, "group state is still not polled");
            }
            _ => {
                tracing::warn!(group = %self.group, %error, "group state is not polled");
                self.said = Some((error, now));
            }
        }
    }

    fn say_large(&mut self) {
        if !std::mem::replace(&mut self.has_said_large, true) {
            tracing::info!(
                group = %self.group,
                "the group's descriptions are large, so it is described less often",
            );
        }
    }

    /// Hands an answer on; waits for a place, but not for ever.
    async fn send(
        &mut self,
        asked: ArrivalTime,
        at: ArrivalTime,
        answer: PollAnswer,
    ) -> Result<(), Ended> {
        let mut polled = Polled { asked, answer };
        if let Some(mask) = &self.mask {
            mask.polled(&mut polled);
        }
        self.hand_on(at, InputKind::Polled(polled)).await
    }

    async fn hand_on(&mut self, at: ArrivalTime, kind: InputKind) -> Result<(), Ended> {
        let input = Input { at, kind };
        match self.inputs.send_timeout(input, SEND_WAIT).await {
            Ok(()) => {
                self.has_said_dropped = false;
                Ok(())
            }
            Err(SendTimeoutError::Timeout(_)) => {
                if !std::mem::replace(&mut self.has_said_dropped, true) {
                    let group = &self.group;
                    tracing::warn!(%group, "answers about the group's state are dropped, nobody takes them");
                }
                Ok(())
            }
            Err(SendTimeoutError::Closed(_)) => Err(Ended),
        }
    }
}

/// What came of a question.
enum Answer {
    Listed(Option<Answered<Option<PolledState>>>),
    Described(Answered<Description>),
    Cluster(Option<Answered<Cluster>>),
}

async fn question(source: &mut impl GroupSource, ask: Ask) -> Result<Answer, AskError> {
    Ok(match ask {
        Ask::List => Answer::Listed(source.list().await?),
        Ask::Describe => Answer::Described(source.describe().await?),
        Ask::Cluster => Answer::Cluster(source.cluster().await?),
    })
}

fn failure(error: &AskError) -> Failure {
    match error {
        AskError::TooLarge { .. } => Failure::TooLarge,
        error if error.is_lasting() => Failure::Lasting,
        error if error.trouble() == Trouble::Denied => Failure::Denied,
        _ => Failure::Other,
    }
}

// === impl Answered ===

impl<T> Answered<T> {
    fn map<U>(self, to: impl FnOnce(T) -> U) -> Answered<U> {
        Answered {
            asked: self.asked,
            at: self.at,
            bytes: self.bytes,
            value: to(self.value),
        }
    }
}
