//! Group records from the words of a scenario.

use evenkeel_core::wire::encode::{self, AssignmentSpec, Items, SubscriptionSpec, items_of};
use evenkeel_core::wire::group_record::{GroupMetadata, Member};

use super::BASE_MS;

/// The value of a group record; `None` is a tombstone.
pub(super) fn value(at: i64, rest: &str, last: &mut Vec<RoundSpec>) -> Option<Vec<u8>> {
    let mut parts = rest.split('|').map(str::trim);
    let head: Vec<&str> = parts.next().unwrap().split_whitespace().skip(1).collect();
    match head[0] {
        "gone" => return None,
        "unreadable" => return Some(vec![0, 99]),
        _ => {}
    }
    let field = |name: &str| head.iter().find_map(|word| word.strip_prefix(name));
    let number = |name: &str, default: i64| {
        field(name).map_or(default, |text| text.parse::<i64>().expect("a number"))
    };
    let join = field("join=").map_or(at, |seconds| {
        BASE_MS + (seconds.parse::<f64>().unwrap() * 1000.0).round() as i64
    });
    let protocol = head[1];
    let members: Vec<MemberSpec> = parts.map(MemberSpec::parse).collect();
    let leader = head
        .get(2)
        .filter(|_| protocol != "empty")
        .map(|name| id_of(name));
    let timeout = i32::try_from(number("timeout=", 60_000)).unwrap();
    let spec = RoundSpec {
        version: match protocol {
            "default" => 0,
            "compatible" => 1,
            _ => 2,
        },
        leader: leader.clone().unwrap_or_default(),
        leader_url: match (field("url="), head.get(2)) {
            (Some(url), _) => url.to_owned(),
            (None, None) => String::new(),
            (None, Some(name)) => {
                format!(
                    "http://{}:8083/",
                    name.split('#').next().unwrap_or_default()
                )
            }
        },
        config_offset: number("off=", 0),
        delay_ms: i32::try_from(number("delay=", 0)).unwrap(),
        error: i16::try_from(number("err=", 0)).unwrap(),
    };
    let bytes: Vec<_> = members
        .iter()
        .map(|member| {
            let client = format!("connect-{}", member.name);
            (
                member.id(),
                client,
                format!("/{}", member.host),
                member.subscription(&spec, last),
                member.assignment(&spec),
                member.session_ms,
            )
        })
        .collect();
    let value = encode::group_metadata(&GroupMetadata {
        version: 3,
        protocol_type: field("type=").unwrap_or("connect"),
        generation: head[0].parse().expect("a generation"),
        protocol: (protocol != "empty").then_some(protocol),
        leader: leader.as_deref(),
        current_state_timestamp_ms: Some(join),
        members: bytes
            .iter()
            .map(
                |(id, client, host, subscription, assignment, session_ms)| Member {
                    member_id: id,
                    group_instance_id: None,
                    client_id: client,
                    client_host: host,
                    rebalance_timeout_ms: Some(timeout),
                    session_timeout_ms: *session_ms,
                    subscription,
                    assignment,
                },
            )
            .collect(),
    })
    .unwrap();
    last.push(spec);
    Some(value)
}

/// What all members of a round are handed.
#[derive(Clone)]
pub(super) struct RoundSpec {
    version: i16,
    leader: String,
    leader_url: String,
    config_offset: i64,
    delay_ms: i32,
    error: i16,
}

struct MemberSpec {
    name: String,
    url: String,
    host: String,
    session_ms: i32,
    /// What it had read of the config topic, where that is not what the round was made from.
    config_offset: Option<i64>,
    claim: Option<String>,
    /// Whether it did not receive the round before.
    missed: bool,
    add: String,
    rev: String,
}

impl MemberSpec {
    fn parse(text: &str) -> Self {
        let (name, rest) = text.split_once(':').expect("member: fields");
        let field = |wanted: &str| {
            rest.split_whitespace()
                .find_map(|word| word.strip_prefix(wanted))
                .map(str::to_owned)
        };
        let worker = name.split('#').next().unwrap();
        Self {
            name: name.to_owned(),
            url: field("url=").unwrap_or_else(|| format!("http://{worker}:8083/")),
            host: field("host=").unwrap_or_else(|| "192.0.2.1".to_owned()),
            session_ms: field("session=").map_or(10_000, |ms| ms.parse().unwrap()),
            config_offset: field("off=").map(|offset| offset.parse().unwrap()),
            claim: field("claim="),
            missed: rest.split_whitespace().any(|word| word == "missed"),
            add: field("add=").unwrap_or_default(),
            rev: field("rev=").unwrap_or_default(),
        }
    }

    fn id(&self) -> String {
        id_of(&self.name)
    }

    /// A claim still carries what the worker was handed in the round before.
    fn subscription(&self, round: &RoundSpec, last: &[RoundSpec]) -> Vec<u8> {
        let back = if self.missed { 2 } else { 1 };
        // Before the first round of a scenario there was another one.
        let older = RoundSpec {
            config_offset: -1,
            ..round.clone()
        };
        let received = last.iter().rev().nth(back - 1).unwrap_or(&older);
        let claim = match self.claim.as_deref() {
            None | Some("none") => None,
            Some(items) => Some(AssignmentSpec {
                version: round.version,
                error: 0,
                leader: &received.leader,
                leader_url: &received.leader_url,
                config_offset: received.config_offset,
                assigned: Some(list(items)),
                revoked: Some(Vec::new()),
                delay_ms: received.delay_ms,
            }),
        };
        encode::subscription(&SubscriptionSpec {
            version: round.version,
            url: &self.url,
            config_offset: self.config_offset.unwrap_or(round.config_offset),
            claim: claim.filter(|_| round.version > 0),
        })
        .unwrap()
    }

    fn assignment(&self, round: &RoundSpec) -> Vec<u8> {
        encode::assignment(&AssignmentSpec {
            version: round.version,
            error: round.error,
            leader: &round.leader,
            leader_url: &round.leader_url,
            config_offset: round.config_offset,
            assigned: Some(list(&self.add)),
            revoked: (round.version > 0).then(|| list(&self.rev)),
            delay_ms: round.delay_ms,
        })
        .unwrap()
    }
}

fn id_of(name: &str) -> String {
    match name.split_once('#') {
        Some((worker, process)) => format!("{worker}-{process}"),
        None => format!("{name}-1"),
    }
}

fn list(text: &str) -> Items<'_> {
    items_of(
        text.split(',')
            .filter(|item| !item.is_empty() && *item != "-")
            .map(|item| {
                match item
                    .rsplit_once('-')
                    .map(|(name, task)| (name, task.parse::<i32>()))
                {
                    Some((name, Ok(task))) => (name, task),
                    _ => (item, -1),
                }
            }),
    )
}
