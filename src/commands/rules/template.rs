//! Fills a template of rules. What stands in `${…}` is replaced; all else, templates of
//! Prometheus included, stays as it is.
//!
//! | in a template | becomes |
//! | --- | --- |
//! | `${2m}`, `${lost_margin}` | a time, scaled |
//! | `${2m.s}`, `${lost_margin.s}` | the same in seconds |
//! | `${most_share}` | a number |
//! | `${copies}` | the labels by which copies differ |
//! | `${same}` | the labels that tell one group from any other |
//! | `${matchers}`, `${arguments}` | the same, for `printf`: series of the alert's group |
//! | `${runbook}`, `${dashboard UID}` | links of the alert above |
//! | `${names QUERY LABEL MATCHERS}` | up to five values of a label, and how many more; a matcher `a=@` takes the alert's own, and `{@,a="b"}` in the query has one that is only there |
//! | `${after_move ALERT}` | a sentence, if the alert began soon after a rebalance |
//! | `${delay_ended}` | when the newest scheduled delay ends, or did |
//! | `${delay_ends}` | a sentence: when the scheduled delay that runs ends, and how soon that is |
//! | `${newest}` | what set the newest rebalance off, and who |
//! | `${place}` | in which cluster that is, where the alert says so |
//! | `${trust}` | the same, and how many copies are sure of what they see |

use super::settings::{Setting, Settings, millis, written};

/// Subjects that a description names.
const NAMED_MAX: usize = 5;

/// When the scheduled delay ends.
const DEADLINE: &str = "evenkeel_scheduled_rebalance_deadline_timestamp_seconds";

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
        ("copies", []) => Some(settings.copies.join(", ")),
        ("same", []) => Some(settings.same.join(", ")),
        ("matchers", []) => Some(matchers(settings)),
        ("arguments", []) => Some(arguments(settings)),
        ("runbook", []) => Some(format!("{}/{alert}.md", settings.runbook_base)),
        ("dashboard", [uid]) => Some(dashboard(uid, settings)),
        ("delay_ended", []) => Some(delay_ended(settings)),
        ("delay_ends", []) => Some(delay_ends(settings)),
        ("newest", []) => Some(newest(settings)),
        ("place", []) => Some(place(settings)),
        ("trust", []) => Some(place(settings) + &trust(settings)),
        ("after_move", [alert]) => Some(after_move(alert, settings)),
        ("names", [query, label]) => Some(names(query, label, "", settings)),
        ("names", [query, label, more]) => Some(names(query, label, more, settings)),
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

/// Matchers of the alert's group, each value to be filled in by `printf`. A label that the
/// alert does not have is empty there, which matches series without it.
fn matchers(settings: &Settings) -> String {
    let one = |label: &String| format!("{label}=%q");
    settings.same.iter().map(one).collect::<Vec<_>>().join(",")
}

/// What fills in the matchers, in their order.
fn arguments(settings: &Settings) -> String {
    let one = |label: &String| format!("$labels.{label}");
    settings.same.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// A query of series of the alert's group, for `printf`, with its arguments. It has `{@` where
/// matchers go, or is a name and a comparison.
fn selected(query: &str, more: &str, settings: &Settings) -> (String, String) {
    let mut all = matchers(settings);
    let mut filled = arguments(settings);
    for matcher in more.split(',').filter(|matcher| !matcher.is_empty()) {
        // The alert's own value of that label.
        if let Some(label) = matcher.strip_suffix("=@") {
            all.push_str(&format!(",{label}=%q"));
            filled.push_str(&format!(" $labels.{label}"));
        } else {
            all.push_str(&format!(",{matcher}"));
        }
    }
    let places = query.matches("{@").count().max(1);
    let filled = vec![filled; places].join(" ");
    if query.contains("{@") {
        return (query.replace("{@", &format!("{{{all}")), filled);
    }
    let end = query.find(['=', '>']).unwrap_or(query.len());
    let (name, comparison) = query.split_at(end);
    (format!("{name}{{{all}}}{comparison}"), filled)
}

fn names(query: &str, label: &str, more: &str, settings: &Settings) -> String {
    let (query, filled) = selected(query, more, settings);
    let subjects = format!("max by ({label}) ({query})");
    // Not `topk`: of equal values it takes any, and the words would change all the time.
    format!(
        "{{{{ range $i, $s := query (printf `{subjects}` {filled}) | sortByLabel \"{label}\" }}}}\
         {{{{ if lt $i {NAMED_MAX} }}}}{{{{ if $i }}}}, {{{{ end }}}}{{{{ $s.Labels.{label} }}}}{{{{ end }}}}\
         {{{{ else }}}}none{{{{ end }}}}\
         {{{{ range query (printf `count({subjects}) - {NAMED_MAX} > 0` {filled}) }}}} and {{{{ .Value }}}} more{{{{ end }}}}"
    )
}

/// The dashboard with the alert's group chosen. A label that the alert does not have chooses
/// nothing: it may be one that only the dashboard's source has.
fn dashboard(uid: &str, settings: &Settings) -> String {
    let mut link = format!("{}/{uid}?", settings.dashboard_base);
    for (at, label) in settings.same.iter().enumerate() {
        let and = if at == 0 { "" } else { "&" };
        link.push_str(&format!(
            "{{{{ with $labels.{label} }}}}{and}var-{label}={{{{ . | urlquery }}}}{{{{ end }}}}"
        ));
    }
    format!("'{link}'")
}

/// The latest: a copy that lags shows an older one. To the second, as a person reads it.
fn delay_ended(settings: &Settings) -> String {
    let (deadline, filled) = selected(DEADLINE, "", settings);
    format!(
        "{{{{ with query (printf `round(max({deadline}))` {filled}) }}}}\
         {{{{ . | first | value | humanizeTimestamp }}}}{{{{ else }}}}an unknown time{{{{ end }}}}"
    )
}

/// By the clock of whoever evaluates the rules, who also says how soon.
fn delay_ends(settings: &Settings) -> String {
    let (deadline, filled) = selected(DEADLINE, "", settings);
    format!(
        "{{{{ with query (printf `round(max({deadline})) > time()` {filled}) }}}}\
         Work that waits for the scheduled delay is handed out at {{{{ . | first | value | humanizeTimestamp }}}}\
         {{{{ else }}}}No scheduled delay runs{{{{ end }}}}\
         {{{{ range query (printf `max({deadline}) - time() > 0` {filled}) }}}}, in {{{{ .Value | humanizeDuration }}}}{{{{ end }}}}."
    )
}

fn newest(settings: &Settings) -> String {
    let named = |label, more| names("evenkeel_episode_info", label, more, settings);
    let (cause, subject) = (named("cause", ""), named("subject", "subject!=\"\""));
    format!("Newest rebalance: {cause}; subject: {subject}.")
}

/// `job` is how they are scraped, not where they are.
fn place(settings: &Settings) -> String {
    let labels = settings.same.iter().skip(1).filter(|label| *label != "job");
    let one = |label: &String| {
        let mut name = label.clone();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        format!("{{{{ with $labels.{label} }}}}{name}: {{{{ . }}}}. {{{{ end }}}}")
    };
    labels.map(one).collect()
}

fn trust(settings: &Settings) -> String {
    let (trust, filled) = selected("evenkeel_trust", "", settings);
    let count = |of: &str| {
        format!(
            "{{{{ with query (printf `{of}({trust})` {filled}) }}}}\
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
fn after_move(alert: &str, settings: &Settings) -> String {
    let (matchers, arguments) = (matchers(settings), arguments(settings));
    format!(
        "{{{{ range query (printf `max(ALERTS_FOR_STATE{{alertname=\"{alert}\",connector=%q,{matchers}}}) \
         - max(evenkeel_last_rebalance_timestamp_seconds{{{matchers}}}) < {AFTER_MOVE_SECONDS} > 0` \
         $labels.connector {arguments} {arguments}) }}}}\
         It failed within 60 s of a rebalance: see what moved. {{{{ end }}}}"
    )
}
