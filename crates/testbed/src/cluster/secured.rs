//! What a secured or unreliable cluster can do beyond others: rights, forms of access, faults.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use serde_json::json;

use super::Cluster;
use crate::admin;
use crate::console;
use crate::group::Group;
use crate::properties::{self, Properties};
use crate::proxy::Proxy;
use crate::security::{
    AGENT_USER, Access, Certificates, Change, Listener, Right, Security, User, WORKER_USER, change,
};

/// The security of a running cluster.
#[derive(Debug)]
pub(super) struct Secured {
    pub(super) security: Security,
    pub(super) certificates: Certificates,
}

impl Secured {
    fn user(&self, name: &str) -> anyhow::Result<&User> {
        let found = self.security.users.iter().find(|user| user.name == name);
        found.with_context(|| format!("no user {name}"))
    }
}

impl Cluster {
    /// `bootstrap.servers` of a listener of all brokers.
    ///
    /// # Errors
    /// When the brokers do not have it.
    pub fn bootstrap_of(&self, listener: Listener) -> anyhow::Result<String> {
        let addresses: Vec<String> = self
            .brokers
            .iter()
            .filter(|broker| broker.serves_clients())
            .filter_map(|broker| broker.address(listener))
            .map(|address| address.to_string())
            .collect();
        ensure!(
            !addresses.is_empty(),
            "the brokers have no listener {}",
            listener.name()
        );
        Ok(addresses.join(","))
    }

    /// The certificates.
    ///
    /// # Errors
    /// When the cluster is not secured.
    pub fn certificates(&self) -> anyhow::Result<&Certificates> {
        Ok(&self.secured()?.certificates)
    }

    /// A user with its password.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn user(&self, name: &str) -> anyhow::Result<&User> {
        self.secured()?.user(name)
    }

    /// Gives rights, which hold at once.
    ///
    /// # Errors
    /// When the brokers refuse.
    pub fn grant(&self, rights: &[Right]) -> anyhow::Result<()> {
        self.change_rights(&Change::Grant(rights))
    }

    /// Takes rights away.
    ///
    /// # Errors
    /// When the brokers refuse.
    pub fn revoke(&self, rights: &[Right]) -> anyhow::Result<()> {
        self.change_rights(&Change::Revoke(rights))
    }

    /// Runs Kafka's own `kafka-acls.sh` with these arguments, as who may do everything; gives
    /// what it prints. `BROKER:9092` and `admin.properties` in them stand for the brokers and
    /// for a file with the settings of the one who asks.
    ///
    /// # Errors
    /// When it fails.
    pub fn acls(&self, args: &[&str]) -> anyhow::Result<String> {
        let bootstrap = self.bootstrap();
        // Who comes through the listener without security needs no settings.
        let admin = self.folder().join("admin.properties");
        fs::write(&admin, "").with_context(|| format!("write {}", admin.display()))?;
        let admin = admin.display().to_string();
        let args: Vec<&str> = args
            .iter()
            .map(|arg| match *arg {
                "BROKER:9092" => bootstrap.as_str(),
                "admin.properties" => admin.as_str(),
                other => other,
            })
            .collect();
        console::acls(&self.cache, &args)
    }

    /// Gives a user another password for SCRAM; PLAIN keeps the one it started with.
    ///
    /// # Errors
    /// When there is no such user or the brokers refuse.
    pub fn set_password(&self, user: &str, password: &str) -> anyhow::Result<()> {
        let user = User {
            password: password.to_owned(),
            ..self.user(user)?.clone()
        };
        let users = [user];
        let users = Change::Users(&users);
        change(&self.cache, self.version, &self.bootstrap(), &users)
    }

    fn change_rights(&self, rights: &Change<'_>) -> anyhow::Result<()> {
        ensure!(
            self.secured()?.security.acls,
            "the cluster has no authorizer"
        );
        change(&self.cache, self.version, &self.bootstrap(), rights)
    }

    fn secured(&self) -> anyhow::Result<&Secured> {
        self.secured.as_ref().context("the cluster is not secured")
    }

    /// The proxy before a broker.
    ///
    /// # Errors
    /// When there is no such broker, or it has none.
    pub fn proxy(&self, broker: &str) -> anyhow::Result<&Proxy> {
        let broker = self.broker(broker)?;
        broker
            .proxy()
            .with_context(|| format!("{} has no proxy", broker.name()))
    }

    /// The broker that coordinates a group now.
    ///
    /// # Errors
    /// When no broker leads the group's partition.
    pub fn coordinator(&self, group_id: &str) -> anyhow::Result<String> {
        let id = admin::coordinator(&self.cache, self.version, &self.bootstrap(), group_id)?;
        let found = self
            .brokers
            .iter()
            .find(|broker| broker.serves_clients() && broker.node_id() == id);
        let broker = found.with_context(|| format!("no broker {id}"))?;
        Ok(broker.name().to_owned())
    }

    /// What a worker must set to come in: its own clients, and those of its connectors.
    pub(super) fn connection(&self, access: Access) -> anyhow::Result<Properties> {
        let mut all = Properties::new();
        if access == Access::Plaintext {
            all.insert("bootstrap.servers".to_owned(), self.bootstrap());
            return Ok(all);
        }
        let secured = self.secured()?;
        let client = access.java(secured.user(WORKER_USER)?, &secured.certificates)?;
        for prefix in ["", "producer.", "consumer.", "admin."] {
            for (name, value) in &client {
                all.insert(format!("{prefix}{name}"), value.clone());
            }
        }
        let bootstrap = self.bootstrap_of(access.listener())?;
        all.insert("bootstrap.servers".to_owned(), bootstrap);
        Ok(all)
    }

    /// Writes the settings of a Java client of `user` and gives the file.
    ///
    /// # Errors
    /// When the cluster does not have this access.
    pub fn client_file(&self, user: &str, access: Access) -> anyhow::Result<PathBuf> {
        let secured = self.secured()?;
        let mut client = access.java(secured.user(user)?, &secured.certificates)?;
        let bootstrap = self.bootstrap_of(access.listener())?;
        client.insert("bootstrap.servers".to_owned(), bootstrap);
        let name = format!("{user}-{access}.properties");
        let file = secured.certificates.file(&name);
        properties::write(&client, &file)?;
        Ok(file)
    }

    /// Writes a configuration of evenkeel as its own user and gives the file. `properties` of
    /// librdkafka win over those of the access.
    ///
    /// # Errors
    /// When the cluster does not have this access, or the group.
    pub fn agent_file(
        &self,
        (name, group_id): (&str, &str),
        access: Access,
        properties: &Properties,
    ) -> anyhow::Result<PathBuf> {
        let group = self.group(group_id)?;
        let secured = self.secured()?;
        let mut all = access.librdkafka(secured.user(AGENT_USER)?, &secured.certificates);
        all.extend(properties.clone());
        let text = json!({
            "kafka": {
                "bootstrap": self.bootstrap_of(access.listener())?,
                "properties": all,
            },
            "groups": [{
                "group": group.group_id,
                "config_topic": group.config_topic,
                "status_topic": group.status_topic,
            }],
        });
        // JSON is YAML, too.
        let file = secured.certificates.file(&format!("{name}.yaml"));
        fs::write(&file, serde_json::to_vec_pretty(&text)?)
            .with_context(|| format!("write {}", file.display()))?;
        Ok(file)
    }

    /// Writes files for all forms of access, for tests by hand; gives their folder.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn hand_files(&self) -> anyhow::Result<PathBuf> {
        let secured = self.secured()?;
        for access in Access::ALL {
            self.client_file(AGENT_USER, access)?;
            if let Some(group) = self.groups.first() {
                let name = format!("{AGENT_USER}-{access}");
                self.agent_file((&name, &group.group_id), access, &Properties::new())?;
            }
        }
        Ok(secured.certificates.folder().to_owned())
    }

    /// The listeners of the brokers, each with its `bootstrap.servers`.
    pub(super) fn listeners(&self) -> Vec<(String, String)> {
        Listener::ALL
            .into_iter()
            .filter_map(|listener| {
                let bootstrap = self.bootstrap_of(listener).ok()?;
                Some((listener.name().to_owned(), bootstrap))
            })
            .collect()
    }

    fn group(&self, group_id: &str) -> anyhow::Result<&Group> {
        let found = self.groups.iter().find(|group| group.group_id == group_id);
        found.with_context(|| format!("no group {group_id}"))
    }
}
