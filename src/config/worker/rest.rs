//! The name that the worker has in its group: `host:port` of its REST server, as
//! `RestServer.advertisedUrl` makes it.

use super::settings::{Found, Settings};
use crate::config::secret::Secret;

/// One of `listeners`.
struct Listener {
    scheme: String,
    host: String,
    port: u16,
}

/// Host and port, and where the host stands. `None` where the settings name no host: then
/// the worker asks the network for one, which cannot be repeated here, and where they name
/// all addresses, which names nobody.
pub(super) fn own_worker(settings: &mut Settings<'_>) -> Option<Found> {
    let listeners = listeners(settings);
    let scheme = settings.look_if_known("rest.advertised.listener");
    let scheme = match scheme.map(|found| found.text().to_lowercase()) {
        Some(scheme) if !scheme.is_empty() => scheme,
        _ if listeners
            .iter()
            .any(|(listener, _)| listener.scheme == "http") =>
        {
            "http".to_owned()
        }
        _ => "https".to_owned(),
    };
    let listener = listeners
        .iter()
        .find(|(listener, _)| listener.scheme == scheme);
    let advertised = settings.look_if_known("rest.advertised.host.name");
    let (host, source) = match (advertised, listener) {
        (Some(found), _) if !found.text().is_empty() => {
            (found.text().to_owned(), found.source.clone())
        }
        (_, Some((listener, source))) if !listener.host.is_empty() => {
            (listener.host.clone(), source.clone())
        }
        _ => return None,
    };
    if ["0.0.0.0", "::", "0:0:0:0:0:0:0:0"].contains(&host.as_str()) {
        return None;
    }
    let port = settings.look_if_known("rest.advertised.port");
    let port = match port
        .as_ref()
        .map(Found::text)
        .filter(|port| !port.is_empty())
    {
        Some(port) => port.parse::<u16>().ok()?,
        None => listener?.0.port,
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
    Some(Found::new(Secret::new(format!("{host}:{port}")), source))
}

/// The listeners with where they stand; before Kafka 3.0 the only one may be named by
/// `rest.host.name` and `rest.port`.
fn listeners(settings: &mut Settings<'_>) -> Vec<(Listener, String)> {
    if let Some(found) = settings.look_if_known("listeners") {
        let all = found
            .text()
            .split(',')
            .filter_map(|text| listener(text.trim()));
        let all: Vec<_> = all
            .map(|listener| (listener, found.source.clone()))
            .collect();
        if !all.is_empty() {
            return all;
        }
    }
    let host = settings.look_if_known("rest.host.name");
    let port = settings.look_if_known("rest.port");
    let port = port.and_then(|port| port.text().parse().ok());
    let listener = Listener {
        scheme: "http".to_owned(),
        host: host
            .as_ref()
            .map_or(String::new(), |host| host.text().to_owned()),
        port: port.unwrap_or(8083),
    };
    let source = host.map_or("the default listener".to_owned(), |host| host.source);
    vec![(listener, source)]
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
