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

/// The path of a store that keytool made.
pub(super) fn store_path(name: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/worker_file/stores"
    );
    format!("{folder}/{name}")
}

/// Its bytes.
pub(super) fn store(name: &str) -> Vec<u8> {
    std::fs::read(store_path(name)).unwrap()
}
