//! One group on the page.

use evenkeel_core::answers::{Answers, GroupAnswer, GroupState, RoundAnswer};
use evenkeel_core::facts::ids::Protocol;
use evenkeel_core::facts::input::Topic;
use evenkeel_core::facts::time::{ArrivalTime, EventTime};

use super::html::{Html, text};
use super::{checks, derived, episodes, work};
use crate::show::api;
use crate::show::health::{Health, health};
use crate::show::spans::span;
use crate::show::view::AgentStats;

/// Rows of a table; the API has the rest.
pub(super) const ROWS_MAX: usize = 100;
/// Rounds that are shown, the newest ones.
const ROUNDS_MAX: usize = 8;

/// Writes the group.
pub(super) fn write(out: &mut Html, answers: &Answers, agent: &AgentStats, now: ArrivalTime) {
    let health = health(answers, now);
    out.raw("<section>");
    out.raw("<div class=\"title\">");
    out.element("h2", "", &answers.settings.group);
    badges(out, answers, &health);
    out.raw("</div>");
    reasons(out, answers, &health, agent);
    match &answers.group {
        Some(group) => {
            facts(out, answers, group, now);
            work::unassigned(out, answers, now);
            work::disagreements(out, answers, now);
            if let Some(all) = &answers.episodes {
                episodes::write(out, all, now);
            }
            members(out, group);
            rounds(out, &answers.rounds, now);
        }
        None => reading(out, answers, agent),
    }
    findings(out, answers);
    out.raw("</section>");
}

fn badges(out: &mut Html, answers: &Answers, health: &Health) {
    let mut badge = |class: &str, words: &str| {
        out.element("span", &format!("class=\"badge {class}\""), words);
    };
    if answers.settings.masked {
        badge("", "names masked");
    }
    if !health.current {
        badge("bad", "not current");
        return;
    }
    if let Some(group) = &answers.group {
        let class = if group.state == GroupState::Stable {
            "good"
        } else {
            ""
        };
        let state = answers.state.unwrap_or(group.state);
        badge(class, state.label());
    }
    if let Some((class, words)) = derived::badge(answers) {
        badge(class, words);
    }
    let unowned = answers.without_owner().len();
    if unowned > 0 {
        badge("warn", &format!("{unowned} without an owner"));
    }
    if let Some((class, words)) = work::badge(answers) {
        badge(class, &words);
    }
    if !health.trusted {
        badge("warn", "incomplete");
    }
}

/// Why the numbers are not to be trusted, in full, before any of them.
fn reasons(out: &mut Html, answers: &Answers, health: &Health, agent: &AgentStats) {
    let texts = api::reasons(answers, health, agent);
    let note = api::note(answers, health);
    if texts.is_empty() && note.is_none() {
        return;
    }
    out.raw("<ul class=\"reasons\">");
    for reason in texts {
        out.element("li", "", reason.text);
    }
    if let Some(note) = note {
        out.element("li", "", note);
    }
    if !health.current && answers.group.is_some() {
        out.element(
            "li",
            "",
            "what is below was true when it was last read; metrics leave it out",
        );
    }
    out.raw("</ul>");
}

fn facts(out: &mut Html, answers: &Answers, group: &GroupAnswer, now: ArrivalTime) {
    let protocol = group.protocol.map_or("none", Protocol::label);
    let recent = answers.recent;
    let mut list = vec![
        (
            "generation",
            group
                .generation
                .map_or_else(|| "unknown".to_owned(), |number| number.to_string()),
        ),
        (
            "last rebalance",
            group
                .recorded
                .map_or_else(|| "unknown".to_owned(), |at| ago(at, now)),
        ),
        ("members", group.members.len().to_string()),
        (
            "leader",
            group.leader.as_deref().unwrap_or("none").to_owned(),
        ),
        ("protocol", protocol.to_owned()),
        (
            "rounds in 2 · 10 · 30 min",
            format!("{} · {} · {}", recent.in_2m, recent.in_10m, recent.in_30m),
        ),
    ];
    if let Some(configured) = &answers.configured {
        let tasks: i64 = configured
            .connectors
            .iter()
            .map(|each| i64::from(each.tasks))
            .sum();
        let count = configured.connectors.len();
        list.push(("connectors", format!("{count} + {tasks} tasks")));
    }
    list.extend(work::facts(answers));
    list.extend(derived::facts(answers));
    list.extend(checks::fact(answers));
    out.raw("<dl>");
    for (name, value) in list {
        out.raw("<div>");
        out.element("dt", "", name);
        out.element("dd", "", value);
        out.raw("</div>");
    }
    out.raw("</dl>\n");
    derived::line(out, answers);
    checks::lines(out, answers);
    if let Some(workers) = &group.downgraded {
        let who = if workers.is_empty() {
            String::new()
        } else {
            format!(" since {} joined", workers.join(", "))
        };
        out.element(
            "p",
            "class=\"alert\"",
            format!("The protocol fell to {protocol}{who}."),
        );
    }
}

pub(super) fn ago(then: EventTime, now: ArrivalTime) -> String {
    // Two clocks: good enough to read, not to reckon with.
    format!("{} ago", span(now.delay_after_ms(then)))
}

fn members(out: &mut Html, group: &GroupAnswer) {
    if group.members.is_empty() {
        return;
    }
    out.element("h3", "", format!("Members: {}", group.members.len()));
    out.table([
        "worker",
        "connectors",
        "tasks",
        "session",
        "rebalance",
        "from",
        "config offset",
    ]);
    for member in group.members.iter().take(ROWS_MAX) {
        let tasks = member
            .owned
            .iter()
            .filter(|item| item.task.is_some())
            .count();
        let leads = group.leader.as_ref() == Some(&member.worker);
        out.raw("<tr><td>");
        out.raw(&text(&member.worker));
        if leads {
            out.raw(" <span class=\"badge\">leader</span>");
        }
        out.raw("</td>");
        let cells = [
            member.owned.len().saturating_sub(tasks).to_string(),
            tasks.to_string(),
            timeout(member.session_timeout_ms),
            timeout(member.rebalance_timeout_ms),
            member.client_host.trim_start_matches('/').to_owned(),
            member
                .config_offset
                .map_or_else(String::new, |offset| offset.to_string()),
        ];
        for cell in cells {
            out.element("td", "", cell);
        }
        out.raw("</tr>\n");
    }
    out.table_end();
    more(out, group.members.len());
}

fn rounds(out: &mut Html, rounds: &[RoundAnswer], now: ArrivalTime) {
    if rounds.is_empty() {
        return;
    }
    out.element("h3", "", "Last generations");
    out.table([
        "generation",
        "when",
        "members",
        "revoked",
        "assigned",
        "delay",
        "outcome",
    ]);
    for round in rounds.iter().rev().take(ROUNDS_MAX) {
        let revoked: usize = round
            .members
            .iter()
            .map(|member| member.revoked.len())
            .sum();
        let assigned: usize = round
            .members
            .iter()
            .map(|member| member.assigned.len())
            .sum();
        let has_record = round.recorded.is_some();
        let count = |count: usize| {
            if has_record {
                count.to_string()
            } else {
                String::new()
            }
        };
        out.row([
            round.generation.to_string(),
            round
                .recorded
                .map_or_else(|| "left no record".to_owned(), |then| ago(then, now)),
            count(round.members.len()),
            count(revoked),
            count(assigned),
            if round.delay_ms > 0 {
                span(i64::from(round.delay_ms))
            } else {
                String::new()
            },
            round
                .outcome
                .map_or("open", |outcome| outcome.label())
                .to_owned(),
        ]);
    }
    out.table_end();
}

/// While nothing is known of the group: how far the first reading is.
fn reading(out: &mut Html, answers: &Answers, agent: &AgentStats) {
    out.table(["topic", "records read", "of the first reading", "left"]);
    for topic in Topic::ALL {
        let read = agent.input(&answers.settings.group, topic);
        let start_up = read.and_then(|read| read.start_up);
        let left = start_up
            .filter(|start_up| start_up.ratio() < 1.0)
            .and_then(|s| s.left_seconds());
        out.row([
            topic.label().to_owned(),
            read.map_or(0, |read| read.records_read).to_string(),
            start_up.map_or_else(String::new, |s| format!("{:.0} %", s.ratio() * 100.0)),
            left.map_or_else(String::new, |seconds| span((seconds * 1000.0) as i64)),
        ]);
    }
    out.table_end();
}

fn findings(out: &mut Html, answers: &Answers) {
    if answers.findings.is_empty() {
        return;
    }
    out.element("h3", "", "Worth knowing");
    out.raw("<ul>");
    for finding in answers.findings.iter().take(ROWS_MAX) {
        out.element("li", "", format!("{}: {}", finding.subject, finding.text));
    }
    out.raw("</ul>");
    more(out, answers.findings.len());
}

pub(super) fn more(out: &mut Html, count: usize) {
    if count > ROWS_MAX {
        let line = format!(
            "… and {} more, all of them in /api/v1/state.",
            count - ROWS_MAX
        );
        out.element("p", "class=\"quiet\"", line);
    }
}

/// A timeout, where the records tell it.
fn timeout(ms: Option<i32>) -> String {
    ms.map_or_else(String::new, |ms| span(i64::from(ms)))
}
