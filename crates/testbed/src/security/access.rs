//! How a client reaches the brokers: the forms that people use, each with the properties that
//! a Java client and librdkafka want for it.

use std::fmt;
use std::fs;
use std::str::FromStr;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::{Certificates, Listener, User};
use crate::properties::{Properties, put};

/// A form of access. Its name says how it is asked for on a command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    #[default]
    Plaintext,
    /// SCRAM over TLS, the authority in a PKCS12 store.
    #[serde(rename = "scram-512")]
    Scram512,
    /// SCRAM over TLS, the authority in a JKS store.
    #[serde(rename = "scram-256")]
    Scram256,
    /// PLAIN over TLS, the authority in a PEM file.
    Plain,
    /// An unsecured token over TLS.
    Oauth,
    /// Mutual TLS, key and authority in PKCS12 stores.
    Mtls,
    /// Mutual TLS, key and authority in PEM files.
    MtlsPem,
    /// Mutual TLS, key and authority as PEM text in the properties.
    MtlsInline,
    /// SCRAM without TLS.
    SaslPlaintext,
}

impl Access {
    /// All forms, in the order they are shown.
    pub const ALL: [Access; 9] = [
        Access::Plaintext,
        Access::Scram512,
        Access::Scram256,
        Access::Plain,
        Access::Oauth,
        Access::Mtls,
        Access::MtlsPem,
        Access::MtlsInline,
        Access::SaslPlaintext,
    ];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Access::Plaintext => "plaintext",
            Access::Scram512 => "scram-512",
            Access::Scram256 => "scram-256",
            Access::Plain => "plain",
            Access::Oauth => "oauth",
            Access::Mtls => "mtls",
            Access::MtlsPem => "mtls-pem",
            Access::MtlsInline => "mtls-inline",
            Access::SaslPlaintext => "sasl-plaintext",
        }
    }

    /// The listener it goes to.
    #[must_use]
    pub fn listener(self) -> Listener {
        match self {
            Access::Plaintext => Listener::Plaintext,
            Access::Scram512 | Access::Scram256 | Access::Plain | Access::Oauth => {
                Listener::SaslSsl
            }
            Access::Mtls | Access::MtlsPem | Access::MtlsInline => Listener::Ssl,
            Access::SaslPlaintext => Listener::SaslPlaintext,
        }
    }

    /// `sasl.mechanism`.
    fn mechanism(self) -> Option<&'static str> {
        match self {
            Access::Scram512 => Some("SCRAM-SHA-512"),
            Access::Scram256 | Access::SaslPlaintext => Some("SCRAM-SHA-256"),
            Access::Plain => Some("PLAIN"),
            Access::Oauth => Some("OAUTHBEARER"),
            Access::Plaintext | Access::Mtls | Access::MtlsPem | Access::MtlsInline => None,
        }
    }

    /// What a Java client sets, without `bootstrap.servers`.
    ///
    /// # Errors
    /// When a certificate cannot be read.
    pub fn java(self, user: &User, certificates: &Certificates) -> anyhow::Result<Properties> {
        let mut properties = Properties::new();
        let mut set = |name: &str, value: &str| {
            properties.insert(name.to_owned(), value.to_owned());
        };
        let file = |name: &str| certificates.file(name).display().to_string();
        let password = certificates.password();
        set("security.protocol", self.listener().protocol());
        if let Some(mechanism) = self.mechanism() {
            set("sasl.mechanism", mechanism);
            set("sasl.jaas.config", &jaas(mechanism, user));
        }
        match self {
            Access::Plaintext | Access::SaslPlaintext => {}
            Access::Scram512 | Access::Oauth | Access::Mtls => {
                set("ssl.truststore.type", "PKCS12");
                set("ssl.truststore.location", &file("trust.p12"));
                set("ssl.truststore.password", password);
            }
            Access::Scram256 => {
                set("ssl.truststore.location", &file("trust.jks"));
                set("ssl.truststore.password", password);
            }
            Access::Plain | Access::MtlsPem => {
                set("ssl.truststore.type", "PEM");
                set("ssl.truststore.location", &file("ca.pem"));
            }
            Access::MtlsInline => {
                let text = |name: &str| {
                    fs::read_to_string(certificates.file(name))
                        .with_context(|| format!("read {name}"))
                };
                set("ssl.truststore.type", "PEM");
                set("ssl.truststore.certificates", &text("ca.pem")?);
                set("ssl.keystore.type", "PEM");
                let chain = text(&format!("{}.pem", user.name))?;
                set("ssl.keystore.certificate.chain", &chain);
                set("ssl.keystore.key", &text(&format!("{}.key", user.name))?);
            }
        }
        match self {
            Access::Mtls => {
                set("ssl.keystore.type", "PKCS12");
                set(
                    "ssl.keystore.location",
                    &file(&format!("{}.p12", user.name)),
                );
                set("ssl.keystore.password", password);
                set("ssl.key.password", password);
            }
            Access::MtlsPem => {
                set("ssl.keystore.type", "PEM");
                let both = file(&format!("{}.both.pem", user.name));
                set("ssl.keystore.location", &both);
            }
            _ => {}
        }
        Ok(properties)
    }

    /// What librdkafka sets, without `bootstrap.servers`. It reads no JKS store.
    #[must_use]
    pub fn librdkafka(self, user: &User, certificates: &Certificates) -> Properties {
        let file = |name: &str| certificates.file(name).display().to_string();
        let own = |ending: &str| file(&format!("{}.{ending}", user.name));
        let mut properties = Properties::new();
        let protocol = self.listener().protocol().to_owned();
        put(&mut properties, [("security.protocol", protocol)]);
        if let Some(mechanism) = self.mechanism() {
            put(&mut properties, [("sasl.mechanism", mechanism.to_owned())]);
        }
        match self.mechanism() {
            Some("OAUTHBEARER") => put(
                &mut properties,
                [
                    ("enable.sasl.oauthbearer.unsecure.jwt", "true".to_owned()),
                    (
                        "sasl.oauthbearer.config",
                        format!("principal={}", user.name),
                    ),
                ],
            ),
            Some(_) => put(
                &mut properties,
                [
                    ("sasl.username", user.name.clone()),
                    ("sasl.password", user.password.clone()),
                ],
            ),
            None => {}
        }
        if self.listener().has_tls() {
            put(&mut properties, [("ssl.ca.location", file("ca.pem"))]);
        }
        match self {
            Access::Mtls => put(
                &mut properties,
                [
                    ("ssl.keystore.location", own("p12")),
                    ("ssl.keystore.password", certificates.password().to_owned()),
                ],
            ),
            Access::MtlsPem | Access::MtlsInline => put(
                &mut properties,
                [
                    ("ssl.certificate.location", own("pem")),
                    ("ssl.key.location", own("key")),
                ],
            ),
            _ => {}
        }
        properties
    }
}

fn jaas(mechanism: &str, user: &User) -> String {
    const SECURITY: &str = "org.apache.kafka.common.security";
    let User { name, password } = user;
    match mechanism {
        "OAUTHBEARER" => format!(
            "{SECURITY}.oauthbearer.OAuthBearerLoginModule required \
             unsecuredLoginStringClaim_sub=\"{name}\";"
        ),
        "PLAIN" => format!(
            "{SECURITY}.plain.PlainLoginModule required \
             username=\"{name}\" password=\"{password}\";"
        ),
        _ => format!(
            "{SECURITY}.scram.ScramLoginModule required \
             username=\"{name}\" password=\"{password}\";"
        ),
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Access {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Access> {
        let found = Access::ALL.into_iter().find(|form| form.name() == text);
        if let Some(form) = found {
            return Ok(form);
        }
        let names = Access::ALL.map(Access::name).join(", ");
        bail!("no access {text:?}; there are {names}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_one_name_everywhere() {
        for form in Access::ALL {
            assert_eq!(form.name().parse::<Access>().unwrap(), form);
            let json = serde_json::to_string(&form).unwrap();
            assert_eq!(json, format!("{:?}", form.name()));
        }
        let error = "tls".parse::<Access>().unwrap_err().to_string();
        assert!(error.contains("mtls-inline"), "{error}");
    }
}
