//! The part of a request behind the question mark, as names and values.

/// The names and values of a query string, decoded, in their order. Empty values ask for
/// nothing.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (percent_decoded(name), percent_decoded(value)))
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// The `group` of a query string. An empty one asks for none.
pub(super) fn group_in(query: &str) -> Option<String> {
    let all = pairs(query).into_iter();
    all.into_iter()
        .find(|(name, _)| name == "group")
        .map(|(_, value)| value)
}

/// Percent decoding of a query value (a plus is a space); what is no valid escape
/// stays as it is.
pub(super) fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escape = bytes
            .get(at + 1..at + 3)
            .and_then(|hex| std::str::from_utf8(hex).ok());
        let decoded = escape.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (byte, decoded) {
            (b'%', Some(decoded)) => {
                out.push(decoded);
                at += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}
