//! Names that Kubernetes takes (RFC 1123, and its own rules for labels).

/// The most letters of a part of a name, of a label's name and of its value.
const PART_MAX: usize = 63;

/// The most letters of a name.
const NAME_MAX: usize = 253;

/// Whether a resource may have that name: parts with dots between them.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= NAME_MAX && name.split('.').all(is_part)
}

/// Whether it is one part of a name, as a namespace is.
pub(super) fn is_part(part: &str) -> bool {
    let is_lower = !part.bytes().any(|b| b.is_ascii_uppercase());
    is_lower && is_word(part, "-")
}

/// Whether a resource may have that label.
pub(super) fn is_label(name: &str, value: &str) -> bool {
    let (prefix, name) = match name.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, name),
    };
    prefix.is_none_or(is_name)
        && is_word(name, "-_.")
        && (value.is_empty() || is_word(value, "-_."))
}

/// Letters and digits, with these signs between them.
fn is_word(word: &str, signs: &str) -> bool {
    let is_plain = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    word.len() <= PART_MAX
        && is_plain(word.chars().next())
        && is_plain(word.chars().next_back())
        && word.chars().all(|c| is_plain(Some(c)) || signs.contains(c))
}
