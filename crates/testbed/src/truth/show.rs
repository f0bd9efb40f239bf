//! A generation as a person reads it: one line, then one line a member.

use std::fmt;

use super::assignment::Work;
use super::derive::TruthGeneration;

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self
            .connectors
            .iter()
            .chain(&self.tasks)
            .map(String::as_str)
            .collect();
        write!(f, "[{}]", names.join(" "))
    }
}

/// Times are not shown: the text is the same from run to run, unlike member ids and ports.
impl fmt::Display for TruthGeneration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leader = self
            .members
            .iter()
            .find(|member| Some(&member.member_id) == self.leader.as_ref())
            .and_then(|member| member.worker.as_deref());
        write!(
            f,
            "{}.{} {} members, {}, leader {}, {}",
            self.incarnation,
            self.generation,
            self.member_count,
            self.protocol.as_deref().unwrap_or("no protocol"),
            leader.unwrap_or("unknown"),
            if self.assignment_ms.is_some() {
                "assigned"
            } else {
                "not assigned"
            }
        )?;
        for departure in &self.departures {
            write!(
                f,
                "\n  departed {} {:?}",
                departure.worker.as_deref().unwrap_or("unknown"),
                departure.way
            )?;
        }
        for member in &self.members {
            let work = |work: &Option<Work>| {
                work.as_ref()
                    .map_or_else(|| "?".to_owned(), Work::to_string)
            };
            write!(
                f,
                "\n  {} +{} -{} owns {} delay {} error {}",
                member.worker.as_deref().unwrap_or("unknown"),
                work(&member.assigned),
                work(&member.revoked),
                work(&member.owned),
                member.delay_ms.unwrap_or(-1),
                member.error.unwrap_or(-1),
            )?;
        }
        match self.unassigned() {
            Some(work) if !work.is_empty() => write!(f, "\n  unassigned {work}"),
            _ => Ok(()),
        }
    }
}
