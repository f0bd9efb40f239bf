//! What `/readyz`, `/api/v1/state`, `/api/v1/episodes` and `/api/v1/checks` say, as JSON.

mod checks;
mod episodes;

use std::sync::Arc;

use evenkeel_core::answers::{Answers, Mode};
use evenkeel_core::facts::input::{Settings, Topic, Trouble};
use evenkeel_core::facts::time::ArrivalTime;
use serde::Serialize;

use crate::show::health::{About, Health, Reason, Why, health};
use crate::show::traces::Named;
use crate::show::view::{AgentStats, Published};
pub(super) use checks::checks;
pub(super) use episodes::episodes;

/// The answer of `/readyz`.
#[derive(Debug, Serialize)]
struct Ready<'a> {
    ready: bool,
    groups: Vec<ReadyGroup<'a>>,
}

#[derive(Debug, Serialize)]
struct ReadyGroup<'a> {
    group: &'a str,
    current: bool,
    trusted: bool,
    mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    reasons: Vec<ReasonText<'a>>,
}

/// One reason, in words for a person and one word for a program.
#[derive(Debug, Serialize)]
pub(super) struct ReasonText<'a> {
    /// The input, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<&'static str>,
    /// The topic's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) topic: Option<&'a str>,
    /// In one word.
    pub(super) reason: &'static str,
    /// In a sentence, with what to do where that is known.
    pub(super) text: String,
}

/// The answer of `/api/v1/state`.
#[derive(Debug, Serialize)]
struct State<'a> {
    now: ArrivalTime,
    agent: AgentState<'a>,
    groups: Vec<GroupState<'a>>,
}

#[derive(Debug, Serialize)]
struct AgentState<'a> {
    version: &'a str,
    librdkafka: &'a str,
    started: Option<ArrivalTime>,
}

#[derive(Debug, Serialize)]
struct GroupState<'a> {
    current: bool,
    trusted: bool,
    reasons: Vec<ReasonText<'a>>,
    reading: Vec<Reading>,
    /// The episode that is open; all of them are at `/api/v1/episodes`.
    episode: Option<Named<'a>>,
    #[serde(flatten)]
    answers: &'a Answers,
}

/// How far the first reading of a topic is.
#[derive(Debug, Serialize)]
struct Reading {
    input: &'static str,
    records_read: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_up_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_seconds: Option<f64>,
}

#[derive(Debug, Serialize)]
struct NoSuchGroup<'a> {
    error: String,
    groups: Vec<&'a str>,
}

impl<'a> NoSuchGroup<'a> {
    fn of(name: &str, published: &'a Published) -> Self {
        let known = published.groups.iter();
        let known = known.map(|answers| answers.settings.group.as_str());
        Self {
            error: format!("no group {name} is watched here"),
            groups: known.collect(),
        }
    }
}

/// Whether every group is current, and the answer of `/readyz`.
pub(super) fn ready(published: &Published, now: ArrivalTime) -> (bool, String) {
    let groups: Vec<_> = published
        .groups
        .iter()
        .map(|answers| {
            let health = health(answers, now);
            ReadyGroup {
                group: &answers.settings.group,
                current: health.current,
                trusted: health.trusted,
                mode: answers.mode,
                note: pending(&published.agent)
                    .or_else(|| unkept(&published.agent, &answers.settings.group))
                    .or_else(|| note(answers, &health).map(str::to_owned)),
                reasons: reasons(answers, &health, &published.agent),
            }
        })
        .collect();
    let ready = !groups.is_empty() && groups.iter().all(|group| group.current);
    (ready, json(&Ready { ready, groups }))
}

/// The answer of `/api/v1/state`: of all groups, or of the one that is wanted; an
/// error if there is none of that name.
pub(super) fn state(
    published: &Published,
    now: ArrivalTime,
    wanted: Option<&str>,
) -> Result<String, String> {
    let is_wanted =
        |answers: &&Arc<Answers>| wanted.is_none_or(|name| answers.settings.group == name);
    let groups: Vec<_> = published
        .groups
        .iter()
        .filter(is_wanted)
        .map(|answers| group_state(answers, published, now))
        .collect();
    if let (Some(name), true) = (wanted, groups.is_empty()) {
        return Err(json(&NoSuchGroup::of(name, published)));
    }
    let build = &published.agent.build;
    let agent = AgentState {
        version: &build.version,
        librdkafka: &build.librdkafka,
        started: published.agent.started,
    };
    Ok(json(&State { now, agent, groups }))
}

fn group_state<'a>(
    answers: &'a Answers,
    published: &'a Published,
    now: ArrivalTime,
) -> GroupState<'a> {
    let health = health(answers, now);
    let reading = Topic::ALL.into_iter().filter_map(|topic| {
        let input = published.agent.input(&answers.settings.group, topic)?;
        Some(Reading {
            input: topic.label(),
            records_read: input.records_read,
            start_up_ratio: input.start_up.map(|start_up| start_up.ratio()),
            left_seconds: input.start_up.and_then(|start_up| start_up.left_seconds()),
        })
    });
    GroupState {
        current: health.current,
        trusted: health.trusted,
        reasons: reasons(answers, &health, &published.agent),
        reading: reading.collect(),
        episode: answers
            .episodes
            .as_ref()
            .and_then(|all| all.open.as_deref())
            .map(|episode| Named::of(&answers.settings, episode)),
        answers,
    }
}

/// What cannot be read now, in the words of `/readyz`: whose right is missing, what stands in
/// the way. For the log.
#[must_use]
pub fn troubles(answers: &Answers, agent: &AgentStats, now: ArrivalTime) -> Vec<String> {
    let health = health(answers, now);
    let reasons = health.reasons.iter();
    let troubles = reasons.filter(|reason| matches!(reason.why, Why::Trouble(_)));
    troubles
        .map(|reason| text(reason, &answers.settings, agent))
        .collect()
}

/// What the configuration says and the agent does not do yet.
fn pending(agent: &AgentStats) -> Option<String> {
    let changes = agent.pending.join("; ");
    (!changes.is_empty()).then(|| {
        format!("the configuration changed and is not in use, restart the agent: {changes}")
    })
}

/// Why a restart would begin at zero although a folder is named.
fn unkept(agent: &AgentStats, group: &str) -> Option<String> {
    let trouble = agent.unkept.get(group)?;
    Some(format!(
        "the state cannot be written, counters begin at zero after a restart: {trouble}"
    ))
}

/// What a person would wonder about although nothing is wrong with an input.
pub(super) fn note(answers: &Answers, health: &Health) -> Option<&'static str> {
    (health.current && answers.state.is_some() && answers.group.is_none()).then_some(
        "no record of this group exists: no worker has joined yet, or the group.id is another",
    )
}

/// The reasons in words.
pub(super) fn reasons<'a>(
    answers: &'a Answers,
    health: &Health,
    agent: &AgentStats,
) -> Vec<ReasonText<'a>> {
    let texts = health.reasons.iter().map(|reason| ReasonText {
        input: match reason.about {
            About::Topic(topic) => Some(topic.label()),
            About::Polls => Some("polls"),
            About::All => None,
        },
        topic: match reason.about {
            About::Topic(topic) => Some(name(&answers.settings, topic)),
            About::Polls | About::All => None,
        },
        reason: reason.why.label(),
        text: searching(reason, &answers.settings, agent)
            .unwrap_or_else(|| text(reason, &answers.settings, agent)),
    });
    texts.collect()
}

fn name(settings: &Settings, topic: Topic) -> &str {
    match topic {
        Topic::Offsets => &settings.offsets_topic,
        Topic::Config => &settings.config_topic,
        Topic::Status => &settings.status_topic,
    }
}

/// While a topic is searched for the group's records: how far that is.
fn searching(reason: &Reason, settings: &Settings, agent: &AgentStats) -> Option<String> {
    let About::Topic(topic) = reason.about else {
        return None;
    };
    let is_start = matches!(reason.why, Why::NotStarted | Why::CatchingUp { .. });
    let start_up = agent.input(&settings.group, topic)?.start_up;
    let start_up = start_up.filter(|start_up| is_start && start_up.ratio() < 1.0)?;
    let percent = start_up.ratio() * 100.0;
    let left = start_up.left_seconds();
    let left = left.map_or_else(String::new, |left| format!(", {left:.0} s left"));
    let name = name(settings, topic);
    Some(format!(
        "{name} is searched for the group's records: {percent:.0} %{left}"
    ))
}

fn text(reason: &Reason, settings: &Settings, agent: &AgentStats) -> String {
    let who = agent
        .principals
        .get(&settings.group)
        .map_or("the agent's principal", String::as_str);
    let topic = match reason.about {
        About::Topic(topic) => name(settings, topic),
        About::Polls => {
            let polls = agent.polls.iter();
            let mut polls = polls.filter(|polls| *polls.group == settings.group);
            let off = polls.next().and_then(|polls| polls.off.as_deref());
            let hitch = agent.hitch(&settings.group, None);
            return polls_text(reason.why, &settings.group, who, off, hitch);
        }
        About::All => "the inputs",
    };
    let of_topic = match reason.about {
        About::Topic(topic) => agent.hitch(&settings.group, Some(topic)),
        About::Polls | About::All => None,
    };
    // Rights and topics that are missing were told over a connection that is well.
    let is_of_connection = |trouble| !matches!(trouble, Trouble::Denied | Trouble::Missing);
    if let (Why::Trouble(trouble), Some(hitch)) = (reason.why, of_topic)
        && is_of_connection(trouble)
    {
        return format!("{topic} cannot be read: {hitch}");
    }
    match reason.why {
        Why::Trouble(Trouble::Denied) => {
            format!("{topic} may not be read: {who} needs READ and DESCRIBE on it")
        }
        Why::Trouble(Trouble::Missing) => {
            format!("{topic} does not exist, or {topic} lacks the partition that is needed")
        }
        Why::Trouble(Trouble::Unreachable) => format!("{topic} cannot be read: no broker answers"),
        Why::Trouble(Trouble::Unauthenticated) => {
            format!("{topic} cannot be read: the broker refuses the agent's credentials")
        }
        Why::Trouble(Trouble::Other) => {
            format!("{topic} cannot be read; the agent's log names the error")
        }
        Why::NotStarted => format!("nothing was heard of {topic} yet"),
        Why::CatchingUp { lag_records } => {
            format!("{topic} is read for the first time, {lag_records} records are left")
        }
        Why::Unconfirmed { age_ms } => {
            format!("{topic} was last confirmed current {} s ago", age_ms / 1000)
        }
        Why::Settling => "all topics are read, the answers are about to follow".to_owned(),
        Why::Sampled => format!(
            "there is more of group {} in {topic} than this agent may read: it reads the newest \
             record once a second, and what lies between is not known here",
            settings.group
        ),
        Why::HistoryIncomplete => {
            "the group is known now, but the history before it has a hole".to_owned()
        }
        Why::Contradicted => {
            format!("{topic} is not what the group works with: the findings say how")
        }
        Why::GroupAbsent => format!(
            "no record of group {} exists: no worker has joined it yet, or the workers' group.id is \
             another",
            settings.group
        ),
    }
}

fn polls_text(why: Why, group: &str, who: &str, off: Option<&str>, hitch: Option<&str>) -> String {
    let so = "its state at this moment is not known";
    if let Some(off) = off {
        return format!("the coordinator of group {group} is not asked ({off}); {so}");
    }
    match (why, hitch) {
        (Why::Trouble(trouble), Some(hitch)) if trouble != Trouble::Denied => {
            format!("the coordinator of group {group} is not reached: {hitch}; {so}")
        }
        _ => plain_polls_text(why, group, who),
    }
}

fn plain_polls_text(why: Why, group: &str, who: &str) -> String {
    let so = "its state at this moment is not known";
    match why {
        Why::Trouble(Trouble::Denied) => {
            format!("group {group} may not be described: {who} needs DESCRIBE on it; {so}")
        }
        Why::Trouble(Trouble::Unauthenticated) => {
            format!("the coordinator of group {group} refuses the agent's credentials; {so}")
        }
        Why::Trouble(_) => format!("the coordinator of group {group} does not answer; {so}"),
        Why::NotStarted | Why::CatchingUp { .. } | Why::Settling => {
            format!("the coordinator of group {group} was not heard of yet")
        }
        Why::Unconfirmed { age_ms } => format!(
            "the coordinator of group {group} last answered {} s ago; {so}",
            age_ms / 1000
        ),
        Why::Sampled | Why::HistoryIncomplete | Why::Contradicted | Why::GroupAbsent => {
            so.to_owned()
        }
    }
}

/// Values of ours always have a JSON form; were one without, the answer would say so.
fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value)
        .unwrap_or_else(|error| format!("{{\"error\":\"not written as json: {error}\"}}"));
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
