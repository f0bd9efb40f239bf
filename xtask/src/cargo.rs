//! Cargo, started in the checkout.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// The root of the checkout that `cargo xtask` was started in.
pub(crate) fn root() -> anyhow::Result<PathBuf> {
    // Cargo sets it for what it runs. Several checkouts may share a target folder, so that
    // the one known when this was compiled may be another.
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent()
        .map(Path::to_owned)
        .context("xtask lies in no checkout")
}

/// Cargo with `args`, in the root of the checkout.
pub(crate) fn command(root: &Path, args: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root);
    command
}

/// What Cargo writes to its standard output.
pub(crate) fn output(root: &Path, args: &[&str]) -> anyhow::Result<String> {
    let told = format!("cargo {}", args.join(" "));
    let output = command(root, args)
        .output()
        .with_context(|| format!("run {told}"))?;
    ensure!(
        output.status.success(),
        "{told} ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout).with_context(|| format!("read what {told} wrote"))
}
