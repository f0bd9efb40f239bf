//! From the configuration to what the agent takes: the one place where a configured
//! group becomes settings of a reader.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::config::{
    self, Config, ConfigFlags, ConnectionConfig, GroupConfig, HttpConfig, JudgeFiles, Loaded,
    Mistake, Mistakes, Named, Secret, TraceCopies, load, traces_for_url,
};
use crate::read::connection::{Connection, Hidden, Properties};
use crate::read::coordinator::{self, Unfit};
use crate::read::kafka::{self, ReadError, ReadSettings};
use crate::read::mask::NameMask;
use crate::run::connections::{Load, Settings};
use crate::run::web::Web;
use crate::run::{clock, expiry};
use crate::show::traces::wire::{self, Client};
use crate::show::view::CertificateUse;

/// Loads the configuration for a command that reads a group, and serves nothing.
///
/// # Errors
/// All mistakes in it.
pub fn configuration(flags: &ConfigFlags) -> Result<Loaded, Mistakes> {
    loaded(flags, |named| {
        let key = named.privacy.mask_key();
        key.err().into_iter().collect()
    })
}

/// Loads the configuration of the agent, and looks at all files that it names.
///
/// # Errors
/// All mistakes in it and in them.
pub fn whole(flags: &ConfigFlags) -> Result<Loaded, Mistakes> {
    loaded(flags, all_files)
}

/// What is wrong with all files that a configuration names and no other module looks at.
fn all_files(named: &Named) -> Vec<Mistake> {
    let mut mistakes: Vec<Mistake> = Vec::new();
    if let Some(path) = &named.web_config_file {
        let web = Web::load(path, named.probes);
        mistakes.extend(web.err().into_iter().flat_map(|told| told.0));
    }
    mistakes.extend(named.privacy.mask_key().err());
    mistakes.extend(named.state.folder().err());
    let traces = named.traces.clone().map(Client::new);
    let unfits = traces.into_iter().flat_map(|client| client.unfits());
    let own = unfits.filter(|unfit| unfit.variable.is_none());
    mistakes.extend(own.map(unfit));
    mistakes
}

fn loaded(flags: &ConfigFlags, judge_files: JudgeFiles) -> Result<Loaded, Mistakes> {
    let vars: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    load(flags, &vars, judged, judge_files)
}

/// What librdkafka says in OpenSSL's words, or by the options it was built with.
fn is_said_better(unfit: &Unfit) -> bool {
    match unfit {
        Unfit::File { .. } | Unfit::Content { .. } => true,
        Unfit::NotDone { name, .. } => *name == "sasl.mechanism",
        Unfit::Value { .. } | Unfit::Missing { .. } => false,
    }
}

/// librdkafka judges its own properties, without connecting anywhere.
fn judged(config: &ConnectionConfig) -> Vec<(Option<String>, String)> {
    let connection = connection(config);
    let mistakes = kafka::mistakes(&connection);
    // Where it is about files or a login as a whole, it says so in OpenSSL's words; what
    // looks at the same properties for the polls has words of its own.
    let is_plain = |mistake: &ReadError| {
        matches!(mistake, ReadError::Property { name, .. } if !name.starts_with("ssl."))
            || matches!(mistake, ReadError::NotAllowed { .. })
    };
    if !mistakes.is_empty()
        && !mistakes.iter().any(is_plain)
        && let Err(unfit) = coordinator::check_files(&connection)
        && is_said_better(&unfit)
    {
        let (name, reason) = unfit.parts();
        return vec![(Some(name.to_owned()), reason)];
    }
    mistakes
        .into_iter()
        .map(|mistake| match mistake {
            ReadError::Property { name, reason } => (Some(name), reason),
            ReadError::NotAllowed { name, reason } => (Some(name), reason.to_owned()),
            ReadError::Client { reason } => (None, reason),
        })
        .collect()
}

fn connection(config: &ConnectionConfig) -> Connection {
    let ConnectionConfig {
        properties,
        token_file,
    } = config;
    Connection {
        properties: hidden(properties),
        token_file: token_file.clone(),
    }
}

fn hidden(properties: &BTreeMap<String, Secret>) -> Properties {
    let hide = |value: &Secret| Hidden(value.expose().to_owned());
    let properties = properties.iter();
    properties
        .map(|(name, value)| (name.clone(), hide(value)))
        .collect()
}

/// The files that the connections depend on. Tokens are read anew for each login.
fn files(config: &Config) -> Vec<PathBuf> {
    let tokens: Vec<&PathBuf> = config
        .groups
        .iter()
        .filter_map(|group| group.connection.token_file.as_ref())
        .collect();
    let mut files = config::worker::files(config);
    files.retain(|file| !tokens.contains(&file));
    files
}

/// What the agent takes, and what it was read from.
///
/// # Errors
/// The key that names are masked with cannot be had.
pub fn settings(config: &Config) -> Result<Settings, Mistakes> {
    let groups = || config.groups.iter();
    let principal = |group: &GroupConfig| Some((group.group.clone(), group.principal.clone()?));
    Ok(Settings {
        groups: readers(config)?,
        files: files(config),
        principals: groups().filter_map(principal).collect(),
        expires_seconds: groups()
            .filter_map(|group| group.certificate_expires_seconds)
            .min(),
    })
}

/// Reads the configuration again as it was read at start.
#[must_use]
pub fn load_again(flags: &ConfigFlags) -> Load {
    let flags = flags.clone();
    let load = move || settings(&configuration(&flags)?.config);
    Load::new(load, own_addresses)
}

/// The folder that states are kept in, where one is named.
///
/// # Errors
/// It will not do.
pub fn state_folder(config: &Config) -> Result<Option<PathBuf>, Mistakes> {
    let folder = config.state.folder();
    folder.map_err(|mistake| Mistakes(vec![mistake]))
}

/// The web configuration, where there is one.
///
/// # Errors
/// All mistakes in it and in the files it names.
pub fn web(config: &HttpConfig) -> Result<Option<Web>, Mistakes> {
    let path = config.web_config_file.as_deref();
    path.map(|path| Web::load(path, config.probes)).transpose()
}

/// Who sends traces.
#[derive(Debug, Default)]
pub struct Traces {
    /// The sender, and which of them it sends, where they go anywhere.
    pub to: Option<(Client, TraceCopies)>,
    /// What is to be said of files that variables name and that will not do: they are looked at
    /// again before anything is sent.
    pub warnings: Vec<String>,
}

/// Who sends traces, where they go anywhere.
///
/// # Errors
/// A file that the configuration names for TLS will not do.
pub fn traces(config: &Config) -> Result<Traces, Mistakes> {
    let Some(config) = &config.traces else {
        return Ok(Traces::default());
    };
    let client = Client::new(config.clone());
    let unfits = client.unfits().into_iter();
    let (others, own): (Vec<_>, Vec<_>) = unfits.partition(|unfit| unfit.variable.is_some());
    if !own.is_empty() {
        return Err(Mistakes(own.into_iter().map(unfit).collect()));
    }
    let warning = |mistake: Mistake| {
        let Mistake {
            path,
            found,
            expected,
            ..
        } = mistake;
        format!("{path}: found {found}, expected {expected}; no trace is sent until it is there")
    };
    Ok(Traces {
        to: Some((client, config.copies)),
        warnings: others.into_iter().map(unfit).map(warning).collect(),
    })
}

/// A client for a receiver of traces that is named by hand; says on standard error which
/// variables cannot be used.
///
/// # Errors
/// The address, or what a variable says of the way there, will not do.
pub fn client_for(url: &str) -> Result<Client, Mistakes> {
    let (config, warnings) = traces_for_url(url, &|name| std::env::var(name).ok())?;
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    let client = Client::new(config);
    match client.unfits() {
        unfits if unfits.is_empty() => Ok(client),
        unfits => Err(Mistakes(unfits.into_iter().map(unfit).collect())),
    }
}

fn unfit(unfit: wire::Unfit) -> Mistake {
    let key = || format!("traces.{}", unfit.key);
    Mistake {
        path: unfit.variable.clone().unwrap_or_else(key),
        found: format!("{}: {}", unfit.file, unfit.reason),
        expected: "what TLS can be made from".to_owned(),
        hint: None,
        origin: None,
    }
}

/// What is to be said of certificates that are over.
#[must_use]
pub fn expired(config: &Config, web: Option<&Web>) -> Vec<String> {
    let first = config
        .groups
        .iter()
        .filter_map(|group| group.certificate_expires_seconds)
        .min();
    let client = expiry::told(CertificateUse::Client, first, clock::now());
    client
        .into_iter()
        .chain(web.and_then(Web::expired))
        .collect()
}

/// The settings of a reader for each configured group.
///
/// # Errors
/// The key that names are masked with cannot be had.
pub fn readers(config: &Config) -> Result<Vec<ReadSettings>, Mistakes> {
    let own_addresses = own_addresses();
    let key = mask_key(config)?;
    let mask = |group| name_mask(key.as_ref(), group);
    let groups = config.groups.iter();
    Ok(groups
        .map(|group| ReadSettings {
            own_addresses: own_addresses.clone(),
            mask: config.privacy.mask_names.then(|| mask(group)),
            ..reader(group)
        })
        .collect())
}

/// The key that names are masked with.
///
/// # Errors
/// What is wrong with its file.
pub fn mask_key(config: &Config) -> Result<Option<Secret>, Mistakes> {
    let key = config.privacy.mask_key();
    key.map_err(|mistake| Mistakes(vec![mistake]))
}

/// The mask of a group's connector names. Without a key the group id serves as one, which
/// all sidecars have, and so has everybody else.
pub fn name_mask(key: Option<&Secret>, group: &GroupConfig) -> NameMask {
    NameMask::new(key.map_or(group.group.as_bytes(), |key| key.expose().as_bytes()))
}

fn reader(group: &GroupConfig) -> ReadSettings {
    ReadSettings {
        connection: connection(&group.connection),
        group: group.group.clone(),
        offsets_topic: group.offsets_topic.clone(),
        config_topic: group.config_topic.clone(),
        status_topic: group.status_topic.clone(),
        offset_storage_topic: group.offset_storage_topic.clone(),
        worker_release: group.worker_release.clone(),
        own_worker: group.own_worker.clone(),
        own_addresses: Vec::new(),
        worker_settings: group.worker_settings.clone(),
        mask: None,
    }
}

/// The addresses of this machine, without those that only it can reach; in order, so that
/// they are the same each time. None where the system does not say.
fn own_addresses() -> Vec<String> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_else(|error| {
        tracing::warn!(%error, "addresses of this machine not known");
        Vec::new()
    });
    let addresses = interfaces.iter().filter(|found| !found.is_loopback());
    let addresses: BTreeSet<_> = addresses.map(|found| found.ip().to_string()).collect();
    addresses.into_iter().collect()
}

#[cfg(test)]
mod tests;
