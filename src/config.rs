//! What a person sets. A YAML file, `EVENKEEL_*` environment variables and flags, the
//! later ones first, make a [`Tree`]; `validate` makes a [`Config`] of it, or says
//! everything that is wrong at once.

pub mod authorities;
mod check;
mod connection;
pub mod deploy;
mod describe;
pub mod file;
mod flags;
#[cfg(test)]
pub(crate) mod golden;
mod groups;
mod headers;
mod load;
mod mistake;
mod overlay;
mod privacy;
mod properties;
mod reference;
mod refused;
mod secret;
mod state;
mod traces;
mod tree;
mod typed;
mod validate;
pub mod web;
pub mod worker;
mod yaml;

pub use flags::ConfigFlags;
pub use groups::Origin;
pub use headers::Headers;
pub use load::{JudgeFiles, Loaded, Named, Override, Sources, load};
pub use mistake::{Mistake, Mistakes};
pub use properties::{Judge, Properties, is_open};
pub use reference::{markdown, sample};
pub use refused::refused;
pub use secret::{HIDDEN, Secret};
pub use traces::{VARIABLES as OTEL_VARIABLES, for_url as traces_for_url};
pub use tree::{
    GROUPS_MAX, GroupSeries, LogFormat, LogLevel, Probes, Readiness, SERIES_MAX_DEFAULT,
    SUBJECTS_MAX_DEFAULT, TraceCompression, TraceCopies, TraceProtocol, Tree,
};
pub use typed::{
    Config, ConnectionConfig, GroupConfig, HttpConfig, KafkaConfig, LogConfig, MetricsConfig,
    PrivacyConfig, StateConfig, TraceEndpoint, TraceFile, TracesConfig,
};
pub use validate::validate;
