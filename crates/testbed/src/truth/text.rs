//! Small cuts through log messages.

/// What follows `marker`.
pub(super) fn after<'a>(text: &'a str, marker: &str) -> Option<&'a str> {
    text.split_once(marker).map(|(_, rest)| rest)
}

/// What stands between `from` and the next `to`.
pub(super) fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    after(text, from)?.split_once(to).map(|(found, _)| found)
}

/// The number that `text` begins with.
pub(super) fn number(text: &str) -> Option<i64> {
    let end = text
        .char_indices()
        .find(|(index, letter)| !(letter.is_ascii_digit() || (*index == 0 && *letter == '-')))
        .map_or(text.len(), |(index, _)| index);
    text.get(..end)?.parse().ok()
}

/// The number that follows `marker`.
pub(super) fn number_after(text: &str, marker: &str) -> Option<i64> {
    number(after(text, marker)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts() {
        assert_eq!(between("a [b] [c]", "[", "]"), Some("b"));
        assert_eq!(between("a [b", "[", "]"), None);
        assert_eq!(number_after("offset=-1, x", "offset="), Some(-1));
        assert_eq!(number_after("offset=x", "offset="), None);
    }
}
