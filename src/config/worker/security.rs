//! Every setting of Kafka's Java clients that decides how a broker is reached or as whom,
//! and what becomes of it here. A test holds the table to the lists that real releases
//! print: none is ignored.

use Verdict::{Harmless, Refused, Translated};

/// What becomes of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It decides the agent's connection; what cannot be had of it is refused by name.
    Translated,
    /// It decides nothing that the agent's connection depends on, and why.
    Harmless(&'static str),
    /// It changes a login that needs it in a way that cannot be had here; what else to do.
    Refused(&'static str),
}

const RELOGIN: &str = "paces the refresh of a login; the agent reads what it logs in with anew";
const KERBEROS: &str = "of GSSAPI alone, which sasl.mechanism refuses";
const BROKER: &str = "how a broker checks tokens";
const OIDC: &str =
    "of a token endpoint over HTTP alone, which sasl.oauthbearer.token.endpoint.url refuses";
const JAVA_TLS: &str = "which Java code speaks TLS; here OpenSSL does, and always verifies";

/// All of them, in order of their names.
pub(super) const SETTINGS: [(&str, Verdict); 69] = [
    ("sasl.client.callback.handler.class", Translated),
    ("sasl.jaas.config", Translated),
    ("sasl.kerberos.kinit.cmd", Harmless(KERBEROS)),
    ("sasl.kerberos.min.time.before.relogin", Harmless(KERBEROS)),
    ("sasl.kerberos.service.name", Harmless(KERBEROS)),
    ("sasl.kerberos.ticket.renew.jitter", Harmless(KERBEROS)),
    (
        "sasl.kerberos.ticket.renew.window.factor",
        Harmless(KERBEROS),
    ),
    ("sasl.login.callback.handler.class", Translated),
    ("sasl.login.class", Translated),
    ("sasl.login.connect.timeout.ms", Harmless(OIDC)),
    ("sasl.login.read.timeout.ms", Harmless(OIDC)),
    ("sasl.login.refresh.buffer.seconds", Harmless(RELOGIN)),
    ("sasl.login.refresh.min.period.seconds", Harmless(RELOGIN)),
    ("sasl.login.refresh.window.factor", Harmless(RELOGIN)),
    ("sasl.login.refresh.window.jitter", Harmless(RELOGIN)),
    ("sasl.login.retry.backoff.max.ms", Harmless(OIDC)),
    ("sasl.login.retry.backoff.ms", Harmless(OIDC)),
    ("sasl.mechanism", Translated),
    (
        "sasl.oauthbearer.allow.unverified.audience",
        Harmless(BROKER),
    ),
    ("sasl.oauthbearer.allow.unverified.issuer", Harmless(BROKER)),
    ("sasl.oauthbearer.assertion.algorithm", Harmless(OIDC)),
    ("sasl.oauthbearer.assertion.claim.aud", Harmless(OIDC)),
    (
        "sasl.oauthbearer.assertion.claim.exp.seconds",
        Harmless(OIDC),
    ),
    ("sasl.oauthbearer.assertion.claim.iss", Harmless(OIDC)),
    (
        "sasl.oauthbearer.assertion.claim.jti.include",
        Harmless(OIDC),
    ),
    (
        "sasl.oauthbearer.assertion.claim.nbf.seconds",
        Harmless(OIDC),
    ),
    ("sasl.oauthbearer.assertion.claim.sub", Harmless(OIDC)),
    ("sasl.oauthbearer.assertion.file", Harmless(OIDC)),
    (
        "sasl.oauthbearer.assertion.private.key.file",
        Harmless(OIDC),
    ),
    (
        "sasl.oauthbearer.assertion.private.key.passphrase",
        Harmless(OIDC),
    ),
    ("sasl.oauthbearer.assertion.template.file", Harmless(OIDC)),
    (
        "sasl.oauthbearer.client.credentials.client.id",
        Harmless(OIDC),
    ),
    (
        "sasl.oauthbearer.client.credentials.client.secret",
        Harmless(OIDC),
    ),
    ("sasl.oauthbearer.clock.skew.seconds", Harmless(BROKER)),
    ("sasl.oauthbearer.expected.audience", Harmless(BROKER)),
    ("sasl.oauthbearer.expected.issuer", Harmless(BROKER)),
    ("sasl.oauthbearer.header.urlencode", Harmless(OIDC)),
    (
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        Harmless(BROKER),
    ),
    (
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        Harmless(BROKER),
    ),
    (
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        Harmless(BROKER),
    ),
    ("sasl.oauthbearer.jwks.endpoint.url", Harmless(BROKER)),
    ("sasl.oauthbearer.jwt.retriever.class", Translated),
    (
        "sasl.oauthbearer.jwt.validator.class",
        Harmless("a client's own look at its token; the broker checks it anyway"),
    ),
    ("sasl.oauthbearer.scope", Harmless(OIDC)),
    (
        "sasl.oauthbearer.scope.claim.name",
        Harmless("names a claim that only logs and brokers read"),
    ),
    (
        "sasl.oauthbearer.sub.claim.name",
        Harmless("names a claim that only logs and brokers read"),
    ),
    ("sasl.oauthbearer.token.endpoint.url", Translated),
    ("security.protocol", Translated),
    ("security.providers", Harmless(JAVA_TLS)),
    ("ssl.cipher.suites", Translated),
    (
        "ssl.client.auth",
        Harmless("of the worker's REST server; a Kafka client has none"),
    ),
    ("ssl.enabled.protocols", Translated),
    ("ssl.endpoint.identification.algorithm", Translated),
    (
        "ssl.engine.factory.class",
        Refused(
            "set ssl.ca.location, and ssl.certificate.location with ssl.key.location, in kafka.properties",
        ),
    ),
    ("ssl.key.password", Translated),
    ("ssl.keymanager.algorithm", Harmless(JAVA_TLS)),
    ("ssl.keystore.certificate.chain", Translated),
    ("ssl.keystore.key", Translated),
    ("ssl.keystore.location", Translated),
    ("ssl.keystore.password", Translated),
    (
        "ssl.keystore.type",
        Harmless("the first bytes of a store say what it is, and say it truly"),
    ),
    ("ssl.protocol", Translated),
    ("ssl.provider", Harmless(JAVA_TLS)),
    ("ssl.secure.random.implementation", Harmless(JAVA_TLS)),
    ("ssl.trustmanager.algorithm", Harmless(JAVA_TLS)),
    ("ssl.truststore.certificates", Translated),
    ("ssl.truststore.location", Translated),
    ("ssl.truststore.password", Translated),
    (
        "ssl.truststore.type",
        Harmless("the first bytes of a store say what it is, and say it truly"),
    ),
];

#[cfg(test)]
mod tests;
