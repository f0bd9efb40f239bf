//! `evenkeel demo`: a recorded incident, served by an embedded broker at its own pace, long silences cut, and
//! watched by the real pipeline. No Kafka, no network.

pub mod broker;
mod narrator;
mod script;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use evenkeel_core::facts::input::Topic;
use tokio::net::TcpListener;

use crate::commands::exit::Exit;
use crate::commands::run::build;
use crate::commands::{start, wiring};
use crate::config::{LogConfig, LogLevel, Mistakes, Readiness, TraceCopies};
use crate::read::capture::{CaptureError, CaptureReader};
use crate::read::connection::{Connection, Hidden};
use crate::read::kafka::ReadSettings;
use crate::run::agent::{Agent, Plan};
use crate::run::clock;
use crate::run::shutdown::{Shutdown, Signals};
use crate::show::http::HttpLimits;
use crate::show::log;
use crate::show::view::{AgentStats, SeriesLimits};
use broker::{Broker, BrokerError};
use narrator::Narrator;
use script::{Script, ScriptError};

/// The incident that is shipped: recorded on real Kafka, with its truth beside it.
const INCIDENT: &[u8] = include_bytes!("../../tests/captures/incident.evk.gz");

/// How long the demo waits for its own agent to see the empty topics.
const READY_MAX: Duration = Duration::from_secs(30);

/// How long after the last record the end is still told: the verdict on the last
/// generation waits for a status, or for the largest rebalance timeout.
const VERDICT_MAX: Duration = Duration::from_secs(10);

/// Watch a recorded incident without any Kafka
#[derive(Debug, Args)]
#[command(after_help = "Example: evenkeel demo --listen 127.0.0.1:9790")]
pub struct DemoArgs {
    /// Where to serve metrics and the page
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:9790")]
    pub listen: SocketAddr,
    /// Port of the embedded broker; a free one by default
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub broker_port: u16,
    /// Another capture than the shipped one; silences longer than a session are cut
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// End after the incident instead of serving until Ctrl-C
    #[arg(long)]
    pub exit: bool,
    /// Send the rebalances that are over as traces to this receiver of OTLP, as
    /// http://HOST:PORT; protocol, headers and TLS by OTEL_EXPORTER_OTLP_* variables
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,
    /// Show the agent's own log, too
    #[arg(long)]
    pub verbose: bool,
}

/// Why a demo cannot be given.
#[derive(Debug, thiserror::Error)]
enum DemoError {
    #[error("capture not read")]
    Capture(#[from] CaptureError),
    #[error("capture cannot be shown")]
    Script(#[from] ScriptError),
    #[error("embedded broker failed")]
    Broker(#[from] BrokerError),
    #[error("cannot listen on {address}; choose another with --listen ADDR:PORT")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
    #[error(transparent)]
    Receiver(#[from] Mistakes),
    #[error("kafka client not configured")]
    Client(#[from] crate::read::kafka::ReadError),
    #[error("runtime not started")]
    Runtime(#[source] std::io::Error),
    #[error("output not written")]
    Output(#[from] std::io::Error),
    #[error("the agent did not see the embedded broker within {} s", READY_MAX.as_secs())]
    NotReady,
}

/// Plays the incident; ends with it or at Ctrl-C.
#[must_use]
pub fn run(args: &DemoArgs) -> Exit {
    let level = match args {
        DemoArgs { verbose: true, .. } => LogLevel::Info,
        // Whether a receiver takes the traces is told by the log alone.
        DemoArgs { otlp: Some(_), .. } => LogLevel::Warn,
        _ => LogLevel::Error,
    };
    log::start(LogConfig {
        level,
        ..LogConfig::default()
    });
    let played = start::on_threads(2, play(args)).map_err(DemoError::Runtime);
    match played.flatten() {
        Ok(()) => Exit::Ok,
        Err(DemoError::Output(error)) => Exit::of_output(&error),
        Err(DemoError::Receiver(mistakes)) => {
            eprintln!("{mistakes}");
            Exit::Config
        }
        Err(error) => Exit::of_error(&error),
    }
}

async fn play(args: &DemoArgs) -> Result<(), DemoError> {
    let script = match &args.capture {
        Some(path) => Script::write(CaptureReader::open(path)?)?,
        None => Script::write(CaptureReader::new(INCIDENT)?)?,
    };
    let traces = match &args.otlp {
        Some(url) => Some(wiring::client_for(url)?),
        None => None,
    };
    let listener = TcpListener::bind(args.listen)
        .await
        .map_err(|source| DemoError::Listen {
            address: args.listen,
            source,
        })?;
    let page = listener.local_addr()?;
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, args.broker_port));
    let broker = Broker::start(loopback, script.cluster_id(), &script.topics()).await?;
    let shutdown = Shutdown::new();
    let plan = Plan {
        // Nobody else watches this group.
        traces: traces.map(|client| (client, TraceCopies::All)),
        ..plan(&script, broker.address())
    };
    let agent = Agent::start(plan, &shutdown)?;
    let mut narrator = Narrator::new(agent.published());
    introduce(&script, broker.address(), page)?;
    let show = async {
        let result = perform(args, &script, &broker, &mut narrator).await;
        shutdown.begin();
        result
    };
    let (result, ()) = tokio::join!(show, agent.serve(listener, &shutdown));
    broker.shutdown().await;
    result
}

/// Serves each record at its own time, tells what the agent says of it, and waits for
/// whoever watches to leave.
async fn perform(
    args: &DemoArgs,
    script: &Script,
    broker: &Broker,
    narrator: &mut Narrator,
) -> Result<(), DemoError> {
    let mut signals = Signals::listen()?;
    let ready = tokio::time::timeout(READY_MAX, narrator.until_current());
    tokio::select! {
        ready = ready => ready.map_err(|_| DemoError::NotReady)?,
        () = signals.received() => return Ok(()),
    }
    let begin = clock::now().plus_ms(500);
    narrator.begin(begin);
    tokio::select! {
        result = script.serve(broker, begin) => result?,
        told = narrator.tell() => told?,
        () = signals.received() => return Ok(()),
    }
    tokio::select! {
        told = tokio::time::timeout(VERDICT_MAX, narrator.tell_until_settled()) => {
            if let Ok(told) = told {
                told?;
            }
        }
        () = signals.received() => return Ok(()),
    }
    narrator.conclude()?;
    if args.exit {
        return Ok(());
    }
    writeln!(
        std::io::stdout(),
        "\nThe incident is over; everything is still served. Ctrl-C ends it."
    )?;
    signals.received().await;
    Ok(())
}

fn introduce(script: &Script, broker: SocketAddr, page: SocketAddr) -> Result<(), DemoError> {
    let mut out = std::io::stdout().lock();
    let seconds = script.length_ms() / 1000;
    writeln!(
        out,
        "A recorded incident of a real Kafka Connect group, {seconds} s long."
    )?;
    if let Some(recorded) = script.recorded_on() {
        writeln!(out, "Recorded on {recorded}.")?;
    }
    if script.cut_ms() >= 1_000 {
        writeln!(
            out,
            "Silences longer than a session are cut, {} s in all: what lasts through one is told as it plays, \
             shorter than it was.",
            script.cut_ms() / 1_000
        )?;
    }
    writeln!(out, "  page     http://{page}/")?;
    writeln!(out, "  metrics  http://{page}/metrics")?;
    writeln!(out, "  state    http://{page}/api/v1/state")?;
    writeln!(out, "  broker   {broker}, topics:")?;
    for topic in Topic::ALL {
        writeln!(out, "             {}", script.topic_name(topic))?;
    }
    writeln!(out)?;
    Ok(())
}

fn plan(script: &Script, broker: SocketAddr) -> Plan {
    let bootstrap = ("bootstrap.servers".to_owned(), Hidden(broker.to_string()));
    let settings = script.settings();
    Plan {
        traces: None,
        groups: vec![ReadSettings {
            connection: Connection {
                properties: [bootstrap].into(),
                token_file: None,
            },
            group: settings.group.clone(),
            offsets_topic: settings.offsets_topic.clone(),
            config_topic: settings.config_topic.clone(),
            status_topic: settings.status_topic.clone(),
            worker_release: settings.worker_release.clone(),
            own_worker: settings.own_worker.clone(),
            ..ReadSettings::default()
        }],
        state: None,
        look: None,
        readiness: Readiness::Lenient,
        series: SeriesLimits::default(),
        agent: AgentStats {
            build: build(),
            ..AgentStats::default()
        },
        http: HttpLimits::default(),
        web: None,
    }
}
