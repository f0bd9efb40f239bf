//! Which known word somebody may have meant.

const SLIPS_MAX: usize = 3;

/// The known word that is nearest to `word`, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain_word = plain(word);
    // A slip adds or drops one letter at most.
    let count = word.chars().count();
    let letters = bag(word);
    // Cheap, and sorts out nearly all: each slip changes the letters by two at most.
    let is_near = |known: &&str| {
        known.chars().count().abs_diff(count) <= SLIPS_MAX
            && differing(&letters, &bag(known)) <= 2 * SLIPS_MAX
    };
    let near = known.into_iter().filter(is_near).filter_map(|known| {
        let distance = distance(&plain_word, &plain(known))?;
        Some((distance, known))
    });
    let (distance, known) = near.min_by_key(|(distance, _)| *distance)?;
    // Two slips, and a third in a long word, still look like the same word.
    let slips_max = if known.chars().count() > 8 {
        SLIPS_MAX
    } else {
        2
    };
    (distance <= slips_max).then_some(known)
}

/// The known setting that somebody may have meant: one that is near, one of the same words in
/// another order, or one whose unit was left out or is another.
pub(super) fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(near) = nearest(name, known.iter().copied()) {
        return Some(near);
    }
    let words = words(name);
    if words.len() >= WORDS_MIN {
        let mut same = known.iter().copied();
        let same = same.find(|known| known.len() == name.len() && self::words(known) == words);
        if same.is_some() {
            return same;
        }
    }
    let stem = name.rsplit_once('.').filter(|(_, unit)| {
        let unit = unit.to_lowercase();
        UNITS.contains(&unit.as_str())
    });
    let stem = stem.map_or(name, |(stem, _)| stem);
    let is_long = self::words(stem).len() >= WORDS_MIN.saturating_sub(1);
    if !is_long || name.ends_with(".ms") {
        return None;
    }
    nearest(&format!("{stem}.ms"), known)
}

/// Fewer words come together by chance.
const WORDS_MIN: usize = 3;

const UNITS: [&str; 8] = [
    "s",
    "sec",
    "secs",
    "seconds",
    "min",
    "minutes",
    "millis",
    "milliseconds",
];

/// The words of a name, in the order of the alphabet.
fn words(name: &str) -> Vec<String> {
    let parts = name.split(['.', '-', '_']);
    let mut words: Vec<String> = parts.map(str::to_lowercase).collect();
    words.sort_unstable();
    words
}

/// How often each letter comes, capitals and the two kinds of dash aside; other letters share
/// their places.
fn bag(word: &str) -> [u16; 32] {
    let mut bag = [0u16; 32];
    for letter in word.chars().flat_map(char::to_lowercase) {
        let letter = if letter == '-' { '_' } else { letter };
        let place = usize::try_from(u32::from(letter) % 32).unwrap_or(0);
        if let Some(count) = bag.get_mut(place) {
            *count = count.saturating_add(1);
        }
    }
    bag
}

fn differing(a: &[u16; 32], b: &[u16; 32]) -> usize {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| usize::from(a.abs_diff(*b))).sum()
}

/// Capitals and the two kinds of dash aside.
fn plain(text: &str) -> Vec<char> {
    let lower = text.chars().flat_map(char::to_lowercase);
    lower
        .map(|letter| if letter == '-' { '_' } else { letter })
        .collect()
}

/// Letters to change, insert, drop or swap with their neighbour (optimal string alignment);
/// none where there are more than [`SLIPS_MAX`].
fn distance(a: &[char], b: &[char]) -> Option<usize> {
    // A slip adds or drops one letter at most.
    if a.len().abs_diff(b.len()) > SLIPS_MAX {
        return None;
    }
    // Column j of a row: from so many letters of one to the first j of the other.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + changed);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        // What follows is never less than what the last two rows hold.
        if row.iter().chain(&last).all(|slips| *slips > SLIPS_MAX) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|slips| *slips <= SLIPS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_meant() {
        let known = [
            "session.timeout.ms",
            "scheduled.rebalance.max.delay.ms",
            "task.shutdown.graceful.timeout.ms",
            "client.id",
        ];
        let cases = [
            ("sesion.timeout.ms", Some(known[0])),
            ("session.timeout", Some(known[0])),
            ("session.timeout.seconds", Some(known[0])),
            ("schedule.rebalance.max.delay", Some(known[1])),
            ("task.graceful.shutdown.timeout.ms", Some(known[2])),
            ("graceful-shutdown-task-timeout-ms", Some(known[2])),
            ("task.graceful.shutdown.timeout", None),
            ("id.client", None),
            ("timeout", None),
            ("my.plugin.session.timeout", None),
        ];
        for (name, expected) in cases {
            assert_eq!(meant(name, known), expected, "{name}");
        }
    }

    #[test]
    fn slips_are_counted() {
        let count = |a: &str, b: &str| distance(&plain(a), &plain(b));
        assert_eq!(count("", ""), Some(0));
        assert_eq!(count("abc", ""), Some(3));
        assert_eq!(count("abcd", ""), None);
        assert_eq!(count("session", "sesion"), Some(1));
        assert_eq!(count("session", "sessoin"), Some(1));
        assert_eq!(count("a-b", "A_B"), Some(0));
        assert_eq!(count("kitten", "sitting"), Some(3));
        assert_eq!(count("kittens", "sitting!"), None);
        assert_eq!(count("xxxxsession", "session"), None);
        assert_eq!(count("xxxsession", "session"), Some(3));
    }
}
