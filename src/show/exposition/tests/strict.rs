//! A parser that takes OpenMetrics 1.0 by its word, as far as we write it: gauges,
//! counters, histograms, infos, statesets. Written from the specification, not from the encoder.

use std::collections::{BTreeMap, BTreeSet};

/// One family as its metadata says.
#[derive(Debug, Default)]
struct Family {
    name: String,
    kind: Option<String>,
    unit: Option<String>,
    has_help: bool,
    has_samples: bool,
}

/// The samples by series as written, or what is wrong.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, f64>, String> {
    let body = text
        .strip_suffix("# EOF\n")
        .ok_or_else(|| match text.split_once("# EOF\n") {
            Some(_) => "text after EOF".to_owned(),
            None => "no EOF".to_owned(),
        })?;
    let mut samples = BTreeMap::new();
    let mut families = BTreeSet::new();
    let mut family = Family::default();
    for line in body.split_terminator('\n') {
        match line.strip_prefix("# ") {
            Some(metadata) => take_metadata(metadata, &mut family, &mut families)?,
            None => {
                let (series, value) = take_sample(line, &family)?;
                family.has_samples = true;
                if samples.insert(series.clone(), value).is_some() {
                    return Err(format!("{series} is there twice"));
                }
            }
        }
    }
    Ok(samples)
}

fn take_metadata(
    text: &str,
    family: &mut Family,
    families: &mut BTreeSet<String>,
) -> Result<(), String> {
    let mut parts = text.splitn(3, ' ');
    let (Some(word), Some(name), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(format!("metadata without a text: {text}"));
    };
    if family.name != name {
        if !families.insert(name.to_owned()) {
            return Err(format!("family {name} is there twice"));
        }
        *family = Family {
            name: name.to_owned(),
            ..Family::default()
        };
    } else if family.has_samples {
        return Err(format!("metadata of {name} after its samples"));
    }
    let was_there = match word {
        "TYPE" => family.kind.replace(rest.to_owned()).is_some(),
        "UNIT" => {
            if !name.ends_with(&format!("_{rest}")) {
                return Err(format!("{name} does not end with its unit {rest}"));
            }
            family.unit.replace(rest.to_owned()).is_some()
        }
        "HELP" => {
            unescaped(rest)?;
            std::mem::replace(&mut family.has_help, true)
        }
        _ => return Err(format!("unknown metadata {word}")),
    };
    if was_there {
        Err(format!("metadata {word} of {name} twice"))
    } else {
        Ok(())
    }
}

fn take_sample(line: &str, family: &Family) -> Result<(String, f64), String> {
    let end = line.find(['{', ' ']).ok_or("a sample without a value")?;
    let name = &line[..end];
    let kind = family
        .kind
        .as_deref()
        .ok_or_else(|| format!("{name} has no type"))?;
    let rest = name
        .strip_prefix(family.name.as_str())
        .ok_or_else(|| format!("{name} is not of the family {}", family.name))?;
    let suffix = match kind {
        "counter" => "_total",
        "info" => "_info",
        "gauge" | "stateset" => "",
        // One family has samples of three names.
        "histogram" => ["_bucket", "_sum", "_count"]
            .into_iter()
            .find(|suffix| rest == *suffix)
            .unwrap_or("_bucket"),
        other => return Err(format!("type {other} is not written by us")),
    };
    if rest != suffix {
        return Err(format!(
            "a {kind} wants {}{suffix}, not {name}",
            family.name
        ));
    }
    let (labels, rest) = take_labels(&line[end..])?;
    let series = &line[..line.len() - rest.len()];
    let rest = rest.strip_prefix(' ').ok_or("no space before the value")?;
    let (value, exemplar) = match rest.split_once(" # ") {
        Some((value, exemplar)) => (value, Some(exemplar)),
        None => (rest, None),
    };
    let number: f64 = value.parse().map_err(|_| format!("no value: {value}"))?;
    if let Some(exemplar) = exemplar {
        if !matches!(suffix, "_bucket" | "_total") {
            return Err(format!("an exemplar at {name}"));
        }
        take_exemplar(exemplar, labels.get("le"))?;
    }
    if kind == "counter" && (number < 0.0 || number.is_nan()) {
        return Err(format!("counter {name} is negative"));
    }
    if suffix == "_bucket" {
        let edge = labels
            .get("le")
            .ok_or_else(|| format!("{name} has no edge"))?;
        let is_float = edge == "+Inf" || (edge.contains('.') && edge.parse::<f64>().is_ok());
        if !is_float {
            return Err(format!("edge {edge} of {name} is not written as a float"));
        }
    }
    if kind == "info" && value != "1" {
        return Err(format!("info {name} is not 1"));
    }
    if kind == "stateset" && !labels.contains_key(family.name.as_str()) {
        return Err(format!("stateset {name} lacks the label {name}"));
    }
    Ok((series.to_owned(), number))
}

/// Characters that names and values of an exemplar's labels may have together.
const EXEMPLAR_CHARACTERS_MAX: usize = 128;

fn take_exemplar(text: &str, edge: Option<&String>) -> Result<(), String> {
    if !text.starts_with('{') {
        return Err(format!("an exemplar without labels: {text}"));
    }
    let (labels, rest) = take_labels(text)?;
    let lengths = labels
        .iter()
        .map(|(name, value)| name.chars().count() + value.chars().count());
    if lengths.sum::<usize>() > EXEMPLAR_CHARACTERS_MAX {
        return Err(format!("an exemplar that is too long: {text}"));
    }
    let rest = rest
        .strip_prefix(' ')
        .ok_or("an exemplar without a value")?;
    let (value, at) = rest.split_once(' ').unwrap_or((rest, "0"));
    let (Ok(value), Ok(at)) = (value.parse::<f64>(), at.parse::<f64>()) else {
        return Err(format!("no exemplar: {text}"));
    };
    let edge: Option<f64> = edge.and_then(|edge| edge.parse().ok());
    if edge.is_some_and(|edge| value > edge) || !at.is_finite() {
        return Err(format!("an exemplar beyond its bucket: {text}"));
    }
    Ok(())
}

/// The labels, and what follows them.
fn take_labels(text: &str) -> Result<(BTreeMap<String, String>, &str), String> {
    let mut labels = BTreeMap::new();
    let Some(mut rest) = text.strip_prefix('{') else {
        return Ok((labels, text));
    };
    loop {
        let (name, after) = rest.split_once("=\"").ok_or("a label without a value")?;
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty()
            || !name.chars().all(legal)
            || name.starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(format!("no label name: {name}"));
        }
        let end = closing_quote(after).ok_or("a label without an end")?;
        let value = unescaped(&after[..end])?;
        if labels.insert(name.to_owned(), value).is_some() {
            return Err(format!("label {name} twice"));
        }
        rest = &after[end + 1..];
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None => break,
        }
    }
    Ok((
        labels,
        rest.strip_prefix('}').ok_or("labels without an end")?,
    ))
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, letter)| {
        let is_end = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        is_end.then_some(at)
    })
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.push(match letters.next() {
                Some('n') => '\n',
                Some('\\') => '\\',
                Some('"') => '"',
                other => return Err(format!("no escape: {other:?}")),
            }),
            '"' => return Err("an escape is missing before a quote".to_owned()),
            letter => out.push(letter),
        }
    }
    Ok(out)
}
