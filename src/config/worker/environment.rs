//! `CONNECT_*` variables, as images that write the worker's file from them take them:
//! `CONNECT_SESSION_TIMEOUT_MS` is `session.timeout.ms`. Only names that the agent reads:
//! Kubernetes sets `CONNECT_SERVICE_HOST` and the like for a service called connect.

use super::names;
use crate::config::secret::Secret;

const PREFIX: &str = "CONNECT_";
const PROVIDERS: &str = "CONNECT_CONFIG_PROVIDERS_";

/// Name, value and variable of each setting.
pub(super) fn settings(vars: &[(String, String)]) -> Vec<(String, Secret, &str)> {
    let ours = vars.iter().filter_map(|(variable, value)| {
        let name = name(variable)?;
        Some((name, Secret::new(value.clone()), variable.as_str()))
    });
    ours.collect()
}

/// Whether any variable sets something.
pub(in crate::config) fn is_used(vars: &[(String, String)]) -> bool {
    vars.iter().any(|(variable, _)| name(variable).is_some())
}

/// The setting that a variable sets.
fn name(variable: &str) -> Option<String> {
    let rest = variable.strip_prefix(PREFIX)?;
    if let Some(provider) = variable.strip_prefix(PROVIDERS) {
        // Parameters of a provider have names of their own, with dashes perhaps; only the
        // class is read.
        let alias = provider.strip_suffix("_CLASS")?;
        return Some(format!("config.providers.{}.class", alias.to_lowercase()));
    }
    let read = names::all().find(|name| spelled(name) == rest);
    read.map(str::to_owned)
}

/// No name that is read holds a dash or an underscore, whose spelling differs by image.
fn spelled(name: &str) -> String {
    name.replace('.', "_").to_uppercase()
}

#[cfg(test)]
mod tests;
