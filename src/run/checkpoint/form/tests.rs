//! A state is taken up equal or refused with its reason, whatever became of its file.

use evenkeel_core::engine::Engine;

use super::*;
use crate::run::checkpoint::tests::{capture, seed};

const NOW: ArrivalTime = ArrivalTime(1_700_000_000_000);

fn owner() -> Owner {
    Owner {
        group: "connect".to_owned(),
        offsets_topic: "__consumer_offsets".to_owned(),
        config_topic: "configs".to_owned(),
        status_topic: "statuses".to_owned(),
        worker_release: None,
        mask: None,
    }
}

fn header() -> Header {
    Header {
        evenkeel: "0.1.0".to_owned(),
        layout: STATE_VERSION,
        written_ms: NOW.0,
        owner: owner(),
        cluster_id: Some("cluster".to_owned()),
        contents: 7,
        topics: vec![(
            Topic::Status,
            Origin {
                identity: Identity::default(),
                epochs: [(0, 3), (4, 1)].into(),
            },
        )],
    }
}

fn engine() -> Engine {
    let mut engine = Engine::new();
    for input in capture("incident") {
        engine.apply(&input);
    }
    engine
}

fn json(state: &State) -> String {
    serde_json::to_string(state).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    decode(bytes, &owner(), NOW).unwrap_err().to_string()
}

#[test]
fn what_was_written_is_read_back() {
    let engine = engine();
    let bytes = encode(&header(), engine.state()).unwrap();
    let restored = decode(&bytes, &owner(), NOW).unwrap();
    assert_eq!(restored.header, header());
    assert_eq!(json(&restored.state), json(engine.state()));
    let read_to = restored.read_to();
    assert_eq!(read_to.contents, 7);
    let status = &read_to.topics[&Topic::Status];
    assert_eq!(status.epochs, [(0, 3), (4, 1)]);
    assert_eq!(status.positions, engine.state().read_to(Topic::Status));
    assert!(!status.positions.is_empty());
}

/// A write that did not get to its end, wherever it stopped.
#[test]
fn a_torn_file_is_refused() {
    let bytes = encode(&header(), engine().state()).unwrap();
    for cut in 0..bytes.len() {
        let told = refused(&bytes[..cut]);
        assert!(told.starts_with("it is torn: "), "{cut}: {told}");
    }
    let longer = [bytes.as_slice(), b"\n"].concat();
    assert!(refused(&longer).starts_with("it is torn: "));
}

#[test]
fn every_flipped_byte_is_noticed() {
    let bytes = encode(&header(), engine().state()).unwrap();
    let mut draw = seed(7);
    for place in 0..bytes.len() {
        // Every bit of what stands before the body, one of each byte in it.
        let bits: Vec<usize> = if place < PREFIX {
            (0..8).collect()
        } else {
            vec![draw.below(8)]
        };
        for bit in bits {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << bit;
            let told = refused(&flipped);
            let expected = match place {
                _ if place < NAME.len() => "it is no state of evenkeel",
                _ if place < NAME.len() + VERSION.len() => "its format has another version",
                _ if place < NAME.len() + VERSION.len() + 8 => "it is torn: ",
                _ => "it is corrupt: the checksum differs",
            };
            assert!(
                told.starts_with(expected),
                "byte {place}, bit {bit}: {told}"
            );
        }
    }
}

/// With a checksum that is right: what another program, or an older release, may leave.
fn sealed(text: &str) -> Vec<u8> {
    let mut body = GzEncoder::new(Vec::new(), Compression::fast());
    body.write_all(text.as_bytes()).unwrap();
    let body = body.finish().unwrap();
    let length = length(&body).to_le_bytes();
    [NAME, VERSION, &length, &checksum(&body), &body].concat()
}

#[test]
fn what_is_whole_and_not_understood_is_refused() {
    let state = json(engine().state());
    let line = serde_json::to_string(&header()).unwrap();
    let other = serde_json::to_string(&Header {
        layout: 0,
        evenkeel: "0.0.9".to_owned(),
        ..header()
    })
    .unwrap();
    assert!(decode(&sealed(&format!("{line}\n{state}")), &owner(), NOW).is_ok());
    for text in [
        String::new(),
        line.clone(),
        format!("{line}\n"),
        format!("{line}\n{{}}"),
        format!("{line}\n{state} {{}}"),
        format!("{state}\n{state}"),
        format!("{line}\n{}", &state[..state.len() / 2]),
    ] {
        assert_eq!(refused(&sealed(&text)), "it does not decode");
    }
    // The header of another layout may be another one, too.
    for text in [
        format!("{other}\n{state}"),
        r#"{"evenkeel": "0.0.9", "layout": 0}"#.to_owned(),
    ] {
        let told = refused(&sealed(&text));
        assert_eq!(
            told,
            format!("evenkeel 0.0.9 wrote it with layout 0, this one reads {STATE_VERSION}")
        );
    }
    assert_eq!(refused(b"{}"), "it is no state of evenkeel");
}

#[test]
fn a_state_of_something_else_is_refused() {
    let bytes = encode(&header(), &State::default()).unwrap();
    let set = |change: fn(&mut Owner)| {
        let mut owner = owner();
        change(&mut owner);
        decode(&bytes, &owner, NOW).unwrap_err().to_string()
    };
    let told = [
        set(|owner| owner.group = "other".to_owned()),
        set(|owner| owner.offsets_topic = "other".to_owned()),
        set(|owner| owner.config_topic = "other".to_owned()),
        set(|owner| owner.status_topic = "other".to_owned()),
        set(|owner| owner.worker_release = Some("3.6.0".to_owned())),
        set(|owner| owner.mask = Some("c-123456789abc".to_owned())),
    ];
    assert_eq!(
        told,
        [
            "it is foreign: group connect, now other",
            "it is foreign: offsets_topic __consumer_offsets, now other",
            "it is foreign: config_topic configs, now other",
            "it is foreign: status_topic statuses, now other",
            "it is foreign: worker_release not set, now 3.6.0",
            "it is foreign: names not masked, now masked by the key of c-123456789abc",
        ]
    );
}

/// Tombstones are gone a day after they were written, at the earliest.
#[test]
fn a_state_is_refused_at_its_age() {
    let bytes = encode(&header(), &State::default()).unwrap();
    let at = |ms: i64| {
        decode(&bytes, &owner(), NOW.plus_ms(ms))
            .map(drop)
            .map_err(|refused| refused.to_string())
    };
    assert_eq!(at(AGE_MS_MAX), Ok(()));
    assert_eq!(at(-AHEAD_MS_MAX), Ok(()));
    let old = "it is old: written 12 h ago, and what was deleted since may have left no trace";
    assert_eq!(at(AGE_MS_MAX + 1), Err(old.to_owned()));
    let future = "it was written 60 s in the future: the clock of this machine was set back";
    assert_eq!(at(-AHEAD_MS_MAX - 1), Err(future.to_owned()));
}

/// The key that names are masked with is told apart by a code, never held.
#[test]
fn another_key_is_another_owner() {
    use crate::read::mask::NameMask;
    let of = |key: &[u8]| {
        Owner::of(&ReadSettings {
            mask: Some(NameMask::new(key)),
            ..ReadSettings::default()
        })
    };
    assert_eq!(of(b"one"), of(b"one"));
    assert_ne!(of(b"one"), of(b"two"));
    assert_ne!(of(b"one"), Owner::of(&ReadSettings::default()));
}
