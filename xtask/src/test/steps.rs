//! The steps that are one call of Cargo each.

use std::process::Command;

use anyhow::{Context as _, ensure};
use evenkeel_testbed::Tools;

use super::targets::{LIVE, LIVE_MODULE};
use super::{Context, Outcome, targets};
use crate::{cargo, kafka, settings};

/// How long seeded mutations of fixtures go on in CI, in seconds.
const MUTATION_VARIABLE: &str = "EVENKEEL_MUTATION_SECONDS";
const MUTATION_SECONDS: &str = "30";

pub(crate) fn fmt(context: &Context) -> anyhow::Result<Outcome> {
    run(cargo::command(&context.root, &["fmt", "--all", "--check"]))
}

pub(crate) fn clippy(context: &Context) -> anyhow::Result<Outcome> {
    let args = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ];
    run(cargo::command(&context.root, &args))
}

pub(crate) fn build(context: &Context) -> anyhow::Result<Outcome> {
    run(cargo::command(
        &context.root,
        &["test", "--workspace", "--locked", "--no-run"],
    ))
}

pub(crate) fn rustdoc(context: &Context) -> anyhow::Result<Outcome> {
    // The whole workspace, so that what clippy made of other crates is used.
    let args = ["doc", "--workspace", "--no-deps", "--locked"];
    let mut command = cargo::command(&context.root, &args);
    command.env("RUSTDOCFLAGS", "-D warnings");
    run(command)
}

pub(crate) fn test(context: &Context) -> anyhow::Result<Outcome> {
    // The whole workspace at once, so that features are those of the build step and nothing
    // native is compiled again.
    let everything = ["test", "--workspace", "--locked", "--no-fail-fast"];
    let mut args: Vec<String> = everything.map(str::to_owned).to_vec();
    args.extend(["--lib", "--bins"].map(str::to_owned));
    for name in targets::integration(&context.root)? {
        if name != LIVE {
            args.extend(["--test".to_owned(), name]);
        }
    }
    args.extend(["--", "--skip", LIVE_MODULE].map(str::to_owned));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = cargo::command(&context.root, &args);
    if context.ci && std::env::var_os(MUTATION_VARIABLE).is_none() {
        command.env(MUTATION_VARIABLE, MUTATION_SECONDS);
    }
    let tests = run(command);
    let documented = run(cargo::command(
        &context.root,
        &[&everything[..], &["--doc"]].concat(),
    ));
    tests.and(documented)
}

pub(crate) fn tidy(context: &Context) -> anyhow::Result<Outcome> {
    run(cargo::command(&context.root, &["xtask", "tidy"]))
}

/// The core's table of Kafka's settings against the jars that are there.
pub(crate) fn settings(context: &Context) -> anyhow::Result<Outcome> {
    if context.quick {
        return Ok(Outcome::Skipped("--quick".to_owned()));
    }
    if let Err(missing) = Tools::find() {
        return Ok(Outcome::Skipped(format!("{missing:#}")));
    }
    settings::compare_cached(&context.root, &kafka::RELEASES)?;
    Ok(Outcome::Passed)
}

pub(crate) fn fuzz(context: &Context) -> anyhow::Result<Outcome> {
    let manifest = "fuzz/Cargo.toml";
    if !context.root.join(manifest).exists() {
        return Ok(Outcome::Skipped(format!("there is no {manifest}")));
    }
    run(cargo::command(
        &context.root,
        &["check", "--manifest-path", manifest, "--all-targets"],
    ))
}

/// Runs a program whose output is shown, and fails if it does.
pub(crate) fn run(mut command: Command) -> anyhow::Result<Outcome> {
    let program = command.get_program().to_string_lossy().into_owned();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    let args: Vec<_> = command
        .get_args()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let told = format!("{program} {}", args.join(" "));
    println!("$ {told}");
    let status = command.status().with_context(|| format!("run {told}"))?;
    ensure!(status.success(), "{told}: {status}");
    Ok(Outcome::Passed)
}
