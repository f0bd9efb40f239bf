//! How a check looks at what is known: every value that it compares is remembered with
//! where it was read, and so is every value that it misses.

use super::inputs::{FILE, OTHERS, PROTOCOL, RELEASE};
use super::known::{Known, Worker};
use super::releases::{Release, Whose};
use super::source::{Source, Value};
use super::{Judgement, Outcome, Shown};

/// Stands for a value that is set to what only the running worker can look up.
pub const ELSEWHERE: &str = "[set where the worker runs]";

/// What a check found, once it had all it needs.
pub(super) struct Verdict {
    fires: bool,
    /// The contradiction with its numbers.
    said: String,
    /// What to set, where that can be computed.
    advice: Option<String>,
}

/// One look of a check at what is known.
#[derive(Debug)]
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

/// Looks at one worker.
pub(super) fn look_at(
    known: &Known,
    worker: &Worker,
    decide: impl Fn(&mut Look<'_>) -> Option<Verdict>,
) -> Judgement {
    judged(known, worker, &worker.name, &decide)
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
    let (said, advice) = verdict.map_or((String::new(), None), |verdict| {
        (verdict.said, verdict.advice)
    });
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
        let worker = self.worker;
        self.show_of(&worker.name, name, value);
    }

    /// Remembers a value of another worker than the one that is looked at.
    pub(super) fn show_of(&mut self, worker: &str, name: &str, value: &Value<impl ToString>) {
        let shown = Shown {
            worker: worker.to_owned(),
            name: name.to_owned(),
            value: value.value.to_string(),
            source: value.source.clone(),
        };
        if !self.values.contains(&shown) {
            self.values.push(shown);
        }
    }

    /// Remembers what is not known; where it is set to something that is not known here, with
    /// that place.
    pub(super) fn misses(&mut self, name: &str) {
        self.misses_of(self.worker, name);
    }

    fn misses_of(&mut self, worker: &Worker, name: &str) {
        if let Some(given) = worker
            .settings
            .get(name)
            .filter(|given| given.text.is_err())
        {
            let elsewhere = Value::new(ELSEWHERE, given.source.clone());
            self.show_of(&worker.name, name, &elsewhere);
        }
        if !self.missing.iter().any(|missing| missing == name) {
            self.missing.push(name.to_owned());
        }
    }

    /// The worker's release.
    pub(super) fn release(&mut self) -> Option<Release> {
        let release = self.worker.release.as_ref().map(|release| release.value);
        if release.is_none() {
            self.misses(RELEASE);
        }
        release
    }

    /// Whether everything is known that is set for the worker.
    pub(super) fn file(&mut self) -> Option<()> {
        if !self.worker.is_complete {
            self.misses(FILE);
        }
        self.worker.is_complete.then_some(())
    }

    /// A number that somebody wrote; there is no default.
    pub(super) fn written(&mut self, name: &'static str) -> Option<i64> {
        let value = self.worker.written(name);
        self.value(name, value.as_ref())
    }

    /// A setting of tasks' clients: what somebody wrote, else the client's default.
    pub(super) fn client(&mut self, whose: Whose, name: &'static str) -> Option<i64> {
        let value = self.worker.client(whose, name);
        self.value(name, value.as_ref())
    }

    /// One of a few words.
    pub(super) fn word(&mut self, name: &'static str) -> Option<String> {
        let Some(word) = self.worker.word(name) else {
            self.misses(name);
            return None;
        };
        self.show(name, &word);
        Some(word.value)
    }

    /// Whether the worker says that it knows no delay: the eager protocol has none.
    pub(super) fn is_eager(&self) -> bool {
        let word = self.worker.word(PROTOCOL);
        word.is_some_and(|word| word.value == "eager")
    }

    /// A value of every worker. None where one is unknown and those that are known do not
    /// differ yet, or where only one worker of several is known.
    pub(super) fn of_all<T: PartialEq + ToString + Clone>(
        &mut self,
        name: &'static str,
        get: impl Fn(&Worker) -> Option<Value<T>>,
    ) -> Option<Vec<T>> {
        let mut values = Vec::new();
        for worker in &self.known.workers {
            match get(worker) {
                Some(value) => {
                    self.show_of(&worker.name, name, &value);
                    values.push(value.value);
                }
                None => self.misses_of(worker, name),
            }
        }
        if !same(&values) {
            return Some(values);
        }
        self.needs_others();
        self.nothing_missing().then_some(values)
    }

    /// One worker alone can be compared with nobody.
    pub(super) fn needs_others(&mut self) {
        if self.known.workers.len() < 2 && self.known.worker_count.is_none() {
            self.misses(OTHERS);
        }
    }

    /// Whether everything that was asked for is known.
    pub(super) fn nothing_missing(&self) -> bool {
        self.missing.is_empty()
    }

    /// Remembers that something is set, and not to what: it may be anything.
    pub(super) fn mention(&mut self, name: &str, source: &Source) {
        self.show(name, &Value::new("[hidden]", source.clone()));
    }
}

/// Whether all are the same.
pub(super) fn same<T: PartialEq>(values: &[T]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
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
