//! Writes the fixtures as seeds: `corpus/<target>/<fixture>`, run in `fuzz/`.

use std::fs;
use std::path::Path;

#[derive(serde::Deserialize)]
struct Fixture {
    kind: String,
    key_hex: String,
    value_hex: Option<String>,
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits
        .chunks_exact(2)
        .map(|two| u8::try_from(two[0] * 16 + two[1]).unwrap())
        .collect()
}

fn main() {
    let mut written = 0;
    for entry in fs::read_dir("../tests/fixtures").expect("run this in fuzz/") {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let fixture: Fixture = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let value = bytes(fixture.value_hex.as_deref().unwrap_or_default());
        let (target, seed) = match fixture.kind.as_str() {
            "offsets" | "config" | "status" => {
                let key = bytes(&fixture.key_hex);
                // The first byte is the key's length, see `attack::split`.
                let len = u8::try_from(key.len()).unwrap();
                (
                    fixture.kind.as_str(),
                    [&[len], &key[..], &value[..]].concat(),
                )
            }
            _ => ("member", value),
        };
        let folder = Path::new("corpus").join(target);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(path.file_stem().unwrap()), seed).unwrap();
        written += 1;
    }
    println!("{written} seeds");
}
