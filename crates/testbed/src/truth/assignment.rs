//! Connectors and tasks as Kafka's own `toString` prints them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::text::{between, number_after};

/// Connectors and tasks by name; a task is `connector-index`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    pub connectors: BTreeSet<String>,
    pub tasks: BTreeSet<String>,
}

impl Work {
    pub fn is_empty(&self) -> bool {
        self.connectors.is_empty() && self.tasks.is_empty()
    }

    pub fn len(&self) -> usize {
        self.connectors.len() + self.tasks.len()
    }

    /// Adds all of `other`.
    pub fn add(&mut self, other: &Work) {
        self.connectors.extend(other.connectors.iter().cloned());
        self.tasks.extend(other.tasks.iter().cloned());
    }

    /// What is here and not in `other`.
    #[must_use]
    pub fn without(&self, other: &Work) -> Work {
        let minus = |ours: &BTreeSet<String>, theirs| ours.difference(theirs).cloned().collect();
        Work {
            connectors: minus(&self.connectors, &other.connectors),
            tasks: minus(&self.tasks, &other.tasks),
        }
    }

    /// Reads `connectorIds=[a, b], taskIds=[a-0]`, whatever stands around it. The labels
    /// differ for revoked work.
    fn labelled(text: &str, connectors: &str, tasks: &str) -> Option<Work> {
        Some(Work {
            connectors: names(text, connectors)?,
            tasks: names(text, tasks)?,
        })
    }

    /// Reads `{ connectorIds=[a, b], taskIds=[a-0]}`.
    pub(super) fn parse(text: &str) -> Option<Work> {
        Work::labelled(text, "connectorIds=", "taskIds=")
    }
}

fn names(text: &str, label: &str) -> Option<BTreeSet<String>> {
    // Java prints null for an array that is not there.
    if text.contains(&format!("{label}null")) {
        return Some(BTreeSet::new());
    }
    let list = between(text, &format!("{label}["), "]")?;
    Some(
        list.split(", ")
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// One member's assignment, as `ExtendedAssignment.toString` prints it. Whether `assigned`
/// is a delta or a total depends on the line it was printed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// 0, or 1 for CONFIG_MISMATCH.
    pub error: i64,
    /// Member id of the leader.
    pub leader: String,
    pub leader_url: String,
    pub config_offset: i64,
    pub assigned: Work,
    pub revoked: Work,
    pub delay_ms: i64,
}

impl Assignment {
    /// Reads the first `Assignment{...}` of the text.
    pub(super) fn parse(text: &str) -> Option<Assignment> {
        let body = between(text, "Assignment{", "}")?;
        // The labels of revoked work contain those of assigned work, in another case.
        Some(Assignment {
            error: number_after(body, "error=")?,
            leader: between(body, "leader='", "'")?.to_owned(),
            leader_url: between(body, "leaderUrl='", "'")?.to_owned(),
            config_offset: number_after(body, "offset=")?,
            assigned: Work::parse(body)?,
            // Assignments of protocol version 0 may be printed without what they lack.
            revoked: Work::labelled(body, "revokedConnectorIds=", "revokedTaskIds=")
                .unwrap_or_default(),
            delay_ms: number_after(body, "delay=").unwrap_or(0),
        })
    }

    /// Reads `{member=Assignment{...}, member=Assignment{...}}`.
    pub(super) fn parse_all(text: &str) -> Option<Vec<(String, Assignment)>> {
        let body = text.strip_prefix('{')?;
        let mut all = Vec::new();
        let mut rest = body;
        while let Some((member, tail)) = rest.split_once("=Assignment{") {
            let (own, next) = tail.split_once('}')?;
            let assignment = Assignment::parse(&format!("Assignment{{{own}}}"))?;
            all.push((member.trim_start_matches(", ").to_owned(), assignment));
            rest = next;
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &str = "{a-1=Assignment{error=0, leader='a-1', leaderUrl='http://h:1/', offset=7, \
        connectorIds=[src], taskIds=[src-0, src-2], revokedConnectorIds=[], revokedTaskIds=[snk-1], \
        delay=40}, b-2=Assignment{error=1, leader='a-1', leaderUrl='http://h:1/', offset=-1, \
        connectorIds=[], taskIds=[], revokedConnectorIds=[x], revokedTaskIds=[], delay=0}}";

    #[test]
    fn reads_all_members() {
        let all = Assignment::parse_all(BOTH).unwrap();
        assert_eq!(all.len(), 2);
        let (member, first) = &all[0];
        assert_eq!(member, "a-1");
        assert_eq!(first.assigned.connectors, ["src".to_owned()].into());
        assert_eq!(first.assigned.tasks.len(), 2);
        assert_eq!(first.revoked.connectors.len(), 0);
        assert_eq!(first.revoked.tasks, ["snk-1".to_owned()].into());
        assert_eq!((first.config_offset, first.delay_ms), (7, 40));
        let (member, second) = &all[1];
        assert_eq!(member, "b-2");
        assert_eq!((second.error, second.config_offset), (1, -1));
        assert_eq!(second.revoked.connectors, ["x".to_owned()].into());
        assert_eq!(Assignment::parse_all("{}").unwrap(), []);
    }

    #[test]
    fn a_cut_line_is_no_assignment() {
        let one = &BOTH[..BOTH.find('}').unwrap()];
        assert_eq!(Assignment::parse(one), None);
        assert_eq!(Assignment::parse(""), None);
    }

    #[test]
    fn subtracts() {
        let all = Work::parse("{ connectorIds=[a, b], taskIds=[a-0]}").unwrap();
        let some = Work::parse("{ connectorIds=[b], taskIds=[]}").unwrap();
        assert_eq!(all.without(&some).len(), 2);
        assert!(some.without(&all).is_empty());
    }
}
