//! Polls of the group's state against a real coordinator: through every form of access,
//! with and without the right, and while a round is under way.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evenkeel::read::connection::{Connection, Hidden};
use evenkeel::read::coordinator::{Pace, PollHandle, PollSettings, start};
use evenkeel_core::facts::input::{Input, InputKind, Trouble};
use evenkeel_core::facts::poll::{Description, PollAnswer, PolledState};
use evenkeel_core::facts::time::ArrivalTime;
use evenkeel_testbed::security::{AGENT_USER, Access, Resource, Right, Security};
use evenkeel_testbed::{BrokerSpec, Cluster, ClusterSpec, Properties, WorkerSpec};
use tokio::sync::mpsc;

const GROUP: &str = "connect";
const MAX: Duration = Duration::from_secs(60);

/// How long polls may take to tell that a broker is silent: each of two that are asked, and
/// the one they name, may take 6 s; and a failure like the last one is told after 30 s only.
const SILENCE_MAX: Duration = Duration::from_secs(45);

/// What the clock of a log line may differ from ours.
const CLOCK_MS: i64 = 20;

/// Fast polls and what comes of them.
struct Polls {
    handle: PollHandle,
    inputs: mpsc::Receiver<Input>,
}

impl Polls {
    fn start(cluster: &Cluster, access: Access, more: &[(&str, &str)]) -> Polls {
        let mut properties = Properties::new();
        if access != Access::Plaintext {
            let user = cluster.user(AGENT_USER).unwrap();
            properties = access.librdkafka(user, cluster.certificates().unwrap());
        }
        let bootstrap = cluster.bootstrap_of(access.listener()).unwrap();
        properties.insert("bootstrap.servers".to_owned(), bootstrap);
        for (name, value) in more {
            properties.insert((*name).to_owned(), (*value).to_owned());
        }
        let connection = Connection {
            properties: properties
                .into_iter()
                .map(|(name, value)| (name, Hidden(value)))
                .collect(),
            token_file: None,
        };
        let (sender, inputs) = mpsc::channel(256);
        let now = Arc::new(evenkeel::run::clock::now);
        let group = GROUP.to_owned();
        let handle = start(
            PollSettings {
                connection,
                group,
                topics: Vec::new(),
                mask: None,
            },
            now,
            sender,
        );
        handle.set_pace(Pace::Fast);
        Polls { handle, inputs }
    }

    async fn until(&mut self, what: &str, wanted: impl Fn(&PollAnswer) -> bool) -> Seen {
        match self.within(MAX, wanted).await {
            Ok(seen) => seen,
            Err(told) => panic!("{what}: not seen, but {told:#?}"),
        }
    }

    /// The first such answer, or all others with the moments they came at.
    async fn within(
        &mut self,
        limit: Duration,
        wanted: impl Fn(&PollAnswer) -> bool,
    ) -> Result<Seen, Vec<(Duration, PollAnswer)>> {
        let began = Instant::now();
        let mut told = Vec::new();
        loop {
            let left = limit.saturating_sub(began.elapsed());
            let Ok(Some(input)) = tokio::time::timeout(left, self.inputs.recv()).await else {
                return Err(told);
            };
            let polled = match input.kind {
                InputKind::Polled(polled) => polled,
                // What the brokers allow is asked on the same connection.
                InputKind::Cluster(_) => continue,
                _ => panic!("another input"),
            };
            if wanted(&polled.answer) {
                return Ok(Seen {
                    asked: polled.asked,
                    at: input.at,
                    answer: polled.answer,
                });
            }
            told.push((began.elapsed(), polled.answer));
        }
    }

    async fn described(&mut self, what: &str, state: PolledState) -> Description {
        let is_it = |answer: &PollAnswer| match answer {
            PollAnswer::Described(description) => description.state == state,
            _ => false,
        };
        match self.until(what, is_it).await.answer {
            PollAnswer::Described(description) => description,
            _ => unreachable!(),
        }
    }
}

#[derive(Debug)]
struct Seen {
    asked: ArrivalTime,
    at: ArrivalTime,
    answer: PollAnswer,
}

fn secured() -> Cluster {
    secured_with(&[])
}

fn secured_with(settings: &[(&str, &str)]) -> Cluster {
    let mut spec = ClusterSpec::of(1);
    for (name, value) in settings {
        let worker = &mut spec.groups[0].workers[0];
        worker
            .settings
            .insert((*name).to_owned(), (*value).to_owned());
    }
    spec.brokers = BrokerSpec {
        security: Some(Security::new().unwrap()),
        ..BrokerSpec::default()
    };
    Cluster::start(&spec).unwrap()
}

fn members(description: &Description) -> BTreeSet<String> {
    let members = description.members.iter();
    members.map(|member| member.member_id.clone()).collect()
}

fn told(cluster: &Cluster) -> BTreeSet<String> {
    let truth = cluster.await_settled(GROUP, MAX).unwrap();
    let last = truth.last().unwrap();
    last.members
        .iter()
        .map(|member| member.member_id.clone())
        .collect()
}

/// Every form of access that a worker may have; then what the broker refuses.
#[test]
fn polls_come_in_by_every_access_and_say_what_is_refused() {
    if super::is_skipped() {
        return;
    }
    let cluster = secured();
    let told = told(&cluster);
    let right = [Right::of(
        AGENT_USER,
        "DESCRIBE",
        Resource::Group(GROUP.to_owned()),
    )];
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let denied = PollAnswer::Failed(Trouble::Denied);
        let mut all = Vec::new();
        // Without security a user is nobody, who has no rights here.
        for access in Access::ALL.into_iter().skip(1) {
            let mut polls = Polls::start(&cluster, access, &[]);
            polls.until(access.name(), |answer| *answer == denied).await;
            all.push((access, polls));
        }
        cluster.grant(&right).unwrap();
        for (access, polls) in &mut all {
            let description = polls.described(access.name(), PolledState::Stable).await;
            assert_eq!(members(&description), told, "{access}");
            assert_eq!(description.protocol_type, "connect");
            assert_eq!(description.protocol, "sessioned");
            let quiet = PollAnswer::Listed(None);
            polls.until(access.name(), |answer| *answer == quiet).await;
        }
        // What was granted is taken away.
        cluster.revoke(&right).unwrap();
        let (access, polls) = &mut all[0];
        polls.handle.describe_every_turn(true);
        polls.until(access.name(), |answer| *answer == denied).await;

        let refused = PollAnswer::Failed(Trouble::Unauthenticated);
        for (access, property) in [
            (Access::Scram512, ("sasl.password", "another")),
            (Access::Scram256, ("sasl.username", "nobody")),
            (Access::Plain, ("sasl.password", "another")),
            (
                Access::Oauth,
                (
                    "sasl.oauthbearer.config",
                    "principal=x principalClaimName=other",
                ),
            ),
            // Authorities that do not know the broker's certificate.
            (Access::Plain, ("ssl.ca.location", "probe")),
            // TLS at a port without it, and without a certificate where one is wanted.
            (Access::SaslPlaintext, ("security.protocol", "sasl_ssl")),
            (Access::Mtls, ("ssl.keystore.location", "")),
        ] {
            let mut polls = Polls::start(&cluster, access, &[property]);
            let seen = polls.until(access.name(), |answer| {
                matches!(answer, PollAnswer::Failed(_))
            });
            assert_eq!(seen.await.answer, refused, "{access}");
        }
    });
}

/// A worker joins: the round is seen while it runs, and who is in after it. The other one
/// stands still meanwhile: a round that waits for its next heartbeat alone may be over
/// between two polls.
#[test]
fn polls_see_a_round_while_it_runs() {
    if super::is_skipped() {
        return;
    }
    let mut cluster = secured_with(&[("session.timeout.ms", "120000")]);
    let before = told(&cluster);
    let waited_for = cluster.workers()[0].name().to_owned();
    let right = Right::of(AGENT_USER, "DESCRIBE", Resource::Group(GROUP.to_owned()));
    cluster.grant(&[right]).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut polls = Polls::start(&cluster, Access::Scram512, &[]);
        let description = polls.described("before", PolledState::Stable).await;
        assert_eq!(members(&description), before);
        let name = cluster.add_worker(GROUP, &WorkerSpec::default()).unwrap();
        cluster.freeze(&waited_for).unwrap();
        cluster.spawn_worker(&name).unwrap();
        let state = PolledState::PreparingRebalance;
        let listed = PollAnswer::Listed(Some(state));
        let seen = polls.until("the join", |answer| *answer == listed).await;
        let joining = polls.described("who joins", state).await;
        assert!(
            joining
                .members
                .iter()
                .all(|member| member.metadata.is_empty())
        );
        cluster.thaw(&waited_for).unwrap();
        let after = polls.described("after", PolledState::Stable).await;
        let told = tokio::task::block_in_place(|| told(&cluster));
        assert_eq!(members(&after), told);
        assert_eq!(told.len(), 2);
        // The list was true within its interval, as the broker's log tells the round.
        let truth = tokio::task::block_in_place(|| cluster.truth(GROUP).unwrap());
        let (asked, at) = (seen.asked.0, seen.at.0);
        let is_round = |prepared_ms: i64, join_end_ms: i64| {
            prepared_ms <= at + CLOCK_MS && asked <= join_end_ms + CLOCK_MS
        };
        let rounds = truth.generations.iter();
        let found = rounds.filter(|round| {
            let prepared = round.prepared_ms;
            prepared.is_some_and(|prepared| is_round(prepared, round.join_end_ms))
        });
        assert_eq!(
            found.count(),
            1,
            "{asked} to {at}: {:#?}",
            truth.generations
        );
    });
}

/// The coordinator stands still with open sockets; the other broker takes the group over.
#[test]
fn polls_follow_the_coordinator_to_another_broker() {
    if super::is_skipped() {
        return;
    }
    let mut spec = ClusterSpec::of(1);
    spec.brokers = BrokerSpec::pair();
    let mut cluster = Cluster::start(&spec).unwrap();
    let before = told(&cluster);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut polls = Polls::start(&cluster, Access::Plaintext, &[]);
        let description = polls.described("before", PolledState::Stable).await;
        assert_eq!(members(&description), before);
        let coordinator = silenced(&mut cluster, &mut polls).await;
        let after = polls.described("elsewhere", PolledState::Stable).await;
        assert_eq!(after.members.len(), 1);
        let now = tokio::task::block_in_place(|| cluster.coordinator(GROUP).unwrap());
        assert_ne!(now, coordinator);
        cluster.thaw(&coordinator).unwrap();
        let quiet = PollAnswer::Listed(None);
        polls
            .until("the quiet after it", |answer| *answer == quiet)
            .await;
    });
}

/// Freezes the coordinator until polls miss it, and gives its name. On a starved machine the
/// controller may count a broker out and move the group between the question who coordinates
/// it and the freeze; then it is asked again.
async fn silenced(cluster: &mut Cluster, polls: &mut Polls) -> String {
    let gone = PollAnswer::Failed(Trouble::Unreachable);
    let mut all = Vec::new();
    for _ in 0..3 {
        let name = tokio::task::block_in_place(|| cluster.coordinator(GROUP).unwrap());
        while polls.inputs.try_recv().is_ok() {}
        cluster.freeze(&name).unwrap();
        match polls.within(SILENCE_MAX, |answer| *answer == gone).await {
            Ok(_) => return name,
            Err(told) => all.push((name.clone(), told)),
        }
        cluster.thaw(&name).unwrap();
    }
    panic!("no silence: {all:#?}");
}
