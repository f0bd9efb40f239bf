//! Fills a template of rules. What stands in `${…}` is replaced; all else, templates of
//! Prometheus included, stays as it is.
//!
//! | in a template | becomes |
//! | --- | --- |
//! | `${2m}`, `${lost_margin}` | a time, scaled |
//! | `${2m.s}`, `${lost_margin.s}` | the same in seconds |
//! | `${most_share}` | a number |
//! | `${copies}` | the labels by which copies differ |
//! | `${runbook}`, `${dashboard UID}` | links of the alert above |
//! | `${names QUERY LABEL MATCHERS}` | up to five values of a label, and how many more |
//! | `${after_move ALERT}` | a sentence, if the alert began soon after a rebalance |
//! | `${trust}` | how many copies are sure of what they see |

use super::settings::{Setting, Settings, millis, written};

/// Subjects that a description names.
const NAMED_MAX: usize = 5;

/// Seconds after a generation within which what fails is told to be near it: a minute, and a
/// scrape.
const AFTER_MOVE_SECONDS: u64 = 75;

/// The template, filled.
pub(super) fn render(template: &str, settings: &Settings) -> String {
    let mut out = String::with_capacity(template.len() * 2);
    let mut alert = "";
    for line in template.lines() {
        if let Some(name) = line.trim_start_matches([' ', '-']).strip_prefix("alert:") {
            alert = name.trim();
        }
        out.push_str(&filled(line, alert, settings));
        out.push('\n');
    }
    out
}

fn filled(text: &str, alert: &str, settings: &Settings) -> String {
    let Some((before, rest)) = text.split_once("${") else {
        return text.to_owned();
    };
    // What is not closed stays, and the tests of the templates find it.
    let Some((inner, after)) = closed(rest) else {
        return text.to_owned();
    };
    let inner = filled(inner, alert, settings);
    let value = value(&inner, alert, settings).unwrap_or_else(|| format!("${{{inner}}}"));
    // What was filled in is not looked at again.
    format!("{before}{value}{}", filled(after, alert, settings))
}

/// What stands before the brace that closes, and what comes after it.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut open = 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some((text.get(..at)?, text.get(at + 1..)?));
        }
    }
    None
}

fn value(inner: &str, alert: &str, settings: &Settings) -> Option<String> {
    let mut words = inner.split(' ');
    let first = words.next()?;
    let rest: Vec<&str> = words.collect();
    match (first, rest.as_slice()) {
        ("copies", []) => Some(settings.copies.clone()),
        ("runbook", []) => Some(format!("{}/{alert}.md", settings.runbook_base)),
        ("dashboard", [uid]) => Some(format!(
            "'{}/{uid}?var-group={{{{ $labels.group }}}}'",
            settings.dashboard_base
        )),
        ("trust", []) => Some(trust()),
        ("after_move", [alert]) => Some(after_move(alert)),
        ("names", [query, label]) => Some(names(query, label, "")),
        ("names", [query, label, matchers]) => Some(names(query, label, matchers)),
        (name, []) => number(name, settings),
        _ => None,
    }
}

fn number(name: &str, settings: &Settings) -> Option<String> {
    let (name, in_seconds) = match name.strip_suffix(".s") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let setting = settings
        .get(name)
        .or_else(|| millis(name).map(Setting::Time));
    match (setting?, in_seconds) {
        (Setting::Number(number), false) => Some(number.to_string()),
        (Setting::Number(_), true) => None,
        (Setting::Time(ms), _) => {
            // What is scaled stays at least a millisecond: a window of none is no window.
            let scaled = (ms as f64 * settings.scale)
                .round()
                .max(if ms > 0 { 1.0 } else { 0.0 });
            Some(if in_seconds {
                (scaled / 1000.0).to_string()
            } else {
                written(scaled as u64)
            })
        }
    }
}

/// The series of the alert's group, by a query in which `{@}` is where matchers go, or by a
/// name and a comparison.
fn selected(query: &str, matchers: &str) -> String {
    let mut all = "group=%q,job=%q".to_owned();
    if !matchers.is_empty() {
        all.push(',');
        all.push_str(matchers);
    }
    if query.contains("{@}") {
        return query.replace("{@}", &format!("{{{all}}}"));
    }
    let end = query.find(['=', '>']).unwrap_or(query.len());
    let (name, comparison) = query.split_at(end);
    format!("{name}{{{all}}}{comparison}")
}

fn names(query: &str, label: &str, matchers: &str) -> String {
    let subjects = format!("max by ({label}) ({})", selected(query, matchers));
    let group = "$labels.group $labels.job";
    // Not `topk`: of equal values it takes any, and the words would change all the time.
    format!(
        "{{{{ range $i, $s := query (printf `{subjects}` {group}) | sortByLabel \"{label}\" }}}}\
         {{{{ if lt $i {NAMED_MAX} }}}}{{{{ if $i }}}}, {{{{ end }}}}{{{{ $s.Labels.{label} }}}}{{{{ end }}}}\
         {{{{ else }}}}none{{{{ end }}}}\
         {{{{ range query (printf `count({subjects}) - {NAMED_MAX} > 0` {group}) }}}} and {{{{ .Value }}}} more{{{{ end }}}}"
    )
}

fn trust() -> String {
    let count = |of: &str| {
        format!(
            "{{{{ with query (printf `{of}(evenkeel_trust{{group=%q,job=%q}})` $labels.group $labels.job) }}}}\
             {{{{ . | first | value }}}}{{{{ else }}}}0{{{{ end }}}}"
        )
    };
    format!(
        "Trust: {} of {} sidecars are sure of all they see.",
        count("sum"),
        count("count")
    )
}

/// `ALERTS_FOR_STATE` holds when an alert became pending.
fn after_move(alert: &str) -> String {
    let matchers = "group=%q,job=%q";
    format!(
        "{{{{ range query (printf `max(ALERTS_FOR_STATE{{alertname=\"{alert}\",connector=%q,{matchers}}}) \
         - max(evenkeel_last_rebalance_timestamp_seconds{{{matchers}}}) < {AFTER_MOVE_SECONDS} > 0` \
         $labels.connector $labels.group $labels.job $labels.group $labels.job) }}}}\
         It failed within 60 s of a rebalance: see what moved. {{{{ end }}}}"
    )
}
