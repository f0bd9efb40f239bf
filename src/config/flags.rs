//! The flags that override the file and the environment, for every command that reads
//! the configuration.

use std::path::PathBuf;

use clap::Args;

use super::load::Override;

/// Flags of a command that reads the configuration.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigFlags {
    /// Configuration file (YAML); EVENKEEL_CONFIG
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The properties file of the worker beside the agent
    #[arg(long, value_name = "FILE")]
    pub worker_properties: Option<String>,
    /// Brokers to begin with, as host:port
    #[arg(long, value_name = "HOST:PORT,…")]
    pub bootstrap: Option<String>,
    /// The workers' group.id
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
    /// The workers' config.storage.topic
    #[arg(long, value_name = "TOPIC")]
    pub config_topic: Option<String>,
    /// The workers' status.storage.topic
    #[arg(long, value_name = "TOPIC")]
    pub status_topic: Option<String>,
    /// The topic where the broker keeps group records
    #[arg(long, value_name = "TOPIC")]
    pub offsets_topic: Option<String>,
    /// host:port that the worker beside the agent advertises
    #[arg(long, value_name = "HOST:PORT")]
    pub own_worker: Option<String>,
    /// The Kafka release of the workers
    #[arg(long, value_name = "RELEASE")]
    pub worker_release: Option<String>,
    /// Where to serve metrics
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<String>,
    /// TLS and users of that port, in the format of the Prometheus exporters
    #[arg(long, visible_alias = "web.config.file", value_name = "FILE")]
    pub web_config_file: Option<String>,
    /// Replace connector names by codes
    #[arg(long)]
    pub mask_names: bool,
    /// A folder in which counters and history outlive a restart
    #[arg(long, value_name = "FOLDER")]
    pub state_dir: Option<String>,
    /// error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// text or json
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Any other key, as in --set metrics.series_max=20000; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// Key and flag, for those keys that have one of their own.
pub(super) const FLAGS: [(&str, &str); 14] = [
    ("groups.worker_properties", "--worker-properties"),
    ("kafka.bootstrap", "--bootstrap"),
    ("groups.group", "--group"),
    ("groups.config_topic", "--config-topic"),
    ("groups.status_topic", "--status-topic"),
    ("groups.offsets_topic", "--offsets-topic"),
    ("groups.own_worker", "--own-worker"),
    ("groups.worker_release", "--worker-release"),
    ("http.listen", "--listen"),
    ("http.web_config_file", "--web-config-file"),
    ("privacy.mask_names", "--mask-names"),
    ("state.dir", "--state-dir"),
    ("log.level", "--log-level"),
    ("log.format", "--log-format"),
];

// === impl ConfigFlags ===

impl ConfigFlags {
    /// What the flags set, in the order in which they apply.
    #[must_use]
    pub fn overrides(&self) -> Vec<Override> {
        let mask_names = self.mask_names.then(|| true.to_string());
        let values = [
            &self.worker_properties,
            &self.bootstrap,
            &self.group,
            &self.config_topic,
            &self.status_topic,
            &self.offsets_topic,
            &self.own_worker,
            &self.worker_release,
            &self.listen,
            &self.web_config_file,
            &mask_names,
            &self.state_dir,
            &self.log_level,
            &self.log_format,
        ];
        let named = FLAGS.iter().zip(values).filter_map(|((key, flag), value)| {
            let value = value.clone()?;
            Some(Override {
                key: (*key).to_owned(),
                value,
                origin: (*flag).to_owned(),
            })
        });
        let set = self.set.iter().map(|text| {
            let (key, value) = text.split_once('=').unwrap_or((text, ""));
            Override {
                key: key.to_owned(),
                value: value.to_owned(),
                origin: "--set".to_owned(),
            }
        });
        named.chain(set).collect()
    }
}
