//! Seeded mutations of all fixtures, for as long as the budget lasts.
//!
//! Each round derives its own random numbers from the seed and the round, so a
//! failure is found again by its two numbers whatever the machine's speed.

use std::time::{Duration, Instant};

use crate::fixture::{Fixture, fixtures};
use crate::hostile::survive;
use crate::mask;

/// Seconds to spend; 3 unless set, CI sets 30.
const SECONDS: &str = "EVENKEEL_MUTATION_SECONDS";
/// Another seed than the usual one.
const SEED: &str = "EVENKEEL_MUTATION_SEED";

fn from_env(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number")),
        Err(_) => default,
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        const EDGES: [u8; 12] = [
            0x00, 0x01, 0x02, 0x7f, 0x80, 0xfe, 0xff, b'"', b'{', b'}', b'\\', b'-',
        ];
        match self.below(2) {
            0 => EDGES[self.below(EDGES.len())],
            _ => self.next().to_be_bytes()[0],
        }
    }
}

fn mutate(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let end = (at + random.below(16)).min(bytes.len());
    match random.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.byte(),
        2 => bytes.insert(at, random.byte()),
        3 => drop(bytes.drain(at..end)),
        4 => bytes.truncate(at),
        5 => {
            let part = bytes[at..end].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, part);
        }
        6 => {
            let other = &others[random.below(others.len())];
            let from = random.below(other.len() + 1);
            let to = (from + random.below(64)).min(other.len());
            bytes.splice(at..end, other[from..to].iter().copied());
        }
        _ => {
            let number = [0, 1, -1, i32::MAX, i32::MIN, 0x7fff, 0xffff][random.below(7)];
            let number = number.to_be_bytes();
            let width = [2, 4][random.below(2)];
            let end = (at + width).min(bytes.len());
            bytes.splice(at..end, number[4 - width..].iter().copied());
        }
    }
}

#[test]
fn mutations_of_all_fixtures_break_no_law() {
    let (seconds, seed) = (from_env(SECONDS, 3), from_env(SEED, 20_261_129));
    let fixtures = fixtures();
    let pairs: Vec<(Vec<u8>, Vec<u8>)> = fixtures
        .iter()
        .map(|f| (f.key(), f.value().unwrap_or_default()))
        .collect();
    let values: Vec<Vec<u8>> = pairs.iter().map(|(_, value)| value.clone()).collect();
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut round: u64 = 0;
    while round.is_multiple_of(64) && Instant::now() < end || !round.is_multiple_of(64) {
        let mut random = Random(seed ^ round.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let at = random.below(fixtures.len());
        let (mut key, mut value) = pairs[at].clone();
        for _ in 0..=random.below(4) {
            match random.below(8) {
                0 => mutate(&mut key, &values, &mut random),
                _ => mutate(&mut value, &values, &mut random),
            }
        }
        let fixture: &Fixture = &fixtures[at];
        survive(fixture, &key, &value, &|| {
            format!("seed {seed}, round {round}")
        });
        mask::hold(fixture, &key, Some(&value), &|| {
            format!("seed {seed}, round {round}")
        });
        round += 1;
    }
    println!("{round} mutations in {seconds} s, seed {seed}");
    assert!(round > 0 || seconds == 0);
}
