//! A sidecar that starts late: whatever it was given as history, in whatever order the
//! topics came, it ends with the same answers as one that watched from the beginning.
//!
//! On all captures: two cuts, at places that take turns by the name, and the account of work
//! after every input. On the telling ones and two long ones: a cut after every seventh input.

use std::collections::BTreeMap;
use std::path::Path;

use evenkeel::read::capture::CaptureReader;
use evenkeel_core::answers::{Answers, Outcome};
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Ends, Input, InputKind, Start, Topic};
use evenkeel_core::facts::time::ArrivalTime;

use crate::replays::{captures, is_telling, name, turn};

fn inputs(capture: &Path) -> Vec<Input> {
    CaptureReader::open(capture)
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

/// The next offset of each partition after these inputs.
fn ends(inputs: &[Input]) -> BTreeMap<(Topic, i32), i64> {
    let mut ends = BTreeMap::new();
    for input in inputs {
        match &input.kind {
            InputKind::Start(start) => {
                let end = ends.entry((start.topic, start.partition)).or_insert(0);
                *end = start.end.max(*end);
            }
            InputKind::Record(record) => {
                ends.insert((record.topic, record.partition), record.offset + 1);
            }
            _ => {}
        }
    }
    ends
}

/// What a sidecar is given that starts after `cut` inputs of another one.
fn late(inputs: &[Input], cut: usize, order: [Topic; 3]) -> Vec<Input> {
    let (past, future) = inputs.split_at(cut);
    let at = past.last().map_or(ArrivalTime(0), |input| input.at);
    let mut given = Vec::new();
    let settings = inputs
        .iter()
        .rev()
        .find(|i| matches!(i.kind, InputKind::Settings(_)));
    given.extend(settings.map(|input| Input {
        at,
        kind: input.kind.clone(),
    }));
    let ends = ends(past);
    let all: BTreeMap<(Topic, i32), i64> = self::ends(inputs);
    for (topic, partition) in all.keys() {
        let end = ends.get(&(*topic, *partition)).copied().unwrap_or(0);
        let start = Start {
            topic: *topic,
            partition: *partition,
            offset: 0,
            end,
            anew: false,
        };
        given.push(Input {
            at,
            kind: InputKind::Start(start),
        });
    }
    for topic in order {
        let of_topic = |input: &&Input| matches!(&input.kind, InputKind::Record(record) if record.topic == topic);
        let records = past.iter().filter(of_topic);
        given.extend(records.map(|input| Input {
            at,
            kind: input.kind.clone(),
        }));
        let ends = all
            .keys()
            .filter(|(of, _)| *of == topic)
            .map(|key| (key.1, ends.get(key).copied().unwrap_or(0)))
            .collect();
        given.push(Input {
            at,
            kind: InputKind::Ends(Ends {
                topic,
                asked: at,
                ends,
            }),
        });
    }
    let goes_on =
        |input: &&Input| !matches!(input.kind, InputKind::Start(_) | InputKind::Settings(_));
    given.extend(future.iter().filter(goes_on).cloned());
    given
}

/// Feeds an engine; gives its answers and the verdicts it settled.
fn derive(inputs: &[Input]) -> (Answers, BTreeMap<i32, Outcome>) {
    let mut engine = Engine::new();
    let mut verdicts = BTreeMap::new();
    for input in inputs {
        for change in engine.apply(input) {
            if let Change::Settled(round) = change
                && let Some((outcome, _)) = round.outcome
            {
                verdicts.insert(round.generation, outcome);
            }
        }
    }
    (engine.answers(), verdicts)
}

fn shown(answers: &Answers) -> String {
    let shown = (
        &answers
            .group
            .as_ref()
            .map(|group| (&group.members, group.generation, &group.leader)),
        &answers.unassigned,
        &answers.deadline,
        &answers.configured,
    );
    serde_json::to_string(&shown).unwrap()
}

#[test]
fn a_late_start_ends_with_the_same_answers() {
    use Topic::{Config, Offsets, Status};
    for capture in captures() {
        let name = name(&capture);
        let inputs = inputs(&capture);
        let (whole, verdicts) = derive(&inputs);
        let first_record = inputs
            .iter()
            .position(|i| matches!(i.kind, InputKind::Record(_)))
            .unwrap();
        let often = is_telling(&capture) || ["membership", "incident"].contains(&&*name);
        let length = inputs.len() - first_record;
        let step = if often { 7 } else { length.div_ceil(2) };
        let begin = first_record + turn(&capture) % step;
        let mut cuts = 0;
        for cut in (begin..inputs.len()).step_by(step) {
            for order in [[Offsets, Config, Status], [Status, Config, Offsets]] {
                let (answers, late) = derive(&late(&inputs, cut, order));
                assert_eq!(
                    shown(&answers),
                    shown(&whole),
                    "{name} cut at {cut}, {order:?}"
                );
                for (generation, outcome) in &verdicts {
                    // A number without evidence may be unknown to the one that came late.
                    if let Some(told) = late.get(generation)
                        && *told != Outcome::Unknown
                    {
                        assert_eq!(
                            told, outcome,
                            "{name} cut at {cut}: generation {generation}"
                        );
                    }
                }
                cuts += 1;
            }
        }
        assert!(cuts >= 2, "{name}: {cuts}");
    }
}

/// At every moment of a recording, everything configured is owned once or unassigned with
/// a reason, and nothing was undecodable.
#[test]
fn every_piece_of_work_is_accounted_for_at_every_moment() {
    let mut moments = 0;
    for capture in captures() {
        let name = name(&capture);
        let mut engine = Engine::new();
        for input in inputs(&capture) {
            engine.apply(&input);
            let answers = engine.answers();
            let Some(configured) = &answers.configured else {
                continue;
            };
            let mut pieces: BTreeMap<(String, i32), u32> = BTreeMap::new();
            for connector in &configured.connectors {
                for task in -1..connector.tasks {
                    pieces.insert((connector.connector.to_string(), task), 0);
                }
            }
            let members = answers.group.iter().flat_map(|group| &group.members);
            let owned = members.flat_map(|member| &member.owned);
            let unassigned = answers
                .without_owner()
                .iter()
                .map(|unassigned| &unassigned.item);
            for item in owned.chain(unassigned) {
                let key = (item.connector.to_string(), item.task.unwrap_or(-1));
                if let Some(count) = pieces.get_mut(&key) {
                    *count += 1;
                }
            }
            assert!(
                pieces.values().all(|count| *count == 1),
                "{name}: {pieces:?}"
            );
            moments += 1;
        }
        let inputs = engine.answers().inputs;
        assert!(
            inputs.iter().all(|input| input.decode_errors.is_empty()),
            "{inputs:?}"
        );
        assert!(
            inputs.iter().all(|input| input.unknown.is_empty()),
            "{inputs:?}"
        );
    }
    assert!(moments > 5_000, "{moments}");
}
