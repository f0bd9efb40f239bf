//! What the tests of the worker's file share.

/// A cell of a table: every odd letter is `%` and its UTF-16 unit.
pub(super) fn cell(text: &str) -> String {
    let mut parts = text.split('%');
    let mut units: Vec<u16> = parts.next().unwrap_or_default().encode_utf16().collect();
    for part in parts {
        let (unit, rest) = part.split_at(4);
        units.push(u16::from_str_radix(unit, 16).unwrap());
        units.extend(rest.encode_utf16());
    }
    String::from_utf16_lossy(&units)
}
