//! Held against `java.util.Properties`, and against bytes that nobody meant.

use std::fs;

use super::*;
use crate::config::worker::tests::cell;

/// What a JDK 17 makes of each text; see `tests/java/PropertiesTable.java`.
const TABLE: &str = include_str!("../../../../tests/fixtures/worker_file/properties.txt");

/// Names in order of first appearance, each with its last value.
fn merged(pairs: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut merged: Vec<(String, String)> = Vec::new();
    for (name, value) in pairs {
        match merged.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => merged.push((name, value)),
        }
    }
    merged
}

#[test]
fn every_text_is_read_as_java_reads_it() {
    let mut malformed = 0;
    for line in TABLE.lines() {
        let mut cells = line.split('\t');
        let text = cell(cells.next().unwrap());
        let rest: Vec<&str> = cells.collect();
        let pair = |entry: Entry| (entry.name, entry.value.expose().to_owned());
        let found = parse(&text).map(|entries| merged(entries.into_iter().map(pair)));
        if rest == ["malformed"] {
            malformed += 1;
            assert!(found.is_err(), "{text:?} gave {found:?}");
            continue;
        }
        let expected = rest.chunks(2).map(|pair| (cell(pair[0]), cell(pair[1])));
        // Java keeps two halves of letters apart that are the same sign here.
        assert_eq!(found, Ok(merged(expected)), "{text:?}");
    }
    assert!(malformed > 20 && TABLE.lines().count() > 600);
}

#[test]
fn entries_know_their_lines() {
    let text = "# one\na=1\r\n\r\n  b = 2 \\\n  more\n\\\n\nc=3\rd=4\na=5\n";
    let entries = parse(text).unwrap();
    let lines: Vec<_> = entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.line))
        .collect();
    assert_eq!(lines, [("a", 2), ("b", 4), ("c", 8), ("d", 9), ("a", 10)]);
    let joined = entries.iter().filter(|entry| entry.is_continued);
    assert_eq!(joined.map(|entry| entry.line).collect::<Vec<_>>(), [4]);
    assert_eq!(parse("a=b\n\nc=\\u12"), Err(Malformed { line: 3 }));
}

#[test]
fn what_is_no_properties_file_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let told = |file: &Path| {
        let mistake = read(file, "here", Encoding::Latin1).unwrap_err();
        assert_eq!(mistake.path, "here");
        assert!(mistake.found.contains(&file.display().to_string()));
        mistake.found
    };
    assert!(told(folder.path()).contains("a folder"));
    assert!(told(&folder.path().join("none")).contains("No such file"));
    let file = folder.path().join("file");
    let write = |bytes: &[u8]| fs::write(&file, bytes).unwrap();
    write(b"\x7fELF\0\0");
    assert!(told(&file).contains("no text"));
    write(b"a=topsecret\\u12");
    let found = told(&file);
    assert!(
        found.contains("line 1") && !found.contains("topsecret"),
        "{found}"
    );
    let mut large = vec![b'#'; 1024 * 1024];
    write(&large);
    assert_eq!(read(&file, "", Encoding::Latin1), Ok(Vec::new()));
    large.push(b'#');
    write(&large);
    assert!(told(&file).contains("more than 1 MiB"));
    write(&vec![b'a'; 10 * 1024 * 1024]);
    assert!(told(&file).contains("more than 1 MiB"));
    // A byte is a letter for a worker; a provider's file is UTF-8.
    write("a=é".as_bytes());
    let value = |encoding| read(&file, "", encoding).unwrap()[0].value.clone();
    assert_eq!(value(Encoding::Latin1).expose(), "Ã©");
    assert_eq!(value(Encoding::Utf8).expose(), "é");
    write(b"a=\xe9");
    assert!(read(&file, "", Encoding::Utf8).is_err());
}

#[test]
fn no_bytes_make_it_panic() {
    // Texts of the table, cut, doubled and stirred by a fixed seed (xorshift64).
    let texts: Vec<String> = TABLE
        .lines()
        .map(|line| cell(line.split('\t').next().unwrap()))
        .collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below.max(1)).unwrap()).unwrap()
    };
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..=random(3) {
            bytes.extend(texts[random(texts.len())].bytes());
        }
        for _ in 0..random(4) {
            if bytes.is_empty() {
                break;
            }
            let at = random(bytes.len());
            match random(3) {
                0 => bytes.truncate(at),
                1 => bytes[at] = u8::try_from(random(256)).unwrap(),
                _ => bytes.insert(at, b"\\\r\n=u "[random(6)]),
            }
        }
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        let lines = text.matches(['\n', '\r']).count() + 1;
        for entry in parse(&text).into_iter().flatten() {
            assert!((1..=lines).contains(&entry.line));
        }
    }
}
