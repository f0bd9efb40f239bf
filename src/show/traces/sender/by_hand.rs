//! Traces that a person sends: no queue, nobody who tries again later, and the error told.

use std::collections::VecDeque;

use super::{RETRY_MIN, batch_size, count};
use crate::show::traces::tree::Trace;
use crate::show::traces::wire::{Client, SendError, Taken};

/// Sends these traces and no others: a few attempts each, then the error. What is refused
/// together is sent again, each trace alone; what is refused alone is counted.
///
/// # Errors
/// A batch was not taken for now, or nothing will be; what was sent before it was.
pub async fn send_all(client: &Client, traces: Vec<Trace>) -> Result<Taken, SendError> {
    let mut waiting = VecDeque::from(traces);
    let mut total = Taken::default();
    let mut alone = 0_usize;
    while !waiting.is_empty() {
        let size = match alone {
            0 => batch_size(&waiting),
            _ => 1,
        };
        let batch = || waiting.iter().take(size);
        let taken = match attempt(client, batch).await {
            Ok(taken) => taken,
            Err(error) if !error.is_of_content() => return Err(error),
            Err(_) if size > 1 => {
                alone = size;
                continue;
            }
            Err(error) => Taken {
                rejected: batch().map(count).fold(0, u64::saturating_add),
                why: error.to_string(),
            },
        };
        waiting.drain(..size);
        alone = alone.saturating_sub(1);
        total.rejected = total.rejected.saturating_add(taken.rejected);
        if !taken.why.is_empty() {
            total.why = taken.why;
        }
    }
    Ok(total)
}

/// A batch, a few times.
async fn attempt<'a, B: Iterator<Item = &'a Trace>>(
    client: &Client,
    batch: impl Fn() -> B,
) -> Result<Taken, SendError> {
    const ATTEMPTS: u32 = 3;
    let mut attempt = 1;
    loop {
        let error = match client.send(batch()).await {
            Ok(taken) => return Ok(taken),
            Err(error) => error,
        };
        let Some(wait) = error.retry_after().filter(|_| attempt < ATTEMPTS) else {
            return Err(error);
        };
        tokio::time::sleep(wait.max(RETRY_MIN * attempt)).await;
        attempt += 1;
    }
}
