//! `cargo xtask tidy`: the rules of the house that no compiler holds, each with what
//! broke it.

pub(crate) mod alerts;
mod dependencies;
mod imports;
pub(crate) mod map;
pub(crate) mod names;
mod scan;
mod texts;
pub(crate) mod tree;

use std::fmt;

use clap::Args;

use crate::{boards, cargo, docs};

#[derive(Args)]
pub(crate) struct Tidy {
    /// Prints the code map of ARCHITECTURE.md and checks nothing
    #[arg(long)]
    code_map: bool,
    /// Leaves out the generated documents, for which the agent must be built
    #[arg(long)]
    quick: bool,
}

/// What broke a rule, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    path: String,
    line: Option<usize>,
    text: String,
}

// === impl Problem ===

impl Problem {
    pub(crate) fn new(path: &str, text: String) -> Problem {
        Problem {
            path: path.to_owned(),
            line: None,
            text,
        }
    }

    pub(crate) fn at(path: &str, line: usize, text: String) -> Problem {
        Problem {
            path: path.to_owned(),
            line: Some(line),
            text,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.text),
            None => write!(f, "{}: {}", self.path, self.text),
        }
    }
}

pub(crate) fn run(args: &Tidy) -> anyhow::Result<()> {
    let root = cargo::root()?;
    let files = tree::read(&root)?;
    if args.code_map {
        print!("{}", map::generate(&files));
        return Ok(());
    }
    let mut problems: Vec<Problem> = files.iter().flat_map(imports::check).collect();
    problems.extend(files.iter().flat_map(texts::check));
    problems.extend(texts::changelog(&files));
    problems.extend(names::check(&files));
    problems.extend(alerts::check(&files));
    problems.extend(map::check(&files));
    problems.extend(boards::check(&root)?);
    problems.extend(dependencies::check(&root)?);
    if !args.quick {
        problems.extend(docs::check(&root)?);
    }
    end_with(&problems);
    eprintln!("{} files are tidy", files.len());
    Ok(())
}

/// Tells the problems and ends the program with a failure, if there are any.
pub(crate) fn end_with(problems: &[Problem]) {
    for problem in problems {
        eprintln!("{problem}");
    }
    if !problems.is_empty() {
        eprintln!("{} problems", problems.len());
        std::process::exit(1);
    }
}
