//! How a check looks at what is known: every value that it compares is remembered with
//! where it was read, and so is every value that it misses.

use super::known::{Known, Worker};
use super::releases::Release;
use super::source::Value;
use super::{Judgement, Outcome, Shown};

/// What a check found, once it had all it needs.
pub(super) struct Verdict {
    fires: bool,
    /// The contradiction with its numbers.
    said: String,
    /// What to set, where that can be computed.
    advice: Option<String>,
}

/// One look of a check at what is known.
pub(super) struct Look<'a> {
    pub(super) known: &'a Known,
    pub(super) worker: &'a Worker,
    values: Vec<Shown>,
    missing: Vec<String>,
}

/// Looks at each worker by itself.
pub(super) fn each_worker(
    known: &Known,
    decide: impl Fn(&mut Look<'_>) -> Option<Verdict>,
) -> Vec<Judgement> {
    let workers = known.workers.iter();
    let judged = workers.map(|worker| judged(known, worker, &worker.name, &decide));
    judged.collect()
}

/// Looks at the group as a whole.
pub(super) fn group(
    known: &Known,
    decide: impl Fn(&mut Look<'_>) -> Option<Verdict>,
) -> Vec<Judgement> {
    let name = known.group.as_ref().map_or("", |group| &group.value);
    subject(known, name, decide)
}

/// Looks at something else of the group.
pub(super) fn subject(
    known: &Known,
    subject: &str,
    decide: impl Fn(&mut Look<'_>) -> Option<Verdict>,
) -> Vec<Judgement> {
    vec![judged(known, &Worker::default(), subject, &decide)]
}

fn judged(
    known: &Known,
    worker: &Worker,
    subject: &str,
    decide: &dyn Fn(&mut Look<'_>) -> Option<Verdict>,
) -> Judgement {
    let mut look = Look {
        known,
        worker,
        values: Vec::new(),
        missing: Vec::new(),
    };
    let verdict = decide(&mut look);
    let outcome = match &verdict {
        Some(verdict) if verdict.fires => Outcome::Fired,
        Some(_) => Outcome::Passed,
        None => Outcome::Undecided,
    };
    debug_assert_eq!(
        outcome == Outcome::Undecided,
        !look.missing.is_empty() && verdict.is_none(),
        "what is undecided misses something"
    );
    let (said, advice) = match verdict {
        Some(verdict) if verdict.fires => (verdict.said, verdict.advice),
        _ => (String::new(), None),
    };
    Judgement {
        subject: subject.to_owned(),
        outcome,
        said,
        advice,
        values: look.values,
        missing: look.missing,
    }
}

/// Fires or not, with what it says if it does.
pub(super) fn fires_if(fires: bool, said: impl FnOnce() -> String) -> Option<Verdict> {
    Some(Verdict {
        fires,
        said: if fires { said() } else { String::new() },
        advice: None,
    })
}

/// Does not apply, or holds.
pub(super) fn passes() -> Option<Verdict> {
    fires_if(false, String::new)
}

// === impl Verdict ===

impl Verdict {
    pub(super) fn advise(self, advice: impl FnOnce() -> String) -> Option<Self> {
        let advice = self.fires.then(advice);
        Some(Self { advice, ..self })
    }
}

// === impl Look ===

impl Look<'_> {
    /// The worker's own settings, all of them, or none.
    pub(super) fn clocks<const N: usize>(&mut self, names: [&'static str; N]) -> Option<[i64; N]> {
        let found = names.map(|name| {
            let value = self.worker.number(name);
            self.value(name, value.as_ref())
        });
        let mut all = [0; N];
        for (slot, value) in all.iter_mut().zip(found) {
            *slot = value?;
        }
        Some(all)
    }

    /// One of the worker's own settings.
    pub(super) fn clock(&mut self, name: &'static str) -> Option<i64> {
        self.clocks([name]).map(|[value]| value)
    }

    /// A value that somebody may know.
    pub(super) fn value(&mut self, name: &str, value: Option<&Value<i64>>) -> Option<i64> {
        let Some(value) = value else {
            self.misses(name);
            return None;
        };
        self.show(name, value);
        Some(value.value)
    }

    /// Remembers a value that is compared.
    pub(super) fn show(&mut self, name: &str, value: &Value<impl ToString>) {
        self.values.push(Shown {
            worker: self.worker.name.clone(),
            name: name.to_owned(),
            value: value.value.to_string(),
            source: value.source.clone(),
        });
    }

    /// Remembers a value of another worker than the one that is looked at.
    pub(super) fn show_of(&mut self, worker: &str, name: &str, value: &Value<impl ToString>) {
        self.show(name, value);
        if let Some(shown) = self.values.last_mut() {
            shown.worker = worker.to_owned();
        }
    }

    /// Remembers what is not known.
    pub(super) fn misses(&mut self, name: &str) {
        if !self.missing.iter().any(|missing| missing == name) {
            self.missing.push(name.to_owned());
        }
    }

    /// The worker's release.
    pub(super) fn release(&mut self) -> Option<Release> {
        let release = self.worker.release.as_ref().map(|release| release.value);
        if release.is_none() {
            self.misses("release of Kafka");
        }
        release
    }
}

/// Milliseconds as a person says them.
pub(super) fn span(ms: i64) -> String {
    match ms {
        0 => "0 s".to_owned(),
        _ if ms % 3_600_000 == 0 => format!("{} h", ms / 3_600_000),
        _ if ms % 60_000 == 0 => format!("{} min", ms / 60_000),
        _ if ms % 1_000 == 0 => format!("{} s", ms / 1_000),
        _ if ms.abs() >= 10_000 => format!("{} s", ms / 1_000),
        _ => format!("{ms} ms"),
    }
}
