//! `evenkeel run`: the sidecar.

use std::net::SocketAddr;

use clap::Args;
use tokio::net::TcpListener;

use crate::commands::exit::Exit;
use crate::commands::{start, wiring};
use crate::config::{Config, ConfigFlags};
use crate::run::agent::{Agent, Plan};
use crate::run::connections::Look;
use crate::run::shutdown::{Shutdown, Signals};
use crate::show::http::HttpLimits;
use crate::show::view::{AgentStats, BuildInfo, SeriesLimits};

/// Watch a Connect group and show what it does
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel run --worker-properties /etc/kafka/connect-distributed.properties
  evenkeel run --bootstrap broker:9092 --group connect-cluster \\
      --config-topic connect-configs --status-topic connect-status
  evenkeel run --config /etc/evenkeel/evenkeel.yaml --listen 127.0.0.1:9790")]
pub struct RunArgs {
    /// Everything that can be configured
    #[command(flatten)]
    pub config: ConfigFlags,
}

/// Runs until SIGINT or SIGTERM.
#[must_use]
pub fn run(args: &RunArgs) -> Exit {
    let loaded = match start::configured(wiring::whole(&args.config)) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    start::on_this_thread(watch(&loaded.config, &args.config)).unwrap_or_else(|error| {
        tracing::error!(%error, "runtime not started");
        Exit::Failed
    })
}

async fn watch(config: &Config, flags: &ConfigFlags) -> Exit {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            tracing::error!(%error, "signals cannot be listened to");
            return Exit::Failed;
        }
    };
    if let Err(error) = signals.ignore_hangups() {
        tracing::warn!(%error, "SIGHUP ends the agent");
    }
    let plan = match plan(config, flags) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let address = config.http.listen;
    let Some(listener) = listen(address).await else {
        return Exit::Failed;
    };
    let shutdown = Shutdown::new();
    let agent = match Agent::start(plan, &shutdown) {
        Ok(agent) => agent,
        Err(error) => {
            tracing::error!(%error, "kafka client not configured");
            return Exit::Config;
        }
    };
    let stop = async {
        signals.received().await;
        shutdown.begin();
    };
    tokio::join!(agent.serve(listener, &shutdown), stop);
    tracing::info!("ended");
    Exit::Ok
}

/// Listens, or says what stands in the way.
pub(super) async fn listen(address: SocketAddr) -> Option<TcpListener> {
    match TcpListener::bind(address).await {
        Ok(listener) => {
            // With port 0 the system chose one.
            let address = listener.local_addr().unwrap_or(address);
            tracing::info!(%address, "serving");
            Some(listener)
        }
        Err(error) => {
            let hint = "another process may use the port; choose one with --listen ADDR:PORT";
            tracing::error!(%address, %error, hint, "cannot listen");
            None
        }
    }
}

fn plan(config: &Config, flags: &ConfigFlags) -> Result<Plan, Exit> {
    let web = wiring::web(&config.http).map_err(|mistakes| {
        eprintln!("{mistakes}");
        Exit::Config
    })?;
    if let (Some(web), Some(file)) = (&web, &config.http.web_config_file) {
        let (tls, basic_auth) = (web.guard().has_tls(), web.guard().has_users());
        tracing::info!(file = %file.display(), tls, basic_auth, "web configuration in use");
    }
    for warning in wiring::expired(config, web.as_ref()) {
        tracing::warn!("{warning}");
    }
    let settings = wiring::settings(config).map_err(|mistakes| {
        eprintln!("{mistakes}");
        Exit::Config
    })?;
    let state = wiring::state_folder(config).map_err(|mistakes| {
        eprintln!("{mistakes}");
        Exit::Config
    })?;
    let traces = wiring::traces(config).map_err(|mistakes| {
        eprintln!("{mistakes}");
        Exit::Config
    })?;
    for warning in traces.warnings {
        tracing::warn!("{warning}");
    }
    let principals = settings.principals.clone();
    let look = Look::new(wiring::load_again(flags), settings);
    Ok(Plan {
        groups: look.groups().to_vec(),
        state,
        look: Some(look),
        readiness: config.http.readiness,
        series: SeriesLimits {
            series_max: config.metrics.series_max,
            subjects_max: config.metrics.subjects_max,
            group_series: config.metrics.group_series,
        },
        agent: AgentStats {
            build: build(),
            principals,
            ..AgentStats::default()
        },
        http: HttpLimits::default(),
        web,
        traces: traces.to,
    })
}

/// The program, as it describes itself.
pub(super) fn build() -> BuildInfo {
    BuildInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        librdkafka: crate::read::kafka::client_version(),
    }
}
