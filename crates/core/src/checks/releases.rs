//! What settings each release of Kafka has, with types, defaults and bounds: read from its
//! jars (`cargo xtask kafka settings`), never written by hand.

use std::collections::BTreeMap;
use std::sync::LazyLock;

mod release;

pub use release::{NoRelease, Release};

const TABLE: &str = include_str!("releases/settings.tsv");

/// In place of a default: there is none, and Kafka refuses to go without a value.
const DEMANDED: &str = "!";

/// Whose setting it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Whose {
    /// A Connect worker's.
    Worker,
    /// A connector's.
    Connector,
    /// A consumer's: behind `consumer.` in a worker's file.
    Consumer,
    /// A producer's: behind `producer.`.
    Producer,
    /// An admin client's: behind `admin.`.
    Admin,
    /// A topic's: behind `config.storage.`, `offset.storage.`, `status.storage.`.
    Topic,
    /// A broker's.
    Broker,
}

/// What Kafka takes for a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `INT`.
    Int,
    /// `LONG`.
    Long,
    /// `SHORT`.
    Short,
    /// `DOUBLE`.
    Double,
    /// `BOOLEAN`.
    Boolean,
    /// `STRING`.
    Text,
    /// `PASSWORD`, `LIST`, `CLASS`.
    Other,
}

/// One setting in some releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// What is taken.
    pub kind: Kind,
    /// What holds where nobody sets it, where that is short and the same everywhere.
    pub default: Option<&'static str>,
    /// Whether Kafka demands that somebody sets it.
    pub is_demanded: bool,
    /// `[0,...]`, `[a,b]`, or nothing.
    validator: Option<&'static str>,
    /// The first and last release of each run, as places in [`Tables::releases`].
    first: usize,
    last: usize,
}

/// All settings of all releases.
#[derive(Debug)]
pub struct Tables {
    /// Oldest first.
    pub releases: Vec<Release>,
    settings: BTreeMap<Whose, BTreeMap<&'static str, Vec<Setting>>>,
}

/// The tables.
#[must_use]
pub fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::read(TABLE));
    &TABLES
}

// === impl Whose ===

impl Whose {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "worker" => Self::Worker,
            "connector" => Self::Connector,
            "consumer" => Self::Consumer,
            "producer" => Self::Producer,
            "admin" => Self::Admin,
            "topic" => Self::Topic,
            "broker" => Self::Broker,
            _ => return None,
        })
    }
}

// === impl Setting ===

impl Setting {
    /// What is expected instead of a value that Kafka refuses. Java takes a sign before a
    /// number, as Rust does.
    #[must_use]
    pub fn refuses(&self, text: &str) -> Option<String> {
        let text = text.trim_matches(|letter| letter <= ' ');
        let number = match self.kind {
            Kind::Int => text.parse::<i32>().map(f64::from).ok(),
            Kind::Short => text.parse::<i16>().map(f64::from).ok(),
            // Bounds of such settings are small: no bound is lost in a float.
            #[allow(clippy::cast_precision_loss)]
            Kind::Long => text.parse::<i64>().map(|number| number as f64).ok(),
            Kind::Double => text.parse::<f64>().ok(),
            Kind::Boolean => {
                let is_taken = ["true", "false"]
                    .iter()
                    .any(|word| word.eq_ignore_ascii_case(text));
                return (!is_taken).then(|| "true or false".to_owned());
            }
            Kind::Text => return self.refuses_word(text),
            Kind::Other => return None,
        };
        let expected = || {
            let kind = match self.kind {
                Kind::Int => "an integer of 32 bits",
                Kind::Short => "an integer of 16 bits",
                Kind::Long => "an integer of 64 bits",
                _ => "a number",
            };
            match self.bounds() {
                (None, None) => kind.to_owned(),
                (Some(least), None) => format!("{kind}, at least {least}"),
                (None, Some(most)) => format!("{kind}, at most {most}"),
                (Some(least), Some(most)) => format!("{kind}, from {least} to {most}"),
            }
        };
        let Some(number) = number else {
            return Some(expected());
        };
        let bound = |text: &str| text.parse::<f64>().ok();
        let (least, most) = self.bounds();
        let is_below = least.and_then(bound).is_some_and(|least| number < least);
        let is_above = most.and_then(bound).is_some_and(|most| number > most);
        (is_below || is_above).then(expected)
    }

    /// Whether there is a value that is refused.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        !matches!(self.kind, Kind::Other | Kind::Text) || self.validator.is_some()
    }

    fn is_as(&self, other: &Self) -> bool {
        (self.kind, self.default, self.is_demanded, self.validator)
            == (
                other.kind,
                other.default,
                other.is_demanded,
                other.validator,
            )
    }

    /// The bounds in a validator that Kafka prints as `[0,...]` or `[0,...,900]`.
    fn bounds(&self) -> (Option<&'static str>, Option<&'static str>) {
        let inner = self.validator.and_then(inner).unwrap_or_default();
        match inner.split_once("...") {
            Some((least, most)) => {
                let part = |text: &'static str| Some(text).filter(|text| !text.is_empty());
                (
                    part(least.trim_end_matches(',')),
                    part(most.trim_start_matches(',')),
                )
            }
            None => (None, None),
        }
    }

    fn refuses_word(&self, text: &str) -> Option<String> {
        let words = self.validator.and_then(inner)?;
        let is_taken = words.split(',').any(|word| word.eq_ignore_ascii_case(text));
        (!is_taken).then(|| format!("one of {}", words.replace(',', ", ")))
    }
}

fn inner(validator: &'static str) -> Option<&'static str> {
    validator.strip_prefix('[')?.strip_suffix(']')
}

// === impl Tables ===

impl Tables {
    fn read(text: &'static str) -> Self {
        let mut tables = Self {
            releases: Vec::new(),
            settings: BTreeMap::new(),
        };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut parts = line.split('\t');
            let whose = parts.next().unwrap_or_default();
            if whose == "releases" {
                let releases = parts.next().unwrap_or_default().split(' ');
                tables.releases = releases.filter_map(|text| text.parse().ok()).collect();
                continue;
            }
            let mut part = || parts.next().filter(|part| *part != "-");
            let (Some(whose), Some(name), kind, default, validator, Some(runs)) =
                (Whose::named(whose), part(), part(), part(), part(), part())
            else {
                continue;
            };
            for run in runs.split(' ') {
                let (first, last) = run.split_once('-').unwrap_or((run, run));
                let (Some(first), Some(last)) = (tables.place(first), tables.place(last)) else {
                    continue;
                };
                let setting = Setting {
                    kind: kind.map_or(Kind::Other, Kind::named),
                    default: default.filter(|default| *default != DEMANDED),
                    is_demanded: default == Some(DEMANDED),
                    validator,
                    first,
                    last,
                };
                let names = tables.settings.entry(whose).or_default();
                names.entry(name).or_default().push(setting);
            }
        }
        tables
    }

    fn place(&self, text: &str) -> Option<usize> {
        let release: Release = text.parse().ok()?;
        self.releases.iter().position(|known| *known == release)
    }

    /// The oldest release that is known.
    #[must_use]
    pub fn oldest(&self) -> Release {
        self.releases
            .first()
            .copied()
            .unwrap_or(Release::new(0, 0, 0))
    }

    /// The newest release that is known.
    #[must_use]
    pub fn newest(&self) -> Release {
        self.releases
            .last()
            .copied()
            .unwrap_or(Release::new(0, 0, 0))
    }

    /// The release whose settings stand for those of `release`: itself, one of the same
    /// line, else the newest before it, else the oldest.
    #[must_use]
    pub fn stands_for(&self, release: Release) -> Release {
        let of_line =
            |known: &&Release| (known.major, known.minor) == (release.major, release.minor);
        let exact = self.releases.iter().find(|known| **known == release);
        let line = exact.or_else(|| self.releases.iter().rfind(of_line));
        let before = || self.releases.iter().rfind(|known| **known < release);
        let found = line.or_else(before).or(self.releases.first());
        found.copied().unwrap_or(release)
    }

    /// The setting as that release has it. Between two known releases that differ nothing is
    /// known; before the first and after the last it is as there.
    #[must_use]
    pub fn setting(&self, whose: Whose, name: &str, release: Release) -> Option<&Setting> {
        let (before, after) = self.around(release)?;
        let (before, after) = (self.at(whose, name, before)?, self.at(whose, name, after)?);
        before.is_as(after).then_some(before)
    }

    /// Whether that release may have it: one of the known releases around it has.
    #[must_use]
    pub fn has(&self, whose: Whose, name: &str, release: Release) -> bool {
        self.around(release).is_some_and(|(before, after)| {
            self.at(whose, name, before)
                .or(self.at(whose, name, after))
                .is_some()
        })
    }

    /// Places of the known releases that stand for one: itself or one of its line, else the
    /// one before it and the one after it.
    fn around(&self, release: Release) -> Option<(usize, usize)> {
        let place = |found: Release| self.releases.iter().position(|known| *known == found);
        let stands = self.stands_for(release);
        let before = place(stands)?;
        let is_line = (stands.major, stands.minor) == (release.major, release.minor);
        let last = self.releases.len().checked_sub(1)?;
        if is_line || release < stands || before == last {
            return Some((before, before));
        }
        Some((before, before + 1))
    }

    fn at(&self, whose: Whose, name: &str, place: usize) -> Option<&Setting> {
        let mut all = self.of_any(whose, name).iter();
        all.find(|setting| setting.first <= place && place <= setting.last)
    }

    /// The setting in all releases that have it.
    fn of_any(&self, whose: Whose, name: &str) -> &[Setting] {
        let names = self.settings.get(&whose);
        let found = names.and_then(|names| names.get(name));
        found.map_or(&[], Vec::as_slice)
    }

    /// The first and the last release that is known to have it.
    #[must_use]
    pub fn lifetime(&self, whose: Whose, name: &str) -> Option<(Release, Release)> {
        let all = self.of_any(whose, name);
        let first = all.iter().map(|setting| setting.first).min()?;
        let last = all.iter().map(|setting| setting.last).max()?;
        Some((*self.releases.get(first)?, *self.releases.get(last)?))
    }

    /// What somebody has to set in that release, as far as it is known.
    pub fn demanded(&self, whose: Whose, release: Release) -> impl Iterator<Item = &'static str> {
        let names = self.names(whose);
        names.filter(move |name| {
            let setting = self.setting(whose, name, release);
            setting.is_some_and(|setting| setting.is_demanded)
        })
    }

    /// Whether somebody has to set it in every release that is known.
    #[must_use]
    pub fn is_demanded_by_all(&self, whose: Whose, name: &str) -> bool {
        let mut releases = self.releases.iter();
        releases.all(|release| {
            let setting = self.setting(whose, name, *release);
            setting.is_some_and(|setting| setting.is_demanded)
        })
    }

    /// All names of settings of `whose`, of every release.
    pub fn names(&self, whose: Whose) -> impl Iterator<Item = &'static str> + '_ {
        let names = self.settings.get(&whose);
        names.into_iter().flat_map(|names| names.keys().copied())
    }
}

// === impl Kind ===

impl Kind {
    fn named(name: &str) -> Self {
        match name {
            "INT" => Self::Int,
            "LONG" => Self::Long,
            "SHORT" => Self::Short,
            "DOUBLE" => Self::Double,
            "BOOLEAN" => Self::Boolean,
            "STRING" => Self::Text,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests;
