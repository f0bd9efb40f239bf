//! What librdkafka says of properties, without any value that may be a secret. A reason
//! that holds one is not printed at all: a value cut out of it shows by what is missing.

use rdkafka::error::KafkaError;
use rdkafka::types::RDKafkaConfRes;

use super::super::ReadError;
use super::code;
use crate::config::is_open;
use crate::read::connection::Properties;

/// The mistake behind an error of rdkafka, made with these properties.
pub(super) fn read_error(properties: &Properties, error: &KafkaError) -> ReadError {
    match error {
        KafkaError::ClientConfig(result, reason, name, value) => ReadError::Property {
            name: name.clone(),
            // What does not fit here may be another property's secret.
            reason: if holds(reason, value) {
                not_taken(*result).to_owned()
            } else {
                reason.clone()
            },
        },
        KafkaError::ClientCreation(reason) => ReadError::Client {
            reason: without_values(properties, reason),
        },
        other => ReadError::Client {
            reason: format!("{:?}", code(other)),
        },
    }
}

fn not_taken(result: RDKafkaConfRes) -> &'static str {
    match result {
        RDKafkaConfRes::RD_KAFKA_CONF_UNKNOWN => "no such property, or not in this build",
        _ => "its value is not taken",
    }
}

/// `reason`, or which properties it is about where it holds a value of one that is not
/// known to be harmless.
fn without_values(properties: &Properties, reason: &str) -> String {
    let is_held = |(name, value): (&String, &crate::read::connection::Hidden)| {
        !is_open(name) && holds(reason, &value.0)
    };
    if !properties.iter().any(is_held) {
        return reason.to_owned();
    }
    let about = properties.keys().filter(|name| reason.contains(*name));
    let about: Vec<&str> = about.map(String::as_str).collect();
    if about.is_empty() {
        return "properties that cannot be used together".to_owned();
    }
    format!("not taken: {}", about.join(", "))
}

fn holds(reason: &str, value: &str) -> bool {
    !value.is_empty() && reason.contains(value)
}
