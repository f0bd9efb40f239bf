//! Connector names replaced at the reader, by a code that every sidecar with the same key
//! gives them: HMAC-SHA256 (RFC 2104) of the name, cut to six bytes.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use evenkeel_core::facts::input::Record;
use evenkeel_core::facts::mask;
use evenkeel_core::facts::poll::{Polled, PolledMember};
use evenkeel_core::wire::mask::{CODE_BYTES, Code, Mask};
use openssl::sha::{Sha256, sha256};

/// Names whose codes are remembered: what a large cluster has, twice over.
const NAMES_MAX: usize = 20_000;

/// Longer texts are computed each time, so that the memory takes some MB at most. Names
/// are seldom longer than 100 bytes.
const NAME_BYTES_MAX: usize = 256;

/// Block of SHA-256, to which HMAC fills its key up.
const BLOCK_BYTES: usize = 64;

/// Replaces names of connectors. Cheap to clone; clones share what they remember.
#[derive(Clone)]
pub struct NameMask(Arc<Shared>);

struct Shared {
    /// The two hashes of HMAC, each after its key.
    inner: Sha256,
    outer: Sha256,
    codes: Mutex<Codes>,
}

/// What is remembered; forgotten all at once when it is full.
#[derive(Default)]
struct Codes(HashMap<Box<[u8]>, Code>);

// === impl NameMask ===

impl NameMask {
    /// A mask under `key`.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        let hashed;
        let key = if key.len() > BLOCK_BYTES {
            hashed = sha256(key);
            &hashed[..]
        } else {
            key
        };
        let keyed = |filler: u8| {
            let mut block = [filler; BLOCK_BYTES];
            for (byte, key) in block.iter_mut().zip(key) {
                *byte ^= key;
            }
            let mut hash = Sha256::new();
            hash.update(&block);
            hash
        };
        Self(Arc::new(Shared {
            inner: keyed(0x36),
            outer: keyed(0x5c),
            codes: Mutex::default(),
        }))
    }

    /// What stands for a connector's name.
    #[must_use]
    pub fn name(&self, name: &str) -> String {
        self.with(|mask| mask.name(name).to_string())
    }

    /// Masks a record; its value must be redacted already.
    pub fn record(&self, record: &mut Record) {
        self.with(|mask| mask::record(record, mask));
    }

    /// Masks what a poll answered.
    pub fn polled(&self, polled: &mut Polled) {
        self.with(|mask| mask::polled(polled, mask));
    }

    /// Masks a polled member of a Connect group.
    pub fn member(&self, member: &mut PolledMember) {
        self.with(|mask| mask::member(member, mask));
    }

    fn with<T>(&self, masked: impl FnOnce(&mut Mask<'_>) -> T) -> T {
        let mut codes = self.0.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut code = |text: &[u8]| codes.of(text, &self.0);
        masked(&mut Mask::new(&mut code))
    }
}

impl fmt::Debug for NameMask {
    /// The key is not shown, nor what it gave.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NameMask").finish_non_exhaustive()
    }
}

// === impl Shared ===

impl Shared {
    fn hmac(&self, text: &[u8]) -> [u8; 32] {
        let mut inner = self.inner.clone();
        inner.update(text);
        let mut outer = self.outer.clone();
        outer.update(&inner.finish());
        outer.finish()
    }

    fn code(&self, text: &[u8]) -> Code {
        let mut code = [0; CODE_BYTES];
        code.copy_from_slice(&self.hmac(text)[..CODE_BYTES]);
        code
    }
}

// === impl Codes ===

impl Codes {
    fn of(&mut self, text: &[u8], shared: &Shared) -> Code {
        if let Some(code) = self.0.get(text) {
            return *code;
        }
        let code = shared.code(text);
        if text.len() <= NAME_BYTES_MAX {
            if self.0.len() >= NAMES_MAX {
                self.0.clear();
            }
            self.0.insert(text.into(), code);
        }
        code
    }
}
