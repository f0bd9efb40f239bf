//! Comparing what is told with the truth, so that comparing nothing is a failure.

use std::fmt::Debug;

use anyhow::bail;

/// Counts what was compared and collects what differs.
#[derive(Debug, Default)]
#[must_use = "only finish() says whether the comparison held"]
pub struct Comparison {
    compared: usize,
    differences: Vec<String>,
}

impl Comparison {
    pub fn new() -> Comparison {
        Comparison::default()
    }

    /// `told` must equal `truth`.
    pub fn equal<T: PartialEq + Debug>(&mut self, what: &str, truth: &T, told: &T) {
        self.compared += 1;
        if truth != told {
            self.differences
                .push(format!("{what}: told {told:?}, truth {truth:?}"));
        }
    }

    /// `told` must lie within `tolerance_ms` of `truth`.
    pub fn within(&mut self, what: &str, truth_ms: i64, told_ms: i64, tolerance_ms: i64) {
        self.compared += 1;
        let off_ms = told_ms - truth_ms;
        if off_ms.abs() > tolerance_ms {
            self.differences.push(format!(
                "{what}: told {told_ms}, {off_ms} ms off the truth, more than {tolerance_ms} ms"
            ));
        }
    }

    /// The truth must lie inside an interval that is no wider than `width_ms_max`.
    pub fn inside(&mut self, what: &str, truth_ms: i64, told_ms: (i64, i64), width_ms_max: i64) {
        self.compared += 1;
        let (from, to) = told_ms;
        if truth_ms < from || truth_ms > to || to - from > width_ms_max {
            self.differences.push(format!(
                "{what}: told {from} to {to} (at most {width_ms_max} ms wide), truth {truth_ms}"
            ));
        }
    }

    /// Something that can only differ: a thing told that does not exist, or the reverse.
    pub fn differs(&mut self, what: impl Into<String>) {
        self.compared += 1;
        self.differences.push(what.into());
    }

    pub fn compared(&self) -> usize {
        self.compared
    }

    /// How much was compared, if nothing differed.
    ///
    /// # Errors
    /// When something differed, and when nothing was compared.
    pub fn finish(self) -> anyhow::Result<usize> {
        if self.compared == 0 {
            bail!("nothing was compared");
        }
        if !self.differences.is_empty() {
            bail!(
                "{} of {} differ:\n{}",
                self.differences.len(),
                self.compared,
                self.differences.join("\n")
            );
        }
        Ok(self.compared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_compared_is_a_failure() {
        let error = Comparison::new().finish().unwrap_err();
        assert_eq!(error.to_string(), "nothing was compared");
    }

    #[test]
    fn names_what_differs() {
        let mut comparison = Comparison::new();
        comparison.equal("generation", &7, &7);
        comparison.within("join end", 1000, 1020, 20);
        comparison.inside("prepared", 1000, (900, 1400), 500);
        assert_eq!(comparison.compared(), 3);
        comparison.equal("leader", &"a", &"b");
        comparison.within("join end", 1000, 979, 20);
        comparison.inside("prepared", 1000, (1001, 1400), 500);
        comparison.inside("prepared", 1000, (800, 1400), 500);
        let error = comparison.finish().unwrap_err().to_string();
        assert!(error.starts_with("4 of 7 differ"), "{error}");
        assert!(error.contains("leader: told \"b\", truth \"a\""), "{error}");
    }

    #[test]
    fn counts_what_held() {
        let mut comparison = Comparison::new();
        comparison.equal("generation", &7, &7);
        assert_eq!(comparison.finish().unwrap(), 1);
    }
}
