//! Real Kafka brokers and Connect workers for tests, and the truth about them.
//!
//! Nothing here imports evenkeel-core: what the agent says is compared with what the
//! brokers, the workers and the script themselves wrote down.

// Tests may unwrap: a panic there is the failure that is wanted.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod admin;
mod alertmanager;
mod archive;
mod broker;
mod cache;
mod clock;
mod cluster;
mod collector;
mod console;
pub mod control;
mod fixtures;
mod folder;
mod format;
pub mod grafana;
mod group;
pub mod history;
mod jars;
mod logging;
mod network;
mod os;
mod ports;
mod process;
mod prometheus;
mod properties;
mod proxy;
mod rest;
pub mod scenario;
pub mod security;
mod skew;
mod spec;
mod state;
mod tools;
pub mod truth;
mod version;
mod wait;
mod worker;

pub use self::prometheus::{Prometheus, PrometheusSpec, Target};
pub use admin::{TopicSpec, TopicVerb};
pub use alertmanager::{Alertmanager, Notification, Notified, Webhook};
pub use broker::Broker;
pub use cache::port_locks;
pub use clock::now_ms;
pub use cluster::Cluster;
pub use collector::{Attributes, Collector, Link, Span, SpanEvent, Trace};
pub use console::{consume, consume_as};
pub use group::Group;
pub use jars::{Artifact, JarCache};
pub use network::{Network, Room};
pub use os::{block_interrupts, wait_for_interrupt};
pub use process::Process;
pub use properties::Properties;
pub use proxy::{Fault, Proxy};
pub use rest::{Response, request};
pub use spec::{BrokerSpec, ClusterSpec, GroupSpec, WorkerSpec};
pub use state::{ClusterState, NodeState, take_down};
pub use tools::{Tools, apt_line};
pub use version::Version;
pub use wait::wait_until;
pub use worker::Worker;
