//! Traces at their bounds, and what is cut to fit.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::answers::{
    ClosingAnswer, DurationAnswer, EpisodeAnswer, EpisodeOutcome, EpisodeRound, EpisodeState,
    ItemAnswer, ItemPhase, JoinedAnswer, Outcome, Pattern, Phase, PhaseWork, PolledRound,
    WorkerPhases,
};
use evenkeel_core::facts::time::EventTime;
use opentelemetry::trace::{SpanId, Status};

use super::{EVENTS_MAX, SPANS_MAX, SpanData, Trace, Value, instant, trace};
use crate::show::sample::{killed, settings};

const BEGAN: i64 = 1_700_000_000_000;

const BESIDE: ClosingAnswer = ClosingAnswer {
    pattern: Pattern::Quiet,
    disagreements: Vec::new(),
};

fn told(episode: &EpisodeAnswer) -> Option<Trace> {
    trace(&settings("connect-orders"), episode, &BESIDE)
}

/// A closed episode of so many rounds, a second apart, in each of which so many workers start
/// something.
fn storm(rounds: i32, workers: i64) -> EpisodeAnswer {
    let round = |number: i32| {
        let recorded = EventTime(BEGAN + i64::from(number) * 1_000);
        let worker = |place: i64| WorkerPhases {
            worker: Arc::from(format!("worker-{place:03}:8083")),
            stop: None,
            start: None,
            stops: None,
            starts: Some(PhaseWork {
                items: 2,
                done: 2,
                from: recorded,
                by: recorded.plus_ms(place + 1),
            }),
        };
        let slowest = |place: i64| ItemPhase {
            item: ItemAnswer {
                connector: Arc::from("orders"),
                task: Some(i32::try_from(place).unwrap()),
            },
            worker: Arc::from(format!("worker-{:03}:8083", workers - 1 - place)),
            phase: Phase::Start,
            from: recorded,
            by: recorded.plus_ms(workers - place),
        };
        EpisodeRound {
            generation: number,
            recorded,
            began: None,
            join_ended: Some(recorded.minus_ms(10)),
            sync: Some(DurationAnswer::exact(10)),
            workers: (0..workers).map(worker).collect(),
            slowest: (0..5.min(workers)).map(slowest).collect(),
            delay_ms: 600,
            ..killed().rounds.remove(0)
        }
    };
    EpisodeAnswer {
        id: Arc::from(format!("1@{BEGAN}")),
        state: EpisodeState::Closed,
        began: EventTime(BEGAN),
        closed: Some(EventTime(BEGAN + i64::from(rounds) * 1_000 + 500)),
        outcome: Some(EpisodeOutcome::Settled),
        rounds: (1..=rounds).map(round).collect(),
        ..killed()
    }
}

fn number(span: &SpanData, name: &str) -> Option<i64> {
    let mut attributes = span.attributes.iter();
    match attributes.find(|known| known.key.as_str() == name)?.value {
        Value::I64(number) => Some(number),
        _ => None,
    }
}

fn id(span: &SpanData) -> SpanId {
    span.span_context.span_id()
}

fn lasted_ms(span: &SpanData) -> u128 {
    let lasted = span.end_time.duration_since(span.start_time);
    lasted.unwrap().as_millis()
}

fn count(trace: &Trace, name: &str) -> usize {
    trace.spans.iter().filter(|span| span.name == name).count()
}

#[track_caller]
fn assert_fits(trace: &Trace) {
    assert!(trace.spans.len() <= SPANS_MAX, "{}", trace.spans.len());
    let mut seen: BTreeMap<[u8; 8], &SpanData> = BTreeMap::new();
    for span in &trace.spans {
        if span.parent_span_id != SpanId::INVALID {
            let parent = seen.get(&span.parent_span_id.to_bytes());
            let parent = parent.expect("no orphan");
            assert!(parent.start_time <= span.start_time && span.end_time <= parent.end_time);
        }
        let known = seen.insert(id(span).to_bytes(), span);
        assert!(known.is_none(), "an id comes twice");
    }
}

#[test]
fn a_storm_keeps_its_slowest_and_says_what_it_leaves_out() {
    let mut episode = storm(32, 50);
    episode.left_out.rounds = 4_000;
    let trace = told(&episode).unwrap();
    assert_fits(&trace);
    assert_eq!(count(&trace, "round"), 32);
    assert_eq!(count(&trace, "start"), 256);
    assert_eq!(count(&trace, "task"), 96);
    let root = &trace.spans[0];
    assert_eq!(number(root, "evenkeel.left_out.rounds"), Some(4_000));
    assert_eq!(
        number(root, "evenkeel.left_out.worker_spans"),
        Some(32 * 50 - 256)
    );
    assert_eq!(
        number(root, "evenkeel.left_out.task_spans"),
        Some(32 * 5 - 96)
    );
    // Of each round those that took longest.
    let starts = trace.spans.iter().filter(|span| span.name == "start");
    assert!(starts.map(lasted_ms).all(|ms| ms > 42));
}

#[test]
fn what_fits_is_there_whole() {
    let trace = told(&storm(2, 3)).unwrap();
    assert_fits(&trace);
    for (name, expected) in [
        ("round", 2),
        ("join", 2),
        ("sync", 2),
        ("start", 6),
        ("task", 6),
    ] {
        assert_eq!(count(&trace, name), expected, "{name}");
    }
    let root = &trace.spans[0];
    for name in [
        "rounds",
        "worker_spans",
        "task_spans",
        "member_events",
        "causes",
    ] {
        assert_eq!(
            number(root, &format!("evenkeel.left_out.{name}")),
            None,
            "{name}"
        );
    }
}

#[test]
fn events_beyond_the_bound_are_counted() {
    let mut episode = storm(1, 1);
    let joined = |place: i64| JoinedAnswer {
        worker: Arc::from(format!("worker-{place}:8083")),
        generation: 1,
        at: EventTime(BEGAN + place),
        replaces: None,
        returned: false,
    };
    episode.departures.clear();
    episode.joined = (0..200).map(joined).collect();
    let root = &told(&episode).unwrap().spans[0];
    assert_eq!(root.events.len(), EVENTS_MAX);
    assert_eq!(
        usize::try_from(root.events.dropped_count).unwrap(),
        200 - EVENTS_MAX
    );
}

#[test]
fn a_join_that_polls_saw_begin_earlier_makes_the_trace_begin_earlier() {
    let mut episode = storm(1, 1);
    let before = told(&episode).unwrap();
    episode.polled.rounds = vec![PolledRound {
        generation: 1,
        join: Some(DurationAnswer::within(3_000, 2_800, 3_200)),
        stop: None,
        start: None,
    }];
    let trace = told(&episode).unwrap();
    assert_fits(&trace);
    let joined = BEGAN + 1_000 - 10;
    assert_eq!(trace.spans[0].start_time, instant(joined - 3_000));
    let join = trace.spans.iter().find(|span| span.name == "join").unwrap();
    let times = (instant(joined - 3_000), instant(joined));
    assert_eq!((join.start_time, join.end_time), times);
    assert_eq!(number(join, "evenkeel.duration.least_ms"), Some(2_800));
    let ids = |trace: &Trace| trace.spans.iter().map(id).collect::<Vec<_>>();
    assert_eq!(ids(&trace), ids(&before));
}

#[test]
fn whether_there_is_a_parked_span_hangs_on_records_alone() {
    let plain = storm(3, 1);
    let parked = |trace: &Trace| -> Vec<(SpanId, u128, Option<i64>)> {
        let spans = trace.spans.iter().filter(|span| span.name == "parked");
        spans
            .map(|span| {
                let most_ms = number(span, "evenkeel.duration.most_ms");
                (id(span), lasted_ms(span), most_ms)
            })
            .collect()
    };
    let before = parked(&told(&plain).unwrap());
    assert_eq!(before.len(), 3);
    // Of the second round polls saw a join that began before the first had started all, of
    // the third one that began inside of what records say.
    for (join_ms, expected) in [
        (5_000, (0, Some(0))),
        (985, (4, Some(6))),
        (300, (689, None)),
    ] {
        let mut seen = plain.clone();
        let polled = |generation| PolledRound {
            generation,
            join: Some(DurationAnswer::within(join_ms, join_ms - 2, join_ms + 2)),
            stop: None,
            start: None,
        };
        seen.polled.rounds = vec![polled(2), polled(3)];
        let seen = told(&seen).unwrap();
        assert_fits(&seen);
        let seen = parked(&seen);
        let ids =
            |all: &[(SpanId, u128, Option<i64>)]| all.iter().map(|of| of.0).collect::<Vec<_>>();
        assert_eq!(ids(&seen), ids(&before), "{join_ms}");
        for (_, lasted_ms, most_ms) in &seen[..2] {
            assert_eq!(*lasted_ms, expected.0, "{join_ms}");
            assert!(expected.1.is_none_or(|most| *most_ms == Some(most)));
        }
    }
    // And one that records do not leave room for is none, whatever polls say.
    let mut tight = plain;
    tight.rounds[1].began = Some(tight.rounds[0].recorded);
    tight.polled.rounds = vec![PolledRound {
        generation: 2,
        join: Some(DurationAnswer::within(100, 50, 150)),
        stop: None,
        start: None,
    }];
    assert_eq!(parked(&told(&tight).unwrap()).len(), 2);
}

#[test]
fn what_is_open_or_cut_or_of_a_cluster_without_a_name_has_no_trace() {
    let episode = storm(1, 1);
    assert!(told(&episode).is_some());
    assert!(told(&killed()).is_none(), "it is open");
    let cut = EpisodeAnswer {
        whole: false,
        ..episode.clone()
    };
    assert!(told(&cut).is_none());
    let mut settings = settings("connect-orders");
    settings.cluster_id = None;
    assert!(trace(&settings, &episode, &BESIDE).is_none());
}

#[test]
fn an_unresolved_rebalance_is_an_error_and_what_follows_links_to_it() {
    let mut episode = storm(1, 1);
    assert_eq!(told(&episode).unwrap().spans[0].status, Status::Unset);
    episode.outcome = Some(EpisodeOutcome::Unresolved);
    let first = told(&episode).unwrap();
    assert!(matches!(first.spans[0].status, Status::Error { .. }));
    let mut next = storm(2, 1);
    next.id = Arc::from(format!("9@{}", BEGAN + 90_000));
    next.follows = Some(Arc::clone(&episode.id));
    let next = told(&next).unwrap();
    let link = &next.spans[0].links[0];
    assert_eq!(link.span_context, first.spans[0].span_context);
    assert_ne!(next.id, first.id);
}

/// Of whom the last round is proven to be completed hangs on how much each sidecar has read.
#[test]
fn how_the_last_round_ended_is_said_by_what_was_written_until_the_episode_closed() {
    let outcomes = |episode: &EpisodeAnswer| -> Vec<Option<String>> {
        let trace = told(episode).unwrap();
        let rounds = trace.spans.into_iter().filter(|span| span.name == "round");
        rounds
            .map(|round| {
                let mut said = round.attributes.into_iter();
                let said = said.find(|said| said.key.as_str() == "evenkeel.outcome")?;
                Some(said.value.to_string())
            })
            .collect()
    };
    let completed = Some("completed".to_owned());
    let mut episode = storm(2, 1);
    episode.rounds[0].outcome = Some(Outcome::Completed);
    // Its worker wrote that all of it runs.
    for known in [None, Some(Outcome::Completed), Some(Outcome::Unknown)] {
        episode.rounds[1].outcome = known;
        assert_eq!(outcomes(&episode), [completed.clone(), completed.clone()]);
    }
    // Nobody was told to start anything: what is known is known from later.
    episode.rounds[1].workers.clear();
    for known in [None, Some(Outcome::Completed), Some(Outcome::Aborted)] {
        episode.rounds[1].outcome = known;
        assert_eq!(outcomes(&episode), [completed.clone(), None]);
    }
    // The record itself says it.
    episode.rounds[1].outcome = Some(Outcome::Mismatch);
    let mismatch = Some("mismatch".to_owned());
    assert_eq!(outcomes(&episode), [completed, mismatch]);
}
