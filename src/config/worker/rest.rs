//! The name that the worker has in its group: `host:port` of its REST server, as
//! `RestServer.advertisedUrl` makes it.

use super::settings::{Found, Settings};
use crate::config::secret::Secret;

const HOST_NAME: &str = "rest.advertised.host.name";

/// One of `listeners`.
struct Listener {
    scheme: String,
    host: String,
    port: u16,
}

/// Host and port, and where the host stands.
pub(super) fn own_worker(settings: &mut Settings<'_>) -> Option<Found> {
    let (address, name) = advertised(&mut |name| {
        let found = settings.look_if_known(name)?;
        Some(found.text().to_owned())
    })?;
    let source = settings.source(name).unwrap_or_default().to_owned();
    Some(Found::new(Secret::new(address), source))
}

/// Host and port, and the setting that names the host. `None` where the settings name no
/// host: then the worker asks the network for one, which cannot be repeated here, and where
/// they name all addresses, which names nobody.
pub(in crate::config) fn advertised(
    look: &mut dyn FnMut(&'static str) -> Option<String>,
) -> Option<(String, &'static str)> {
    let (listeners, listener_setting) = listeners(look);
    let scheme = look("rest.advertised.listener");
    let scheme = match scheme.map(|scheme| scheme.to_lowercase()) {
        Some(scheme) if !scheme.is_empty() => scheme,
        _ if listeners.iter().any(|listener| listener.scheme == "http") => "http".to_owned(),
        _ => "https".to_owned(),
    };
    let listener = listeners.iter().find(|listener| listener.scheme == scheme);
    let (host, name) = match (look(HOST_NAME), listener) {
        (Some(host), _) if !host.is_empty() => (host, HOST_NAME),
        (_, Some(listener)) if !listener.host.is_empty() => {
            (listener.host.clone(), listener_setting)
        }
        _ => return None,
    };
    if ["0.0.0.0", "::", "0:0:0:0:0:0:0:0"].contains(&host.as_str()) {
        return None;
    }
    let port = match look("rest.advertised.port").filter(|port| !port.is_empty()) {
        Some(port) => port.parse::<u16>().ok()?,
        None => listener?.port,
    };
    // With port 0 the system chooses one.
    if port == 0 {
        return None;
    }
    let host = if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]")
    } else {
        host
    };
    Some((format!("{host}:{port}"), name))
}

/// The listeners, and the setting that names their hosts; before Kafka 3.0 the only one may
/// be named by `rest.host.name` and `rest.port`.
fn listeners(
    look: &mut dyn FnMut(&'static str) -> Option<String>,
) -> (Vec<Listener>, &'static str) {
    if let Some(text) = look("listeners") {
        let all: Vec<_> = text
            .split(',')
            .filter_map(|text| listener(text.trim()))
            .collect();
        if !all.is_empty() {
            return (all, "listeners");
        }
    }
    let host = look("rest.host.name");
    let port = look("rest.port").and_then(|port| port.parse().ok());
    let listener = Listener {
        scheme: "http".to_owned(),
        host: host.unwrap_or_default(),
        port: port.unwrap_or(8083),
    };
    (vec![listener], "rest.host.name")
}

fn listener(text: &str) -> Option<Listener> {
    let (scheme, rest) = text.split_once("://")?;
    let (host, port) = rest.trim_end_matches('/').rsplit_once(':')?;
    let host = host.strip_prefix('[').unwrap_or(host);
    Some(Listener {
        scheme: scheme.to_lowercase(),
        host: host.strip_suffix(']').unwrap_or(host).to_owned(),
        port: port.parse().ok()?,
    })
}

#[cfg(test)]
mod tests;
