//! The rebalance of the sample: a worker was found gone, and what it had is parked.

use std::sync::Arc;

use evenkeel_core::answers::{
    Cause, CauseAnswer, CostAnswer, DepartureAnswer, DepartureHow, DurationAnswer, EpisodeAnswer,
    EpisodeRound, EpisodeState, LeftOutAnswer, LostAnswer, PolledBounds,
};

use super::RECORDED;

/// The episode of it: parked since the worker was found gone.
pub(crate) fn killed() -> EpisodeAnswer {
    let cause = CauseAnswer {
        cause: Cause::WorkerLost,
        subject: Some(Arc::from("worker-d:8083")),
        generation: 8,
        evidence:
            "it wrote nothing, and left 3 behind as running: it died, or nothing heeded its stop"
                .to_owned(),
        root: None,
        changed: None,
        at: None,
    };
    EpisodeAnswer {
        id: Arc::from(format!("8@{}", RECORDED.0 - 30)),
        state: EpisodeState::Parked,
        began: RECORDED.plus_ms(-30),
        closed: None,
        whole: true,
        rest: false,
        outcome: None,
        cause: cause.cause,
        subject: cause.subject.clone(),
        causes_left_out: 0,
        generations: 1,
        first_generation: 8,
        last_generation: 8,
        active: DurationAnswer::at_least(30),
        parked: DurationAnswer::exact(9_750),
        rounds: vec![EpisodeRound {
            generation: 8,
            missing_before: 0,
            began: None,
            join_ended: Some(RECORDED.plus_ms(-30)),
            recorded: RECORDED,
            leader: None,
            deputy: None,
            outcome: None,
            cause: cause.cause,
            subject: cause.subject.clone(),
            sync: Some(DurationAnswer::exact(30)),
            stop: None,
            start: None,
            workers: Vec::new(),
            slowest: Vec::new(),
            delay_ms: 300_000,
        }],
        departures: vec![DepartureAnswer {
            worker: Arc::from("worker-d:8083"),
            how: DepartureHow::Crashed,
            settled: false,
            evidence: cause.evidence.clone(),
            generation: 8,
            gone_by: RECORDED.plus_ms(-30),
            died_between: Some((RECORDED.plus_ms(-10_030), RECORDED.plus_ms(-30))),
            owned: (1, 2),
            successor: None,
            returned: None,
        }],
        contributing: vec![cause],
        joined: Vec::new(),
        left_out: LeftOutAnswer::default(),
        cost: CostAnswer::default(),
        lost: LostAnswer {
            items: 3,
            open: 3,
            ..LostAnswer::default()
        },
        follows: None,
        polled: PolledBounds::default(),
    }
}
