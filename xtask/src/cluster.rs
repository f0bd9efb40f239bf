//! `cargo xtask cluster`: a real cluster in the foreground, for a person to play with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use evenkeel_testbed::control::{Control, Listener, ask};
use evenkeel_testbed::{
    BrokerSpec, Cluster, ClusterSpec, ClusterState, GroupSpec, Version, WorkerSpec,
    block_interrupts, take_down, wait_for_interrupt,
};

/// Time between two looks for a verb from another terminal.
const LOOK_EVERY: Duration = Duration::from_millis(100);

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Starts brokers and workers, prints their addresses, runs until Ctrl-C or `down`
    Up(Up),
    /// Ends a cluster that `up` started and removes what it left
    Down {
        #[command(flatten)]
        place: Place,
    },
    /// Prints the addresses of a cluster that `up` started
    Show {
        #[command(flatten)]
        place: Place,
    },
    /// Starts a stopped broker or worker on the port and folder it had
    Start(Name),
    /// Ends a broker or worker in order (SIGTERM)
    Stop(Name),
    /// Ends it without a word (SIGKILL)
    Kill(Name),
    /// Lets it stand still with open sockets (SIGSTOP)
    Freeze(Name),
    /// Lets it go on (SIGCONT)
    Thaw(Name),
    /// Stops it, changes settings or release, starts it
    Restart {
        #[command(flatten)]
        name: Name,
        /// A setting, name=value; may be given again
        #[arg(long = "set", value_parser = setting)]
        settings: Vec<(String, String)>,
        /// Another release, for workers
        #[arg(long)]
        version: Option<Version>,
    },
    /// Adds a worker to a group
    AddWorker {
        #[command(flatten)]
        place: Place,
        #[arg(long, default_value = "connect")]
        group: String,
        #[arg(long, default_value_t = Version::DEFAULT)]
        version: Version,
        /// A setting, name=value; may be given again
        #[arg(long = "set", value_parser = setting)]
        settings: Vec<(String, String)>,
    },
    /// Prints what the brokers' and workers' logs say of a group so far
    Truth {
        #[command(flatten)]
        place: Place,
        #[arg(long, default_value = "connect")]
        group: String,
        /// Everything, times included
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub(crate) struct Name {
    #[command(flatten)]
    place: Place,
    /// For example worker-2 or broker-1
    name: String,
}

#[derive(Args)]
pub(crate) struct Place {
    /// File that says where the cluster is [default: .work/cluster.json in the checkout]
    #[arg(long)]
    state: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Up {
    #[command(flatten)]
    place: Place,
    /// Workers of each group
    #[arg(long, default_value_t = 3)]
    workers: usize,
    /// Brokers; with more than one the controller is a process of its own
    #[arg(long, default_value_t = 1)]
    brokers: u16,
    /// Release of the brokers
    #[arg(long, default_value_t = Version::DEFAULT)]
    broker_version: Version,
    /// Release of the workers
    #[arg(long, default_value_t = Version::DEFAULT)]
    worker_version: Version,
    /// Connect groups (group.id); give it again for more
    #[arg(long = "group", default_values_t = ["connect".to_owned()])]
    groups: Vec<String>,
    /// scheduled.rebalance.max.delay.ms of the workers
    #[arg(long, default_value_t = 20_000)]
    scheduled_delay_ms: u32,
    /// offsets.topic.num.partitions
    #[arg(long, default_value_t = 5)]
    offsets_partitions: u16,
    /// Replicas of the internal topics; 2 with two brokers survives the loss of one
    #[arg(long, default_value_t = 1)]
    replicas: u16,
    /// group.initial.rebalance.delay.ms
    #[arg(long, default_value_t = 0)]
    initial_rebalance_delay_ms: u32,
    /// A worker setting, name=value; may be given again
    #[arg(long = "worker-setting", value_parser = setting)]
    worker_settings: Vec<(String, String)>,
    /// A broker setting, name=value; may be given again
    #[arg(long = "broker-setting", value_parser = setting)]
    broker_settings: Vec<(String, String)>,
    /// Shows the workers' JMX over HTTP
    #[arg(long)]
    jmx: bool,
}

fn setting(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| format!("{text:?} is not of the form name=value"))
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Up(up) => start(up),
        Command::Down { place } => {
            let file = place.file()?;
            if take_down(&file)? {
                eprintln!("the cluster is down");
            } else {
                eprintln!("no cluster: {} does not exist", file.display());
            }
            Ok(())
        }
        Command::Show { place } => {
            print(&place.state()?);
            Ok(())
        }
        Command::Start(name) => name.ask(|name| Control::Start { name }),
        Command::Stop(name) => name.ask(|name| Control::Stop { name }),
        Command::Kill(name) => name.ask(|name| Control::Kill { name }),
        Command::Freeze(name) => name.ask(|name| Control::Freeze { name }),
        Command::Thaw(name) => name.ask(|name| Control::Thaw { name }),
        Command::Restart {
            name,
            settings,
            version,
        } => name.ask(|name| Control::Restart {
            name,
            settings: settings.iter().cloned().collect(),
            version: *version,
        }),
        Command::AddWorker {
            place,
            group,
            version,
            settings,
        } => place.ask(&Control::AddWorker {
            group_id: group.clone(),
            version: *version,
            settings: settings.iter().cloned().collect(),
        }),
        Command::Truth { place, group, json } => place.ask(&Control::Truth {
            group_id: group.clone(),
            json: *json,
        }),
    }
}

impl Name {
    fn ask(&self, control: impl FnOnce(String) -> Control) -> anyhow::Result<()> {
        self.place.ask(&control(self.name.clone()))
    }
}

impl Place {
    fn state(&self) -> anyhow::Result<ClusterState> {
        let file = self.file()?;
        ClusterState::read(&file)?
            .with_context(|| format!("no cluster: {} does not exist", file.display()))
    }

    fn ask(&self, control: &Control) -> anyhow::Result<()> {
        println!("{}", ask(&self.state()?.folder, control)?);
        Ok(())
    }

    fn file(&self) -> anyhow::Result<PathBuf> {
        if let Some(file) = &self.state {
            return Ok(file.clone());
        }
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("xtask lies in no checkout")?;
        Ok(checkout.join(".work/cluster.json"))
    }
}

fn start(up: &Up) -> anyhow::Result<()> {
    let file = up.place.file()?;
    if let Some(state) = ClusterState::read(&file)? {
        if state.owner_lives() {
            bail!(
                "a cluster runs already (pid {}): `cargo xtask cluster down` ends it",
                state.owner_pid
            );
        }
        take_down(&file)?;
    }
    // Before any thread is started, so that all of them leave Ctrl-C to the wait below.
    block_interrupts().context("block signals")?;
    let worker = WorkerSpec {
        version: up.worker_version,
        scheduled_delay_ms: up.scheduled_delay_ms,
        settings: up.worker_settings.iter().cloned().collect(),
    };
    let spec = ClusterSpec {
        brokers: BrokerSpec {
            count: up.brokers,
            version: up.broker_version,
            offsets_partitions: up.offsets_partitions,
            offsets_replicas: up.replicas,
            initial_rebalance_delay_ms: up.initial_rebalance_delay_ms,
            settings: up.broker_settings.iter().cloned().collect(),
        },
        groups: up
            .groups
            .iter()
            .map(|group| GroupSpec::new(group, vec![worker.clone(); up.workers]))
            .collect(),
        jmx: up.jmx,
    };
    let mut cluster = Cluster::start(&spec)?;
    let listener = Listener::open(&cluster)?;
    let state = cluster.state();
    state.write(&file)?;
    print(&state);
    eprintln!("\nCtrl-C or `cargo xtask cluster down` ends it");
    while !wait_for_interrupt(LOOK_EVERY) {
        if listener.serve(&mut cluster)? {
            cluster.state().write(&file)?;
        }
    }
    drop(cluster);
    if file.exists() {
        std::fs::remove_file(&file).with_context(|| format!("remove {}", file.display()))?;
    }
    eprintln!("the cluster is down");
    Ok(())
}

fn print(state: &ClusterState) {
    println!("bootstrap  {}", state.bootstrap);
    for group in &state.groups {
        println!(
            "group      {}  config {}  offset {}  status {}",
            group.group_id, group.config_topic, group.offset_topic, group.status_topic
        );
    }
    for node in &state.nodes {
        println!(
            "{:<10} {}  {}  log {}",
            node.name,
            node.address,
            node.version,
            node.log.display()
        );
        if let Some(jmx) = &node.jmx {
            println!("{:<10} jmx {jmx}", "");
        }
    }
    println!("folder     {}", state.folder.display());
}
