//! A small HTTP/1.1 client over loopback: one request a connection.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

/// What a worker or an agent answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub body: String,
}

impl Response {
    /// The body as JSON, if the status is 2xx.
    ///
    /// # Errors
    /// On any other status, or a body that is no JSON.
    pub fn json(&self) -> anyhow::Result<Value> {
        self.ok()?;
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&self.body).with_context(|| format!("no JSON: {}", self.body))
    }

    /// An error unless the status is 2xx.
    ///
    /// # Errors
    /// With the status and the body.
    pub fn ok(&self) -> anyhow::Result<()> {
        if (200..300).contains(&self.status) {
            return Ok(());
        }
        bail!("answered {}: {}", self.status, self.body)
    }
}

/// Asks a server on loopback. Any HTTP status is an answer, not an error.
///
/// # Errors
/// When there is no answer within `at_most`, or none that can be read.
pub fn request(
    port: u16,
    method: &str,
    path: &str,
    body: Option<&Value>,
    at_most: Duration,
) -> anyhow::Result<Response> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    request_at(address, method, path, body, at_most)
}

/// As [`request`], of a server that has an address of its own.
pub(crate) fn request_at(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: Option<&Value>,
    at_most: Duration,
) -> anyhow::Result<Response> {
    let what = || format!("{method} {path} at {address}");
    let mut stream = TcpStream::connect_timeout(&address, at_most).with_context(what)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(at_most))?;
    stream.set_write_timeout(Some(at_most))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: */*\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream
        .write_all(&[head.as_bytes(), body.as_bytes()].concat())
        .with_context(what)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).with_context(what)?;
    parse(&answer).with_context(what)
}

fn parse(answer: &[u8]) -> anyhow::Result<Response> {
    let end = answer
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .context("answer without a header")?;
    let head = String::from_utf8_lossy(&answer[..end]);
    let body = &answer[end + 4..];
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .with_context(|| format!("no status in {head:?}"))?;
    let chunked = head.lines().any(|line| {
        line.split_once(':').is_some_and(|(name, value)| {
            name.eq_ignore_ascii_case("transfer-encoding")
                && value.trim().eq_ignore_ascii_case("chunked")
        })
    });
    let body = if chunked {
        unchunk(body)?
    } else {
        body.to_vec()
    };
    Ok(Response {
        status,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

fn unchunk(mut rest: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest
            .windows(2)
            .position(|window| window == b"\r\n")
            .context("chunk without a length")?;
        let line = std::str::from_utf8(&rest[..end]).context("chunk length")?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16).context("chunk length")?;
        if length == 0 {
            return Ok(body);
        }
        let from = end + 2;
        let chunk = from
            .checked_add(length)
            .and_then(|to| rest.get(from..to))
            .context("answer cut short")?;
        body.extend_from_slice(chunk);
        rest = rest.get(from + length + 2..).context("answer cut short")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_forms_of_a_body() {
        let plain = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}";
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        assert_eq!(parse(plain).unwrap().status, 201);
        assert_eq!(parse(plain).unwrap().body, "{}");
        assert_eq!(parse(chunked).unwrap().body, "abcde");
    }

    #[test]
    fn refuses_a_cut_answer() {
        let whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n";
        assert!(parse(whole).is_ok());
        for end in 0..whole.len() - 3 {
            assert!(parse(&whole[..end]).is_err(), "{end}");
        }
    }
}
