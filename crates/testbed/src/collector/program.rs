//! The collector's program: compiled once from `crates/testbed/collector`, kept in the cache.

use std::collections::VecDeque;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::cache;
use crate::process;

const SOURCES: [(&str, &str); 3] = [
    ("main.go", include_str!("../../collector/main.go")),
    ("go.mod", include_str!("../../collector/go.mod")),
    ("go.sum", include_str!("../../collector/go.sum")),
];

const PROGRAM: &str = "collector";

/// Where Go's own installer puts it, which is not in every path.
const GO_FOLDER: &str = "/usr/local/go/bin";

/// Modules come from a network: one that answers nothing must not hold up a test run.
const FETCH_MAX: Duration = Duration::from_secs(300);
const COMPILE_MAX: Duration = Duration::from_secs(900);
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// Lines of a failed command that its error quotes.
const LAST_LINES: usize = 12;

/// What the go command says when what came is not what go.sum says: never a reason to skip.
const NOT_WHAT_WAS_PINNED: [&str; 2] = ["SECURITY ERROR", "checksum mismatch"];

/// The program, or why it cannot be had here. What a network did not give once in this
/// process is not asked for again.
///
/// # Errors
/// When it cannot be compiled from what was fetched, or that is not what was pinned.
pub(super) fn provide() -> anyhow::Result<Result<PathBuf, String>> {
    static OBSTACLE: Mutex<Option<String>> = Mutex::new(None);
    let mut known = OBSTACLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(obstacle) = &*known {
        return Ok(Err(obstacle.clone()));
    }
    let found = find_or_build()?;
    *known = found.as_ref().err().cloned();
    Ok(found)
}

fn find_or_build() -> anyhow::Result<Result<PathBuf, String>> {
    let mut hasher = DefaultHasher::new();
    SOURCES.hash(&mut hasher);
    let entry = format!("collector/{:016x}", hasher.finish());
    let root = cache::root()?;
    if root.join(&entry).is_dir() {
        return Ok(Ok(root.join(entry).join(PROGRAM)));
    }
    let Some(go) = find_go() else {
        return Ok(Err(
            "go is not installed; as root: apt-get install -y golang-go".to_owned(),
        ));
    };
    let mut obstacle = None;
    let made = cache::once(&root, &entry, |folder| {
        obstacle = build(&go, folder)?;
        match &obstacle {
            None => Ok(()),
            Some(obstacle) => bail!("{obstacle}"),
        }
    });
    match obstacle {
        Some(obstacle) => Ok(Err(obstacle)),
        None => Ok(Ok(made.context("build the collector")?.join(PROGRAM))),
    }
}

fn find_go() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([PathBuf::from(GO_FOLDER)])
        .map(|folder| folder.join("go"))
        .find(|file| file.is_file())
}

/// Compiles it in `folder`; gives why that cannot be done here.
fn build(go: &Path, folder: &Path) -> anyhow::Result<Option<String>> {
    eprintln!("building an OpenTelemetry Collector, once; this takes minutes");
    let sources = folder.join("source");
    fs::create_dir(&sources)?;
    for (name, text) in SOURCES {
        fs::write(sources.join(name), text)?;
    }
    let mut fetch = Command::new(go);
    fetch
        .args(["list", "-deps", "."])
        .current_dir(&sources)
        .env("GOFLAGS", "-mod=readonly");
    if let Err(failed) = run(fetch, "modules fetched", FETCH_MAX) {
        let words = failed.to_string();
        if NOT_WHAT_WAS_PINNED.iter().any(|sign| words.contains(sign)) {
            return Err(failed);
        }
        // The last line says why; those before it, of which others it is true.
        let why = words.lines().last().unwrap_or_default().trim();
        return Ok(Some(format!("go cannot fetch its modules: {why}")));
    }
    let mut compile = Command::new(go);
    compile
        .args(["build", "-v", "-trimpath", "-ldflags", "-s -w", "-o"])
        .arg(folder.join(PROGRAM))
        .arg(".")
        .current_dir(&sources)
        .env("GOFLAGS", "-mod=readonly -buildvcs=false")
        .env("CGO_ENABLED", "0");
    run(compile, "packages compiled", COMPILE_MAX)?;
    Ok(None)
}

/// Runs a command that writes a line to standard error for each thing it does, and tells how
/// many there were.
fn run(mut command: Command, counted: &str, at_most: Duration) -> anyhow::Result<()> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = process::spawn(command)?;
    let errors = child.stderr.take().context("no standard error")?;
    let last = match follow(errors, counted, at_most) {
        Ok(last) => last,
        Err(late) => {
            end(&mut child);
            return Err(late);
        }
    };
    let status = child.wait().context("wait for go")?;
    if !status.success() {
        bail!("go ended with {status}: {}", Vec::from(last).join("\n  "));
    }
    Ok(())
}

/// Reads lines to the end; gives the last.
fn follow(
    errors: impl Read + Send + 'static,
    counted: &str,
    at_most: Duration,
) -> anyhow::Result<VecDeque<String>> {
    let began = Instant::now();
    let (lines, inbox) = sync_channel::<String>(64);
    thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                break;
            }
        }
    });
    let (mut count, mut told, mut last) = (0_u32, began, VecDeque::new());
    loop {
        match inbox.recv_timeout(Duration::from_millis(500)) {
            Ok(line) => {
                count = count.saturating_add(1);
                if last.len() == LAST_LINES {
                    last.pop_front();
                }
                last.push_back(line);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(last),
        }
        let lasted = began.elapsed();
        if told.elapsed() >= TOLD_EVERY {
            told = Instant::now();
            eprintln!("  {} s, {count} {counted}", lasted.as_secs());
        }
        if lasted > at_most {
            bail!("not done within {at_most:?}");
        }
    }
}

fn end(child: &mut Child) {
    // One that has ended already cannot be ended again.
    child.kill().ok();
    child.wait().ok();
}
