//! Which tests need a real Kafka: a test target named `live`, and a module `live` of any
//! other.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

use crate::cargo;

/// The name of a target that needs a real Kafka as a whole.
pub(crate) const LIVE: &str = "live";
/// How names of tests begin that need a real Kafka in other targets.
pub(crate) const LIVE_MODULE: &str = "live::";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// The names of all integration tests of the workspace.
pub(crate) fn integration(root: &Path) -> anyhow::Result<BTreeSet<String>> {
    let told = cargo::output(root, &["metadata", "--no-deps", "--format-version", "1"])?;
    parse(&told)
}

fn parse(metadata: &str) -> anyhow::Result<BTreeSet<String>> {
    let metadata: Metadata =
        serde_json::from_str(metadata).context("read what cargo metadata wrote")?;
    let targets = metadata
        .packages
        .into_iter()
        .flat_map(|package| package.targets);
    let tests = targets.filter(|target| target.kind.iter().any(|kind| kind == "test"));
    Ok(tests.map(|target| target.name).collect())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn tests_are_told_from_programs() {
        let metadata = r#"{"packages": [
            {"name": "a", "targets": [
                {"name": "a", "kind": ["lib"]},
                {"name": "it", "kind": ["test"]}]},
            {"name": "b", "targets": [
                {"name": "live", "kind": ["test"]},
                {"name": "b", "kind": ["bin"]}]}]}"#;
        let found: Vec<String> = parse(metadata).unwrap().into_iter().collect();
        assert_eq!(found, ["it", "live"]);
    }
}
