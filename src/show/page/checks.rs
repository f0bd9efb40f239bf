//! Clocks that contradict each other, on the page.

use evenkeel_core::answers::{Answers, Severity};

use super::html::Html;

/// Contradictions that are told in words; the API has all of them.
const LINES_MAX: usize = 5;

/// A fact for the list.
pub(super) fn fact(answers: &Answers) -> Option<(&'static str, String)> {
    let checks = answers.checks.as_ref()?;
    let told = Severity::ALL.into_iter().filter_map(|severity| {
        let standing = checks.fired.iter();
        let count = standing.filter(|fired| fired.severity == severity).count();
        (count > 0).then(|| format!("{count} {}", severity.word()))
    });
    let told: Vec<String> = told.collect();
    let told = match told.is_empty() {
        true => "no contradiction found".to_owned(),
        false => told.join(" · "),
    };
    Some(("clocks", told))
}

/// What contradicts itself, but for what is only good to know.
pub(super) fn lines(out: &mut Html, answers: &Answers) {
    let fired = answers.checks.iter().flat_map(|checks| &checks.fired);
    let told = fired.filter(|fired| fired.severity != Severity::Info);
    let (told, rest): (Vec<_>, Vec<_>) = told.enumerate().partition(|(at, _)| *at < LINES_MAX);
    for (_, fired) in told {
        let line = format!("{}: {}. {}", fired.subject, fired.said, fired.consequence);
        out.element("p", "class=\"alert\"", line);
    }
    if !rest.is_empty() {
        let line = format!("{} more at /api/v1/checks.", rest.len());
        out.element("p", "class=\"quiet\"", line);
    }
}
