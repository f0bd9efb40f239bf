//! Network namespaces on a bridge: workers and agents with real addresses of their own.
//!
//! Needs root and iproute2. Everything has a name with a prefix that no other cluster has, and
//! is removed by that prefix even if this process is killed.

use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::clock::now_ms;
use crate::folder::Janitor;

/// Of the private addresses, ones that container programs do not take by default.
const NET: (u8, u8) = (10, 213);

/// Removes what has the prefix; `ip` and the prefix are its arguments.
const SWEEP: &str = r#"
"$1" netns list | while read -r name _; do
  case $name in "$2"-*) "$1" netns delete "$name";; esac
done
"$1" -o link show | while IFS=': @' read -r _ name _; do
  case $name in "$2"-*) "$1" link delete "$name";; esac
done
"#;

/// A bridge with an address of this machine, and namespaces on it.
#[derive(Debug)]
pub struct Network {
    ip: PathBuf,
    prefix: String,
    third: u8,
    rooms: u8,
    _lock: File,
    _janitor: Janitor,
}

/// A namespace with its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    ip: PathBuf,
    namespace: String,
    /// The end of its cable on the bridge.
    cable: String,
    address: Ipv4Addr,
}

impl Network {
    /// Why there can be no namespaces here; `None` if there can.
    pub fn obstacle() -> Option<String> {
        let Some(ip) = find() else {
            return Some("ip is not installed; as root: apt-get install -y iproute2".to_owned());
        };
        let name = format!("ek{:06x}-try", std::process::id() & 0xff_ffff);
        let tried = run(&ip, &["netns", "add", &name]).and_then(|()| {
            let bridged = run(&ip, &["link", "add", &name, "type", "bridge"])
                .and_then(|()| run(&ip, &["link", "delete", &name]));
            run(&ip, &["netns", "delete", &name])?;
            bridged
        });
        tried.err().map(|error| format!("{error:#}"))
    }

    /// Makes the bridge; `locks` is a folder shared by all clusters of this user.
    pub(crate) fn create(locks: &Path) -> anyhow::Result<Network> {
        let ip = find().context("ip is not installed; as root: apt-get install -y iproute2")?;
        let (third, lock) = reserve(&ip, locks)?;
        let unique = (now_ms().unsigned_abs() ^ (u64::from(std::process::id()) << 8)) & 0xff_ffff;
        let prefix = format!("ek{unique:06x}");
        let ip_text = ip.display().to_string();
        let network = Network {
            _janitor: Janitor::start(SWEEP, &[&ip_text, &prefix])?,
            ip,
            prefix,
            third,
            rooms: 0,
            _lock: lock,
        };
        let bridge = network.name("bridge");
        network.run(&["link", "add", &bridge, "type", "bridge"])?;
        let address = format!("{}/24", network.host());
        network.run(&["address", "add", &address, "dev", &bridge])?;
        network.run(&["link", "set", &bridge, "up"])?;
        Ok(network)
    }

    /// The address of this machine on the bridge, where the brokers listen.
    pub fn host(&self) -> Ipv4Addr {
        self.address(1)
    }

    /// A new namespace, plugged in.
    pub(crate) fn add(&mut self) -> anyhow::Result<Room> {
        self.rooms = self.rooms.checked_add(1).context("too many namespaces")?;
        let last = self.rooms.checked_add(9).context("too many namespaces")?;
        let room = Room {
            ip: self.ip.clone(),
            namespace: self.name(&format!("n{}", self.rooms)),
            cable: self.name(&format!("c{}", self.rooms)),
            address: self.address(last),
        };
        let (namespace, cable) = (room.namespace.as_str(), room.cable.as_str());
        self.run(&["netns", "add", namespace])?;
        let pair = ["type", "veth", "peer", "name", "eth0", "netns", namespace];
        self.run(&[&["link", "add", cable], &pair[..]].concat())?;
        self.run(&["link", "set", cable, "master", &self.name("bridge"), "up"])?;
        let address = format!("{}/24", room.address);
        self.run(&["-n", namespace, "address", "add", &address, "dev", "eth0"])?;
        for device in ["lo", "eth0"] {
            self.run(&["-n", namespace, "link", "set", device, "up"])?;
        }
        Ok(room)
    }

    fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.prefix)
    }

    fn address(&self, last: u8) -> Ipv4Addr {
        Ipv4Addr::new(NET.0, NET.1, self.third, last)
    }

    fn run(&self, args: &[&str]) -> anyhow::Result<()> {
        run(&self.ip, args)
    }
}

impl Room {
    /// Its address on the bridge.
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// Its name, as `ip netns exec` takes it.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Pulls the cable: nothing goes in or out, and nobody is told.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn unplug(&self) -> anyhow::Result<()> {
        run(&self.ip, &["link", "set", &self.cable, "down"])
    }

    /// Puts the cable in again.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn plug(&self) -> anyhow::Result<()> {
        run(&self.ip, &["link", "set", &self.cable, "up"])
    }

    /// The same command, to be run inside. The process keeps its id: `ip` becomes it.
    pub(crate) fn wrap(&self, command: &Command) -> Command {
        let mut wrapped = Command::new(&self.ip);
        wrapped
            .args(["netns", "exec", &self.namespace])
            .arg(command.get_program())
            .args(command.get_args());
        wrapped
    }
}

/// The path of `ip`: a command with an empty environment has no path to find it by.
fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join("ip"))
        .find(|file| file.is_file())
}

/// A third number that neither this machine nor another cluster uses.
fn reserve(ip: &Path, locks: &Path) -> anyhow::Result<(u8, File)> {
    fs::create_dir_all(locks).with_context(|| format!("create {}", locks.display()))?;
    let taken = Command::new(ip)
        .args(["-o", "-4", "address", "show"])
        .output()
        .context("ask for the addresses of this machine")?;
    let taken = String::from_utf8_lossy(&taken.stdout).into_owned();
    for third in 0..=u8::MAX {
        let lock = File::create(locks.join(format!("net-{third}")))?;
        let used = taken.contains(&format!(" {}.{}.{third}.", NET.0, NET.1));
        if !used && lock.try_lock().is_ok() {
            return Ok((third, lock));
        }
    }
    bail!("no free net in {}.{}.0.0/16", NET.0, NET.1)
}

fn run(ip: &Path, args: &[&str]) -> anyhow::Result<()> {
    let output = Command::new(ip).args(args).output().context("run ip")?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        bail!("ip {}: {words}", args.join(" "));
    }
    Ok(())
}
