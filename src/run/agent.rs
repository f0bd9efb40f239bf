//! The sidecar: starts a reader and a loop for each group, publishes what they say,
//! serves it, and ends everything in order.

use std::future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use evenkeel_core::answers::Answers;
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Input, Topic};
use evenkeel_core::facts::time::ArrivalTime;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::config::{Readiness, TraceCopies};
use crate::read::ffi;
use crate::read::group as reading;
use crate::read::group::GroupReader;
use crate::read::hitch::Hitch;
use crate::read::kafka::{ReadError, ReadSettings};
use crate::run::checkpoint::{self, Begun, Keeper};
use crate::run::connections::Look;
use crate::run::exporter::Exporter;
use crate::run::reloads::Reloads;
use crate::run::shutdown::{Ending, Shutdown};
use crate::run::web::{self, Web};
use crate::run::{clock, connections, group};
use crate::show::api;
use crate::show::http::{self, Guard, HttpLimits};
use crate::show::routes::Site;
use crate::show::traces::sender;
use crate::show::traces::wire::Client;
use crate::show::view::{
    AgentStats, HitchStats, InputStats, PollStats, Published, Pulse, SeriesLimits, StartUp,
};
use crate::show::words::Words;

/// Inputs between a reader and its engine: a second of catch-up. Beyond that the reader
/// waits.
const INPUTS_MAX: usize = 4096;

/// How long the threads that read get to end: one question to a broker that answers. One
/// that does not is left behind.
const READERS_END_MAX: Duration = Duration::from_secs(3);

/// What is read of the past is judged a few questions for ends after it is read.
const JUDGED_BY_MS: i64 = 10_000;

/// What the agent is to do.
#[derive(Debug)]
pub struct Plan {
    /// The groups to watch.
    pub groups: Vec<ReadSettings>,
    /// The folder that their state is kept in; absent, none is kept.
    pub state: Option<PathBuf>,
    /// Looks after what their settings were read from; absent where nothing changes.
    pub look: Option<Look>,
    /// How `/readyz` answers.
    pub readiness: Readiness,
    /// Bounds on what a scrape carries.
    pub series: SeriesLimits,
    /// What the agent says about itself.
    pub agent: AgentStats,
    /// Bounds of the HTTP server.
    pub http: HttpLimits,
    /// What stands before it; nothing, everybody is answered.
    pub web: Option<Web>,
    /// Where traces go, and which of them; nowhere where it is absent.
    pub traces: Option<(Client, TraceCopies)>,
}

/// A started agent: its groups are watched, nothing is served yet.
#[derive(Debug)]
pub struct Agent {
    loops: JoinSet<()>,
    published: watch::Receiver<Arc<Published>>,
    pulse: Arc<Pulse>,
    readiness: Readiness,
    series: SeriesLimits,
    http: HttpLimits,
    guards: watch::Receiver<Arc<Guard>>,
}

// === impl Agent ===

impl Agent {
    /// Starts watching; ends when `shutdown` begins.
    ///
    /// # Errors
    /// A setting that the Kafka client does not take, found before anything is connected.
    pub fn start(plan: Plan, shutdown: &Shutdown) -> Result<Self, ReadError> {
        let pulse = Arc::new(Pulse::of(plan.groups.len()));
        let groups = plan
            .groups
            .iter()
            .map(|_| Arc::new(Answers::default()))
            .collect();
        let agent = AgentStats {
            started: Some(clock::now()),
            ..plan.agent
        };
        let (publisher, published) = watch::channel(Arc::new(Published { groups, agent }));
        let publisher = Arc::new(publisher);
        let mut loops = JoinSet::new();
        let exporter = plan.traces.map(|(client, copies)| {
            let (queue, sender) = sender::channel(client);
            tracing::info!(receiver = sender.receiver(), "traces are sent");
            loops.spawn(sender.run(shutdown.ending().wait()));
            Exporter::new(queue, copies)
        });
        let mut readers = Vec::with_capacity(plan.groups.len());
        for (place, settings) in plan.groups.into_iter().enumerate() {
            let (sender, inputs) = mpsc::channel(INPUTS_MAX);
            let group: Arc<str> = Arc::from(settings.group.as_str());
            let Begun {
                engine,
                read_to,
                keeper,
            } = match &plan.state {
                Some(folder) => checkpoint::begin(folder, &settings, clock::now()),
                None => Begun::default(),
            };
            let now = Arc::new(clock::now);
            let reader = Arc::new(reading::start_at(settings, now, sender, &read_to)?);
            readers.push(Arc::clone(&reader));
            let watcher = Watcher {
                place,
                group,
                reader,
                publisher: Arc::clone(&publisher),
                pulse: Arc::clone(&pulse),
                words: Words::default(),
                troubles: Vec::new(),
                caught_up: None,
                given_back: 0,
                keeper,
                exporter: exporter.clone(),
            };
            loops.spawn(watch_group(watcher, engine, inputs, shutdown.ending()));
        }
        if let Some(look) = plan.look {
            loops.spawn(connections::follow(
                look,
                readers,
                Reloads::new(Arc::clone(&publisher)),
                connections::LOOK_EVERY,
                shutdown.ending(),
            ));
        }
        let guard = plan.web.as_ref().map_or_else(Default::default, Web::guard);
        let (sender, guards) = watch::channel(guard);
        if let Some(web) = plan.web {
            let reloads = Reloads::new(Arc::clone(&publisher));
            loops.spawn(web::follow(
                web,
                web::LOOK_EVERY,
                sender,
                reloads,
                shutdown.ending(),
            ));
        }
        Ok(Self {
            loops,
            guards,
            published,
            pulse,
            readiness: plan.readiness,
            series: plan.series,
            http: plan.http,
        })
    }

    /// What the groups' loops publish.
    #[must_use]
    pub fn published(&self) -> watch::Receiver<Arc<Published>> {
        self.published.clone()
    }

    /// Serves until `shutdown` begins, then ends everything in order.
    pub async fn serve(mut self, listener: TcpListener, shutdown: &Shutdown) {
        let now = Arc::new(clock::now);
        let site = Site::new(self.published, self.pulse, now, self.readiness, self.series);
        http::serve(
            listener,
            Arc::new(site),
            self.guards,
            self.http,
            shutdown.ending().wait(),
        )
        .await;
        let ended = async { while self.loops.join_next().await.is_some() {} };
        if tokio::time::timeout(READERS_END_MAX, ended).await.is_err() {
            tracing::warn!("a reader did not end in time");
        }
    }
}

async fn watch_group(
    mut watcher: Watcher,
    engine: Engine,
    inputs: mpsc::Receiver<Input>,
    ending: Ending,
) {
    let group = Arc::clone(&watcher.group);
    if let Err(error) = group::run(engine, inputs, &mut watcher, ending).await {
        tracing::error!(%group, %error, "group no longer watched");
    }
    let ended = tokio::task::spawn_blocking(move || watcher.reader.join()).await;
    if let Err(error) = ended {
        tracing::error!(%group, %error, "reader did not end");
    }
}

/// What surrounds the loop of one group in the sidecar.
struct Watcher {
    place: usize,
    group: Arc<str>,
    reader: Arc<GroupReader>,
    publisher: Arc<watch::Sender<Arc<Published>>>,
    pulse: Arc<Pulse>,
    words: Words,
    /// What cannot be read, as it was logged last.
    troubles: Vec<String>,
    /// Since when the answers are current, until memory that catching up took, and what was
    /// judged right after it, was given back.
    caught_up: Option<ArrivalTime>,
    given_back: u8,
    /// Keeps the state of the group, where that is wanted.
    keeper: Option<Keeper>,
    /// Sends the traces of the group, where they go anywhere.
    exporter: Option<Exporter>,
}

// === impl Watcher ===

impl group::Surroundings for Watcher {
    fn ask_ends(&mut self) {
        self.reader.ask_ends();
    }

    fn meet(&mut self, input: &mut Input) -> Option<Engine> {
        self.keeper.as_mut()?.meet(input)
    }

    async fn woken(&mut self) {
        match &mut self.keeper {
            Some(keeper) => keeper.wrote().await,
            None => future::pending().await,
        }
    }

    async fn ended(&mut self, engine: &Engine) {
        // The last trace is handed over: the sender need not wait for readers to end.
        self.exporter = None;
        if let Some(keeper) = &mut self.keeper {
            keeper.end(engine, &*self.reader).await;
        }
    }

    fn took(&mut self, engine: &Engine, input: &Input, changes: &[Change]) -> io::Result<()> {
        if let Some(keeper) = &mut self.keeper {
            keeper.took(input, changes, &*self.reader);
        }
        for change in changes {
            self.words.change(&self.group, engine, change);
        }
        if let Some(exporter) = &mut self.exporter {
            exporter.took(engine, changes);
        }
        Ok(())
    }

    fn publish(&mut self, engine: &Engine, mut answers: Answers, now: ArrivalTime) {
        if let Some(keeper) = &mut self.keeper {
            keeper.show(engine, &mut answers, &*self.reader);
        }
        let exporter = self.exporter.as_mut();
        let traces = exporter.map(|exporter| exporter.saw(&answers));
        self.words.answers(&self.group, &answers);
        self.reader.heed(&answers);
        if answers.fresh && self.given_back < 2 {
            let since = *self.caught_up.get_or_insert(now);
            if self.given_back == 0 || now.since_ms(since) >= JUDGED_BY_MS {
                self.given_back = self.given_back.saturating_add(1);
                ffi::give_memory_back();
            }
        }
        let stats = self.stats();
        let polls = self.polls();
        let hitches = self.hitches();
        let unkept = self.keeper.as_ref().and_then(Keeper::trouble);
        self.publisher.send_modify(|published| {
            let published = Arc::make_mut(published);
            if let Some(place) = published.groups.get_mut(self.place) {
                *place = Arc::new(answers);
            }
            published
                .agent
                .inputs
                .retain(|input| input.group != self.group);
            published.agent.inputs.extend(stats);
            published
                .agent
                .polls
                .retain(|polls| polls.group != self.group);
            published.agent.polls.push(polls);
            published
                .agent
                .hitches
                .retain(|hitch| hitch.group != self.group);
            published.agent.hitches.extend(hitches);
            if let Some((stats, handed)) = traces {
                published.agent.traces = Some(stats);
                let group = Arc::clone(&self.group);
                published.agent.traced.insert(group, handed);
            }
            published.agent.unkept.remove(&self.group);
            if let Some(trouble) = unkept {
                published
                    .agent
                    .unkept
                    .insert(Arc::clone(&self.group), trouble);
            }
        });
        self.say_troubles(now);
        self.pulse.beat(self.place, now);
    }
}

impl Watcher {
    fn polls(&self) -> PollStats {
        let counters = self.reader.poll_counters();
        PollStats {
            group: Arc::clone(&self.group),
            answered: [
                counters.finds.get(),
                counters.lists.get(),
                counters.descriptions.get(),
            ],
            failed: counters.failures.get(),
            off: self.reader.polls_off(),
        }
    }

    /// Says what cannot be read in the words of `/readyz`, once: a label does not name whose
    /// right is missing, nor the setting to look at.
    fn say_troubles(&mut self, now: ArrivalTime) {
        let published = Arc::clone(&self.publisher.borrow());
        let Some(answers) = published.groups.get(self.place) else {
            return;
        };
        let troubles = api::troubles(answers, &published.agent, now);
        for trouble in &troubles {
            if !self.troubles.contains(trouble) {
                tracing::warn!(group = %self.group, "{trouble}");
            }
        }
        self.troubles = troubles;
    }

    fn hitches(&self) -> Vec<HitchStats> {
        let told = |topic, hitch: Option<Hitch>| {
            hitch.map(|hitch| HitchStats {
                group: Arc::clone(&self.group),
                topic,
                text: hitch.text(),
            })
        };
        let of_topics = Topic::ALL.map(|topic| told(Some(topic), self.reader.hitch(topic)));
        let of_polls = told(None, self.reader.polls_hitch());
        of_topics.into_iter().chain([of_polls]).flatten().collect()
    }

    fn stats(&self) -> Vec<InputStats> {
        let counters = self.reader.counters();
        let stats = |topic| InputStats {
            group: Arc::clone(&self.group),
            topic,
            records_read: counters.topic(topic).records.get(),
            start_up: (topic == Topic::Offsets && counters.search.offsets.get() > 0).then(|| {
                let rate = counters.search.rate.get();
                StartUp {
                    done: if counters.search.done.get() > 0 {
                        counters.search.offsets.get()
                    } else {
                        counters.search.searched.get()
                    },
                    total: counters.search.offsets.get(),
                    // Offsets a second stay far below 2^53, where a double is exact.
                    rate: (rate > 0).then_some(rate as f64),
                }
            }),
        };
        Topic::ALL.into_iter().map(stats).collect()
    }
}
