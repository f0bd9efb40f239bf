//! When to ask what. Pure: time is an argument, counted from the start of the polls.
//!
//! 1. A turn comes every 500 ms (fast) or 10 s (slow) and is a `ListGroups`.
//! 2. `DescribeGroups` follows on a hit, on the first turn after a hit, and when the last
//!    one is 30 s old.
//! 3. Where members are wanted at every turn, the turn is a `DescribeGroups`.
//! 4. Until a description was given since the start or a denial, nothing else is asked:
//!    a group that one may not describe is missing in a list without a word.
//! 5. Answers stay within a byte budget: a question waits until the answers before it
//!    are paid for.
//! 6. What brokers and topics are set to is asked once a description was given, and every 10
//!    minutes; after failures of that question in a row after 1, 2, 4, 8 and then 10 minutes,
//!    and after 10 where it is refused. It moves no turn.
//! 7. After a failure turns come after 0.5, 1, 2, 4, 8 and then every 10 s.

#[cfg(test)]
mod tests;

use std::time::Duration;

/// How often to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// Every 500 ms: on the sidecars beside the leader and its deputy.
    Fast,
    /// Every 10 s: on all others.
    #[default]
    Slow,
}

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    List,
    Describe,
    Cluster,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Ask(Ask),
    /// Nothing before this instant.
    Wait(Duration),
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// The rights are missing.
    Denied,
    /// Too large to be read: the connection is well, the question is not.
    TooLarge,
    /// Only other settings can help.
    Lasting,
    Other,
}

/// Answers of `ListGroups` in bytes a second, and those of `DescribeGroups`: together
/// the 256 kB/s that polls may cost a broker.
const LIST_BYTES_PER_S: u64 = 56_000;
const DESCRIBE_BYTES_PER_S: u64 = 200_000;

/// The largest answer that is read. One so large is paid for in 84 s: the longest time
/// between two descriptions.
pub(super) const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Budget that may be saved up.
const BURST: Duration = Duration::from_secs(1);

const DESCRIBE_EVERY: Duration = Duration::from_secs(30);
const CLUSTER_EVERY: Duration = Duration::from_secs(600);
const CLUSTER_AGAIN: Duration = Duration::from_secs(60);
const BACKOFF_MIN: Duration = Duration::from_millis(500);
const BACKOFF_MAX: Duration = Duration::from_secs(10);

/// Decides what is asked when.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Pace,
    every_turn: bool,
    /// When the last turn began.
    turn: Option<Duration>,
    next_turn: Duration,
    /// Whether the present turn still wants a description.
    describes: bool,
    /// Whether the last list had the group.
    was_hit: bool,
    /// Rule 4.
    may_list: bool,
    described: Option<Duration>,
    /// When brokers are to be asked how they are set.
    cluster_at: Duration,
    cluster_failures: u32,
    failures: u32,
    lists: Budget,
    descriptions: Budget,
    put_off: bool,
}

/// A debt that time pays.
#[derive(Debug)]
struct Budget {
    bytes_per_s: u64,
    paid: Duration,
}

// === impl Pacer ===

impl Pacer {
    pub(super) fn new() -> Self {
        Self {
            pace: Pace::Slow,
            every_turn: false,
            turn: None,
            next_turn: Duration::ZERO,
            describes: false,
            was_hit: false,
            may_list: false,
            described: None,
            cluster_at: Duration::ZERO,
            cluster_failures: 0,
            failures: 0,
            lists: Budget::new(LIST_BYTES_PER_S),
            descriptions: Budget::new(DESCRIBE_BYTES_PER_S),
            put_off: false,
        }
    }

    /// Other wishes; they move the next turn unless it waits for a failure to pass.
    pub(super) fn set(&mut self, pace: Pace, every_turn: bool) {
        self.every_turn = every_turn;
        if self.pace == pace {
            return;
        }
        self.pace = pace;
        if let Some(turn) = self.turn.filter(|_| self.failures == 0) {
            self.next_turn = turn.saturating_add(self.interval());
        }
    }

    /// All begins anew, and at once: other settings, perhaps another cluster, which is owed
    /// nothing for what was read before.
    pub(super) fn restart(&mut self, now: Duration) {
        self.next_turn = now;
        self.describes = false;
        self.was_hit = false;
        self.may_list = false;
        self.described = None;
        self.cluster_at = now;
        self.cluster_failures = 0;
        self.failures = 0;
        self.lists = Budget::new(LIST_BYTES_PER_S);
        self.descriptions = Budget::new(DESCRIBE_BYTES_PER_S);
        self.put_off = false;
    }

    /// What to do at `now`. A question that is given must be answered by one of
    /// `listed`, `unlisted`, `described`, `cluster_told`, `failed`.
    pub(super) fn next(&mut self, now: Duration) -> Next {
        let is_due = self.described.is_some() && now >= self.cluster_at;
        if is_due && !self.describes {
            return Next::Ask(Ask::Cluster);
        }
        if self.describes {
            if self.descriptions.allows(now) {
                return Next::Ask(Ask::Describe);
            }
            self.put_off = true;
        }
        if now < self.next_turn {
            let paid = self.describes.then_some(self.descriptions.paid);
            return Next::Wait(paid.unwrap_or(self.next_turn).min(self.next_turn));
        }
        // Lists beyond their budget (of very many rebalancing groups) give way.
        let is_list = self.may_list && !self.every_turn && self.lists.allows(now);
        if !is_list && !self.descriptions.allows(now) {
            self.put_off = true;
            return Next::Wait(self.descriptions.paid);
        }
        self.turn = Some(now);
        self.next_turn = now.saturating_add(self.interval());
        if is_list {
            Next::Ask(Ask::List)
        } else {
            self.describes = true;
            Next::Ask(Ask::Describe)
        }
    }

    /// Whether a wanted description had to wait for the budget, since this was asked last.
    pub(super) fn take_put_off(&mut self) -> bool {
        std::mem::take(&mut self.put_off)
    }

    /// The list came; `is_hit` if the group was in it.
    pub(super) fn listed(&mut self, now: Duration, bytes: usize, is_hit: bool) {
        self.failures = 0;
        self.lists.spend(now, bytes);
        let is_old = self
            .described
            .is_none_or(|at| now.saturating_sub(at) >= DESCRIBE_EVERY);
        self.describes |= is_hit || self.was_hit || is_old;
        self.was_hit = is_hit;
    }

    /// The broker cannot list by state (before 2.6): the description is the only question.
    pub(super) fn unlisted(&mut self) {
        self.describes = true;
    }

    pub(super) fn described(&mut self, now: Duration, bytes: usize) {
        self.failures = 0;
        self.describes = false;
        self.may_list = true;
        self.described = Some(now);
        self.descriptions.spend(now, bytes);
    }

    /// Brokers said how they are set, or that they do not know the question.
    pub(super) fn cluster_told(&mut self, now: Duration) {
        self.cluster_at = now.saturating_add(CLUSTER_EVERY);
        self.cluster_failures = 0;
    }

    pub(super) fn failed(&mut self, now: Duration, ask: Ask, failure: Failure) {
        if ask == Ask::Cluster {
            self.cluster_failures = self.cluster_failures.saturating_add(1);
            let rest = match failure {
                Failure::Denied | Failure::Lasting | Failure::TooLarge => CLUSTER_EVERY,
                Failure::Other => doubled(CLUSTER_AGAIN, self.cluster_failures),
            };
            self.cluster_at = now.saturating_add(rest.min(CLUSTER_EVERY));
            return;
        }
        self.describes = false;
        if failure == Failure::TooLarge {
            // The broker made the answer, so it is paid for. The right to it is proven.
            match ask {
                Ask::List => self.lists.spend(now, ANSWER_BYTES_MAX),
                Ask::Describe | Ask::Cluster => self.descriptions.spend(now, ANSWER_BYTES_MAX),
            }
            self.may_list = true;
            self.described = Some(now);
            return;
        }
        self.failures = self.failures.saturating_add(1);
        self.described = None;
        self.was_hit = false;
        self.may_list &= failure != Failure::Denied;
        self.next_turn = match failure {
            Failure::Lasting => Duration::MAX,
            _ => now.saturating_add(backoff(self.failures)),
        };
    }

    fn interval(&self) -> Duration {
        match self.pace {
            Pace::Fast => Duration::from_millis(500),
            Pace::Slow => Duration::from_secs(10),
        }
    }
}

/// How long to rest after so many failures in a row.
fn backoff(failures: u32) -> Duration {
    doubled(BACKOFF_MIN, failures).min(BACKOFF_MAX)
}

/// Twice as long with each failure after the first.
fn doubled(first: Duration, failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(8);
    first.saturating_mul(1 << doublings)
}

// === impl Budget ===

impl Budget {
    fn new(bytes_per_s: u64) -> Self {
        Self {
            bytes_per_s,
            paid: Duration::ZERO,
        }
    }

    fn allows(&self, now: Duration) -> bool {
        self.paid <= now
    }

    fn spend(&mut self, now: Duration, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let ms = bytes.saturating_mul(1_000).div_ceil(self.bytes_per_s);
        let from = self.paid.max(now.saturating_sub(BURST));
        self.paid = from.saturating_add(Duration::from_millis(ms));
    }
}
