//! The settings of one worker, from its file and from variables, looked up one by one:
//! each with where it was read, references followed, and who asked for what remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::properties_file::{self, Encoding};
use super::providers::Providers;
use super::{environment, names};
use crate::config::mistake::{Mistake, nearest};
use crate::config::secret::Secret;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// What the worker makes of it.
    pub(super) value: Secret,
    /// Name and line of the file, or the variable.
    pub(super) source: String,
    /// Whether it goes on in further lines of its file.
    is_continued: bool,
}

/// Values that may well take several lines: a login, certificates, lists. Any other that
/// does has swallowed the line after it, with whatever secret stands there.
const OF_LINES: [&str; 9] = [
    "bootstrap.servers",
    "config.providers",
    "listeners",
    "sasl.jaas.config",
    "ssl.cipher.suites",
    "ssl.enabled.protocols",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.truststore.certificates",
];

/// What a look-up gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lookup {
    /// Nobody set it.
    Absent,
    /// It is set and cannot be known here. That is told already.
    Broken,
    /// It is set.
    Found(Found),
}

/// All settings of one worker, and what came up while they were looked up.
pub(super) struct Settings<'a> {
    map: BTreeMap<String, Found>,
    providers: Providers,
    env: &'a dyn Fn(&str) -> Option<String>,
    told: BTreeSet<String>,
    /// What is wrong.
    pub(super) mistakes: Vec<Mistake>,
    /// What may be wrong and keeps nothing from working.
    pub(super) warnings: Vec<String>,
    /// Every file that was read.
    pub(super) files: BTreeSet<PathBuf>,
    /// Every name that was asked for.
    pub(super) asked: BTreeSet<String>,
}

// === impl Lookup ===

impl Lookup {
    pub(super) fn found(self) -> Option<Found> {
        match self {
            Self::Found(found) => Some(found),
            Self::Absent | Self::Broken => None,
        }
    }
}

// === impl Found ===

impl Found {
    pub(super) fn new(value: Secret, source: String) -> Self {
        Self {
            value,
            source,
            is_continued: false,
        }
    }

    pub(super) fn text(&self) -> &str {
        self.value.expose()
    }
}

// === impl Settings ===

impl<'a> Settings<'a> {
    /// What the file at `path` says, under the key `key` of the configuration, and over it
    /// what variables say.
    pub(super) fn read(
        file: Option<(&Path, &str)>,
        vars: &[(String, String)],
        env: &'a dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut settings = Self {
            map: BTreeMap::new(),
            providers: Providers::default(),
            env,
            told: BTreeSet::new(),
            mistakes: Vec::new(),
            warnings: Vec::new(),
            files: BTreeSet::new(),
            asked: BTreeSet::new(),
        };
        if let Some((path, key)) = file {
            settings.read_file(path, key);
        }
        for (name, value, variable) in environment::settings(vars) {
            let source = variable.to_owned();
            settings.map.insert(name, Found::new(value, source));
        }
        settings.providers = Providers::declared(|name| {
            let found = settings.map.get(name)?;
            Some(java_trim(found.text()).to_owned())
        });
        settings
    }

    fn read_file(&mut self, path: &Path, key: &str) {
        self.files.insert(path.to_owned());
        let entries = match properties_file::read(path, key, Encoding::Latin1) {
            Ok(entries) => entries,
            Err(mistake) => {
                let hint = "name the file that the worker is started with";
                self.mistakes.push(mistake.hint(hint));
                return;
            }
        };
        // Folders may tell more than a file that others share should.
        let short = path.file_name().unwrap_or(path.as_os_str());
        let short = short.to_string_lossy();
        for entry in entries {
            let source = format!("{short}:{}", entry.line);
            let name = entry.name;
            if let Some(mark) = name.strip_prefix("\u{ef}\u{bb}\u{bf}") {
                self.warnings.push(format!(
                    "{source}: a byte order mark before {mark}, which makes it another name to the worker"
                ));
            }
            self.warn_of_name(&name, &source);
            let value = entry.value;
            let found = Found {
                is_continued: entry.is_continued,
                ..Found::new(value, source)
            };
            if let Some(before) = self.map.insert(name.clone(), found) {
                let source = &self.map[&name].source;
                self.warnings.push(format!(
                    "{source}: {name} again, first at {}; the last one holds",
                    before.source
                ));
            }
        }
    }

    /// A worker's file holds many names that are not ours. One that looks like a slip of
    /// the pen is told, and one of a client's security that this release does not know.
    fn warn_of_name(&mut self, name: &str, source: &str) {
        if names::is_read(name) {
            return;
        }
        if let Some(near) = nearest(name, names::all()) {
            self.warnings.push(format!(
                "{source}: {name} is not a setting; did you mean {near}?"
            ));
        } else if names::is_security(name) {
            self.warnings.push(format!(
                "{source}: {name} is not known here and not used; kafka.properties may need what it sets"
            ));
        }
    }

    /// What the worker takes for `name`; a mistake where that cannot be known here.
    pub(super) fn look(&mut self, name: &str) -> Lookup {
        match self.resolved(name) {
            Ok(None) => Lookup::Absent,
            Ok(Some(found)) => Lookup::Found(found),
            Err(mistake) => {
                if self.told.insert(name.to_owned()) {
                    self.mistakes.push(mistake);
                }
                Lookup::Broken
            }
        }
    }

    /// As [`look`](Self::look), for what is not needed: a warning instead of a mistake.
    pub(super) fn look_if_known(&mut self, name: &str) -> Option<Found> {
        match self.resolved(name) {
            Ok(found) => found,
            Err(mistake) => {
                let origin = mistake.origin.unwrap_or_default();
                let found = mistake.found;
                self.warnings.push(format!(
                    "{origin}: {name} is unresolved and left out: {found}"
                ));
                None
            }
        }
    }

    /// Whether it is set to anything but blanks.
    pub(super) fn text(&mut self, name: &str) -> Option<Found> {
        self.look(name)
            .found()
            .filter(|found| !found.text().is_empty())
    }

    /// All names that are set, and where each stands.
    pub(super) fn places(&self) -> impl Iterator<Item = (&str, &str)> {
        let settings = self.map.iter();
        settings.map(|(name, found)| (name.as_str(), found.source.as_str()))
    }

    /// Whether anybody set it, whatever it is.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    /// Where a setting stands.
    pub(super) fn source(&self, name: &str) -> Option<&str> {
        self.map.get(name).map(|found| found.source.as_str())
    }

    /// Tells that the value of `name` will not do.
    pub(super) fn wrong(&mut self, name: &str, found: &str, expected: &str, hint: &str) {
        self.told.insert(name.to_owned());
        let mistake = Mistake {
            origin: self.source(name).map(str::to_owned),
            ..Mistake::new(name, found, expected)
        };
        self.mistakes.push(if hint.is_empty() {
            mistake
        } else {
            mistake.hint(hint)
        });
    }

    fn resolved(&mut self, name: &str) -> Result<Option<Found>, Mistake> {
        self.asked.insert(name.to_owned());
        let Some(found) = self.map.get(name) else {
            return Ok(None);
        };
        let resolved = self
            .providers
            .resolve(found.text(), self.env, &mut self.files);
        let (source, is_continued) = (found.source.clone(), found.is_continued);
        match resolved {
            Ok(resolved)
                if (is_continued || resolved.is_continued)
                    && !OF_LINES.contains(&name)
                    && resolved.text.contains(['=', ':', ' ', '\t']) =>
            {
                let found = "a value that goes on with the next line";
                let hint = "a backslash at the end of a line joins it with the next";
                Err(Mistake {
                    origin: Some(source),
                    ..Mistake::new(name, found, "a value of one line").hint(hint)
                })
            }
            Ok(resolved) => {
                if resolved.has_stranger {
                    let told = format!(
                        "{source}: {name} refers to a provider that config.providers does not declare; \
                         the worker takes it as plain text, and so does the agent"
                    );
                    if !self.warnings.contains(&told) {
                        self.warnings.push(told);
                    }
                }
                // `ConfigDef.parseType` trims every text.
                let value = Secret::new(java_trim(&resolved.text));
                Ok(Some(Found::new(value, source)))
            }
            Err(broken) => Err(Mistake {
                origin: Some(source),
                ..Mistake::new(name, broken.found, broken.expected).hint(broken.hint)
            }),
        }
    }
}

/// As `String.trim`: every letter up to the blank goes, no other.
fn java_trim(text: &str) -> &str {
    text.trim_matches(|letter| letter <= ' ')
}
