//! In which line of a YAML document something stands. The parser gives values without
//! lines; they are found again by keys and their indentation, as far as that can be told.

/// The line of the key `leaf` below the keys `parents`, of an item `leaf=…` of a list there,
/// or of an item with `name: leaf`. What is merged into a section from elsewhere (`<<`) stands
/// in the only line outside of the first parent that sets `leaf`, or of the whole document.
pub(super) fn line_of(text: &str, parents: &[&str], leaf: &str) -> Option<usize> {
    below(text, parents, leaf)
        .or_else(|| only(text, leaf, parents.first().copied()))
        .or_else(|| only(text, leaf, None))
}

fn below(text: &str, parents: &[&str], leaf: &str) -> Option<usize> {
    let mut above: Vec<(usize, &str)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((indent, body)) = body(line) else {
            continue;
        };
        while above.last().is_some_and(|(last, _)| *last >= indent) {
            above.pop();
        }
        let is_here = above.len() == parents.len()
            && above
                .iter()
                .zip(parents)
                .all(|((_, key), parent)| key == parent);
        if is_here && sets(body, leaf) {
            return Some(index + 1);
        }
        if let Some(key) = key(body) {
            above.push((indent, key));
        }
    }
    None
}

fn only(text: &str, leaf: &str, but_below: Option<&str>) -> Option<usize> {
    let mut found = None;
    let mut top = None;
    for (index, line) in text.lines().enumerate() {
        let Some((indent, body)) = body(line) else {
            continue;
        };
        if indent == 0 {
            top = key(body);
        }
        if (but_below.is_none() || top != but_below) && sets(body, leaf) {
            if found.is_some() {
                return None;
            }
            found = Some(index + 1);
        }
    }
    found
}

/// Where the text of a line begins behind its dashes, and the text; none for comments.
fn body(line: &str) -> Option<(usize, &str)> {
    let mut body = line.trim_start();
    while let Some(rest) = body.strip_prefix("- ") {
        body = rest.trim_start();
    }
    (!body.is_empty() && !body.starts_with('#')).then_some((line.len() - body.len(), body))
}

fn key(body: &str) -> Option<&str> {
    let body = body.strip_prefix(['"', '\'']).unwrap_or(body);
    // A key ends at a colon that a blank or the end follows.
    let end = body
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| body[at + 1..].is_empty() || body[at + 1..].starts_with(' '))?;
    Some(body[..end].trim_end_matches(['"', '\'']))
}

fn sets(body: &str, leaf: &str) -> bool {
    let bare = body.strip_prefix(['"', '\'']).unwrap_or(body);
    let is_assigned = bare
        .strip_prefix(leaf)
        .is_some_and(|rest| rest.starts_with('='));
    let is_named = key(body) == Some("name")
        && body
            .split_once(':')
            .is_some_and(|(_, name)| name.trim().trim_matches(['"', '\'']) == leaf);
    is_assigned || is_named || key(body) == Some(leaf)
}

#[cfg(test)]
mod tests {
    use super::line_of;

    const TEXT: &str = "\
# A=1 is a comment
x-common: &common
  C: 7
  D: 8
services:
  one:
    environment:
      A: 1
      \"B\": 2
  two:
    environment:
    - A=3
    - 'C=4'
  three:
    env:
      - name: A
        value: 5
";

    #[test]
    fn keys_are_found_below_their_parents() {
        let find = |service: &str, section: &str, leaf: &str| {
            line_of(TEXT, &["services", service, section], leaf)
        };
        assert_eq!(find("one", "environment", "A"), Some(8));
        assert_eq!(find("one", "environment", "B"), Some(9));
        assert_eq!(find("two", "environment", "A"), Some(12));
        assert_eq!(find("two", "environment", "C"), Some(13));
        assert_eq!(find("three", "env", "A"), Some(16));
        // Merged from elsewhere.
        assert_eq!(find("one", "environment", "C"), Some(3));
        assert_eq!(find("one", "environment", "D"), Some(4));
        assert_eq!(line_of(TEXT, &["other"], "B"), Some(9));
        // Several times elsewhere: nobody knows which.
        assert_eq!(find("four", "environment", "A"), None);
    }
}
