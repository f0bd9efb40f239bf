//! Which known word somebody may have meant.

/// The known word that is nearest to `word`, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known
        .into_iter()
        .map(|known| (distance(word, known), known));
    let (distance, known) = near.min_by_key(|(distance, _)| *distance)?;
    // Two slips, and a third in a long word, still look like the same word.
    let slips_max = if known.chars().count() > 8 { 3 } else { 2 };
    (distance <= slips_max).then_some(known)
}

/// Letters to change, insert, drop or swap with their neighbour (optimal string
/// alignment), capitals and the two kinds of dash aside.
fn distance(a: &str, b: &str) -> usize {
    let plain = |text: &str| -> Vec<char> {
        let lower = text.chars().flat_map(char::to_lowercase);
        lower
            .map(|letter| if letter == '-' { '_' } else { letter })
            .collect()
    };
    let (a, b) = (plain(a), plain(b));
    // Row i, column j: from the first i letters of one to the first j of the other.
    let start = |i: usize| (0..=b.len()).map(|j| if i == 0 { j } else { i }).collect();
    let mut rows: Vec<Vec<usize>> = (0..=a.len()).map(start).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            best = best.min(rows[i - 1][j - 1] + changed);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}
