//! A small seeded generator (splitmix64): the same seed gives the same world everywhere.

/// Draws numbers.
#[derive(Debug, Clone)]
pub struct Rng(u64);

// === impl Rng ===

impl Rng {
    /// A generator that begins at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.saturating_sub(low).saturating_add(1).max(1);
        let drawn = i64::try_from(self.next_u64() >> 1).unwrap_or(0);
        low + drawn % span
    }

    /// True in `percent` of a hundred draws.
    pub fn chance(&mut self, percent: i64) -> bool {
        self.between(1, 100) <= percent
    }

    /// One of `options`, which must not be empty.
    pub fn pick<'a, T>(&mut self, options: &'a [T]) -> &'a T {
        let last = i64::try_from(options.len()).unwrap_or(1) - 1;
        &options[usize::try_from(self.between(0, last)).unwrap_or(0)]
    }

    /// A generator of its own, so that draws of one part do not shift those of another.
    pub fn fork(&mut self) -> Self {
        Self(self.next_u64())
    }
}
