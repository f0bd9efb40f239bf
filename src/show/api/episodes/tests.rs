//! Queries of `/api/v1/episodes`.

use std::sync::Arc;

use evenkeel_core::answers::{
    Answers, Cause, CauseAnswer, CostAnswer, DepartureAnswer, DepartureHow, DurationAnswer,
    EpisodeAnswer, EpisodeOutcome, EpisodeState, EpisodesAnswer, LeftOutAnswer, LostAnswer,
    PolledBounds,
};
use evenkeel_core::facts::time::EventTime;
use serde_json::Value;

use super::episodes;
use crate::show::sample::{NOW, incident, published};

fn episode(generation: i32, ago_s: i64, cause: Cause, subject: &str) -> EpisodeAnswer {
    let began = EventTime(NOW.0 - ago_s * 1000);
    let departed = cause == Cause::WorkerLost;
    EpisodeAnswer {
        id: Arc::from(format!("{generation}@{}", began.0)),
        state: EpisodeState::Closed,
        began,
        closed: Some(began.plus_ms(20_000)),
        whole: true,
        rest: false,
        outcome: Some(EpisodeOutcome::Settled),
        cause,
        subject: Some(Arc::from(subject)),
        contributing: vec![CauseAnswer {
            cause,
            subject: Some(Arc::from(subject)),
            generation,
            evidence: "it wrote nothing".to_owned(),
            root: None,
            changed: None,
            at: None,
        }],
        causes_left_out: 0,
        generations: 2,
        first_generation: generation,
        last_generation: generation + 1,
        active: DurationAnswer::at_least(900),
        parked: DurationAnswer::exact(19_100),
        rounds: Vec::new(),
        departures: Vec::from_iter(departed.then(|| DepartureAnswer {
            worker: Arc::from(subject),
            how: DepartureHow::Crashed,
            settled: true,
            evidence: "it wrote nothing".to_owned(),
            generation,
            gone_by: began,
            died_between: None,
            owned: (0, 2),
            successor: Some((Arc::from("worker-e:8083"), generation + 1)),
            returned: None,
        })),
        joined: Vec::new(),
        left_out: LeftOutAnswer::default(),
        cost: CostAnswer::default(),
        lost: LostAnswer::default(),
        follows: None,
        polled: PolledBounds::default(),
    }
}

/// The generations that a query gives, newest first.
fn asked(query: &[(&str, &str)]) -> Vec<i64> {
    let answers = Answers {
        episodes: Some(EpisodesAnswer {
            closed: vec![
                Arc::new(episode(2, 7200, Cause::WorkerLost, "worker-d:8083")),
                Arc::new(episode(4, 600, Cause::ConnectorCreated, "orders")),
                Arc::new(episode(6, 60, Cause::WorkerJoined, "worker-b:8083")),
            ],
            ..EpisodesAnswer::default()
        }),
        ..incident()
    };
    let (status, body) = ask_of(answers, query);
    assert_eq!(status, 200, "{body}");
    let told = body["groups"][0]["episodes"].as_array().unwrap().iter();
    told.map(|episode| episode["first_generation"].as_i64().unwrap())
        .collect()
}

fn ask_of(answers: Answers, query: &[(&str, &str)]) -> (u16, Value) {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let query: Vec<(String, String)> = query.iter().map(pair).collect();
    let (status, body) = episodes(&published(vec![answers]), NOW, &query);
    (status, serde_json::from_str(&body).unwrap())
}

#[test]
fn newest_first_and_narrowed() {
    assert_eq!(asked(&[]), [6, 4, 2]);
    assert_eq!(asked(&[("group", "connect-orders")]), [6, 4, 2]);
    assert_eq!(asked(&[("since", "15m")]), [6, 4]);
    let between = (NOW.0 - 700_000).to_string();
    assert_eq!(asked(&[("until", &between)]), [2]);
    assert_eq!(asked(&[("since", &between), ("until", "2m")]), [4]);
    assert_eq!(asked(&[("cause", "worker_lost")]), [2]);
    assert_eq!(
        asked(&[("cause", "worker_lost"), ("cause", "worker_joined")]),
        [6, 2]
    );
    assert_eq!(asked(&[("worker", "worker-e:8083")]), [2]);
    assert_eq!(asked(&[("worker", "worker-b:8083")]), [6]);
    assert_eq!(asked(&[("connector", "orders")]), [4]);
    assert_eq!(asked(&[("connector", "worker-b:8083")]), [] as [i64; 0]);
}

#[test]
fn all_mistakes_at_once() {
    let query = [("since", "soon"), ("cause", "gremlins"), ("workers", "a")];
    let (status, body) = ask_of(incident(), &query);
    assert_eq!(status, 400);
    let errors: Vec<&str> = body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors[0].contains("\"soon\" is neither"));
    assert!(errors[1].contains("worker_unresponsive"));
    assert!(errors[2].contains("\"workers\" is not asked for here"));
}

/// What says nothing, says two things, or has lost its unit is not guessed.
#[test]
fn half_a_question_is_a_mistake() {
    for query in [
        [("since", "2h"), ("since", "1h")],
        [("worker", "a"), ("worker", "b")],
        [("cause", ""), ("since", "1h")],
        [("group", ""), ("since", "1h")],
        [("since", ""), ("cause", "worker_lost")],
        [("since", "2"), ("cause", "worker_lost")],
        [("until", "-2h"), ("cause", "worker_lost")],
    ] {
        let (status, body) = ask_of(incident(), &query);
        assert_eq!(status, 400, "{query:?}");
        assert_eq!(body["errors"].as_array().unwrap().len(), 1, "{query:?}");
    }
}

#[test]
fn unknown_groups_and_hidden_records_are_told() {
    let (status, body) = ask_of(incident(), &[("group", "other")]);
    assert_eq!(
        (status, &body["groups"][0]),
        (404, &"connect-orders".into())
    );
    let hidden = Answers {
        episodes: None,
        ..incident()
    };
    let (status, body) = ask_of(hidden, &[]);
    assert_eq!(
        (status, &body["groups"][0]["episodes"]),
        (200, &Value::Null)
    );
}
