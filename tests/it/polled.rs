//! Polls beside recorded scenarios: while the records are read, they say what the group
//! does at this moment, and decide nothing. What they add to durations is kept apart, and is
//! the only thing that may differ.
//!
//! On all captures: one run beside random polls, every change compared, all answers at every
//! eighth input and at the end. On the telling ones: four runs, all answers at every input.

use std::collections::BTreeSet;
use std::sync::Arc;

use evenkeel::read::capture::CaptureReader;
use evenkeel_core::answers::{EpisodeAnswer, Mode, PolledBounds};
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Input, InputKind, Topic, Trouble};
use evenkeel_core::facts::poll::{Description, PollAnswer, Polled, PolledMember, PolledState};
use evenkeel_core::facts::time::ArrivalTime;
use evenkeel_core::wire::Decoded;
use evenkeel_core::wire::group_record::GroupMetadata;
use serde_json::Value;

use crate::replays::{captures, is_telling, turn};

/// Numbers that are the same in every run (xorshift).
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// A description as the coordinator would give it when this record was the newest.
fn description(value: &[u8]) -> Option<Description> {
    let Ok(Decoded::Known(group)) = GroupMetadata::decode(value) else {
        return None;
    };
    let members = group.members.iter().map(|member| PolledMember {
        member_id: member.member_id.to_owned(),
        instance_id: None,
        client_id: member.client_id.to_owned(),
        client_host: member.client_host.to_owned(),
        metadata: member.subscription.to_vec(),
        assignment: member.assignment.to_vec(),
    });
    Some(Description {
        state: PolledState::Stable,
        protocol_type: group.protocol_type.to_owned(),
        protocol: group.protocol.unwrap_or_default().to_owned(),
        members: members.collect(),
    })
}

/// Every round of the recording, in any order and state, and what else may be answered.
fn polls(inputs: &[Input]) -> Vec<PollAnswer> {
    let mut polls = vec![
        PollAnswer::Failed(Trouble::Denied),
        PollAnswer::Failed(Trouble::Unreachable),
        PollAnswer::Listed(None),
        PollAnswer::Listed(Some(PolledState::PreparingRebalance)),
        PollAnswer::Listed(Some(PolledState::CompletingRebalance)),
    ];
    for input in inputs {
        if let InputKind::Record(record) = &input.kind
            && record.topic == Topic::Offsets
            && let Some(described) = record.value.as_deref().and_then(description)
        {
            let state = PolledState::PreparingRebalance;
            let mut foreign = described.clone();
            foreign.protocol_type = "consumer".to_owned();
            polls.push(PollAnswer::Described(Description {
                state,
                ..described.clone()
            }));
            polls.push(PollAnswer::Described(described));
            polls.push(PollAnswer::Described(foreign));
        }
    }
    polls
}

/// All but what only polls say, and durations, for which they count.
fn derived(engine: &Engine) -> Value {
    let mut answers = serde_json::to_value(engine.answers()).unwrap();
    let fields = answers.as_object_mut().unwrap();
    for live in ["polls", "mode", "state"] {
        fields.remove(live).unwrap();
    }
    let counters = fields["counters"].as_object_mut().unwrap();
    for timed in ["rebalance_duration", "phases", "phases_unmeasured"] {
        counters.remove(timed).unwrap();
    }
    answers
}

/// Changes, without what only polls say.
fn said(changes: Vec<Change>) -> String {
    let without = |change| match change {
        Change::Opened(mut episode) => {
            episode.polled = PolledBounds::default();
            Change::Opened(episode)
        }
        Change::Closed(episode, beside) => {
            let episode = EpisodeAnswer {
                polled: PolledBounds::default(),
                ..EpisodeAnswer::clone(&episode)
            };
            Change::Closed(Arc::new(episode), beside)
        }
        other => other,
    };
    let changes: Vec<Change> = changes.into_iter().map(without).collect();
    format!("{changes:?}")
}

#[test]
fn polls_change_no_name_no_count_and_no_outcome() {
    let mut draws = Draws(0x9e37_79b9_7f4a_7c15);
    let mut states = BTreeSet::new();
    let mut beside = 0;
    for capture in captures() {
        let inputs: Vec<Input> = CaptureReader::open(&capture)
            .unwrap()
            .map(Result::unwrap)
            .filter(|input| !matches!(input.kind, InputKind::Polled(_)))
            .collect();
        let polls = polls(&inputs);
        assert!(polls.len() > 10, "{}", capture.display());
        let (runs, every) = if is_telling(&capture) { (4, 1) } else { (1, 8) };
        for _ in 0..runs {
            let (mut plain, mut polled) = (Engine::new(), Engine::new());
            for (index, input) in inputs.iter().enumerate() {
                assert_eq!(said(polled.apply(input)), said(plain.apply(input)));
                // Where the records are hidden, descriptions stand in for them.
                let by_records = matches!(plain.answers().mode, Mode::NoPolls);
                for _ in 0..if by_records { draws.below(4) } else { 0 } {
                    let answer = polls[draws.below(polls.len())].clone();
                    let asked = ArrivalTime(input.at.0 - 20);
                    let poll = Input {
                        at: input.at,
                        kind: InputKind::Polled(Polled { asked, answer }),
                    };
                    assert!(polled.apply(&poll).is_empty());
                    beside += 1;
                }
                if by_records {
                    states.insert(polled.answers().state);
                }
                if by_records && turn(&capture).wrapping_add(index) % every == 0 {
                    assert_eq!(derived(&polled), derived(&plain), "{}", capture.display());
                }
            }
            assert_eq!(derived(&polled), derived(&plain), "{}", capture.display());
        }
    }
    assert!(beside > 1_000, "{beside}");
    assert!(states.len() >= 3, "{states:?}");
}
