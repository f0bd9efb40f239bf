//! `cargo xtask cluster`: a real cluster in the foreground, for a person to play with.

mod show;
mod up;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use evenkeel_testbed::control::{Control, Listener, ProxyFault, ask};
use evenkeel_testbed::security::{Access, Resource, Right};
use evenkeel_testbed::{
    Cluster, ClusterState, Network, Version, block_interrupts, take_down, wait_for_interrupt,
};

use up::Up;

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
        /// How it reaches the brokers of a secured cluster; see `up --access`
        #[arg(long, default_value_t = Access::Plaintext)]
        access: Access,
        /// A setting, name=value; may be given again
        #[arg(long = "set", value_parser = setting)]
        settings: Vec<(String, String)>,
    },
    /// Gives a right, at once: grant evenkeel READ topic:connect-configs
    Grant(RightArgs),
    /// Takes a right away
    Revoke(RightArgs),
    /// What the proxy before a broker does from now on, with `up --proxied`
    Proxy {
        #[command(flatten)]
        name: Name,
        /// none, hang, refuse, cut (once), or a delay such as 300ms
        #[arg(value_parser = fault)]
        fault: ProxyFault,
    },
    /// Takes a worker's network cable out, with `up --netns`
    Unplug(Name),
    /// Puts it in again
    Plug(Name),
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
pub(crate) struct RightArgs {
    #[command(flatten)]
    place: Place,
    /// For example evenkeel or connect
    user: String,
    /// Kafka's name of it, for example READ, DESCRIBE, DESCRIBE_CONFIGS
    operation: String,
    /// topic:NAME, group:NAME or cluster; a name may end in *
    resource: Resource,
}

#[derive(Args)]
pub(crate) struct Place {
    /// File that says where the cluster is [default: .work/cluster.json in the checkout]
    #[arg(long)]
    state: Option<PathBuf>,
}

fn setting(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| format!("{text:?} is not of the form name=value"))
}

fn fault(text: &str) -> Result<ProxyFault, String> {
    let delay = text.strip_suffix("ms").and_then(|ms| ms.parse().ok());
    match (text, delay) {
        ("none", _) => Ok(ProxyFault::None),
        ("hang", _) => Ok(ProxyFault::Hang),
        ("refuse", _) => Ok(ProxyFault::Refuse),
        ("cut", _) => Ok(ProxyFault::Cut),
        (_, Some(ms)) => Ok(ProxyFault::DelayMs(ms)),
        _ => Err("none, hang, refuse, cut, or a delay such as 300ms".to_owned()),
    }
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
            show::print(&place.state()?);
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
            access,
            settings,
        } => place.ask(&Control::AddWorker {
            group_id: group.clone(),
            version: *version,
            access: *access,
            settings: settings.iter().cloned().collect(),
        }),
        Command::Grant(args) => args.ask(|right| Control::Grant { right }),
        Command::Revoke(args) => args.ask(|right| Control::Revoke { right }),
        Command::Proxy { name, fault } => name.ask(|broker| Control::Proxy {
            broker,
            fault: *fault,
        }),
        Command::Unplug(name) => name.ask(|name| Control::Cable {
            name,
            plugged: false,
        }),
        Command::Plug(name) => name.ask(|name| Control::Cable {
            name,
            plugged: true,
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

impl RightArgs {
    fn ask(&self, control: impl FnOnce(Right) -> Control) -> anyhow::Result<()> {
        let right = Right::of(&self.user, &self.operation, self.resource.clone());
        self.place.ask(&control(right))
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
    if let Some(obstacle) = up.netns.then(Network::obstacle).flatten() {
        bail!("no network namespaces here: {obstacle}");
    }
    // Before any thread is started, so that all of them leave Ctrl-C to the wait below.
    block_interrupts().context("block signals")?;
    let mut cluster = Cluster::start(&up.spec()?)?;
    if up.secure {
        cluster.hand_files()?;
    }
    let listener = Listener::open(&cluster)?;
    let state = cluster.state();
    state.write(&file)?;
    show::print(&state);
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
