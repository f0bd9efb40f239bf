//! Laws that hold for every scenario: a state written down and read back goes on as if
//! nothing had happened, wherever it is cut; records delivered twice count once.

use evenkeel_core::engine::{Change, Engine, State};
use evenkeel_core::facts::input::InputKind;

use crate::dsl::{Step, inputs};

const SCENARIO: &str = "0.0 config connector foo
     0.0 config tasks foo 2
     0.1 ends
     1.0 group 1 sessioned a off=4 | a: claim=none add=foo,foo-0,foo-1
     1.5 status foo-0 RUNNING a 1
     9.0 group 2 sessioned a off=4 | a: claim=foo,foo-0,foo-1 rev=foo-1 | b: claim=none
     9.2 status foo-1 UNASSIGNED a 1
     9.5 group 3 sessioned a off=4 | a: claim=foo,foo-0 | b: claim=- add=foo-1
     9.6 ends
     12.0 group 6 default a off=4 | a: add=foo,foo-0 | b: add=foo-1 | d:
     12.5 status foo-1 RUNNING b 6
     15.0 group 7 default a off=4 | a: add=foo,foo-0,foo-1
     15.5 ends
     30.0 group 8 empty
     30.1 ends
     700.0 group gone
     701.0 ends
     800.0 group 1 sessioned a#2 off=4 | a#2: claim=none add=foo,foo-0,foo-1
     900.0 ends";

fn finish(mut engine: Engine, steps: &[Step]) -> String {
    for step in steps {
        if let Step::Input(input) = step {
            engine.apply(input);
        }
    }
    let answers = engine.answers();
    serde_json::to_string(&(&answers, &answers.episodes)).unwrap()
}

#[test]
fn a_state_read_back_goes_on_the_same() {
    let steps = inputs(SCENARIO);
    let whole = finish(Engine::new(), &steps);
    for cut in 0..steps.len() {
        let mut engine = Engine::new();
        for step in &steps[..cut] {
            if let Step::Input(input) = step {
                engine.apply(input);
            }
        }
        let written = serde_json::to_vec(engine.state()).unwrap();
        let state: State = serde_json::from_slice(&written).unwrap();
        assert_eq!(
            finish(Engine::restore(state), &steps[cut..]),
            whole,
            "cut at {cut}"
        );
    }
}

#[test]
fn records_delivered_twice_count_once() {
    let steps = inputs(SCENARIO);
    let once = finish(Engine::new(), &steps);
    let twice: Vec<Step> = steps
        .iter()
        .flat_map(|step| [step.clone(), step.clone()])
        .collect();
    assert_eq!(finish(Engine::new(), &twice), once);
}

/// What the coordinator may answer, true or not.
const POLLS: [&str; 10] = [
    "listed none",
    "listed preparing",
    "listed completing",
    "preparing",
    "empty",
    "dead",
    "failed denied",
    "failed unreachable",
    "stable sessioned z off=99 delay=9 | z: claim=foo,foo-0 | y: claim=none add=foo-1",
    "stable range s type=consumer | s: claim=-",
];

/// What only polls say.
fn without_live_state(engine: &Engine) -> serde_json::Value {
    let mut answers = serde_json::to_value(engine.answers()).unwrap();
    let fields = answers.as_object_mut().unwrap();
    for live in ["polls", "mode", "state"] {
        fields.remove(live).unwrap();
    }
    // Polls bound when a join phase began, and so how long it was.
    let counters = answers.pointer_mut("/counters").unwrap();
    for bounded in ["phases", "phases_unmeasured", "rebalance_duration"] {
        counters.as_object_mut().unwrap().remove(bounded).unwrap();
    }
    let mut episodes = serde_json::to_value(engine.answers().episodes).unwrap();
    let closed = episodes["closed"].as_array().map_or(0, Vec::len);
    let of_closed = (0..closed).map(|place| format!("/closed/{place}"));
    for place in of_closed.chain(["/open".to_owned()]) {
        if let Some(episode) = episodes.pointer_mut(&place).and_then(|e| e.as_object_mut()) {
            episode.remove("polled").unwrap();
        }
    }
    answers["episodes"] = episodes;
    answers
}

/// What changed, without what polls may bound.
fn names_of(changes: &[Change]) -> Vec<String> {
    let name = |change: &Change| match change {
        Change::Opened(episode) => format!("opened {} {:?}", episode.id, episode.contributing),
        Change::Closed(episode, _) => format!(
            "closed {} {:?} {:?} {:?}",
            episode.id, episode.outcome, episode.contributing, episode.departures
        ),
        other => format!("{other:?}"),
    };
    changes.iter().map(name).collect()
}

/// While the records are read, polls say what the group does at this moment and nothing
/// else: whatever is answered, and whenever, names, counts and outcomes are the same.
#[test]
fn polls_decide_nothing_but_the_live_state() {
    let polls: Vec<Vec<Step>> = POLLS
        .iter()
        .map(|poll| inputs(&format!("0.0 poll {poll}")))
        .collect();
    let steps = inputs(SCENARIO);
    let mut draws = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |below: usize| {
        draws ^= draws << 13;
        draws ^= draws >> 7;
        draws ^= draws << 17;
        (draws >> 33) as usize % below
    };
    let mut live_states = std::collections::BTreeSet::new();
    for _ in 0..60 {
        let (mut plain, mut polled) = (Engine::new(), Engine::new());
        for step in &steps {
            let Step::Input(input) = step else { continue };
            let (told, changes) = (polled.apply(input), plain.apply(input));
            assert_eq!(names_of(&told), names_of(&changes));
            for _ in 0..draw(4) {
                let Some(Step::Input(poll)) = polls[draw(polls.len())].last() else {
                    panic!("a poll is an input");
                };
                let mut poll = poll.clone();
                poll.at = input.at;
                assert!(polled.apply(&poll).is_empty());
            }
            assert_eq!(without_live_state(&polled), without_live_state(&plain));
            live_states.insert(polled.answers().state);
        }
    }
    assert!(live_states.len() >= 5, "{live_states:?}");
}

/// Where only descriptions tell who leads, a change while nobody watched is not counted; the
/// next one is.
#[test]
fn a_leader_that_changed_during_an_absence_is_not_counted() {
    let steps = inputs(
        "1.0 group 1 sessioned a off=4 | a: claim=none | b: claim=none | c: claim=none
         1.1 ends
         2.0 access offsets denied
         3.0 poll stable sessioned a off=4 | a: claim=- | b: claim=- | c: claim=-
         4.0 poll stable sessioned b off=4 | b: claim=- | c: claim=-
         5.0 poll stable sessioned c off=4 | c: claim=-",
    );
    let run = |absent: bool| {
        let mut engine = Engine::new();
        for step in &steps {
            let Step::Input(input) = step else { continue };
            let is_second =
                matches!(&input.kind, InputKind::Polled(_)) && input.at.0 % 10_000 == 4_000;
            if absent && is_second {
                let written = serde_json::to_vec(engine.state()).unwrap();
                engine = Engine::resume(serde_json::from_slice(&written).unwrap(), input.at);
            }
            engine.apply(input);
        }
        engine.answers().counters.leader_changes
    };
    assert_eq!((run(false), run(true)), (2, 1));
}
