//! The broker's side of security: listeners, the mechanisms behind them, the authorizer.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use super::{Certificates, Security};
use crate::ports::Port;

/// A listener of a broker, named after its security protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Listener {
    /// Between brokers, for the testbed itself, and for clients of an unsecured cluster.
    Plaintext,
    SaslSsl,
    /// Asks clients for a certificate.
    Ssl,
    SaslPlaintext,
    /// Without security, advertised at the address of the broker's fault proxy.
    Proxied,
}

impl Listener {
    /// All that a broker may have.
    pub const ALL: [Listener; 5] = [
        Listener::Plaintext,
        Listener::SaslSsl,
        Listener::Ssl,
        Listener::SaslPlaintext,
        Listener::Proxied,
    ];

    /// Those that a secured broker has in addition.
    pub const SECURED: [Listener; 3] = [Listener::SaslSsl, Listener::Ssl, Listener::SaslPlaintext];

    /// Its name in `listeners`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Listener::Proxied => "PROXIED",
            other => other.protocol(),
        }
    }

    /// `security.protocol` of its clients.
    #[must_use]
    pub fn protocol(self) -> &'static str {
        match self {
            Listener::Plaintext | Listener::Proxied => "PLAINTEXT",
            Listener::SaslSsl => "SASL_SSL",
            Listener::Ssl => "SSL",
            Listener::SaslPlaintext => "SASL_PLAINTEXT",
        }
    }

    /// Whether its clients must trust an authority.
    #[must_use]
    pub fn has_tls(self) -> bool {
        matches!(self, Listener::SaslSsl | Listener::Ssl)
    }
}

/// A listener with its port, and the port that clients are told.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) listener: Listener,
    pub(crate) number: u16,
    pub(crate) advertised: u16,
    /// Held as long as the door is there.
    _held: Option<Port>,
}

impl Door {
    pub(crate) fn new(listener: Listener, port: Port) -> Door {
        let number = port.number();
        Door {
            _held: Some(port),
            ..Door::fixed(listener, number)
        }
    }

    /// A door that nobody opens: the storage tool reads settings, too.
    pub(crate) fn fixed(listener: Listener, number: u16) -> Door {
        Door {
            listener,
            number,
            advertised: number,
            _held: None,
        }
    }
}

/// `listeners`, `advertised.listeners` and `listener.security.protocol.map` for these doors.
pub(crate) fn addresses(host: Ipv4Addr, doors: &[Door]) -> [String; 3] {
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for door in doors {
        let (name, protocol) = (door.listener.name(), door.listener.protocol());
        all[0].push(format!("{name}://{host}:{}", door.number));
        all[1].push(format!("{name}://{host}:{}", door.advertised));
        all[2].push(format!("{name}:{protocol}"));
    }
    all.map(|texts| texts.join(","))
}

/// Settings of every node of a secured cluster, the controller included.
pub(crate) fn settings(
    security: &Security,
    certificates: &Certificates,
) -> Vec<(&'static str, String)> {
    const SECURITY: &str = "org.apache.kafka.common.security";
    let scram = format!("{SECURITY}.scram.ScramLoginModule required;");
    let mut plain = format!("{SECURITY}.plain.PlainLoginModule required");
    for user in &security.users {
        // Writing to a String cannot fail.
        write!(plain, " user_{}=\"{}\"", user.name, user.password).ok();
    }
    plain.push(';');
    let file = |name: &str| certificates.file(name).display().to_string();
    let mut settings = vec![
        (
            "sasl.enabled.mechanisms",
            "SCRAM-SHA-256,SCRAM-SHA-512,PLAIN,OAUTHBEARER".to_owned(),
        ),
        (
            "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config",
            scram.clone(),
        ),
        (
            "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config",
            scram.clone(),
        ),
        (
            "listener.name.sasl_ssl.plain.sasl.jaas.config",
            plain.clone(),
        ),
        // Without a validator of one's own the broker takes unsecured tokens (KIP-255).
        (
            "listener.name.sasl_ssl.oauthbearer.sasl.jaas.config",
            format!("{SECURITY}.oauthbearer.OAuthBearerLoginModule required;"),
        ),
        (
            "listener.name.sasl_plaintext.sasl.enabled.mechanisms",
            "SCRAM-SHA-256,PLAIN".to_owned(),
        ),
        (
            "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config",
            scram,
        ),
        ("listener.name.sasl_plaintext.plain.sasl.jaas.config", plain),
        ("ssl.keystore.type", "PEM".to_owned()),
        ("ssl.keystore.location", file("broker.both.pem")),
        ("ssl.truststore.type", "PEM".to_owned()),
        ("ssl.truststore.location", file("ca.pem")),
        ("listener.name.ssl.ssl.client.auth", "required".to_owned()),
        // The user's name alone, as SASL has it: one set of rights serves both.
        (
            "ssl.principal.mapping.rules",
            "RULE:^CN=([^,]+).*$/$1/,DEFAULT".to_owned(),
        ),
    ];
    if security.acls {
        settings.extend([
            (
                "authorizer.class.name",
                "org.apache.kafka.metadata.authorizer.StandardAuthorizer".to_owned(),
            ),
            // Who comes through a listener without security: brokers and the testbed.
            ("super.users", "User:ANONYMOUS".to_owned()),
            ("allow.everyone.if.no.acl.found", "false".to_owned()),
        ]);
    }
    settings
}
