//! Clocks and what is made of their readings.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The middle and the ends of several measurements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

// === impl Spread ===

impl Spread {
    pub(crate) fn of(numbers: &[f64]) -> Spread {
        let sorted = sorted(numbers);
        Spread {
            median: quantile(&sorted, 0.5),
            min: quantile(&sorted, 0.0),
            max: quantile(&sorted, 1.0),
        }
    }

    /// Each measurement of one side over the one of the other side taken beside it: what
    /// slowed down both of them falls out.
    pub(crate) fn of_ratios(over: &[f64], under: &[f64]) -> Spread {
        let ratios: Vec<f64> = over.iter().zip(under).map(|(a, b)| a / b).collect();
        Spread::of(&ratios)
    }
}

pub(crate) fn sorted(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Of sorted numbers; zero of none.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1) as f64;
    // Numbers measured are some ten thousand at most.
    let place = (last * share).round() as usize;
    sorted.get(place).copied().unwrap_or_default()
}

/// Seconds of processor that this thread used: what others do on the machine adds
/// little to it.
pub(crate) fn thread_cpu_s() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

/// The same of the whole process.
pub(crate) fn process_cpu_s() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Calls it until `at_least` has passed; gives calls a second of this thread's processor time.
pub(crate) fn rate(at_least: Duration, mut call: impl FnMut()) -> f64 {
    let (began, cpu) = (Instant::now(), thread_cpu_s());
    let mut calls = 0_u32;
    while began.elapsed() < at_least {
        for _ in 0..8 {
            call();
        }
        calls += 8;
    }
    f64::from(calls) / (thread_cpu_s() - cpu)
}
