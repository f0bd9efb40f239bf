//! Lines in both forms, what is left out, and the bound on repeats.

use std::io::Write;
use std::sync::{Arc, Mutex};

use tracing::{debug, error, info, subscriber, trace, warn};

use super::*;

/// A writer that keeps what it is given.
#[derive(Debug, Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn lines(&self) -> Vec<String> {
        let bytes = self.0.lock().unwrap().clone();
        String::from_utf8(bytes)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Kept {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The lines that some work writes at that level, without their time.
pub(in crate::show) fn lines(level: LogLevel, work: impl FnOnce()) -> Vec<String> {
    let kept = Kept::default();
    subscriber::with_default(text(level, kept.clone(), false), work);
    let lines = kept.lines();
    let timeless = lines.iter().filter_map(|line| line.split_once(' '));
    timeless
        .map(|(_, line)| line.trim_start().to_owned())
        .collect()
}

#[test]
fn a_line_for_people() {
    let kept = Kept::default();
    subscriber::with_default(text(LogLevel::Info, kept.clone(), false), || {
        warn!(group = %"connect-orders", generation = 7, "topic not readable");
    });
    let lines = kept.lines();
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].ends_with("topic not readable group=connect-orders generation=7"),
        "{lines:?}"
    );
    assert!(
        lines[0].contains(" WARN ") && !lines[0].contains('\u{1b}'),
        "{lines:?}"
    );
}

#[test]
fn a_line_for_programs() {
    let kept = Kept::default();
    subscriber::with_default(json(LogLevel::Info, kept.clone()), || {
        info!(group = %"a \"b\"", generation = 7, "caught up");
    });
    let line: serde_json::Value = serde_json::from_str(&kept.lines()[0]).unwrap();
    assert_eq!(line["level"], "INFO");
    assert_eq!(line["message"], "caught up");
    assert_eq!(line["group"], "a \"b\"");
    assert_eq!(line["generation"], 7);
    assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
}

#[test]
fn levels_of_ours_and_of_libraries() {
    for (level, ours, theirs) in [
        (LogLevel::Error, 1, 1),
        (LogLevel::Warn, 2, 2),
        (LogLevel::Info, 3, 2),
        (LogLevel::Debug, 4, 3),
        (LogLevel::Trace, 5, 5),
    ] {
        let kept = Kept::default();
        subscriber::with_default(text(level, kept.clone(), false), || {
            error!("ours");
            warn!("ours");
            info!("ours");
            debug!("ours");
            trace!("ours");
            error!(target: "librdkafka", "theirs");
            warn!(target: "librdkafka", "theirs");
            info!(target: "librdkafka", "theirs");
            debug!(target: "librdkafka", "theirs");
            trace!(target: "librdkafka", "theirs");
        });
        let count = |word: &str| {
            kept.lines()
                .iter()
                .filter(|line| line.ends_with(word))
                .count()
        };
        assert_eq!(
            (count("ours"), count("theirs")),
            (ours, theirs),
            "{level:?}"
        );
    }
}

#[test]
fn a_line_repeats_after_a_while_with_a_count() {
    let mut repeats = Repeats::default();
    let at = |ms: i64| ArrivalTime(1_000_000 + ms);
    assert_eq!(repeats.say("a", at(0)), Some(0));
    assert_eq!(repeats.say("a", at(0)), None);
    assert_eq!(
        repeats.say("b", at(1)),
        Some(0),
        "another line is not held up"
    );
    assert_eq!(repeats.say("a", at(REPEAT_MS_MIN - 1)), None);
    assert_eq!(repeats.say("a", at(REPEAT_MS_MIN)), Some(2));
    assert_eq!(repeats.say("a", at(2 * REPEAT_MS_MIN)), Some(0));
    assert_eq!(
        repeats.say("a", at(-60_000)),
        Some(0),
        "a clock that stepped back"
    );
}

#[test]
fn lines_are_forgotten_when_there_are_too_many() {
    let mut repeats = Repeats::default();
    for index in 0..LINES_MAX {
        assert_eq!(
            repeats.say(&format!("line {index}"), ArrivalTime(index as i64)),
            Some(0)
        );
    }
    assert_eq!(repeats.say("line 0", ArrivalTime(300)), None, "all fit");
    assert_eq!(repeats.say("one more", ArrivalTime(300)), Some(0));
    assert_eq!(repeats.lines.len(), LINES_MAX);
    assert_eq!(
        repeats.say("line 0", ArrivalTime(300)),
        Some(0),
        "the oldest was forgotten"
    );
    assert_eq!(repeats.say("line 255", ArrivalTime(300)), None);
}
