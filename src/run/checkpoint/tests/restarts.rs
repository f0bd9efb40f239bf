//! Laws of restarts, at moments that are drawn on every recording: the agent is given up
//! there without a word, and another one begins, with the state or without.

use std::collections::BTreeMap;
use std::path::Path;

use evenkeel_core::answers::{Answers, Counters};
use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{Ends, Input, InputKind, Start, Topic};
use evenkeel_core::facts::time::ArrivalTime;

use super::{captures, inputs, seed, since};
use crate::run::checkpoint::file::StateFile;
use crate::run::checkpoint::form::{self, Header, Owner};

/// Moments drawn, all recordings together; more with `RESTARTS=`.
fn restarts() -> usize {
    let told = std::env::var("RESTARTS").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(200)
}

fn run(engine: &mut Engine, inputs: &[Input]) {
    for input in inputs {
        engine.apply(input);
    }
}

/// As `run`; then nothing more is written, for longer than any timer runs. After a restart
/// time goes on from where it was known to stand, so that timers run late.
fn run_out(engine: &mut Engine, inputs: &[Input]) {
    run(engine, inputs);
    let ends = engine.ends_here();
    run(engine, &ends);
    for mut input in ends {
        input.at = input.at.plus_ms(3_600_000);
        if let InputKind::Ends(ends) = &mut input.kind {
            ends.asked = input.at;
        }
        engine.apply(&input);
    }
}

fn counters(engine: &Engine) -> Counters {
    engine.state().counters().clone()
}

/// Through a file and back.
fn kept(engine: &Engine, file: &StateFile, at: ArrivalTime) -> Engine {
    let header = Header {
        evenkeel: "test".to_owned(),
        layout: evenkeel_core::engine::STATE_VERSION,
        written_ms: at.0,
        owner: Owner::default(),
        cluster_id: None,
        contents: 0,
        topics: Vec::new(),
    };
    file.write(&form::encode(&header, engine.state()).unwrap())
        .unwrap();
    let bytes = file.read().unwrap().unwrap();
    let restored = form::decode(&bytes, &Owner::default(), at).unwrap();
    Engine::resume(restored.state, at)
}

/// Where the log of each partition ends after these inputs.
fn ends(inputs: &[Input]) -> BTreeMap<(Topic, i32), i64> {
    let mut ends = BTreeMap::new();
    for input in inputs {
        let (key, end) = match &input.kind {
            InputKind::Start(start) => ((start.topic, start.partition), start.end),
            InputKind::Record(record) => ((record.topic, record.partition), record.offset + 1),
            InputKind::Reached(reached) => ((reached.topic, reached.partition), reached.offset),
            _ => continue,
        };
        let known = ends.entry(key).or_insert(0);
        *known = end.max(*known);
    }
    ends
}

/// What a reader hands on that begins after `cut` of these inputs, for an engine that took
/// `from` of them before: what it is told at first, the history, and where that ends.
fn begun(engine: &Engine, inputs: &[Input], from: usize, cut: usize) -> Vec<Input> {
    let at = inputs[cut - 1].at;
    let input = |kind| Input { at, kind };
    let past = &inputs[..cut];
    let settings = past
        .iter()
        .rev()
        .find(|input| matches!(input.kind, InputKind::Settings(_)));
    let mut given: Vec<Input> = settings
        .map(|found| input(found.kind.clone()))
        .into_iter()
        .collect();
    let read = |topic| {
        engine
            .state()
            .read_to(topic)
            .into_iter()
            .collect::<BTreeMap<i32, i64>>()
    };
    let now = ends(past);
    for (&(topic, partition), &end) in &now {
        let offset = read(topic).get(&partition).copied().unwrap_or(0);
        given.push(input(InputKind::Start(Start {
            topic,
            partition,
            offset,
            end,
            anew: false,
        })));
    }
    let is_record = |input: &&Input| matches!(input.kind, InputKind::Record(_));
    let history = inputs[from..cut].iter().filter(is_record);
    given.extend(history.map(|history| input(history.kind.clone())));
    // Until then that is all: what was on its way is read as live, as it was without a restart.
    let written = inputs[cut..].iter().filter_map(|input| match &input.kind {
        InputKind::Record(record) => Some(ArrivalTime(record.timestamp?.0 - 1)),
        _ => None,
    });
    let asked = written.min().map_or(at, |first| first.min(at));
    for topic in Topic::ALL {
        let of_topic = now.iter().filter(|((of, _), _)| *of == topic);
        let ends: Vec<(i32, i64)> = of_topic
            .map(|((_, partition), end)| (*partition, *end))
            .collect();
        if !ends.is_empty() {
            given.push(input(InputKind::Ends(Ends { topic, asked, ends })));
        }
    }
    given
}

/// What follows a restart, without the beginnings that the new reader tells by itself.
fn following(inputs: &[Input], cut: usize) -> Vec<Input> {
    let known = ends(&inputs[..cut]);
    let is_said = |input: &&Input| match &input.kind {
        InputKind::Start(start) => {
            !known.contains_key(&(start.topic, start.partition)) || start.anew
        }
        _ => true,
    };
    inputs[cut..].iter().filter(is_said).cloned().collect()
}

/// Whether nothing that was watched is still to be counted: no episode is open, every
/// generation is settled, every departure too, and of every move whether it had to be.
fn is_at_rest(engine: &Engine) -> bool {
    let answers = engine.answers();
    let episodes = answers.episodes.as_ref();
    let settled = episodes.is_some_and(|episodes| {
        episodes.open.is_none() && !episodes.departed.iter().any(|(how, _)| how.is_none())
    });
    settled
        && answers.fresh
        && !engine.wants_ends()
        && answers.rounds.iter().all(|round| round.outcome.is_some())
        && answers.moves_unsettled.is_empty()
        && !waits_for_reasons(engine)
}

/// Whether work that stopped waits for the record that says why: it is counted with that.
fn waits_for_reasons(engine: &Engine) -> bool {
    let state = serde_json::to_value(engine.state()).unwrap();
    let downtimes = &state["story"]["downtimes"];
    let waits = |name: &str| !downtimes[name].as_array().unwrap().is_empty();
    waits("pending") || waits("over")
}

fn closed(answers: &Answers) -> Vec<String> {
    let closed = answers
        .episodes
        .iter()
        .flat_map(|episodes| &episodes.closed);
    closed
        .map(|episode| {
            format!(
                "{} {:?} {:?} {:?} {:?} {:?}",
                episode.id,
                episode.outcome,
                episode.cause,
                episode.contributing,
                episode.closed,
                episode.departures
            )
        })
        .collect()
}

/// The moments at which nothing is under way.
fn rests(inputs: &[Input]) -> Vec<usize> {
    let mut engine = Engine::new();
    let mut is_rest = |input: &Input| {
        engine.apply(input);
        is_at_rest(&engine)
    };
    let places = inputs.iter().enumerate();
    let rests = places.filter_map(|(place, input)| is_rest(input).then_some(place + 1));
    rests.collect()
}

/// A moment after which there is something to lose: all inputs were read once.
fn first_cut(inputs: &[Input]) -> usize {
    let mut engine = Engine::new();
    let is_fresh = |input: &Input| {
        engine.apply(input);
        engine.answers().fresh
    };
    inputs
        .iter()
        .position(is_fresh)
        .map_or(inputs.len(), |place| place + 1)
}

/// Numbers without a record, between the last record before a restart and the first one after
/// it: nobody knows which of them ended when, and none is counted.
fn is_of_gap(left_out: &BTreeMap<String, i64>) -> bool {
    let mut left_out = left_out.iter();
    left_out.all(|(name, count)| {
        *count > 0 && name.starts_with("generations") && name.ends_with(", Aborted)")
    })
}

/// A worker's clock 40 s behind: what it wrote proves less to those who read it late.
fn is_about_a_clock(capture: &Path) -> bool {
    capture.ends_with("clock_behind.evk.gz")
}

/// Nothing was written meanwhile: all ends as if there had been no restart.
#[test]
fn a_restart_that_misses_nothing_changes_no_counter_and_no_episode() {
    let folder = tempfile::tempdir().unwrap();
    let file = StateFile::open(folder.path(), "g").unwrap().unwrap();
    let mut draw = seed(0x9e37_79b9_7f4a_7c15);
    let mut files = captures();
    files.retain(|capture| !is_about_a_clock(capture));
    let (mut counted, mut flying) = (0, 0);
    for capture in &files {
        let inputs = inputs(capture);
        let first = first_cut(&inputs);
        let mut whole = Engine::new();
        run_out(&mut whole, &inputs);
        for _ in 0..restarts().div_ceil(files.len()) {
            let cut = first + draw.below(inputs.len() - first);
            let mut engine = Engine::new();
            run(&mut engine, &inputs[..cut]);
            let before = counters(&engine);
            let mut restarted = kept(&engine, &file, inputs[cut - 1].at);
            assert_eq!(counters(&restarted), before);
            let given = begun(&restarted, &inputs, cut, cut);
            run(&mut restarted, &given);
            run_out(&mut restarted, &following(&inputs, cut));
            let named = format!("{} cut at {cut} of {}", capture.display(), inputs.len());
            let mut left_out = since(&counters(&restarted), &counters(&whole));
            // What ended in the very milliseconds of the restart.
            let all = left_out.len();
            let in_flight =
                |name: &str| name.starts_with("phases St") || name.starts_with("rebalance");
            left_out.retain(|name, count| *count != 1 || !in_flight(name));
            flying += usize::from(left_out.len() < all);
            assert!(is_of_gap(&left_out), "{named}: {left_out:?}");
            let (found, expected) = (restarted.answers(), whole.answers());
            assert_eq!(closed(&found), closed(&expected), "{named}");
            counted += usize::from(before != counters(&whole));
        }
    }
    assert!(
        counted > restarts() / 4 && flying < restarts().div_ceil(50),
        "{counted} {flying}"
    );
}

/// What happened while no agent was there is shown, and never counted: what is counted after
/// the restart is what an agent counts that knows nothing and begins then, and what was under
/// way when the one before ended.
#[test]
fn what_ended_while_nobody_watched_is_shown_and_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = StateFile::open(folder.path(), "g").unwrap().unwrap();
    let mut draw = seed(0x2545_f491_4f6c_dd1d);
    let mut files = captures();
    files.retain(|capture| !is_about_a_clock(capture));
    let (mut missed, mut exact, mut late) = (0, 0, 0);
    for capture in &files {
        let inputs = inputs(capture);
        let rests = rests(&inputs);
        let first = first_cut(&inputs);
        let mut whole = Engine::new();
        run_out(&mut whole, &inputs);
        for _ in 0..restarts().div_ceil(files.len()) {
            let (mut cut, mut back) = (first + draw.below(inputs.len() - first), 0);
            if let Some(rest) = rests.get(draw.below(2 * rests.len())) {
                (cut, back) = (*rest, rests[draw.below(rests.len())]);
            }
            if back <= cut {
                back = cut + draw.below(inputs.len() - cut);
            }
            let named = format!(
                "{} cut at {cut}, back at {back} of {}",
                capture.display(),
                inputs.len()
            );
            let mut engine = Engine::new();
            run(&mut engine, &inputs[..cut]);
            let (before, at_rest) = (counters(&engine), is_at_rest(&engine));
            let mut restarted = kept(&engine, &file, inputs[back - 1].at);
            let (mut anew, mut uninterrupted) = (Engine::new(), Engine::new());
            run(&mut uninterrupted, &inputs[..back]);
            let at_back = (counters(&uninterrupted), is_at_rest(&uninterrupted));
            let given = begun(&restarted, &inputs, cut, back);
            run(&mut restarted, &given);
            let given = begun(&anew, &inputs, 0, back);
            run(&mut anew, &given);
            // Without a state: zero, whatever the history was.
            assert_eq!(counters(&anew), Counters::default(), "{named}");
            if at_rest {
                assert_eq!(counters(&restarted), before, "{named}");
            }
            run_out(&mut restarted, &following(&inputs, back));
            run_out(&mut anew, &following(&inputs, back));
            let after = counters(&restarted);
            let shown = |engine: &Engine| {
                let group = engine.answers().group;
                let group = group.map(|group| (group.generation, group.members));
                serde_json::to_string(&group).unwrap()
            };
            assert_eq!(shown(&restarted), shown(&anew), "{named}");
            // Whoever reads a departure late may know less of it than who was there: then the
            // one that knows nothing of before says the same.
            let told = closed(&whole.answers());
            let differs = |engine: &Engine| {
                let closed = closed(&engine.answers());
                !closed.iter().all(|episode| told.contains(episode))
            };
            if differs(&restarted) {
                assert!(differs(&anew), "{named}");
                late += 1;
                continue;
            }
            // Never less than before, and never more than if there had been no restart.
            let added = since(&before, &after);
            let left_out = since(&after, &counters(&whole));
            let expected = since(&at_back.0, &counters(&whole));
            if at_rest {
                // No more than ended from then on, and all of it where nothing had begun.
                let mut lacking = expected.clone();
                for (name, count) in &added {
                    *lacking.entry(name.clone()).or_default() -= count;
                }
                lacking.retain(|_, count| *count != 0);
                assert!(
                    lacking.values().all(|count| *count > 0),
                    "{named}: {lacking:?}"
                );
                // A phase may end before the record that tells of it.
                lacking.remove("phases Stop");
                assert!(!at_back.1 || is_of_gap(&lacking), "{named}: {lacking:?}");
                exact += usize::from(at_back.1 && !added.is_empty());
            }
            let mut counts = added.values().chain(left_out.values());
            assert!(
                counts.all(|count| *count > 0),
                "{named}: {added:?} {left_out:?}"
            );
            missed += usize::from(!left_out.is_empty());
        }
    }
    assert!(
        missed > restarts() / 4 && exact > 10 && late < restarts() / 8,
        "{missed} {exact} {late}"
    );
}
