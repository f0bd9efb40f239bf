//! For tests: a group of three workers whose fourth was killed a moment ago, so that a
//! connector and two tasks are parked until the scheduled delay ends.

mod checks;
mod derived;
mod episode;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::answers::{
    Answers, AssignmentError, Cause, ConfiguredAnswer, ConnectorAnswer, Counters, DeadlineAnswer,
    DelayReason, DepartureHow, DownReason, EpisodesAnswer, FindingAnswer, GroupAnswer, GroupState,
    HandoverHow, Histogram, InputAnswer, ItemAnswer, LossEnd, MemberAnswer, Mode, MoveNeed,
    Outcome, OwnWorker, Phase, PollsAnswer, RecentAnswer, RevocationHow, Role, RoundAnswer,
    RoundMember, SkewAnswer, UnassignedAnswer, UnassignedReason,
};
use evenkeel_core::facts::ids::{Kind, Protocol};
use evenkeel_core::facts::input::{Settings, Topic};
use evenkeel_core::facts::time::{ArrivalTime, EventTime};

pub(crate) use episode::killed;

use crate::show::process::ProcessStats;
use crate::show::view::{
    AgentStats, BuildInfo, CertificateUse, InputStats, PollStats, Published, ReloadStats,
    SeriesLimits, StartUp, TraceStats, View,
};

/// The moment the sample is shown.
pub(crate) const NOW: ArrivalTime = ArrivalTime(1_700_000_100_000);
/// When its newest record was written.
pub(crate) const RECORDED: EventTime = EventTime(1_700_000_090_250);

/// The group in trouble.
pub(crate) fn incident() -> Answers {
    let item = |connector: &str, task: Option<i32>| ItemAnswer {
        connector: Arc::from(connector),
        task,
    };
    let lost = |connector: &str, task: Option<i32>| UnassignedAnswer {
        item: item(connector, task),
        reason: UnassignedReason::Lost,
        since: Some(RECORDED),
        last_owner: Some(Arc::from("worker-d:8083")),
    };
    Answers {
        unassigned: Some(vec![
            lost("payments", None),
            lost("orders", Some(2)),
            lost("payments", Some(0)),
            UnassignedAnswer {
                item: item("audit \"eu\"", Some(0)),
                reason: UnassignedReason::New,
                since: Some(RECORDED),
                last_owner: None,
            },
        ]),
        deadline: Some(DeadlineAnswer {
            at: RECORDED.plus_ms(300_000),
            reason: DelayReason::Lost,
            delay_ms: 300_000,
        }),
        pattern: Some(derived::flapping()),
        balance: Some(derived::uneven()),
        checks: Some(Arc::new(checks::contradicting())),
        states: Some(work::parked()),
        disagreements: Some(work::abandoned()),
        findings: vec![FindingAnswer {
            finding: "config_hazard",
            subject: "connect-configs".to_owned(),
            text: "a worker that starts now sees fewer tasks".to_owned(),
            since: None,
        }],
        counters: Counters {
            generations: BTreeMap::from([
                ((Cause::WorkerLost, Outcome::Completed), 4),
                ((Cause::ConfigMismatch, Outcome::Mismatch), 1),
            ]),
            revocations: BTreeMap::from([((Kind::Task, RevocationHow::Asked), 3)]),
            assignments: BTreeMap::from([(Kind::Connector, 2), (Kind::Task, 6)]),
            assignment_errors: BTreeMap::from([(AssignmentError::ConfigMismatch, 1)]),
            leader_changes: 1,
            rebalances: BTreeMap::from([(Cause::WorkerLost, 2), (Cause::WorkerJoined, 1)]),
            rebalance_duration: histogram(&[800, 1_700, 10_000]),
            phases: BTreeMap::from([(Phase::Sync, histogram(&[12, 30]))]),
            phases_unmeasured: BTreeMap::from([(Phase::Join, 2)]),
            departures: BTreeMap::from([((Arc::from("worker-d:8083"), DepartureHow::Crashed), 1)]),
            lost: BTreeMap::from([((Kind::Task, LossEnd::Reassigned), 2)]),
            lost_duration: histogram(&[301_000, 301_000]),
            interruptions: BTreeMap::from([((Kind::Task, DownReason::Lost), 2)]),
            handovers: BTreeMap::from([((Kind::Task, HandoverHow::Unclean), 2)]),
            moves: BTreeMap::from([((Kind::Task, MoveNeed::Required), 2)]),
            unavailable_ms: BTreeMap::from([((Arc::from("orders"), DownReason::Lost), 301_250)]),
        },
        unavailable: BTreeMap::from([((Arc::from("orders"), DownReason::Lost), 1)]),
        episodes: Some(EpisodesAnswer {
            open: Some(Arc::new(killed())),
            departed: vec![(Some(DepartureHow::Crashed), 1), (None, 1)],
            skews: vec![SkewAnswer {
                worker: Arc::from("worker-b:8083"),
                ms: -90_000,
                between_ms: (Some(-90_100), Some(-89_900)),
            }],
            ..EpisodesAnswer::default()
        }),
        ..calm(vec![
            member(
                "worker-a:8083",
                &[item("orders", None), item("orders", Some(0))],
            ),
            member(
                "worker-b:8083",
                &[item("orders", Some(1)), item("payments", Some(1))],
            ),
            member("worker-c:8083", &[item("audit \"eu\"", None)]),
        ])
    }
}

fn histogram(lasted_ms: &[i64]) -> Histogram {
    let mut histogram = Histogram::default();
    lasted_ms.iter().for_each(|ms| histogram.add(*ms));
    histogram
}

/// A fresh group of these members, with nothing wrong and nothing counted.
pub(crate) fn calm(members: Vec<MemberAnswer>) -> Answers {
    let connector = |connector: &str, tasks| ConnectorAnswer {
        connector: Arc::from(connector),
        tasks,
        target_state: "STARTED",
        config_hazard: false,
    };
    Answers {
        settings: settings("connect-orders"),
        now: Some(EventTime(NOW.0)),
        arrived: Some(NOW),
        inputs: Topic::ALL.map(input).to_vec(),
        mode: Mode::Full,
        polls: PollsAnswer {
            confirmed: Some(ArrivalTime(NOW.0 - 200)),
            ..PollsAnswer::default()
        },
        state: Some(GroupState::Stable),
        own: members.first().map(|member| OwnWorker {
            worker: Arc::clone(&member.worker),
            role: Role::Leader,
        }),
        unassigned: Some(Vec::new()),
        episodes: Some(EpisodesAnswer::default()),
        pattern: Some(derived::quiet()),
        balance: Some(derived::even()),
        checks: Some(Arc::new(checks::agreeing())),
        disagreements: Some(work::agreed()),
        fresh: true,
        whole_since: Some(EventTime(1_699_990_000_000)),
        group: Some(group(members)),
        configured: Some(ConfiguredAnswer {
            config_offset: 57,
            connectors: vec![
                connector("audit \"eu\"", 1),
                connector("orders", 3),
                connector("payments", 2),
            ],
        }),
        rounds: vec![round()],
        recent: RecentAnswer {
            in_2m: 1,
            in_10m: 2,
            in_30m: 5,
        },
        ..Answers::default()
    }
}

/// A member with this work and default timeouts.
pub(crate) fn member(worker: &str, owned: &[ItemAnswer]) -> MemberAnswer {
    MemberAnswer {
        member_id: Arc::from(format!("connect-{worker}-6c4c2b4e-0000")),
        worker: Arc::from(worker),
        url: Arc::from(format!("http://{worker}/")),
        client_id: Arc::from(format!("connect-{worker}")),
        client_host: Arc::from("/10.0.0.7"),
        session_timeout_ms: Some(10_000),
        rebalance_timeout_ms: Some(60_000),
        config_offset: Some(57),
        claims: Some(true),
        owned: owned.to_vec(),
        assigned: Vec::new(),
        revoked: Vec::new(),
    }
}

/// What the loop would have published.
pub(crate) fn published(groups: Vec<Answers>) -> Published {
    let inputs = groups.iter().flat_map(|answers| {
        Topic::ALL.map(|topic| InputStats {
            group: Arc::from(answers.settings.group.as_str()),
            topic,
            records_read: 1_200,
            // Only this one is searched; the others are read from their beginning.
            start_up: (topic == Topic::Offsets).then_some(StartUp {
                done: 1_200,
                total: 1_200,
                rate: Some(400_000.0),
            }),
        })
    });
    let inputs = inputs.collect();
    Published {
        groups: groups.into_iter().map(Arc::new).collect(),
        agent: AgentStats {
            build: BuildInfo {
                version: "0.1.0".to_owned(),
                librdkafka: "2.12.1".to_owned(),
            },
            started: Some(ArrivalTime(1_699_999_000_000)),
            principals: [("connect-orders".to_owned(), "evenkeel".to_owned())].into(),
            inputs,
            polls: vec![PollStats {
                group: Arc::from("connect-orders"),
                answered: [1, 240, 5],
                failed: 2,
                off: None,
            }],
            reloads: ReloadStats { ok: 2, failed: 1 },
            traces: Some(TraceStats {
                exported: 412,
                failed: 3,
                dropped: 17,
                waiting: 24,
            }),
            expiries: BTreeMap::from([(CertificateUse::Server, 1_702_592_000)]),
            ..AgentStats::default()
        },
    }
}

/// The sample as a scrape sees it, with fixed numbers for the process.
pub(crate) fn view(groups: Vec<Answers>) -> View {
    let published = published(groups);
    View {
        groups: published.groups,
        agent: published.agent,
        process: Some(ProcessStats::from_iter([
            ("process_cpu_seconds_total", 12.0),
            ("process_open_fds", 24.0),
            ("process_max_fds", 1024.0),
            ("process_virtual_memory_bytes", 210_000_000.0),
            ("process_resident_memory_bytes", 12_500_000.0),
            ("process_start_time_seconds", 1_699_999_000.0),
            ("process_threads", 7.0),
        ])),
        limits: SeriesLimits::default(),
        series_dropped_before: 0,
        now: Some(NOW),
    }
}

pub(crate) fn settings(group: &str) -> Settings {
    Settings {
        cluster_id: Some("5L6g3nShT-eMCtK--X86sw".to_owned()),
        group: group.to_owned(),
        offsets_topic: "__consumer_offsets".to_owned(),
        offsets_partition: 17,
        config_topic: "connect-configs".to_owned(),
        config_partitions: 1,
        status_topic: "connect-status".to_owned(),
        status_partitions: 5,
        worker_release: None,
        own_worker: None,
        ..Settings::default()
    }
}

fn input(topic: Topic) -> InputAnswer {
    InputAnswer {
        topic,
        caught_up: true,
        lag_records: 0,
        confirmed: Some(ArrivalTime(NOW.0 - 4_000)),
        trouble: None,
        records: 40,
        decode_errors: BTreeMap::new(),
        unknown: BTreeMap::new(),
        needed: true,
    }
}

fn group(members: Vec<MemberAnswer>) -> GroupAnswer {
    GroupAnswer {
        state: GroupState::Stable,
        incarnation: 1,
        generation: Some(8),
        recorded: Some(RECORDED),
        join_ended: Some(EventTime(RECORDED.0 - 30)),
        record_bytes: Some(2_345),
        protocol: Some(Protocol::Sessioned),
        protocol_best: Some(Protocol::Sessioned),
        downgraded: None,
        leader: members.first().map(|member| Arc::clone(&member.worker)),
        leader_url: members.first().map(|member| Arc::clone(&member.url)),
        members,
    }
}

fn round() -> RoundAnswer {
    RoundAnswer {
        incarnation: 1,
        generation: 8,
        recorded: Some(RECORDED),
        join_ended: Some(EventTime(RECORDED.0 - 30)),
        sync_ms: Some(30),
        outcome: None,
        settled_by: None,
        protocol: Some(Protocol::Sessioned),
        leader: Some(Arc::from("worker-a:8083")),
        delay_ms: 300_000,
        members: ["worker-a:8083", "worker-b:8083", "worker-c:8083"]
            .map(round_member)
            .to_vec(),
    }
}

fn round_member(worker: &str) -> RoundMember {
    RoundMember {
        worker: Arc::from(worker),
        assigned: Vec::new(),
        revoked: Vec::new(),
        owned: (1, 1),
    }
}
