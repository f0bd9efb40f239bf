//! Docker Compose: services whose variables set up Connect workers.

use evenkeel_core::checks::known::Worker;
use evenkeel_core::checks::source::{Source, Value as Known};
use serde_yaml::Value;

use super::document::Reading;
use super::settings::{Dialect, Settings, at, is_there, scalar, text};
use super::variables::{GUESSED, Image};

/// What Compose waits for a container to end (`stop_grace_period`).
const GRACE_MS: i64 = 10_000;

pub(super) fn read(reading: &mut Reading<'_>, value: &Value) {
    let Some(services) = value.get("services").and_then(Value::as_mapping) else {
        return;
    };
    for (name, service) in services {
        if let Some(name) = name.as_str() {
            read_service(reading, name, service);
        }
    }
}

fn read_service(reading: &mut Reading<'_>, name: &str, service: &Value) {
    let variables = variables(service);
    let names = variables.iter().map(|(variable, _)| variable.as_str());
    let (image, is_guess) = Image::guessed(text(service, "image"), names);
    let parents = ["services", name, "environment"];
    let mut settings = Settings::default();
    let mut overruled = Vec::new();
    for (variable, value) in &variables {
        let Some(setting) = image.setting(variable) else {
            overruled.extend(image.overruled(variable));
            continue;
        };
        let line = reading.lines.line_of(&parents, variable);
        if let Some(text) = scalar(value, Dialect::Shell) {
            settings.put_variable(&setting, variable, text, at(reading.file, line));
        }
    }
    if settings.map.is_empty() {
        return;
    }
    let shown = name.escape_debug();
    let told = overruled.into_iter();
    let told = told.map(|told| format!("service {shown}: {told}"));
    reading.deployed.notes.extend(told);
    let mut is_complete = !is_guess;
    for more in ["env_file", "extends"] {
        if is_there(service, more) {
            is_complete = false;
            reading.deployed.notes.push(format!(
                "service {shown}: {more} is not read; what it may set is not known"
            ));
        }
    }
    // What is started is not the image's script, or more than that.
    let is_other = ["command", "entrypoint"]
        .iter()
        .any(|key| is_there(service, key));
    if is_guess {
        let told = format!("service {shown}: {GUESSED}");
        reading.deployed.notes.push(told);
    } else {
        image.fill(&mut settings);
    }
    let release = Image::release(text(service, "image"));
    if let Some(release) = release {
        let told = Image::release_told(release);
        reading
            .deployed
            .notes
            .push(format!("service {shown}: {told}"));
    }
    let worker = Worker {
        name: format!("{} ({shown})", reading.file),
        settings: settings.map,
        spelling: image.spelling(),
        is_complete,
        is_started_so: image.is_known() && !is_guess && !is_other,
        release: release.map(|release| {
            let line = reading.lines.line_of(&["services", name], "image");
            Known::new(release, at(reading.file, line))
        }),
        replicas: replicas(reading, name, service),
        grace_ms: grace(reading, name, service),
        ..Worker::default()
    };
    reading.deployed.workers.push(worker);
}

/// Variables in either form; one without a value comes from where Compose runs.
fn variables(service: &Value) -> Vec<(String, Value)> {
    match service.get("environment") {
        Some(Value::Mapping(map)) => map
            .iter()
            .filter_map(|(name, value)| Some((name.as_str()?.to_owned(), value.clone())))
            .collect(),
        Some(Value::Sequence(items)) => items
            .iter()
            .filter_map(Value::as_str)
            .map(|item| match item.split_once('=') {
                Some((name, value)) => (name.to_owned(), Value::String(value.to_owned())),
                None => (item.to_owned(), Value::Null),
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn replicas(reading: &Reading<'_>, name: &str, service: &Value) -> Option<Known<i64>> {
    let deploy = service
        .get("deploy")
        .and_then(|deploy| text(deploy, "replicas"));
    let (parents, leaf, value): (&[&str], _, _) = match deploy {
        Some(value) => (&["services", name, "deploy"], "replicas", value),
        None => (&["services", name], "scale", text(service, "scale")?),
    };
    let line = reading.lines.line_of(parents, leaf);
    Some(Known::new(value.parse().ok()?, at(reading.file, line)))
}

fn grace(reading: &Reading<'_>, name: &str, service: &Value) -> Option<Known<i64>> {
    let leaf = "stop_grace_period";
    let Some(value) = text(service, leaf) else {
        let name = "Docker Compose";
        return Some(Known::new(GRACE_MS, Source::Platform { name }));
    };
    let line = reading.lines.line_of(&["services", name], leaf);
    Some(Known::new(duration_ms(value)?, at(reading.file, line)))
}

/// `1m30s`, as Compose writes durations.
fn duration_ms(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut sum = 0i64;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let number: i64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest
            .find(|letter: char| letter.is_ascii_digit())
            .unwrap_or(rest.len());
        let unit_ms = match &rest[..unit] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        sum = sum.checked_add(number.checked_mul(unit_ms)?)?;
        rest = &rest[unit..];
    }
    (!text.is_empty()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::duration_ms;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration_ms("1m30s"), Some(90_000));
        assert_eq!(duration_ms("10s"), Some(10_000));
        assert_eq!(duration_ms("1h"), Some(3_600_000));
        assert_eq!(duration_ms("500ms"), Some(500));
        for text in ["", "10", "s", "1 m", "1d", "99999999999999999999s"] {
            assert_eq!(duration_ms(text), None, "{text}");
        }
    }
}
