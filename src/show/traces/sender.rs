//! The way of traces out of the agent: a bounded queue, batches, one batch that is tried again.
//!
//! Nobody waits for a receiver but the one task here. What does not fit into the queue is
//! dropped and counted; what a receiver does not take for now is kept and tried again, the same
//! spans under the same ids, while newer ones wait behind it.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::tree::{SPANS_MAX, Trace};
use super::wire::{Client, SendError, Taken};
use crate::show::view::TraceStats;

/// Traces that wait: some hours of a group that rebalances every few minutes, and about as
/// many megabytes if each were as large as a trace may be.
pub const QUEUE_MAX: usize = 64;

/// How long the first trace of a batch waits for others.
const BATCH_AFTER: Duration = Duration::from_secs(5);

/// How soon a batch that was not taken is tried again; doubled each time.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(30);

/// How long the end waits for what is not sent yet: less than the readers get, so that an end
/// takes no longer for it.
const DRAIN_MAX: Duration = Duration::from_millis(2_500);

/// How soon the same refusal is told again; the counter tells each.
const SAID_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// Hands traces over. The task ends when the last of these is gone.
#[derive(Debug, Clone)]
pub struct Queue {
    traces: mpsc::Sender<Trace>,
    counts: Arc<Counts>,
}

/// Spans by what became of them.
#[derive(Debug, Default)]
struct Counts {
    exported: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

/// The other end of the queue, until the task takes it.
#[derive(Debug)]
pub struct Sender {
    traces: mpsc::Receiver<Trace>,
    counts: Arc<Counts>,
    client: Client,
    pace: Pace,
    said: Said,
}

/// How long what takes; tests are less patient.
#[derive(Debug, Clone, Copy)]
struct Pace {
    batch_after: Duration,
    retry_min: Duration,
    retry_max: Duration,
    drain_max: Duration,
}

/// What was said of the receiver last, so that a line is not written for each attempt.
#[derive(Debug, Default)]
struct Said {
    failing: bool,
    refused: Option<(String, Instant)>,
}

/// A queue and the task that empties it.
#[must_use]
pub fn channel(client: Client) -> (Queue, Sender) {
    channel_of(client, QUEUE_MAX, Pace::default())
}

fn channel_of(client: Client, room: usize, pace: Pace) -> (Queue, Sender) {
    let (sender, traces) = mpsc::channel(room);
    let counts = Arc::new(Counts::default());
    let queue = Queue {
        traces: sender,
        counts: Arc::clone(&counts),
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
        },
    )
}

/// Sends these traces and no others: a few attempts each, then the error.
///
/// # Errors
/// A batch was not taken; what was sent before it was.
pub async fn send_all(client: &Client, traces: Vec<Trace>) -> Result<Taken, SendError> {
    const ATTEMPTS: u32 = 3;
    let mut waiting = VecDeque::from(traces);
    let mut total = Taken::default();
    while !waiting.is_empty() {
        let size = batch_size(&waiting);
        let batch: Vec<Trace> = waiting.drain(..size).collect();
        let mut attempt = 1;
        let taken = loop {
            let error = match client.send(&batch).await {
                Ok(taken) => break taken,
                Err(error) => error,
            };
            let Some(wait) = error.retry_after().filter(|_| attempt < ATTEMPTS) else {
                return Err(error);
            };
            tokio::time::sleep(wait.max(RETRY_MIN * attempt)).await;
            attempt += 1;
        };
        total.rejected = total.rejected.saturating_add(taken.rejected);
        if !taken.why.is_empty() {
            total.why = taken.why;
        }
    }
    Ok(total)
}

/// How many of these traces fit into one request; the first does.
fn batch_size(waiting: &VecDeque<Trace>) -> usize {
    let mut spans = 0_usize;
    let fits = |trace: &&Trace| {
        spans = spans.saturating_add(trace.spans.len());
        spans <= SPANS_MAX
    };
    waiting
        .iter()
        .take_while(fits)
        .count()
        .max(1)
        .min(waiting.len())
}

fn spans(traces: &[Trace]) -> u64 {
    let count: usize = traces.iter().map(|trace| trace.spans.len()).sum();
    u64::try_from(count).unwrap_or(u64::MAX)
}

// === impl Queue ===

impl Queue {
    /// Hands a trace over, or drops and counts it where too many wait. Never waits; says
    /// whether it will be sent.
    pub fn offer(&self, trace: Trace) -> bool {
        let count = spans(std::slice::from_ref(&trace));
        let taken = self.traces.try_send(trace).is_ok();
        if !taken {
            self.counts.dropped.fetch_add(count, Ordering::Relaxed);
        }
        taken
    }

    /// What became of spans so far.
    #[must_use]
    pub fn stats(&self) -> TraceStats {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        TraceStats {
            exported: count(&self.counts.exported),
            failed: count(&self.counts.failed),
            dropped: count(&self.counts.dropped),
        }
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
        {
            let mut ending = std::pin::pin!(ending);
            tokio::select! {
                biased;
                () = self.work(&mut waiting) => return,
                () = &mut ending => {}
            }
        }
        // What was on its way is sent again: a receiver that has it knows it by its ids.
        let drained = tokio::time::timeout(self.pace.drain_max, self.drain(&mut waiting)).await;
        let mut left = spans(waiting.make_contiguous());
        self.traces.close();
        while let Ok(trace) = self.traces.try_recv() {
            left = left.saturating_add(spans(&[trace]));
        }
        if left > 0 {
            self.counts.dropped.fetch_add(left, Ordering::Relaxed);
            let receiver = &self.client;
            let in_time = drained.is_ok();
            tracing::warn!(%receiver, spans = left, in_time, "spans not sent before the end");
        }
    }

    /// Batches for ever. What is taken from the queue stays in `waiting` until it is sent, so
    /// that nothing is lost when this is dropped.
    async fn work(&mut self, waiting: &mut VecDeque<Trace>) {
        loop {
            if waiting.is_empty() {
                match self.traces.recv().await {
                    Some(trace) => waiting.push_back(trace),
                    None => return,
                }
                self.fill(waiting).await;
            }
            self.send_first(waiting).await;
        }
    }

    /// Waits for others until the batch is full, or the first has waited long enough.
    async fn fill(&mut self, waiting: &mut VecDeque<Trace>) {
        let until = Instant::now() + self.pace.batch_after;
        while spans(waiting.make_contiguous()) < u64::try_from(SPANS_MAX).unwrap_or(u64::MAX) {
            match tokio::time::timeout_at(until, self.traces.recv()).await {
                Ok(Some(trace)) => waiting.push_back(trace),
                Ok(None) | Err(_) => return,
            }
        }
    }

    async fn drain(&mut self, waiting: &mut VecDeque<Trace>) {
        loop {
            while let Ok(trace) = self.traces.try_recv() {
                waiting.push_back(trace);
            }
            if waiting.is_empty() {
                // Loops of groups may still say what they know.
                match self.traces.recv().await {
                    Some(trace) => waiting.push_back(trace),
                    None => return,
                }
            }
            self.send_first(waiting).await;
        }
    }

    /// Sends the first batch of what waits, again and again until it is taken or refused. It
    /// waits until then.
    async fn send_first(&mut self, waiting: &mut VecDeque<Trace>) {
        let size = batch_size(waiting);
        let batch = waiting.make_contiguous().get(..size).unwrap_or_default();
        let count = spans(batch);
        let mut retry = self.pace.retry_min;
        loop {
            match self.client.send(batch).await {
                Ok(taken) => {
                    self.taken(count, &taken);
                    break;
                }
                Err(error) => {
                    let Some(wait) = error.retry_after() else {
                        self.counts.failed.fetch_add(count, Ordering::Relaxed);
                        self.said.refused(&self.client, &error.to_string(), count);
                        break;
                    };
                    self.said.failing(&self.client, &error, count);
                    tokio::time::sleep(wait.max(retry)).await;
                    retry = (retry * 2).min(self.pace.retry_max);
                }
            }
        }
        waiting.drain(..size);
    }

    fn taken(&mut self, count: u64, taken: &Taken) {
        let rejected = taken.rejected.min(count);
        let exported = count.saturating_sub(rejected);
        self.counts.exported.fetch_add(exported, Ordering::Relaxed);
        self.counts.failed.fetch_add(rejected, Ordering::Relaxed);
        self.said.well(&self.client);
        if rejected > 0 {
            self.said.refused(&self.client, &taken.why, rejected);
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
            drain_max: DRAIN_MAX,
        }
    }
}

// === impl Said ===

impl Said {
    fn failing(&mut self, receiver: &Client, error: &SendError, spans: u64) {
        if !std::mem::replace(&mut self.failing, true) {
            tracing::warn!(%receiver, %error, spans, "traces not sent; they are tried again");
        }
    }

    fn well(&mut self, receiver: &Client) {
        if std::mem::take(&mut self.failing) {
            tracing::info!(%receiver, "traces are sent again");
        }
    }

    fn refused(&mut self, receiver: &Client, reason: &str, spans: u64) {
        self.failing = false;
        let now = Instant::now();
        let is_said = |(said, at): &(String, Instant)| {
            said == reason && now.duration_since(*at) < SAID_AGAIN_AFTER
        };
        if !self.refused.as_ref().is_some_and(is_said) {
            tracing::warn!(%receiver, reason, spans, "spans refused");
            self.refused = Some((reason.to_owned(), now));
        }
    }
}

#[cfg(test)]
mod tests;
