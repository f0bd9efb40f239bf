//! References in a worker's settings (`${file:/path:key}`), followed as the worker follows
//! them: only for providers that its file declares, and only those that come with Kafka.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::properties_file::{self, Encoding, FILE_BYTES_MAX};

const PACKAGE: &str = "org.apache.kafka.common.config.provider.";

/// The providers of a worker by their aliases.
#[derive(Debug, Default)]
pub(super) struct Providers {
    by_alias: BTreeMap<String, Kind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A key of a properties file.
    File,
    /// A variable.
    Env,
    /// A file of a folder.
    Directory,
    /// A class that cannot be loaded here, or none.
    Other,
}

/// A text with its references followed.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) text: String,
    /// Whether one is of a provider that is not declared; it stays as it stands.
    pub(super) has_stranger: bool,
    /// Whether one leads to an entry of several lines.
    pub(super) is_continued: bool,
}

/// A reference that leads nowhere from here. Says where it leads, never what is there.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) found: String,
    pub(super) expected: String,
    pub(super) hint: String,
}

/// One reference: `${provider:path:key}` or `${provider:key}`.
struct Reference<'a> {
    provider: &'a str,
    path: &'a str,
    key: &'a str,
}

// === impl Providers ===

impl Providers {
    /// Those that `config.providers` declares.
    pub(super) fn declared(get: impl Fn(&str) -> Option<String>) -> Self {
        let aliases = get("config.providers").unwrap_or_default();
        let aliases = aliases.split(',').map(str::trim);
        let of_class = |alias: &str| {
            let class = get(&format!("config.providers.{alias}.class")).unwrap_or_default();
            match class.strip_prefix(PACKAGE) {
                Some("FileConfigProvider") => Kind::File,
                Some("EnvVarConfigProvider") => Kind::Env,
                Some("DirectoryConfigProvider") => Kind::Directory,
                _ => Kind::Other,
            }
        };
        let declared = aliases.filter(|alias| !alias.is_empty());
        Self {
            by_alias: declared
                .map(|alias| (alias.to_owned(), of_class(alias)))
                .collect(),
        }
    }

    /// Follows every reference once, as `ConfigTransformer` does; what a reference leads to
    /// is not looked at again. Files that are read are added to `files`.
    pub(super) fn resolve(
        &self,
        text: &str,
        env: &dyn Fn(&str) -> Option<String>,
        files: &mut BTreeSet<PathBuf>,
    ) -> Result<Resolved, Broken> {
        let mut out = String::with_capacity(text.len());
        let mut has_stranger = false;
        let mut is_continued = false;
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, after) = rest.split_at(start);
            out.push_str(before);
            let Some((reference, end)) = reference(after) else {
                // Not one: the sign stands for itself.
                out.push_str("${");
                rest = after.get(2..).unwrap_or_default();
                continue;
            };
            let (whole, next) = after.split_at(end);
            match self.by_alias.get(reference.provider) {
                Some(kind) => {
                    let (value, goes_on) = followed(*kind, &reference, env, files)?;
                    is_continued |= goes_on;
                    out.push_str(&value);
                }
                None => {
                    has_stranger = true;
                    out.push_str(whole);
                }
            }
            rest = next;
        }
        out.push_str(rest);
        Ok(Resolved {
            text: out,
            has_stranger,
            is_continued,
        })
    }
}

/// The reference that `text` begins with, and where it ends.
fn reference(text: &str) -> Option<(Reference<'_>, usize)> {
    let end = text.find('}')?;
    let (provider, rest) = text.get(2..end)?.split_once(':')?;
    let (path, key) = rest.split_once(':').unwrap_or(("", rest));
    let reference = Reference {
        provider,
        path,
        key,
    };
    Some((reference, end + 1))
}

/// The value, and whether it has several lines in its file.
fn followed(
    kind: Kind,
    reference: &Reference<'_>,
    env: &dyn Fn(&str) -> Option<String>,
    files: &mut BTreeSet<PathBuf>,
) -> Result<(String, bool), Broken> {
    let Reference {
        provider,
        path,
        key,
    } = *reference;
    const MOUNT: &str = "what the worker sees at this place, the agent must see there, too";
    match kind {
        Kind::Env if path.is_empty() => match env(key) {
            Some(value) => Ok((value, false)),
            None => Err(Broken {
                found: format!("a reference to the variable {key}"),
                expected: "a variable that is set".to_owned(),
                hint: "the agent cannot see the worker's variables; set it here, too".to_owned(),
            }),
        },
        Kind::Env => Err(Broken {
            found: "a reference to a variable with a path".to_owned(),
            expected: format!("${{{provider}:NAME}}"),
            hint: "the worker does not take it either".to_owned(),
        }),
        Kind::File => {
            let file = Path::new(path);
            files.insert(file.to_owned());
            let entries =
                properties_file::read(file, "", Encoding::Utf8).map_err(|mistake| Broken {
                    found: format!("a reference to {}", mistake.found),
                    expected: mistake.expected,
                    hint: MOUNT.to_owned(),
                })?;
            let value = entries.into_iter().rev().find(|entry| entry.name == key);
            let value = value.map(|entry| (entry.value.expose().to_owned(), entry.is_continued));
            value.ok_or_else(|| Broken {
                found: format!("a reference to a key that {path} does not hold"),
                expected: "a key of that file".to_owned(),
                hint: MOUNT.to_owned(),
            })
        }
        Kind::Directory => {
            // A key with a folder in it would lead out of the directory; Kafka lists files.
            let is_name = !key.is_empty() && !key.contains('/') && !key.starts_with("..");
            let file = Path::new(path).join(key);
            let wrong = |what: &str| Broken {
                found: format!("a reference to {}: {what}", file.display()),
                expected: "a file with the value".to_owned(),
                hint: MOUNT.to_owned(),
            };
            if !is_name {
                return Err(wrong("no name of a file"));
            }
            files.insert(file.clone());
            let bytes = properties_file::bytes(&file, FILE_BYTES_MAX);
            let bytes = bytes.map_err(|what| wrong(&what))?;
            let text = String::from_utf8(bytes);
            let text = text.map_err(|_| wrong("bytes that are no UTF-8"))?;
            Ok((text, false))
        }
        Kind::Other => Err(Broken {
            found: format!("a reference to the provider {provider}"),
            expected: "one of FileConfigProvider, EnvVarConfigProvider, DirectoryConfigProvider"
                .to_owned(),
            hint: "the agent cannot load other classes; set it in kafka.properties".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
