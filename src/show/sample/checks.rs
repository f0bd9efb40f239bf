//! What the checks say of the sample.

use std::sync::Arc;

use evenkeel_core::answers::{
    ChecksAnswer, ComparedAnswer, FiredAnswer, Severity, UndecidedAnswer,
};

/// A worker was started with another session, and the one beside the agent sends heartbeats
/// too seldom.
pub(super) fn contradicting() -> ChecksAnswer {
    let session = |worker: &str, value: &str| ComparedAnswer {
        worker: worker.to_owned(),
        name: "session.timeout.ms".to_owned(),
        value: value.to_owned(),
        source: format!("record of {worker}, generation 8"),
    };
    let heartbeat = ComparedAnswer {
        worker: "worker-a:8083".to_owned(),
        name: "heartbeat.interval.ms".to_owned(),
        value: "5000".to_owned(),
        source: "connect-distributed.properties:12".to_owned(),
    };
    let differ = FiredAnswer {
        check: "timeouts_differ",
        severity: Severity::Warning,
        subject: Arc::from("connect-orders"),
        own: false,
        said: "session.timeout.ms differs from worker to worker".to_owned(),
        values: vec![
            session("worker-a:8083", "10000"),
            session("worker-b:8083", "30000"),
        ],
        consequence: "How soon a dead worker is missed depends on which one died.",
        advice: "Give all workers the same values.".to_owned(),
        link: "docs/checks.md#timeouts_differ".to_owned(),
    };
    let sparse = FiredAnswer {
        check: "heartbeats_sparse",
        subject: Arc::from("worker-a:8083"),
        own: true,
        said: "a heartbeat every 5 s leaves less than three in a session of 10 s".to_owned(),
        values: vec![heartbeat, session("worker-a:8083", "10000")],
        consequence: "Two heartbeats that come late are enough to drop a healthy worker.",
        advice: "Set heartbeat.interval.ms to a third of session.timeout.ms or less.".to_owned(),
        link: "docs/checks.md#heartbeats_sparse".to_owned(),
        ..differ.clone()
    };
    ChecksAnswer {
        fired: vec![sparse, differ],
        ..agreeing()
    }
}

/// Nothing contradicts itself, as far as that is known.
pub(super) fn agreeing() -> ChecksAnswer {
    ChecksAnswer {
        passed: 12,
        undecided: vec![UndecidedAnswer {
            check: "session_outside_broker_limits",
            severity: Severity::Error,
            subjects: 3,
            missing: vec!["group.min.session.timeout.ms".to_owned()],
        }],
        ..ChecksAnswer::default()
    }
}
