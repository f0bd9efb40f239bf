//! Variables that are ours, and those of others.

use super::*;

#[test]
fn only_known_names_are_taken() {
    let vars: Vec<(String, String)> = [
        ("CONNECT_BOOTSTRAP_SERVERS", "b:1"),
        ("CONNECT_SESSION_TIMEOUT_MS", "9"),
        ("CONNECT_SASL_JAAS_CONFIG", "x"),
        ("CONNECT_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM", " "),
        ("CONNECT_CONFIG_PROVIDERS", "file"),
        ("CONNECT_CONFIG_PROVIDERS_FILE_CLASS", "f"),
        ("CONNECT_CONFIG_PROVIDERS_FILE_PARAM_X", "p"),
        // What Kubernetes sets for a service called connect.
        ("CONNECT_SERVICE_HOST", "10.0.0.1"),
        ("CONNECT_SERVICE_PORT", "8083"),
        ("CONNECT_PORT", "tcp://10.0.0.1:8083"),
        ("CONNECT_PORT_8083_TCP_ADDR", "10.0.0.1"),
        // Of the worker, and nothing to us.
        ("CONNECT_KEY_CONVERTER", "k"),
        ("CONNECT_PRODUCER_SASL_JAAS_CONFIG", "x"),
        // Of other images, without the prefix.
        ("GROUP_ID", "g"),
    ]
    .iter()
    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
    .collect();
    let found = settings(&vars);
    let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "bootstrap.servers",
            "session.timeout.ms",
            "sasl.jaas.config",
            "ssl.endpoint.identification.algorithm",
            "config.providers",
            "config.providers.file.class",
        ]
    );
    assert_eq!(found[1].2, "CONNECT_SESSION_TIMEOUT_MS");
    assert!(is_used(&vars) && !is_used(&vars[7..]));
}

#[test]
fn no_two_names_share_a_variable() {
    let mut spelled: Vec<_> = names::all().map(spelled).collect();
    let count = spelled.len();
    spelled.sort();
    spelled.dedup();
    assert_eq!(spelled.len(), count);
    assert!(names::all().all(|name| !name.contains(['-', '_'])));
}
