//! The address of a receiver of OTLP, taken apart.

use super::PATH;
use crate::config::tree::TraceProtocol;
use crate::config::typed::TraceEndpoint;

/// Takes an address apart; where it `is_whole`, its path is taken as it is. The error says what
/// was found, without what may be a password.
pub(super) fn parse(
    text: &str,
    protocol: TraceProtocol,
    is_whole: bool,
) -> Result<TraceEndpoint, String> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(format!("{:?}, without http:// or https://", shown(text)));
    };
    let tls = match scheme.to_ascii_lowercase().as_str() {
        "http" => false,
        "https" => true,
        _ => return Err(format!("{:?}, with another scheme", shown(text))),
    };
    let (authority, path) = match rest.find(['/', '?', '#']) {
        Some(place) => rest.split_at(place),
        None => (rest, ""),
    };
    if authority.contains('@') {
        return Err("a user or a password in an address; headers are the place for it".to_owned());
    }
    if path.contains(['?', '#']) || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!("{:?}, with more than a path", shown(text)));
    }
    let (host, port) = host_and_port(authority, tls, protocol)
        .ok_or_else(|| format!("{:?}, whose host or port is none", shown(text)))?;
    let path = path.trim_end_matches('/');
    if protocol == TraceProtocol::Grpc && !path.is_empty() {
        return Err(format!(
            "{:?}, with a path, which gRPC has none of",
            shown(text)
        ));
    }
    let path = match (is_whole, path.ends_with(PATH)) {
        (true, _) if path.is_empty() => "/".to_owned(),
        (true, _) | (false, true) => path.to_owned(),
        (false, false) => format!("{path}{PATH}"),
    };
    Ok(TraceEndpoint {
        tls,
        host,
        port,
        path,
    })
}

fn host_and_port(authority: &str, tls: bool, protocol: TraceProtocol) -> Option<(String, u16)> {
    let usual = match (tls, protocol) {
        (true, TraceProtocol::Http) => 443,
        (false, TraceProtocol::Http) => 80,
        (_, TraceProtocol::Grpc) => 4317,
    };
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            let port = match port.is_empty() {
                true => None,
                false => Some(port.strip_prefix(':')?),
            };
            (host, port)
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
    let port = match port {
        Some(port) => port.parse().ok().filter(|port| *port > 0)?,
        None => usual,
    };
    (!host.is_empty() && host.bytes().all(is_name)).then(|| (host.to_owned(), port))
}

/// What stands before an @, or behind a ?, is a secret more often than not.
fn shown(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match text.rsplit_once('@') {
        Some((_, rest)) => format!("[hidden]@{rest}"),
        None => text.chars().take(80).collect(),
    }
}
