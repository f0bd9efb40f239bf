//! The log: lines on standard error, for people or for programs.

use tracing_subscriber::EnvFilter;

use crate::config::{LogConfig, LogFormat};

/// Starts writing. A second call changes nothing.
pub fn start(config: LogConfig) {
    let filter = EnvFilter::new(config.level.word());
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match config.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    if started.is_err() {
        tracing::debug!("the log was already started");
    }
}
