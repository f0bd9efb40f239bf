//! Basic auth: who says who they are, and whether that is true. A hash takes bcrypt long
//! by design, so hashes are checked one at a time beside the runtime, what was true once
//! is remembered by a fingerprint, and nothing tells whether a user exists.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use openssl::hash::MessageDigest;
use openssl::memcmp;
use openssl::pkey::PKey;
use openssl::rand::rand_bytes;
use openssl::sign::Signer;
use tokio::sync::Semaphore;

use crate::config::Secret;

/// Checks that run or wait; one more is told to come back. Scrapers that are known
/// need none.
const WAITING_MAX: usize = 8;
/// Credentials that were true, a few dozen bytes each.
const PROVEN_MAX: usize = 256;
/// What bcrypt looks at of a password.
const PASSWORD_BYTES_MAX: usize = 72;

/// The users and what they are checked with.
#[derive(Debug)]
pub(super) struct Gate {
    users: BTreeMap<String, Secret>,
    /// The greatest cost of a user's hash. Every check takes as long as this one.
    cost_max: u32,
    checks: Arc<Checks>,
}

/// What was found of who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// They are who they say.
    Known,
    /// They are not, or say nothing that can be understood.
    Unknown,
    /// Too many are being checked.
    Busy,
}

/// The bound on checks and the memory of those that succeeded. It outlives changes of
/// the users: a changed hash is another fingerprint.
pub struct Checks {
    waiting: Arc<Semaphore>,
    turn: Arc<Semaphore>,
    /// Drawn anew by each process; without it nothing is remembered.
    key: Option<[u8; 32]>,
    proven: Mutex<VecDeque<Fingerprint>>,
}

type Fingerprint = [u8; 32];

/// Who somebody says they are.
struct Credentials {
    user: Vec<u8>,
    password: Vec<u8>,
}

// === impl Gate ===

impl Gate {
    /// A gate for these users and the bcrypt hashes of their passwords.
    #[must_use]
    pub(super) fn new(users: BTreeMap<String, Secret>, checks: Arc<Checks>) -> Self {
        let costs = users.values().map(|hash| cost(hash.expose()));
        Self {
            cost_max: costs.max().unwrap_or(0),
            users,
            checks,
        }
    }

    /// Whether nobody is asked.
    #[must_use]
    pub(super) fn is_open(&self) -> bool {
        self.users.is_empty()
    }

    /// Judges the `Authorization` headers of a request.
    pub(super) async fn judge(&self, headers: &[&[u8]]) -> Verdict {
        // Two headers would be two people.
        let [header] = headers else {
            return Verdict::Unknown;
        };
        let Some(said) = credentials(header) else {
            return Verdict::Unknown;
        };
        let hash = std::str::from_utf8(&said.user)
            .ok()
            .and_then(|user| self.users.get(user));
        let fingerprint = hash.and_then(|hash| self.checks.fingerprint(&said, hash.expose()));
        if fingerprint.is_some_and(|fingerprint| self.checks.is_proven(&fingerprint)) {
            return Verdict::Known;
        }
        self.check(said, hash.cloned(), fingerprint).await
    }

    async fn check(
        &self,
        said: Credentials,
        hash: Option<Secret>,
        fingerprint: Option<Fingerprint>,
    ) -> Verdict {
        let Ok(place) = Arc::clone(&self.checks.waiting).try_acquire_owned() else {
            return Verdict::Busy;
        };
        // Never closed.
        let Ok(turn) = Arc::clone(&self.checks.turn).acquire_owned().await else {
            return Verdict::Busy;
        };
        // The same scraper may have been checked while this one waited.
        if fingerprint.is_some_and(|fingerprint| self.checks.is_proven(&fingerprint)) {
            return Verdict::Known;
        }
        let cost_max = self.cost_max;
        let checks = Arc::clone(&self.checks);
        let check = tokio::task::spawn_blocking(move || {
            // All of it also when nobody waits for it any more.
            let holds = is_true(&said.password, hash.as_ref().map(Secret::expose), cost_max);
            if let (true, Some(fingerprint)) = (holds, fingerprint) {
                checks.remember(fingerprint);
            }
            // Only now, so that who waits finds what is remembered.
            drop((turn, place));
            holds
        });
        match check.await {
            Ok(true) => Verdict::Known,
            Ok(false) => Verdict::Unknown,
            // The runtime ends.
            Err(_) => Verdict::Busy,
        }
    }
}

/// The cost of a hash that was checked for its form.
fn cost(hash: &str) -> u32 {
    let cost = hash.split('$').nth(2);
    cost.and_then(|cost| cost.parse().ok()).unwrap_or(0)
}

/// Checks a password against a hash, or against none; the same work either way.
fn is_true(password: &[u8], hash: Option<&str>, cost_max: u32) -> bool {
    let holds = hash.is_some_and(|hash| bcrypt::verify(password, hash).unwrap_or(false));
    for cost in idle_costs(hash.map(cost), cost_max) {
        idle(password, cost);
    }
    holds
}

/// The costs of what is computed for nothing, so that `2^cost_max` rounds are spent on a
/// user whose hash has this cost, and on one that does not exist.
fn idle_costs(spent: Option<u32>, cost_max: u32) -> Vec<u32> {
    match spent {
        // 2^c are spent; 2^c + 2^(c+1) + ... + 2^(max-1) make it twice the last.
        Some(spent) => (spent..cost_max).collect(),
        None => vec![cost_max],
    }
}

/// Rounds for nothing.
fn idle(password: &[u8], cost: u32) {
    let mut password: Vec<u8> = password
        .iter()
        .copied()
        .take(PASSWORD_BYTES_MAX - 1)
        .collect();
    password.push(0);
    std::hint::black_box(bcrypt::bcrypt(cost, [0; 16], &password));
}

/// RFC 7617: `Basic`, then user and password with a colon between, in base64.
fn credentials(header: &[u8]) -> Option<Credentials> {
    let header = std::str::from_utf8(header).ok()?;
    let (scheme, text) = header.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let mut user = STANDARD.decode(text.trim()).ok()?;
    let colon = user.iter().position(|byte| *byte == b':')?;
    let password = user.split_off(colon).split_off(1);
    Some(Credentials { user, password })
}

// === impl Checks ===

impl Checks {
    /// Nothing is proven yet.
    #[must_use]
    pub fn new() -> Self {
        let mut key = [0; 32];
        Self {
            waiting: Arc::new(Semaphore::new(WAITING_MAX)),
            turn: Arc::new(Semaphore::new(1)),
            key: rand_bytes(&mut key).is_ok().then_some(key),
            proven: Mutex::new(VecDeque::new()),
        }
    }

    /// What stands for these credentials and nothing else: an HMAC, of which nobody gets
    /// back to the password.
    fn fingerprint(&self, said: &Credentials, hash: &str) -> Option<Fingerprint> {
        let key = PKey::hmac(self.key.as_ref()?).ok()?;
        let mut signer = Signer::new(MessageDigest::sha256(), &key).ok()?;
        for part in [&said.user, hash.as_bytes(), &said.password] {
            // With its length before it, no part can pass for another.
            signer.update(&part.len().to_be_bytes()).ok()?;
            signer.update(part).ok()?;
        }
        signer.sign_to_vec().ok()?.try_into().ok()
    }

    fn is_proven(&self, fingerprint: &Fingerprint) -> bool {
        let proven = self.proven.lock().unwrap_or_else(PoisonError::into_inner);
        proven.iter().any(|known| memcmp::eq(known, fingerprint))
    }

    fn remember(&self, fingerprint: Fingerprint) {
        let mut proven = self.proven.lock().unwrap_or_else(PoisonError::into_inner);
        if proven.len() >= PROVEN_MAX {
            proven.pop_front();
        }
        proven.push_back(fingerprint);
    }
}

impl Default for Checks {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Checks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checks").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
