//! Loads the configuration: file, then `EVENKEEL_*`, then flags; all mistakes at once.

use std::path::{Path, PathBuf};

use serde_yaml::{Mapping, Value};

use super::describe::{Describe, Key, Shape};
use super::flags::ConfigFlags;
use super::groups::Origin;
use super::mistake::{Mistake, Mistakes};
use super::overlay::{self, FILE_VARIABLE};
use super::properties::Judge;
use super::tree::{Probes, Tree};
use super::typed::{Config, PrivacyConfig, StateConfig, TracesConfig};
use super::validate::validate_with;
use super::{check, connection, file, groups, traces, yaml};

/// A configuration is pages, not megabytes; more is a mistaken path.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A value that a variable or a flag puts over the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The key, as in `http.listen`.
    pub key: String,
    /// Its value.
    pub value: String,
    /// The variable or the flag.
    pub origin: String,
}

/// Where the configuration comes from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sources<'a> {
    /// The text of the file.
    pub file: Option<&'a str>,
    /// The environment.
    pub vars: &'a [(String, String)],
    /// What the flags set.
    pub flags: &'a [Override],
}

/// Judges the files that a configuration names and that other modules read.
pub type JudgeFiles = fn(&Named) -> Vec<Mistake>;

/// The parts of a configuration that name such files, each as far as it holds, whatever is
/// wrong with the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// The web configuration.
    pub web_config_file: Option<PathBuf>,
    /// Who may ask for probes.
    pub probes: Probes,
    /// The key of the mask.
    pub privacy: PrivacyConfig,
    /// The folder for states.
    pub state: StateConfig,
    /// What TLS to a receiver of traces needs.
    pub traces: Option<TracesConfig>,
}

/// A configuration, as written and as used.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// As written, all sources taken together. It serialises without secrets.
    pub tree: Tree,
    /// As used.
    pub config: Config,
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// Where what is not the file's was read.
    pub origins: Vec<Origin>,
    /// What may be wrong and keeps nothing from working.
    pub warnings: Vec<String>,
}

/// Loads what the flags, these environment variables and the file they name say; `judge`
/// knows librdkafka's properties, and `judge_files` what stands in other files, which this
/// module does not.
///
/// # Errors
///
/// All mistakes.
pub fn load(
    flags: &ConfigFlags,
    vars: &[(String, String)],
    judge: Judge,
    judge_files: JudgeFiles,
) -> Result<Loaded, Mistakes> {
    let named = vars
        .iter()
        .find(|(name, value)| name == FILE_VARIABLE && !value.is_empty());
    let named = named.map(|(name, path)| (&**name, PathBuf::from(path)));
    let file = flags
        .config
        .clone()
        .map(|path| ("--config", path))
        .or(named);
    let text = match &file {
        Some((by, path)) => Some(read(by, path).map_err(|mistake| Mistakes(vec![mistake]))?),
        None => None,
    };
    let file = file.map(|(_, path)| path);
    let flags = flags.overrides();
    let loaded = Sources {
        file: text.as_deref(),
        vars,
        flags: &flags,
    }
    .judged(judge, judge_files)?;
    Ok(Loaded { file, ..loaded })
}

/// Reads the file that a flag or a variable names.
fn read(by: &str, path: &Path) -> Result<String, Mistake> {
    let wrong =
        |what: String| Mistake::new(by, format!("{}: {what}", path.display()), "a YAML file");
    let bytes = file::bytes(path, FILE_BYTES_MAX).map_err(|unread| wrong(unread.to_string()))?;
    String::from_utf8(bytes).map_err(|_| wrong("stream did not contain valid UTF-8".to_owned()))
}

// === impl Sources ===

impl Sources<'_> {
    /// The configuration these sources make. Reads no file but those that
    /// are named: by `${file:…}`, by `worker_properties`, and by a worker's settings.
    ///
    /// # Errors
    ///
    /// All mistakes.
    pub fn load(&self) -> Result<Loaded, Mistakes> {
        self.judged(|_| Vec::new(), |_| Vec::new())
    }

    /// As [`load`](Self::load), with librdkafka's properties and other files judged, too.
    fn judged(&self, judge: Judge, judge_files: JudgeFiles) -> Result<Loaded, Mistakes> {
        let keys = keys();
        let mut mistakes = Vec::new();
        let mut root = match yaml::parse(self.file.unwrap_or_default()) {
            // Empty, or nothing but comments.
            Ok(Value::Null) => Value::Mapping(Mapping::new()),
            Ok(root) => root,
            Err(mistake) => return Err(Mistakes(vec![mistake])),
        };
        let mut overrides = overlay::from_env(self.vars, &keys, &mut mistakes);
        overrides.extend(self.flags.iter().cloned());
        for over in &overrides {
            overlay::put(&mut root, over, &keys, &mut mistakes);
        }
        check::section(&mut root, &keys, "", &mut mistakes);
        let mut tree = match deserialized(root) {
            Ok(tree) => tree,
            Err(mistake) => {
                mistakes.push(mistake);
                return Err(Mistakes(mistakes));
            }
        };
        let env = |name: &str| {
            let found = self.vars.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        let mut wrong = Vec::new();
        let workers = groups::fill(&mut tree, self.vars, &env, &mut wrong);
        let result = validate_with(&tree, &workers, &env);
        // A value that was refused for its form is not also missing, nor is one that would
        // stand in a file that cannot be read.
        let further = result.as_ref().err().map_or(&[][..], |found| &found.0);
        let told: Vec<_> = mistakes
            .iter()
            .map(|mistake| mistake.path.clone())
            .collect();
        mistakes.extend(
            further
                .iter()
                .filter(|each| !told.contains(&each.path))
                .filter(|each| each.found != "nothing" || !workers.may_say(&each.path))
                .cloned(),
        );
        let whole = (!workers.has_any()).then_some(&tree.kafka);
        let judged = tree.kafka.properties.judged(&env, judge, &mistakes, whole);
        mistakes.extend(judged);
        mistakes.append(&mut wrong);
        if let (true, Ok(config)) = (mistakes.is_empty(), &result) {
            mistakes.extend(connection::judged(config, &workers, judge));
        }
        mistakes.extend(judge_files(&Named::of(&tree, &env)));
        for mistake in &mut mistakes {
            name_origin(mistake, &overrides);
            name_source(mistake, &workers.filled);
        }
        match result {
            Ok(config) if mistakes.is_empty() => {
                let mut origins = groups::of_overrides(&overrides);
                origins.extend(workers.filled.iter().cloned());
                origins.extend(connection::origins(&config, &tree, &workers));
                origins.extend(traces::origins(&tree.traces, &env));
                let mut warnings = workers.warnings;
                warnings.extend(traces::warnings(&tree.traces, &env));
                Ok(Loaded {
                    tree,
                    config,
                    file: None,
                    origins,
                    warnings,
                })
            }
            _ => Err(Mistakes(mistakes)),
        }
    }
}

// === impl Named ===

impl Named {
    fn of(tree: &Tree, env: &dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            web_config_file: tree.http.web_config_file(),
            probes: tree.http.probes,
            privacy: tree.privacy.config(),
            state: tree.state.config(),
            // What is wrong with it was told.
            traces: traces::of_traces(&tree.traces, env, &mut Vec::new()),
        }
    }
}

/// The keys of the whole tree.
pub(super) fn keys() -> Vec<Key> {
    match Tree::shape() {
        Shape::Section(keys) => keys,
        _ => Vec::new(),
    }
}

/// After `check` this succeeds; were the two at odds, the difference is told.
fn deserialized(root: Value) -> Result<Tree, Mistake> {
    let root = if root.is_null() {
        Value::Mapping(Mapping::new())
    } else {
        root
    };
    serde_path_to_error::deserialize::<_, Tree>(root).map_err(|error| {
        let path = error.path().to_string();
        Mistake::new(path, "a value of another kind", "what the reference says")
    })
}

/// Says which variable or flag set the value, for `groups.x` and `groups[0].x` alike.
fn name_origin(mistake: &mut Mistake, overrides: &[Override]) {
    if mistake.origin.is_none() {
        let path = mistake.path.replace("[0]", "");
        let last = overrides.iter().rev().find(|over| over.key == path);
        mistake.origin = last.map(|over| over.origin.clone());
    }
}

/// Says where a worker's value stands.
fn name_source(mistake: &mut Mistake, filled: &[Origin]) {
    if mistake.origin.is_none() {
        let found = filled.iter().find(|origin| origin.key == mistake.path);
        mistake.origin = found.map(|origin| origin.source.clone());
    }
}

#[cfg(test)]
mod tests;
