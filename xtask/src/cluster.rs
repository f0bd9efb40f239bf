//! `cargo xtask cluster`: a real cluster in the foreground, for a person to play with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use evenkeel_testbed::{
    BrokerSpec, Cluster, ClusterSpec, ClusterState, GroupSpec, Version, WorkerSpec,
    block_interrupts, take_down, wait_for_interrupt,
};

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
            let file = place.file()?;
            let state = ClusterState::read(&file)?
                .with_context(|| format!("no cluster: {} does not exist", file.display()))?;
            print(&state);
            Ok(())
        }
    }
}

impl Place {
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
            initial_rebalance_delay_ms: up.initial_rebalance_delay_ms,
            settings: up.broker_settings.iter().cloned().collect(),
            ..BrokerSpec::default()
        },
        groups: up
            .groups
            .iter()
            .map(|group| GroupSpec::new(group, vec![worker.clone(); up.workers]))
            .collect(),
        jmx: up.jmx,
    };
    let cluster = Cluster::start(&spec)?;
    let state = cluster.state();
    state.write(&file)?;
    print(&state);
    eprintln!("\nCtrl-C or `cargo xtask cluster down` ends it");
    while !wait_for_interrupt(Duration::from_secs(3600)) {}
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
