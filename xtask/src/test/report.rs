//! The table at the end of `cargo xtask test`.

use std::fmt;
use std::time::Duration;

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    /// Why.
    Skipped(String),
    /// What went wrong.
    Failed(String),
}

/// One step.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
}

/// All steps, in the order they ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    lines: Vec<Line>,
}

// === impl Line ===

impl Line {
    /// A step that a failed one left nothing to do for.
    pub(crate) fn not_run(name: &'static str) -> Line {
        let verdict = Verdict::Skipped("an earlier step failed".to_owned());
        Line {
            name,
            verdict,
            took: Duration::ZERO,
        }
    }

    pub(crate) fn failed(&self) -> bool {
        matches!(self.verdict, Verdict::Failed(_))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let took = self.took.as_secs_f64();
        match &self.verdict {
            Verdict::Passed => write!(f, "{:<9} {took:>7.1} s  passed", self.name),
            Verdict::Skipped(why) => write!(f, "{:<9} {took:>7.1} s  skipped: {why}", self.name),
            Verdict::Failed(what) => write!(f, "{:<9} {took:>7.1} s  FAILED: {what}", self.name),
        }
    }
}

// === impl Report ===

impl Report {
    pub(crate) fn add(&mut self, line: Line) {
        self.lines.push(line);
    }

    pub(crate) fn failed(&self) -> usize {
        self.lines.iter().filter(|line| line.failed()).count()
    }
}

/// Ends in a line that CI reads: it counts steps.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        let took: Duration = self.lines.iter().map(|line| line.took).sum();
        writeln!(f, "{:<9} {:>7.1} s\n", "all", took.as_secs_f64())?;
        let passed = self
            .lines
            .iter()
            .filter(|line| line.verdict == Verdict::Passed)
            .count();
        write!(f, "{passed} passed, {} failed", self.failed())?;
        match self.lines.len() - passed - self.failed() {
            0 => Ok(()),
            skipped => write!(f, ", {skipped} skipped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_a_step_and_the_count_last() {
        let mut report = Report::default();
        let took = Duration::from_millis(1234);
        report.add(Line {
            name: "fmt",
            verdict: Verdict::Passed,
            took,
        });
        assert!(report.to_string().ends_with("\n1 passed, 0 failed"));
        let failed = Verdict::Failed("cargo build ended with 101".to_owned());
        report.add(Line {
            name: "build",
            verdict: failed,
            took,
        });
        report.add(Line::not_run("live"));
        assert_eq!(
            report.to_string(),
            "
fmt           1.2 s  passed
build         1.2 s  FAILED: cargo build ended with 101
live          0.0 s  skipped: an earlier step failed
all           2.5 s

1 passed, 1 failed, 1 skipped"
        );
        assert_eq!(report.failed(), 1);
    }
}
