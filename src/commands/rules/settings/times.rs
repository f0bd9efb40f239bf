//! Times as Prometheus writes them.

/// Units of a time as Prometheus writes it, the largest first: in this order they may follow
/// each other.
const UNITS: [(&str, u64); 7] = [
    ("y", 31_536_000_000),
    ("w", 604_800_000),
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
];

/// The milliseconds of a time as Prometheus writes it, of at most a year.
pub(in crate::commands::rules) fn millis(text: &str) -> Option<u64> {
    let mut left = text;
    let mut sum = 0u64;
    let mut next = 0;
    while !left.is_empty() {
        let digits = left.find(|c: char| !c.is_ascii_digit())?;
        let (number, rest) = left.split_at(digits);
        let end = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(end);
        let place = UNITS.iter().position(|(name, _)| *name == unit)?;
        if place < next {
            return None;
        }
        next = place + 1;
        let (_, unit_ms) = UNITS.get(place)?;
        sum = sum.checked_add(number.parse::<u64>().ok()?.checked_mul(*unit_ms)?)?;
        left = rest;
    }
    (!text.is_empty() && sum <= 31_536_000_000).then_some(sum)
}

/// A time as Prometheus writes it, in one unit.
pub(in crate::commands::rules) fn written(ms: u64) -> String {
    // A year is no round number of anything; nobody writes 52 weeks.
    let units = UNITS.iter().skip(2);
    let fits = |unit_ms: u64| ms > 0 && ms.is_multiple_of(unit_ms);
    match units.clone().find(|(_, unit_ms)| fits(*unit_ms)) {
        Some((unit, unit_ms)) => format!("{}{unit}", ms / unit_ms),
        None => "0s".to_owned(),
    }
}
