//! Properties that may not be set, and why: those that would make the agent more than an
//! observer, and those that only Java clients have.

/// Properties that the agent decides, or must not have, and why.
pub(super) const REFUSED: [(&str, &str); 14] = [
    ("bootstrap.servers", "set kafka.bootstrap"),
    ("metadata.broker.list", "set kafka.bootstrap"),
    (
        "group.id",
        "the agent has one of its own, which never joins and never commits",
    ),
    ("group.instance.id", "the agent never joins a group"),
    ("group.protocol", "the agent never joins a group"),
    ("enable.auto.commit", "the agent never commits"),
    ("enable.auto.offset.store", "the agent never commits"),
    (
        "enable.partition.eof",
        "the agent decides how it finds the end of a topic",
    ),
    (
        "isolation.level",
        "each topic needs its own: offsets uncommitted, config committed",
    ),
    ("auto.offset.reset", "the agent decides where it reads"),
    ("auto.commit.enable", "the agent never commits"),
    (
        "client.rack",
        "a follower's end of the log is not the leader's, on which every proof rests",
    ),
    ("plugin.library.paths", "nothing is loaded into the agent"),
    (
        "allow.auto.create.topics",
        "the agent never changes the cluster",
    ),
];

/// Properties of Java clients that librdkafka does not take, and what to set instead.
pub(super) const JAVA: [(&str, &str); 8] = [
    ("sasl.jaas.config", "set sasl.username and sasl.password"),
    (
        "ssl.truststore.location",
        "convert it to PEM and set ssl.ca.location",
    ),
    (
        "ssl.truststore.password",
        "a PEM file for ssl.ca.location has none",
    ),
    (
        "ssl.truststore.type",
        "convert it to PEM and set ssl.ca.location",
    ),
    ("ssl.truststore.certificates", "set ssl.ca.pem"),
    (
        "ssl.keystore.type",
        "ssl.keystore.location takes PKCS#12, ssl.key.location PEM",
    ),
    (
        "sasl.login.callback.handler.class",
        "a Java class cannot be loaded here",
    ),
    (
        "sasl.client.callback.handler.class",
        "a Java class cannot be loaded here",
    ),
];

/// Why the agent refuses a property of librdkafka: it would make the agent more than an
/// observer, or what it says untrue. `None` for all that a person may set.
#[must_use]
pub fn refused(property: &str) -> Option<&'static str> {
    if property.starts_with("test.mock.") {
        return Some("the agent watches a real cluster");
    }
    let refused = REFUSED.iter().find(|(refused, _)| *refused == property);
    refused.map(|(_, why)| *why)
}
