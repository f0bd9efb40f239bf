//! Telling "same" from "changed" without keeping, or letting out, any content.
//!
//! Each distinct content gets a number in order of first appearance. The table
//! behind it holds keyed hashes under a key that never leaves the process, so
//! neither a capture nor a memory dump lets anyone test a guessed password.

use std::collections::BTreeMap;
use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher24};

/// Distinct contents remembered at once; about 3 MiB.
pub const CONTENTS_MAX: usize = 65_536;

/// Which of the distinct contents a record had.
///
/// Equal numbers mean equal contents. Unequal ones mean unequal contents only
/// while the older was still remembered when the newer was numbered: ask
/// [`Content::same_as_before`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The number, in order of first appearance.
    pub ordinal: u32,
    /// The first number of the memory that gave this one.
    pub since: u32,
}

impl Content {
    /// Whether this content equals an `older` one of the same record key. `None`
    /// if the older one had been forgotten by then.
    pub fn same_as_before(&self, older: Self) -> Option<bool> {
        if self.ordinal == u32::MAX {
            // The numbers have run out; this one is given to every new content.
            None
        } else if self.ordinal == older.ordinal {
            Some(true)
        } else {
            (older.ordinal >= self.since).then_some(false)
        }
    }
}

/// The memory of contents seen.
pub struct Contents {
    key: [u8; 16],
    ordinals: BTreeMap<u128, u32>,
    /// The first number of the present memory.
    since: u32,
    next: u32,
    forgotten: u64,
    max: usize,
}

impl Contents {
    /// Starts with an empty memory. `key` must be random and stay in this
    /// process. `first` is 0, or what [`Contents::next_ordinal`] said when the
    /// state that still holds older numbers was saved.
    pub fn new(key: [u8; 16], first: u32) -> Self {
        let ordinals = BTreeMap::new();
        Self {
            key,
            ordinals,
            since: first,
            next: first,
            forgotten: 0,
            max: CONTENTS_MAX,
        }
    }

    /// The number that the next new content will get.
    pub fn next_ordinal(&self) -> u32 {
        self.next
    }

    /// How often the memory was full and everything was forgotten.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Numbers a content given by its bytes.
    pub(super) fn of_bytes(&mut self, bytes: &[u8]) -> Content {
        let mut hasher = self.hasher();
        hasher.write_u8(b'b');
        hasher.write(bytes);
        self.number(hasher.finish128().as_u128())
    }

    /// Numbers a set of properties, whatever their order.
    pub(super) fn of_properties(&mut self, digest: PropertiesDigest) -> Content {
        let mut hasher = self.hasher();
        hasher.write_u8(b'p');
        hasher.write(&digest.sum.to_le_bytes());
        hasher.write(&digest.count.to_le_bytes());
        self.number(hasher.finish128().as_u128())
    }

    /// Starts a digest of properties.
    pub(super) fn digest(&self) -> PropertiesDigest {
        PropertiesDigest {
            hasher: self.hasher(),
            sum: 0,
            count: 0,
        }
    }

    fn hasher(&self) -> SipHasher24 {
        SipHasher24::new_with_key(&self.key)
    }

    fn number(&mut self, hash: u128) -> Content {
        if let Some(&ordinal) = self.ordinals.get(&hash) {
            return Content {
                ordinal,
                since: self.since,
            };
        }
        if self.ordinals.len() >= self.max {
            self.ordinals.clear();
            self.since = self.next;
            self.forgotten = self.forgotten.saturating_add(1);
        }
        let ordinal = self.next;
        self.ordinals.insert(hash, ordinal);
        self.next = self.next.saturating_add(1);
        Content {
            ordinal,
            since: self.since,
        }
    }
}

impl std::fmt::Debug for Contents {
    /// The key and the hashes are not shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contents")
            .field("remembered", &self.ordinals.len())
            .field("since", &self.since)
            .field("next", &self.next)
            .field("forgotten", &self.forgotten)
            .finish_non_exhaustive()
    }
}

/// A keyed hash of name and value pairs that does not depend on their order:
/// Java maps written by two workers may list equal properties differently.
pub(super) struct PropertiesDigest {
    hasher: SipHasher24,
    sum: u128,
    count: u64,
}

impl PropertiesDigest {
    pub(super) fn add(&mut self, name: &[u8], value: Option<&[u8]>) {
        let mut hasher = self.hasher;
        hasher.write_u64(u64::try_from(name.len()).unwrap_or(u64::MAX));
        hasher.write(name);
        hasher.write_u8(u8::from(value.is_some()));
        hasher.write(value.unwrap_or_default());
        self.sum = self.sum.wrapping_add(hasher.finish128().as_u128());
        self.count = self.count.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests;
