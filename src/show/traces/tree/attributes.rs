//! What spans and events say: names and values, with the bound of each duration.

use evenkeel_core::answers::{Bound, DurationAnswer};
use opentelemetry::{Array, KeyValue, StringValue, Value};

/// Longer texts are cut: receivers bound what they take, and nobody reads more.
const TEXT_CHARS_MAX: usize = 1_024;

/// Names and values in the order in which they are said, each name once.
#[derive(Debug, Clone, Default)]
pub(super) struct Attributes(Vec<KeyValue>);

// === impl Attributes ===

impl Attributes {
    pub(super) fn text(self, name: &str, text: impl AsRef<str>) -> Self {
        self.with(name, Value::String(cut(text.as_ref()).into()))
    }

    /// Says nothing where there is nothing to say.
    pub(super) fn some(self, name: &str, text: Option<impl AsRef<str>>) -> Self {
        match text {
            Some(text) => self.text(name, text),
            None => self,
        }
    }

    pub(super) fn texts(self, name: &str, texts: impl IntoIterator<Item = String>) -> Self {
        let texts = texts.into_iter().map(|text| cut(&text).into());
        let texts: Vec<StringValue> = texts.collect();
        if texts.is_empty() {
            return self;
        }
        self.with(name, Value::Array(Array::String(texts)))
    }

    pub(super) fn number(self, name: &str, number: impl TryInto<i64>) -> Self {
        let number = number.try_into().unwrap_or(i64::MAX);
        self.with(name, Value::I64(number))
    }

    /// Says nothing of none.
    pub(super) fn count(self, name: &str, count: impl TryInto<i64>) -> Self {
        match count.try_into().unwrap_or(i64::MAX) {
            0 => self,
            count => self.with(name, Value::I64(count)),
        }
    }

    pub(super) fn truth(self, name: &str, truth: bool) -> Self {
        self.with(name, Value::Bool(truth))
    }

    /// Milliseconds as seconds.
    pub(super) fn seconds(self, name: &str, ms: i64) -> Self {
        // Milliseconds stay far below 2^53, where a double is exact.
        self.with(name, Value::F64(ms as f64 / 1_000.0))
    }

    /// A duration with its bound, under names that begin alike.
    pub(super) fn duration(self, name: &str, lasted: DurationAnswer) -> Self {
        self.number(&format!("{name}_ms"), lasted.ms)
            .bound(name, lasted)
    }

    /// How a duration is known, where something else says how long it is.
    pub(super) fn bound(self, name: &str, lasted: DurationAnswer) -> Self {
        let bound = self.text(&format!("{name}.bound"), word(lasted.bound));
        match (lasted.between_ms, lasted.bound) {
            (Some((least_ms, most_ms)), _) => bound
                .number(&format!("{name}.least_ms"), least_ms)
                .number(&format!("{name}.most_ms"), most_ms),
            (None, Bound::AtLeast) => bound.number(&format!("{name}.least_ms"), lasted.ms),
            (None, Bound::AtMost) => bound.number(&format!("{name}.most_ms"), lasted.ms),
            (None, Bound::Exact | Bound::Poll) => bound,
        }
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        debug_assert!(
            self.0.iter().all(|known| known.key.as_str() != name),
            "{name} is said once"
        );
        self.0.push(KeyValue::new(name.to_owned(), value));
        self
    }

    pub(super) fn into_list(self) -> Vec<KeyValue> {
        self.0
    }
}

fn word(bound: Bound) -> &'static str {
    match bound {
        Bound::Exact => "exact",
        Bound::Poll => "poll",
        Bound::AtLeast => "at_least",
        Bound::AtMost => "at_most",
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
