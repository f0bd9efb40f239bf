//! The way of traces out of the agent: a bounded queue, batches, one batch that is tried again.
//!
//! Nobody waits for a receiver but the one task here. What does not fit into the queue is
//! dropped and counted; what a receiver does not take for now is kept and tried again, the same
//! spans under the same ids, while newer ones wait behind it, but not for ever: whoever looks for
//! a rebalance later than that looks elsewhere.

mod by_hand;
mod fate;
mod said;

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::tree::{SPANS_MAX, Trace};
use super::wire::{Client, Taken};
use crate::show::view::TraceStats;
pub use by_hand::send_all;
use fate::Counts;
pub use fate::Fate;
use said::Said;

/// Spans that wait, those on their way included: eight full requests, some hundred ordinary
/// rebalances, a few megabytes.
pub const WAITING_MAX: usize = 8 * SPANS_MAX;

/// How long a trace is kept for a receiver that does not take it.
pub const AGE_MAX: Duration = Duration::from_secs(3_600);

/// How long the first trace of a batch waits for others.
const BATCH_AFTER: Duration = Duration::from_secs(5);

/// How soon a batch that was not taken is tried again; doubled each time.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(30);

/// How long the end waits for what is not sent yet: less than the readers get, so that an end
/// takes no longer for it.
const DRAIN_MAX: Duration = Duration::from_millis(2_500);

/// Hands traces over. The task ends when the last of these is gone.
#[derive(Debug, Clone)]
pub struct Queue {
    traces: mpsc::Sender<Waiting>,
    counts: Arc<Counts>,
    room: u64,
}

/// A trace that waits, and since when.
#[derive(Debug)]
struct Waiting {
    trace: Trace,
    since: Instant,
    fate: Fate,
}

/// The other end of the queue, until the task takes it.
#[derive(Debug)]
pub struct Sender {
    traces: mpsc::Receiver<Waiting>,
    counts: Arc<Counts>,
    client: Client,
    pace: Pace,
    said: Said,
    /// So many of the first that wait were refused together: each is sent alone, so that one
    /// of them takes no other with it.
    alone: usize,
}

/// Whether the agent ends.
struct Ending(watch::Receiver<bool>);

/// How long what takes; tests are less patient.
#[derive(Debug, Clone, Copy)]
struct Pace {
    batch_after: Duration,
    retry_min: Duration,
    retry_max: Duration,
    age_max: Duration,
    drain_max: Duration,
}

/// A queue and the task that empties it.
#[must_use]
pub fn channel(client: Client) -> (Queue, Sender) {
    channel_of(client, WAITING_MAX, Pace::default())
}

/// With room for so many spans.
fn channel_of(client: Client, room: usize, pace: Pace) -> (Queue, Sender) {
    // No trace is without a span: where there is room for its spans, there is a place for it.
    let (sender, traces) = mpsc::channel(room);
    let counts = Arc::new(Counts::default());
    let queue = Queue {
        traces: sender,
        counts: Arc::clone(&counts),
        room: u64::try_from(room).unwrap_or(u64::MAX),
    };
    let said = Said::default();
    (
        queue,
        Sender {
            traces,
            counts,
            client,
            pace,
            said,
            alone: 0,
        },
    )
}

/// How many of these traces fit into one request; the first does.
fn batch_size<'a>(waiting: impl IntoIterator<Item = &'a Trace>) -> usize {
    let mut spans = 0_usize;
    let fits = |trace: &&Trace| {
        let is_first = spans == 0;
        spans = spans.saturating_add(trace.spans.len());
        is_first || spans <= SPANS_MAX
    };
    waiting.into_iter().take_while(fits).count()
}

fn spans<'a>(traces: impl IntoIterator<Item = &'a Waiting>) -> u64 {
    let traces = traces.into_iter().map(|waiting| &waiting.trace);
    traces.map(count).fold(0, u64::saturating_add)
}

fn count(trace: &Trace) -> u64 {
    u64::try_from(trace.spans.len()).unwrap_or(u64::MAX)
}

// === impl Queue ===

impl Queue {
    /// Hands a trace over, or drops and counts it where too many spans wait. Never waits; gives
    /// what tells its fate, if it was taken.
    pub fn offer(&self, trace: Trace) -> Option<Fate> {
        let spans = count(&trace);
        let dropped = &self.counts.dropped;
        if !self.counts.enter(spans, self.room) {
            dropped.fetch_add(spans, Ordering::Relaxed);
            return None;
        }
        let fate = Fate::default();
        let waiting = Waiting {
            trace,
            since: Instant::now(),
            fate: fate.clone(),
        };
        let taken = self.traces.try_send(waiting).is_ok();
        if !taken {
            self.counts.leave(dropped, spans);
        }
        taken.then_some(fate)
    }

    /// What became of spans so far.
    #[must_use]
    pub fn stats(&self) -> TraceStats {
        self.counts.stats()
    }
}

// === impl Sender ===

impl Sender {
    /// Where traces go.
    #[must_use]
    pub fn receiver(&self) -> String {
        self.client.to_string()
    }

    /// Sends until every queue is gone, or for a moment longer once `ending` is ready.
    pub async fn run(mut self, ending: impl Future<Output = ()>) {
        let mut waiting = VecDeque::new();
        let (tell, is_ending) = watch::channel(false);
        let drain_max = self.pace.drain_max;
        let drained = {
            let mut work = std::pin::pin!(self.work(&mut waiting, Ending(is_ending)));
            tokio::select! {
                biased;
                () = &mut work => return,
                () = ending => {}
            }
            tell.send_replace(true);
            // A request that is on its way goes on: sent again, its spans might be there twice.
            tokio::time::timeout(drain_max, work).await
        };
        self.traces.close();
        self.take_all(&mut waiting);
        let left = spans(&waiting);
        if left > 0 {
            self.counts.leave(&self.counts.dropped, left);
            let receiver = &self.client;
            let in_time = drained.is_ok();
            tracing::warn!(%receiver, spans = left, in_time, "spans not sent before the end");
        }
    }

    /// Batches until nobody hands anything over. What is taken from the queue stays in `waiting`
    /// until it is sent, so that nothing is lost when this is dropped.
    async fn work(&mut self, waiting: &mut VecDeque<Waiting>, mut ending: Ending) {
        loop {
            if waiting.is_empty() {
                // Loops of groups that end may still say what they know.
                match self.traces.recv().await {
                    Some(trace) => waiting.push_back(trace),
                    None => return,
                }
                self.fill(waiting, &mut ending).await;
            }
            self.send_first(waiting, &mut ending).await;
        }
    }

    /// Waits for others until the batch is full, or the first has waited long enough.
    async fn fill(&mut self, waiting: &mut VecDeque<Waiting>, ending: &mut Ending) {
        let until = Instant::now() + self.pace.batch_after;
        while spans(&*waiting) < u64::try_from(SPANS_MAX).unwrap_or(u64::MAX) {
            tokio::select! {
                biased;
                () = ending.begun() => return self.take_all(waiting),
                next = tokio::time::timeout_at(until, self.traces.recv()) => match next {
                    Ok(Some(trace)) => waiting.push_back(trace),
                    Ok(None) | Err(_) => return,
                },
            }
        }
    }

    fn take_all(&mut self, waiting: &mut VecDeque<Waiting>) {
        while let Ok(trace) = self.traces.try_recv() {
            waiting.push_back(trace);
        }
    }

    /// Sends the first batch of what waits, again and again until it is taken, refused or too
    /// old. It waits until then. What is refused together is sent again, each trace alone.
    async fn send_first(&mut self, waiting: &mut VecDeque<Waiting>, ending: &mut Ending) {
        let mut retry = self.pace.retry_min;
        while !waiting.is_empty() {
            let size = match self.alone {
                0 => batch_size(waiting.iter().map(|one| &one.trace)),
                _ => 1,
            };
            let spans = spans(waiting.iter().take(size));
            let batch = waiting.iter().take(size).map(|one| &one.trace);
            let error = match self.client.send(batch).await {
                Ok(taken) => {
                    self.taken(spans, &taken);
                    for one in waiting.drain(..size) {
                        one.fate.settle(taken.rejected == 0);
                    }
                    self.alone = self.alone.saturating_sub(1);
                    return;
                }
                Err(error) => error,
            };
            let Some(wait) = error.retry_after() else {
                if size > 1 && error.is_of_content() {
                    self.alone = size;
                    continue;
                }
                self.counts.leave(&self.counts.failed, spans);
                self.said.refused(&self.client, &error.to_string(), spans);
                waiting.drain(..size);
                self.alone = self.alone.saturating_sub(1);
                return;
            };
            self.said.failing(&self.client, &error, spans);
            self.give_up(waiting);
            retry = self.pause(wait, retry, ending).await;
        }
    }

    /// Waits before the same is tried again; gives how long it would wait then. When the agent
    /// begins to end, there is one attempt at once.
    async fn pause(&self, asked: Duration, retry: Duration, ending: &mut Ending) -> Duration {
        let pause = tokio::time::sleep(asked.max(retry));
        if ending.has_begun() {
            pause.await;
        } else {
            tokio::select! {
                () = pause => {}
                () = ending.begun() => return self.pace.retry_min,
            }
        }
        (retry * 2).min(self.pace.retry_max)
    }

    /// Drops what waited too long: the first of what waits, by the order in which it came.
    fn give_up(&mut self, waiting: &mut VecDeque<Waiting>) {
        let now = Instant::now();
        let is_old = |one: &&Waiting| now.duration_since(one.since) >= self.pace.age_max;
        let old = waiting.iter().take_while(is_old).count();
        if old == 0 {
            return;
        }
        let spans = spans(waiting.iter().take(old));
        waiting.drain(..old);
        self.alone = self.alone.saturating_sub(old);
        self.counts.leave(&self.counts.dropped, spans);
        Said::dropped(&self.client, spans, self.pace.age_max);
    }

    fn taken(&mut self, spans: u64, taken: &Taken) {
        let rejected = taken.rejected.min(spans);
        let exported = spans.saturating_sub(rejected);
        self.counts.leave(&self.counts.exported, exported);
        self.counts.leave(&self.counts.failed, rejected);
        self.said.well(&self.client);
        if rejected > 0 {
            self.said.refused(&self.client, &taken.why, rejected);
        }
    }
}

// === impl Ending ===

impl Ending {
    fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns once it has.
    async fn begun(&mut self) {
        if self.0.wait_for(|begun| *begun).await.is_err() {
            std::future::pending().await
        }
    }
}

// === impl Pace ===

impl Default for Pace {
    fn default() -> Self {
        Self {
            batch_after: BATCH_AFTER,
            retry_min: RETRY_MIN,
            retry_max: RETRY_MAX,
            age_max: AGE_MAX,
            drain_max: DRAIN_MAX,
        }
    }
}

#[cfg(test)]
mod tests;
