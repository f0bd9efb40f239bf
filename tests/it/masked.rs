//! Every recorded scenario once more with its names masked: it derives the same, with the
//! names replaced, and no name is left in anything that is kept, shown or said.
//!
//! On all captures: what is kept, a replay of it line by line, the log of every second input,
//! every page at the end, and one page at every second input, taking turns. On the telling
//! ones: every page at every input, and without the mask the same as on all, to prove that
//! names would be there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::sync::{Arc, Mutex};

use evenkeel::commands::replay::replay;
use evenkeel::config::Readiness;
use evenkeel::read::capture::{CaptureReader, CaptureWriter, Header};
use evenkeel::read::mask::NameMask;
use evenkeel::show::routes::{Ask, Site};
use evenkeel::show::view::{Published, Pulse, SeriesLimits};
use evenkeel::show::words::Words;
use evenkeel_core::answers::Answers;
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{Input, InputKind, Topic};
use evenkeel_core::facts::time::ArrivalTime;
use evenkeel_core::wire::config_record::ConfigKey;
use serde_json::Value;
use tokio::sync::watch;

use crate::replays::{captures, is_telling, lines, turn};

fn masked(mask: &NameMask, inputs: &[Input]) -> Vec<Input> {
    let mut inputs = inputs.to_vec();
    for input in &mut inputs {
        match &mut input.kind {
            InputKind::Record(record) => mask.record(record),
            InputKind::Polled(polled) => mask.polled(polled),
            InputKind::Settings(settings) => settings.masked = true,
            _ => {}
        }
    }
    inputs
}

/// The connectors that the config topic names.
fn names(inputs: &[Input]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for input in inputs {
        if let InputKind::Record(record) = &input.kind
            && record.topic == Topic::Config
            && let Ok(ConfigKey::Connector { connector }) =
                ConfigKey::decode(record.key.as_deref().unwrap_or_default())
        {
            names.insert(connector.to_owned());
        }
    }
    names
}

/// The inputs as a capture, and what a replay of it says.
fn replayed(inputs: &[Input]) -> (String, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.evk.gz");
    let mut writer = CaptureWriter::create(&path, &Header::new(0, None)).unwrap();
    for input in inputs {
        writer.write(input).unwrap();
    }
    writer.finish().unwrap();
    let mut text = String::new();
    let file = fs::File::open(&path).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
    let mut out = Vec::new();
    replay(&path, false, &mut out).unwrap();
    (text, out)
}

/// With the names replaced, and lists sorted: a name decides where something stands in a
/// list, and nothing else.
fn renamed(value: &Value, mask: Option<&NameMask>, names: &BTreeSet<String>) -> Value {
    match value {
        Value::String(text) => {
            let subject = text
                .rsplit_once('-')
                .filter(|(name, _)| names.contains(*name));
            match (mask, subject) {
                (Some(mask), _) if names.contains(text) => mask.name(text).into(),
                (Some(mask), Some((name, task))) => format!("{}-{task}", mask.name(name)).into(),
                _ => value.clone(),
            }
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|v| renamed(v, mask, names)).collect();
            items.sort_by_key(Value::to_string);
            items.into()
        }
        Value::Object(fields) => fields
            .iter()
            // A masked record is as long as its names are now.
            .filter(|(name, _)| !matches!(name.as_str(), "record_bytes" | "masked"))
            .map(|(name, v)| (name.clone(), renamed(v, mask, names)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

const PATHS: [&str; 5] = [
    "/",
    "/metrics",
    "/readyz",
    "/api/v1/state",
    "/api/v1/checks",
];

/// What the metrics, the API and the page answer.
fn answered(answers: Answers, paths: &[&'static str]) -> Vec<(&'static str, String)> {
    let now = answers.arrived.unwrap_or(ArrivalTime(0));
    let published = Published {
        groups: vec![Arc::new(answers)],
        ..Published::default()
    };
    let (_sender, receiver) = watch::channel(Arc::new(published));
    let site = Site::new(
        receiver,
        Arc::new(Pulse::of(1)),
        Arc::new(move || now),
        Readiness::Lenient,
        SeriesLimits::default(),
    );
    let get = |path| Ask {
        method: "GET",
        path,
        ..Ask::default()
    };
    let answer = |path: &&'static str| (*path, site.answer(get(path)).body);
    paths.iter().map(answer).collect()
}

/// What the log, the metrics, the API and the page say from first to last: at each input all,
/// or at every second one the page whose turn it is.
fn shown(inputs: &[Input], turn: Option<usize>) -> Vec<(&'static str, String)> {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let mut engine = Engine::new();
    let mut words = Words::default();
    let group: Arc<str> = Arc::from("watched");
    let mut shown: BTreeMap<&'static str, String> = BTreeMap::new();
    tracing::subscriber::with_default(subscriber, || {
        for (index, input) in inputs.iter().enumerate() {
            for change in engine.apply(input) {
                words.change(&group, &engine, &change);
            }
            let asked = match turn.filter(|_| index + 1 < inputs.len()) {
                Some(turn) if turn.wrapping_add(index) % 2 == 1 => continue,
                Some(turn) => &PATHS[turn.wrapping_add(index) / 2 % PATHS.len()..][..1],
                None => &PATHS,
            };
            let answers = engine.answers();
            words.answers(&group, &answers);
            for (what, text) in answered(answers, asked) {
                shown.entry(what).or_default().push_str(&text);
            }
        }
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    shown.into_iter().chain([("log", log)]).collect()
}

#[test]
fn every_capture_derives_the_same_and_holds_no_name() {
    let mask = NameMask::new(b"key of the tests");
    let mut showing = BTreeSet::new();
    for capture in captures() {
        let inputs: Vec<Input> = CaptureReader::open(&capture)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let names = names(&inputs);
        let hidden = masked(&mask, &inputs);
        let (plain_text, plain) = replayed(&inputs);
        let (text, derived) = replayed(&hidden);
        let plain: Vec<Value> = lines(&plain)
            .iter()
            .map(|line| renamed(line, Some(&mask), &names))
            .collect();
        let derived_lines: Vec<Value> = lines(&derived)
            .iter()
            .map(|line| renamed(line, None, &names))
            .collect();
        assert_eq!(plain.len(), derived_lines.len(), "{}", capture.display());
        for (line, derived) in plain.iter().zip(&derived_lines) {
            assert_eq!(line, derived, "{}", capture.display());
        }
        let telling = is_telling(&capture);
        let mut outputs = shown(&hidden, (!telling).then(|| turn(&capture)));
        outputs.push(("capture", text));
        outputs.push(("replay", String::from_utf8(derived).unwrap()));
        let without_mask = telling.then(|| shown(&inputs, Some(turn(&capture))));
        for (what, text) in without_mask.unwrap_or_default() {
            if names.iter().any(|name| text.contains(name.as_str())) {
                showing.insert(what);
            }
        }
        for name in &names {
            assert!(plain_text.contains(name.as_str()));
            for (what, output) in &outputs {
                assert!(
                    !output.contains(name.as_str()),
                    "{name} in {what} of {}",
                    capture.display()
                );
            }
            let code = mask.name(name);
            let is_said = |what| {
                outputs
                    .iter()
                    .any(|(found, text)| *found == what && text.contains(&code))
            };
            assert!(
                is_said("/api/v1/state") && is_said("capture"),
                "{name} is shown by its code"
            );
        }
        for (what, output) in &outputs {
            match *what {
                "/api/v1/state" | "capture" => assert!(output.contains("\"masked\":true")),
                "/" => assert!(output.contains("names masked")),
                _ => {}
            }
        }
    }
    // Where no name would be without the mask, its absence proves nothing.
    // The log names connectors only in findings, which no recording has.
    for what in ["/", "/api/v1/state", "/metrics"] {
        assert!(showing.contains(what), "{what} shows no names");
    }
}
