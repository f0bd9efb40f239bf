//! What the core is built with equals a list that is kept by hand.
//!
//! An allow-list, since a ban passes on a name that is mistyped. Releases are Cargo.lock's.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;

use super::Problem;
use crate::cargo;

const LIST: &str = "xtask/core-dependencies.txt";

pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let tree = [
        "tree",
        "--package",
        "evenkeel-core",
        "--edges",
        "normal",
        "--prefix",
        "none",
    ];
    let tree = cargo::output(root, &tree)?;
    let list = std::fs::read_to_string(root.join(LIST)).with_context(|| format!("read {LIST}"))?;
    Ok(compare(&tree, &list))
}

fn compare(tree: &str, list: &str) -> Vec<Problem> {
    // `serde v1.0.229 (*)`: name, release, and that its own are told elsewhere.
    let found: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let found: BTreeSet<&str> = found.into_iter().filter(|name| !name.is_empty()).collect();
    let allowed: BTreeSet<&str> = list
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let new = found.difference(&allowed).map(|name| {
        Problem::new(
            LIST,
            format!("the core is built with {name}, which is not listed"),
        )
    });
    let gone = allowed
        .difference(&found)
        .map(|name| Problem::new(LIST, format!("lists {name}, which the core does not use")));
    new.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tree: &str, list: &str) -> Vec<String> {
        compare(tree, list)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn the_tree_equals_the_list() {
        let tree = "evenkeel-core v0.1.0 (/a/b)\nserde v1.0.229\nserde_core v1.0.229\n\nserde v1.0.229 (*)\n";
        assert_eq!(
            told(tree, "# Why.\nevenkeel-core\nserde\nserde_core\n"),
            [""; 0]
        );
        assert_eq!(
            told(tree, "evenkeel-core\nserde\ntokio\n"),
            [
                "xtask/core-dependencies.txt: the core is built with serde_core, which is not listed",
                "xtask/core-dependencies.txt: lists tokio, which the core does not use",
            ]
        );
    }
}
