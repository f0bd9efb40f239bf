//! What the section `traces` says, else OpenTelemetry's variables: each key with its value and
//! where that was read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::noted::{Noted, Then};
use super::pairs;
use crate::config::mistake::{Mistake, nearest, quoted};
use crate::config::tree::{TraceCompression, TraceProtocol};
use crate::config::typed::TraceFile;

const TIMEOUT_MS_DEFAULT: u64 = 10_000;
const TIMEOUT_MS: std::ops::RangeInclusive<u64> = 100..=60_000;

/// Where spans go by OpenTelemetry's words, if not to a receiver of OTLP.
const OTHER_EXPORTERS: [&str; 4] = ["console", "jaeger", "logging", "zipkin"];

pub(super) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A value with where it was read.
pub(super) struct Said {
    pub(super) value: String,
    pub(super) path: String,
}

/// The two variables of an exporter's setting, that of traces first.
pub(super) fn variables(name: &str) -> [String; 2] {
    [
        format!("OTEL_EXPORTER_OTLP_TRACES_{name}"),
        format!("OTEL_EXPORTER_OTLP_{name}"),
    ]
}

pub(super) struct Lookup<'a> {
    pub(super) env: Env<'a>,
}

// === impl Said ===

impl Said {
    /// Whether a variable says it.
    pub(super) fn is_variable(&self) -> bool {
        !self.path.starts_with("traces.")
    }
}

// === impl Lookup ===

impl Lookup<'_> {
    /// An empty variable is one that is not set, says OpenTelemetry.
    fn variable(&self, name: &str) -> Option<Said> {
        let value = (self.env)(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| Said {
            value: value.to_owned(),
            path: name.to_owned(),
        })
    }

    /// The first of these variables that is set.
    pub(super) fn first(&self, names: &[String]) -> Option<Said> {
        names.iter().find_map(|name| self.variable(name))
    }

    /// What the tree says, else what the first of these variables says.
    pub(super) fn said(&self, key: &str, set: Option<&str>, names: &[String]) -> Option<Said> {
        let set = set.map(str::trim).filter(|set| !set.is_empty());
        match set {
            Some(set) => Some(Said {
                value: set.to_owned(),
                path: format!("traces.{key}"),
            }),
            None => self.first(names),
        }
    }

    /// As [`said`](Self::said), but what cannot be used is noted and passed over; then
    /// `instead` is used.
    fn usable<T>(
        &self,
        (key, name): (&str, &str),
        set: Option<&str>,
        instead: &str,
        noted: &mut Noted,
        read: impl Fn(&Said) -> Result<T, Mistake>,
    ) -> Option<(T, Said)> {
        let own = self.said(key, set, &[]);
        let variables = variables(name).map(|name| self.variable(&name));
        let said = own.map_or_else(|| Vec::from(variables), |own| vec![Some(own)]);
        let mut passed_over = Vec::new();
        let mut found = None;
        for said in said.into_iter().flatten() {
            match read(&said) {
                Ok(value) => {
                    found = Some((value, said));
                    break;
                }
                Err(mistake) => passed_over.push(mistake),
            }
        }
        let then = match &found {
            Some((_, said)) => format!("{} is used", said.path),
            None => format!("{instead} is used"),
        };
        for mistake in passed_over {
            noted.wrong(mistake, Then::Used(then.clone()));
        }
        found
    }

    /// Where traces go, and whether that is taken as it is: an address for traces alone is.
    pub(super) fn endpoint(&self, set: Option<&str>) -> Option<(Said, bool)> {
        let [own, general] = variables("ENDPOINT");
        if let Some(base) = self.said("endpoint", set, &[]) {
            return Some((base, false));
        }
        let own = self.variable(&own).map(|own| (own, true));
        own.or_else(|| Some((self.variable(&general)?, false)))
    }

    /// The variable by which nothing is sent, where there is one.
    pub(super) fn is_off(&self, noted: &mut Noted) -> Option<Said> {
        if let Some(said) = self.variable("OTEL_SDK_DISABLED") {
            if said.value.eq_ignore_ascii_case("true") {
                return Some(said);
            }
            if !said.value.eq_ignore_ascii_case("false") {
                let mistake = Mistake::new(said.path, quoted(&said.value), "true or false");
                noted.wrong(mistake, Then::Used("false is used".to_owned()));
            }
        }
        let said = self.variable("OTEL_TRACES_EXPORTER")?;
        let names: Vec<String> = said
            .value
            .split(',')
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        let names_any = |known: &[&str]| names.iter().any(|name| known.contains(&&**name));
        if names == ["none"] {
            return Some(said);
        }
        if names_any(&["otlp"]) {
            return None;
        }
        let mistake = Mistake::new(said.path.as_str(), quoted(&said.value), "otlp or none");
        if names_any(&OTHER_EXPORTERS) {
            // They are wanted elsewhere.
            noted.wrong(mistake, Then::NotSent);
            return Some(said);
        }
        let mistake = match nearest(&names[0], ["otlp", "none"]) {
            Some(near) => mistake.hint(format!("did you mean {near}?")),
            None => mistake,
        };
        noted.wrong(mistake, Then::Used("otlp is used".to_owned()));
        None
    }

    /// How spans are sent.
    pub(super) fn protocol(&self, set: Option<TraceProtocol>, noted: &mut Noted) -> TraceProtocol {
        match self.protocol_said(set, noted) {
            Some((word, _)) if word == TraceProtocol::Grpc.word() => TraceProtocol::Grpc,
            _ => TraceProtocol::Http,
        }
    }

    pub(super) fn protocol_said(
        &self,
        set: Option<TraceProtocol>,
        noted: &mut Noted,
    ) -> Option<(&'static str, Said)> {
        let set = set.map(TraceProtocol::word);
        let (words, instead) = (TraceProtocol::WORDS, TraceProtocol::Http.word());
        self.word(("protocol", "PROTOCOL"), set, words, instead, noted)
    }

    /// Whether they are compressed.
    pub(super) fn compression(
        &self,
        set: Option<TraceCompression>,
        noted: &mut Noted,
    ) -> TraceCompression {
        match self.compression_said(set, noted) {
            Some((word, _)) if word == TraceCompression::Gzip.word() => TraceCompression::Gzip,
            _ => TraceCompression::None,
        }
    }

    pub(super) fn compression_said(
        &self,
        set: Option<TraceCompression>,
        noted: &mut Noted,
    ) -> Option<(&'static str, Said)> {
        let set = set.map(TraceCompression::word);
        let (words, instead) = (TraceCompression::WORDS, TraceCompression::None.word());
        self.word(("compression", "COMPRESSION"), set, words, instead, noted)
    }

    /// One of a set of words; in variables upper case is the same, says OpenTelemetry.
    fn word(
        &self,
        place: (&str, &str),
        set: Option<&str>,
        words: &[&'static str],
        instead: &str,
        noted: &mut Noted,
    ) -> Option<(&'static str, Said)> {
        self.usable(place, set, instead, noted, |said| {
            let mut known = words.iter().copied();
            let value = said.value.as_str();
            let found = known.find(|word| word.eq_ignore_ascii_case(value));
            found.ok_or_else(|| {
                let expected = format!("one of {}", words.join(", "));
                let mistake = Mistake::new(said.path.as_str(), quoted(value), expected);
                match nearest(value, words.iter().copied()) {
                    Some(near) => mistake.hint(format!("did you mean {near}?")),
                    None => mistake,
                }
            })
        })
    }

    /// How long a receiver may take.
    pub(super) fn timeout_ms(&self, set: Option<usize>, noted: &mut Noted) -> u64 {
        let found = self.timeout_said(set, noted);
        found.map_or(TIMEOUT_MS_DEFAULT, |(ms, _)| ms)
    }

    pub(super) fn timeout_said(
        &self,
        set: Option<usize>,
        noted: &mut Noted,
    ) -> Option<(u64, Said)> {
        let set = set.map(|ms| ms.to_string());
        let instead = TIMEOUT_MS_DEFAULT.to_string();
        let place = ("timeout_ms", "TIMEOUT");
        self.usable(place, set.as_deref(), &instead, noted, |said| {
            let ms = said.value.parse().ok();
            ms.filter(|ms| TIMEOUT_MS.contains(ms)).ok_or_else(|| {
                let (least, most) = (TIMEOUT_MS.start(), TIMEOUT_MS.end());
                let expected = format!("milliseconds, {least} to {most}");
                Mistake::new(said.path.as_str(), quoted(&said.value), expected)
            })
        })
    }

    /// A file for TLS; what is in it is looked at when a connection is made.
    pub(super) fn file(&self, key: &str, set: Option<&str>, name: &str) -> Option<TraceFile> {
        let said = self.said(key, set, &variables(name))?;
        Some(TraceFile {
            path: PathBuf::from(&said.value),
            variable: said.is_variable().then_some(said.path),
        })
    }

    /// The attributes of the resource. A variable in which one cannot be read is left out as a
    /// whole, says OpenTelemetry.
    pub(super) fn resource(
        &self,
        service_name: Option<&str>,
        noted: &mut Noted,
    ) -> BTreeMap<String, String> {
        let mut resource =
            BTreeMap::from([("service.name".to_owned(), env!("CARGO_PKG_NAME").to_owned())]);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        resource.insert("service.version".to_owned(), version);
        if let Some(said) = self.variable("OTEL_RESOURCE_ATTRIBUTES") {
            match pairs::read(&said.value) {
                Ok(pairs) => resource.extend(pairs),
                Err(nth) => {
                    let found = format!("something else in place {nth}");
                    let expected = "NAME=VALUE, separated by commas";
                    let mistake = Mistake::new(said.path, found, expected);
                    noted.wrong(mistake, Then::Used("none of it is used".to_owned()));
                }
            }
        }
        let names = ["OTEL_SERVICE_NAME".to_owned()];
        if let Some(said) = self.said("service_name", service_name, &names) {
            resource.insert("service.name".to_owned(), said.value);
        }
        resource
    }
}
