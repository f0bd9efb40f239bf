//! `evenkeel dashboards`: Grafana's dashboards, as they are bundled with this release.

use std::fs;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::commands::exit::Exit;

/// Print Grafana's dashboards for the metrics of evenkeel
#[derive(Debug, Args)]
#[command(after_help = "\
Without arguments the dashboards are listed. All series of evenkeel, in any Prometheus:
each dashboard lets you choose the data source.

Examples:
  evenkeel dashboards now > now.json
  evenkeel dashboards --out /var/lib/grafana/dashboards
  evenkeel dashboards --configmap --namespace monitoring | kubectl apply -f -")]
pub struct DashboardsArgs {
    /// The dashboard to print
    #[arg(value_enum, conflicts_with_all = ["out", "configmap"])]
    pub name: Option<Board>,
    /// Write all of them to this folder, over those that are there
    #[arg(long, value_name = "FOLDER", conflicts_with = "configmap")]
    pub out: Option<PathBuf>,
    /// Print all of them as ConfigMaps, which the sidecar of Grafana's Helm chart takes up
    #[arg(long)]
    pub configmap: bool,
    /// The namespace of the ConfigMaps; without it, that of whoever applies them
    #[arg(long, value_name = "NAMESPACE", requires = "configmap")]
    pub namespace: Option<String>,
    /// The label by which the sidecar finds the ConfigMaps
    #[arg(
        long,
        value_name = "LABEL",
        requires = "configmap",
        default_value = "grafana_dashboard"
    )]
    pub label: String,
}

/// A bundled dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Board {
    /// Is it bad, what is lost, until when, and can this be trusted
    Now,
    /// How often and how long, why, in which phase, what it cost
    Rebalances,
    /// Availability, downtime by reason, churn
    Connectors,
    /// Balance, headroom, timeouts, departures, resources
    Workers,
    /// What the agents see, how far behind they are, what they cost
    Agent,
}

/// Does as the arguments say.
///
/// # Errors
/// What `out` says when it cannot be written to.
pub fn run(args: &DashboardsArgs, out: &mut impl Write) -> io::Result<Exit> {
    if let Some(board) = args.name {
        out.write_all(board.text()?.as_bytes())?;
    } else if let Some(folder) = &args.out {
        return Ok(write_all(folder, out)?.unwrap_or(Exit::Ok));
    } else if args.configmap {
        for board in Board::value_variants() {
            config_map(*board, args, out)?;
        }
    } else {
        for board in Board::value_variants() {
            let json: Value = serde_json::from_str(&board.text()?)?;
            let member = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
            writeln!(out, "{:<12}{}", board.name(), member("uid"))?;
            writeln!(out, "    {}", member("description"))?;
        }
    }
    Ok(Exit::Ok)
}

/// Writes each to its file and tells which; an exit where that failed.
fn write_all(folder: &Path, out: &mut impl Write) -> io::Result<Option<Exit>> {
    let failed = |path: &Path, error: &io::Error| {
        eprintln!("error: write {}: {error}", path.display());
        Some(Exit::Failed)
    };
    if let Err(error) = fs::create_dir_all(folder) {
        return Ok(failed(folder, &error));
    }
    for board in Board::value_variants() {
        let path = folder.join(format!("evenkeel-{}.json", board.name()));
        if let Err(error) = fs::write(&path, board.text()?) {
            return Ok(failed(&path, &error));
        }
        writeln!(out, "{}", path.display())?;
    }
    Ok(None)
}

fn config_map(board: Board, args: &DashboardsArgs, out: &mut impl Write) -> io::Result<()> {
    let name = board.name();
    writeln!(out, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:")?;
    writeln!(out, "  name: evenkeel-dashboard-{name}")?;
    if let Some(namespace) = &args.namespace {
        writeln!(out, "  namespace: {}", quoted(namespace))?;
    }
    writeln!(out, "  labels:\n    app.kubernetes.io/name: evenkeel")?;
    writeln!(out, "    {}: \"1\"", quoted(&args.label))?;
    writeln!(out, "  annotations:\n    grafana_folder: evenkeel")?;
    writeln!(out, "data:\n  evenkeel-{name}.json: |")?;
    for line in board.text()?.lines() {
        writeln!(out, "    {line}")?;
    }
    Ok(())
}

/// As a string of YAML, which every string of JSON is.
fn quoted(text: &str) -> Value {
    Value::from(text)
}

// === impl Board ===

impl Board {
    /// Its name, as it is written on the command line and in `dashboards/`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Rebalances => "rebalances",
            Self::Connectors => "connectors",
            Self::Workers => "workers",
            Self::Agent => "agent",
        }
    }

    /// The dashboard, as it lies in `dashboards/`.
    ///
    /// # Errors
    /// Never, unless the program file is damaged.
    pub fn text(self) -> io::Result<String> {
        let mut text = String::new();
        GzDecoder::new(self.packed()).read_to_string(&mut text)?;
        Ok(text)
    }

    fn packed(self) -> &'static [u8] {
        match self {
            Self::Now => include_bytes!(concat!(env!("OUT_DIR"), "/now.json.gz")),
            Self::Rebalances => include_bytes!(concat!(env!("OUT_DIR"), "/rebalances.json.gz")),
            Self::Connectors => include_bytes!(concat!(env!("OUT_DIR"), "/connectors.json.gz")),
            Self::Workers => include_bytes!(concat!(env!("OUT_DIR"), "/workers.json.gz")),
            Self::Agent => include_bytes!(concat!(env!("OUT_DIR"), "/agent.json.gz")),
        }
    }
}

#[cfg(test)]
mod tests;
