//! Shows: the catalogue of metrics, their projection from the answers, both text
//! formats, the HTTP endpoints, the log. Nothing here talks to Kafka or to an engine.

pub mod api;
pub mod catalog;
pub mod checks;
pub mod exposition;
pub mod families;
pub mod health;
pub mod http;
pub mod log;
mod page;
pub mod process;
pub mod routes;
pub(crate) mod spans;
pub mod traces;
pub mod view;
pub mod words;

#[cfg(test)]
pub(crate) mod sample;
