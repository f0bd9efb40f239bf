//! Answers of the coordinator, and rights, from the words of a scenario.

use evenkeel_core::facts::input::{
    Access, Input, InputKind, Sampled, Topic, Trouble, WorkerSetting,
};
use evenkeel_core::facts::poll::{Description, PollAnswer, Polled, PolledMember, PolledState};
use evenkeel_core::facts::time::ArrivalTime;
use evenkeel_core::wire::Decoded;
use evenkeel_core::wire::group_record::GroupMetadata;

use super::{Step, group};

/// So many group records are left out, or none any more.
pub(super) fn sampled(at: i64, next: &mut i64, count: &str) -> Step {
    *next += count.parse::<i64>().unwrap_or(0);
    Step::Input(Input {
        at: ArrivalTime(at),
        kind: InputKind::Sampled(Sampled {
            partition: 0,
            offset: *next,
            on: count != "off",
        }),
    })
}

pub(super) fn access(at: i64, topic: &str, trouble: &str) -> Step {
    let topic = Topic::ALL.into_iter().find(|each| each.label() == topic);
    Step::Input(Input {
        at: ArrivalTime(at),
        kind: InputKind::Access(Access {
            asked: None,
            topic: topic.expect("a topic"),
            trouble: (trouble != "ok").then(|| trouble_of(trouble)),
        }),
    })
}

fn trouble_of(word: &str) -> Trouble {
    match word {
        "denied" => Trouble::Denied,
        "missing" => Trouble::Missing,
        "unreachable" => Trouble::Unreachable,
        other => panic!("unknown trouble {other}"),
    }
}

fn state_of(word: &str) -> PolledState {
    match word {
        "stable" => PolledState::Stable,
        "empty" => PolledState::Empty,
        "dead" => PolledState::Dead,
        "preparing" => PolledState::PreparingRebalance,
        "completing" => PolledState::CompletingRebalance,
        other => panic!("unknown state {other}"),
    }
}

/// `poll STATE PROTOCOL LEADER ... | member | ...`, or one of the short forms. It was asked
/// 10 ms before.
pub(super) fn answer(at: i64, rest: &str) -> Step {
    let words: Vec<&str> = rest.split_whitespace().skip(1).collect();
    let answer = match *words {
        ["listed", "none"] => PollAnswer::Listed(None),
        ["listed", state] => PollAnswer::Listed(Some(state_of(state))),
        ["failed", trouble] => PollAnswer::Failed(trouble_of(trouble)),
        [state] => described(state_of(state), "", "connect", Vec::new()),
        [state, protocol, ..] => {
            // The members' bytes are those of a record that says the same.
            let record = format!("group 1 {}", rest.split_once(state).unwrap().1.trim());
            let value = group::value(at, &record, &mut Vec::new()).expect("a record");
            let Ok(Decoded::Known(record)) = GroupMetadata::decode(&value) else {
                panic!("a record of the scenario is readable");
            };
            let members = record.members.iter().map(|member| PolledMember {
                member_id: member.member_id.to_owned(),
                instance_id: None,
                client_id: member.client_id.to_owned(),
                client_host: member.client_host.to_owned(),
                metadata: member.subscription.to_vec(),
                assignment: member.assignment.to_vec(),
            });
            let group_type = record.protocol_type;
            described(state_of(state), protocol, group_type, members.collect())
        }
        [] => panic!("a poll says something"),
    };
    Step::Input(Input {
        at: ArrivalTime(at),
        kind: InputKind::Polled(Polled {
            asked: ArrivalTime(at - 10),
            answer,
        }),
    })
}

fn described(
    state: PolledState,
    protocol: &str,
    group_type: &str,
    members: Vec<PolledMember>,
) -> PollAnswer {
    PollAnswer::Described(Description {
        state,
        protocol_type: group_type.to_owned(),
        protocol: protocol.to_owned(),
        members,
    })
}

/// The settings once more, with the worker beside the agent: its addresses, and clocks of
/// its file.
pub(super) fn own(settings: Step, words: &[&str]) -> Step {
    let Step::Input(mut input) = settings else {
        panic!("settings are an input");
    };
    if let InputKind::Settings(settings) = &mut input.kind {
        settings.own_worker = Some(format!("{}:8083", words[1]));
        let (clocks, addresses): (Vec<&str>, Vec<&str>) =
            words[2..].iter().partition(|word| word.contains('='));
        settings.own_addresses = addresses.iter().map(|&a| a.to_owned()).collect();
        settings.worker_settings = clocks.into_iter().zip(1..).map(setting).collect();
    }
    Step::Input(input)
}

fn setting((text, line): (&str, u32)) -> WorkerSetting {
    let (name, value) = text.split_once('=').expect("a setting");
    WorkerSetting {
        name: name.to_owned(),
        value: value.to_owned(),
        source: format!("worker.properties:{line}"),
    }
}
