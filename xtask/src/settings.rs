//! `cargo xtask kafka settings`: the settings of every release of Kafka, read from its jars
//! by a program of its own and merged into the one table that the core holds.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use evenkeel_testbed::{Artifact, JarCache, Tools, Version};

use crate::cargo;

/// Where the table is.
pub(crate) const TABLE: &str = "crates/core/src/checks/releases/settings.tsv";

/// What reads them.
const PROGRAM: &str = "tests/java/ConfigDefs.java";

const HEAD: &str = "\
# Settings of Kafka, written by `cargo xtask kafka settings` from the jars of each release.
# Whose, name, type, default (! where Kafka demands a value), what the validator takes, in which releases.
";

/// Whose setting, its name, and the rest of its line.
type Setting = (String, String, String);

/// Writes the table anew from the jars of all releases, or compares it.
///
/// # Errors
/// When a release cannot be read, or the table is not what the jars say.
pub(crate) fn run(releases: &[Version], check: bool) -> anyhow::Result<()> {
    let root = cargo::root()?;
    let cache = JarCache::open()?;
    let tools = Tools::find()?;
    let mut releases = releases.to_vec();
    releases.sort();
    let mut read = Vec::new();
    for release in releases {
        read.push((release, settings(&root, &cache, &tools, release)?));
    }
    if check {
        return compare(&root, &read);
    }
    let path = root.join(TABLE);
    std::fs::write(&path, table(&read)).with_context(|| format!("write {TABLE}"))
}

/// Compares with the jars that are in the cache, and says which releases are not.
///
/// # Errors
/// When the table is not what the jars say.
pub(crate) fn compare_cached(root: &Path, all: &[Version]) -> anyhow::Result<()> {
    let cache = JarCache::open()?;
    let tools = Tools::find()?;
    let is_cached = |artifact: Artifact| {
        let folder = cache.root().join("jars").join(artifact.folder_name());
        folder.is_dir()
    };
    let mut read = Vec::new();
    for &release in all {
        let is_here = [Artifact::Worker(release), Artifact::Broker(release)]
            .into_iter()
            .all(is_cached);
        // The live pass needs the default release anyway.
        if is_here || release == Version::DEFAULT {
            read.push((release, settings(root, &cache, &tools, release)?));
        } else {
            println!("skipped: {release}, whose jars are not in the cache");
        }
    }
    compare(root, &read)
}

fn compare(root: &Path, read: &[(Version, Vec<Setting>)]) -> anyhow::Result<()> {
    let table =
        std::fs::read_to_string(root.join(TABLE)).with_context(|| format!("read {TABLE}"))?;
    let releases = releases_of(&table);
    for (release, settings) in read {
        let name = release.to_string();
        ensure!(
            releases.contains(&name),
            "{release} is not in {TABLE}; `cargo xtask kafka settings` writes it"
        );
        let ours = of_release(&table, &releases, &name);
        let theirs: Vec<String> = settings.iter().map(line).collect();
        let differs = ours
            .iter()
            .find(|line| !theirs.contains(line))
            .or_else(|| theirs.iter().find(|line| !ours.contains(line)));
        if let Some(differs) = differs {
            anyhow::bail!(
                "{TABLE} is not what the jars of {release} say: {}",
                differs.replace('\t', " ")
            );
        }
        println!("{release}: {} settings as in its jars", theirs.len());
    }
    Ok(())
}

/// What the jars of one release say.
fn settings(
    root: &Path,
    cache: &JarCache,
    tools: &Tools,
    release: Version,
) -> anyhow::Result<Vec<Setting>> {
    let mut settings = Vec::new();
    for artifact in [Artifact::Worker(release), Artifact::Broker(release)] {
        let jars = cache.jars(artifact)?;
        let output = Command::new(&tools.java)
            .arg("-cp")
            .arg(jars.join("*"))
            .arg(root.join(PROGRAM))
            .output()
            .with_context(|| format!("run {PROGRAM}"))?;
        ensure!(
            output.status.success(),
            "{PROGRAM} on {}: {}",
            artifact.folder_name(),
            String::from_utf8_lossy(&output.stderr)
        );
        let told = String::from_utf8(output.stdout).context("its output is no text")?;
        let before = settings.len();
        for line in told.lines() {
            let mut parts = line.splitn(3, '\t').map(str::to_owned);
            let (Some(whose), Some(name), Some(rest)) = (parts.next(), parts.next(), parts.next())
            else {
                anyhow::bail!("{PROGRAM} told {line:?}");
            };
            settings.push((whose, name, rest));
        }
        ensure!(
            settings.len() > before,
            "{} told nothing",
            artifact.folder_name()
        );
    }
    settings.sort();
    Ok(settings)
}

fn line((whose, name, rest): &Setting) -> String {
    format!("{whose}\t{name}\t{rest}")
}

/// One line for each setting and meaning, with the releases that it is so in.
fn table(read: &[(Version, Vec<Setting>)]) -> String {
    let mut lines: BTreeMap<&Setting, Vec<usize>> = BTreeMap::new();
    for (index, (_, settings)) in read.iter().enumerate() {
        for setting in settings {
            lines.entry(setting).or_default().push(index);
        }
    }
    let releases: Vec<String> = read
        .iter()
        .map(|(release, _)| release.to_string())
        .collect();
    let mut out = format!("{HEAD}releases\t{}\n", releases.join(" "));
    for (setting, indices) in lines {
        out.push_str(&format!(
            "{}\t{}\n",
            line(setting),
            runs(&indices, &releases)
        ));
    }
    out
}

/// `2.5.1-3.0.2 4.4.0`: releases that follow each other as one run.
fn runs(indices: &[usize], releases: &[String]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &index in indices {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => runs.push((index, index)),
        }
    }
    let shown = runs.iter().map(|&(first, last)| {
        if first == last {
            releases[first].clone()
        } else {
            format!("{}-{}", releases[first], releases[last])
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn releases_of(table: &str) -> Vec<String> {
    let line = table
        .lines()
        .find_map(|line| line.strip_prefix("releases\t"));
    line.unwrap_or_default()
        .split(' ')
        .map(str::to_owned)
        .collect()
}

/// The lines of one release, without the releases.
fn of_release(table: &str, releases: &[String], release: &str) -> Vec<String> {
    let position = |name: &str| releases.iter().position(|known| known == name);
    let wanted = position(release);
    let holds = |runs: &str| {
        runs.split(' ').any(|run| {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            position(first) <= wanted && wanted <= position(last)
        })
    };
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.rsplit_once('\t'))
        .filter(|(setting, runs)| *setting != "releases" && holds(runs))
        .map(|(setting, _)| setting.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, default: &str) -> Setting {
        (
            "worker".to_owned(),
            name.to_owned(),
            format!("INT\t{default}\t-"),
        )
    }

    #[test]
    fn a_table_holds_what_each_release_says_and_no_more() {
        let read = [
            (
                Version::new(2, 5, 1),
                vec![setting("a", "1"), setting("gone", "7")],
            ),
            (
                Version::new(3, 0, 2),
                vec![setting("a", "1"), setting("b", "2")],
            ),
            (
                Version::new(4, 4, 0),
                vec![setting("a", "9"), setting("b", "2"), setting("gone", "7")],
            ),
        ];
        let table = table(&read);
        assert!(
            table.contains("worker\ta\tINT\t1\t-\t2.5.1-3.0.2\n"),
            "{table}"
        );
        assert!(
            table.contains("worker\tgone\tINT\t7\t-\t2.5.1 4.4.0\n"),
            "{table}"
        );
        let releases = releases_of(&table);
        assert_eq!(releases, ["2.5.1", "3.0.2", "4.4.0"]);
        for (release, settings) in &read {
            let lines: Vec<String> = settings.iter().map(line).collect();
            let mut found = of_release(&table, &releases, &release.to_string());
            found.sort();
            assert_eq!(found, lines, "{release}");
        }
    }
}
