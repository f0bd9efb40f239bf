//! The web configuration file of Prometheus exporters: TLS, users and headers of the
//! agent's own port, in the format of the exporter toolkit. Every mistake is collected;
//! no key and no hash is ever told.

mod read;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_yaml::Value;

use super::mistake::{Mistake, Mistakes, quoted};
use super::secret::Secret;
use super::yaml;
use read::{Section, section};
use words::{CIPHER_SUITES, CLIENT_AUTH, CURVES, Suite, VERSIONS};
pub use words::{ClientAuth, TlsVersion};

/// Users in a file. Who has more wants certificates, or a proxy.
const USERS_MAX: usize = 100;
/// Cost of a hash: 2^cost rounds. bcrypt knows no less than 4; at 16 one check takes
/// seconds, and each wrong password buys one.
const COST_MIN: u32 = 4;
const COST_MAX: u32 = 16;

/// What a web configuration file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WebConfig {
    /// TLS; absent, the port speaks plain HTTP.
    pub tls: Option<WebTls>,
    /// bcrypt hashes by user; empty, nobody is asked who they are.
    pub users: BTreeMap<String, Secret>,
    /// Headers that answers carry besides the agent's own, or instead of them.
    pub headers: Vec<(String, String)>,
}

/// `tls_server_config`.
#[derive(Debug, Clone, PartialEq)]
pub struct WebTls {
    /// The certificate, followed by those between it and a known CA.
    pub cert: Pem,
    /// Its key.
    pub key: Pem,
    /// The CA whose clients are known.
    pub client_ca: Option<Pem>,
    /// Whether clients show a certificate.
    pub client_auth: ClientAuth,
    /// Names of which a client's certificate must have one; empty, any will do.
    pub client_allowed_sans: Vec<String>,
    /// Oldest version.
    pub min_version: TlsVersion,
    /// Newest version.
    pub max_version: TlsVersion,
    /// Suites of TLS 1.2 by OpenSSL's names; empty, the agent's choice.
    pub cipher_suites: Vec<&'static str>,
    /// Whether the order of suites is the server's.
    pub prefer_server_cipher_suites: bool,
    /// Curves by OpenSSL's names, best first; empty, OpenSSL's choice.
    pub curves: Vec<&'static str>,
}

/// Where something in PEM is.
#[derive(Debug, Clone, PartialEq)]
pub enum Pem {
    /// In a file.
    File(PathBuf),
    /// In the web configuration itself.
    Text(Secret),
}

/// Keys of the format that are refused, and why.
const REFUSED: [(&str, &str); 1] = [(
    "rate_limit",
    "leave it out: connections, handshakes and checks of passwords are bounded anyway",
)];

/// Headers that may be set (the toolkit's list) and their values, where not any will do.
const HEADERS: [(&str, &[&str]); 5] = [
    ("Content-Security-Policy", &[]),
    ("Strict-Transport-Security", &[]),
    ("X-Content-Type-Options", &["nosniff"]),
    ("X-Frame-Options", &["deny", "sameorigin"]),
    ("X-XSS-Protection", &[]),
];

// === impl WebConfig ===

impl WebConfig {
    /// Reads the text of a file that lies in `folder`, from which its paths start.
    ///
    /// # Errors
    ///
    /// All mistakes, each with its key; the caller knows the file's name.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, Mistakes> {
        match Self::read(text, folder) {
            (config, mistakes) if mistakes.is_empty() => Ok(config),
            (_, mistakes) => Err(Mistakes(mistakes)),
        }
    }

    /// As [`parse`](Self::parse), with what holds of a file that has mistakes: not to be
    /// used, but to be looked at for more of them.
    #[must_use]
    pub fn read(text: &str, folder: &Path) -> (Self, Vec<Mistake>) {
        let root = match yaml::parse(text) {
            Ok(root) => root,
            Err(mistake) => return (Self::default(), vec![mistake]),
        };
        let mut mistakes = Vec::new();
        let known = [
            "tls_server_config",
            "http_server_config",
            "basic_auth_users",
        ];
        let mut root = section(root, "", &known, &REFUSED, &mut mistakes);
        let tls = root.take("tls_server_config");
        let tls = (!tls.is_null()).then(|| of_tls(tls, folder, &mut mistakes));
        let headers = of_http(root.take("http_server_config"), &mut mistakes);
        let users = of_users(root.take("basic_auth_users"), &mut mistakes);
        let config = Self {
            tls: tls.flatten(),
            users,
            headers,
        };
        (config, mistakes)
    }

    /// The files that it names, in which a change is to be looked for.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let tls = self.tls.iter();
        let places = tls.flat_map(|tls| [Some(&tls.cert), Some(&tls.key), tls.client_ca.as_ref()]);
        let files = places.flatten().filter_map(|place| match place {
            Pem::File(path) => Some(path.clone()),
            Pem::Text(_) => None,
        });
        files.collect()
    }
}

const TLS: &str = "tls_server_config";

fn of_tls(value: Value, folder: &Path, mistakes: &mut Vec<Mistake>) -> Option<WebTls> {
    let known = [
        "cert",
        "cert_file",
        "key",
        "key_file",
        "client_ca",
        "client_ca_file",
        "client_auth_type",
        "client_allowed_sans",
        "min_version",
        "max_version",
        "cipher_suites",
        "prefer_server_cipher_suites",
        "curve_preferences",
    ];
    let mut tls = section(value, TLS, &known, &[], mistakes);
    let cert = pem(&mut tls, "cert", folder, true, mistakes);
    let key = pem(&mut tls, "key", folder, true, mistakes);
    let client_ca = pem(&mut tls, "client_ca", folder, false, mistakes);
    let client_auth = tls
        .word("client_auth_type", &CLIENT_AUTH, mistakes)
        .unwrap_or(ClientAuth::No);
    let client_allowed_sans = tls.texts("client_allowed_sans", mistakes);
    let mut version = |key, default| {
        let version = tls.word(key, &VERSIONS, mistakes).unwrap_or(Some(default));
        if version.is_none() {
            let found = Mistake::new(tls.at(key), "a version before TLS12", "TLS12 or TLS13");
            mistakes.push(found.hint("older versions are no longer safe (RFC 8996)"));
        }
        version.unwrap_or(default)
    };
    let min_version = version("min_version", TlsVersion::Tls12);
    let max_version = version("max_version", TlsVersion::Tls13);
    let suites = tls.words("cipher_suites", &CIPHER_SUITES, mistakes);
    let prefer_server_cipher_suites = tls.truth("prefer_server_cipher_suites", true, mistakes);
    let curves = tls.words("curve_preferences", &CURVES, mistakes);
    if min_version > max_version {
        let mistake = Mistake::new(tls.at("min_version"), "TLS13", "at most max_version");
        mistakes.push(mistake.hint("max_version is TLS12"));
    }
    let of_tls12 = suites.iter().filter_map(|suite| match suite {
        Suite::Tls12(name) => Some(*name),
        // Those of TLS 1.3 are all safe and cannot be chosen; Go, too, takes no notice.
        Suite::Tls13 => None,
    });
    let cipher_suites: Vec<_> = of_tls12.collect();
    if cipher_suites.is_empty() && !suites.is_empty() && min_version == TlsVersion::Tls12 {
        let mistake = Mistake::new(
            tls.at("cipher_suites"),
            "suites of TLS13 only",
            "a suite of TLS12, which min_version asks for",
        );
        mistakes.push(mistake.hint("set min_version: TLS13"));
    }
    of_clients(
        &tls,
        client_ca.is_some(),
        client_auth,
        &client_allowed_sans,
        mistakes,
    );
    Some(WebTls {
        cert: cert?,
        key: key?,
        client_ca,
        client_auth,
        client_allowed_sans,
        min_version,
        max_version,
        cipher_suites,
        prefer_server_cipher_suites,
        curves,
    })
}

/// What is asked of clients must be something that can be asked.
fn of_clients(
    tls: &Section,
    has_ca: bool,
    client_auth: ClientAuth,
    sans: &[String],
    mistakes: &mut Vec<Mistake>,
) {
    let at = tls.at("client_auth_type");
    if has_ca && client_auth == ClientAuth::No {
        let mistake = Mistake::new(at, "NoClientCert", "a type that asks for a certificate");
        mistakes.push(mistake.hint("with client_ca_file: RequireAndVerifyClientCert"));
    } else if !has_ca && client_auth.verifies() {
        // Go would take every CA of the system: anybody with a public certificate.
        let mistake = Mistake::new(tls.at("client_ca_file"), "nothing", "a PEM file");
        mistakes.push(mistake.hint("the CA that signed the clients' certificates"));
    } else if !sans.is_empty() && !client_auth.requires() {
        let expected = "RequireAnyClientCert or RequireAndVerifyClientCert";
        let mistake = Mistake::new(at, client_auth.word(), expected);
        mistakes.push(mistake.hint("client_allowed_sans needs a certificate of every client"));
    }
}

/// The file or the text of something in PEM.
fn pem(
    tls: &mut Section,
    key: &str,
    folder: &Path,
    is_needed: bool,
    mistakes: &mut Vec<Mistake>,
) -> Option<Pem> {
    let in_file = format!("{key}_file");
    let before = mistakes.len();
    let path = tls.text(&in_file, mistakes);
    let text = tls.text(key, mistakes);
    match (path, text) {
        (Some(_), Some(_)) => {
            let expected = format!("one of {key} and {in_file}");
            mistakes.push(Mistake::new(tls.at(key), "both", expected));
            None
        }
        // A key that was put here instead of its path is not to be told.
        (Some(path), None) if path.contains('\n') || path.contains("-----BEGIN") => {
            let mistake = Mistake::new(tls.at(&in_file), "PEM itself", "the path of a PEM file");
            mistakes.push(mistake.hint(format!("{key} takes it as text")));
            None
        }
        (Some(path), None) => Some(Pem::File(folder.join(path))),
        (None, Some(text)) => Some(Pem::Text(Secret::new(text))),
        (None, None) => {
            if is_needed && mistakes.len() == before {
                mistakes.push(Mistake::new(tls.at(&in_file), "nothing", "a PEM file"));
            }
            None
        }
    }
}

fn of_http(value: Value, mistakes: &mut Vec<Mistake>) -> Vec<(String, String)> {
    const HTTP: &str = "http_server_config";
    let mut http = section(value, HTTP, &["http2", "headers"], &[], mistakes);
    // A permission, not an order: HTTP/1.1 is what the agent agrees on either way.
    http.truth("http2", true, mistakes);
    let at = http.at("headers");
    let names = HEADERS.map(|(name, _)| name);
    let mut headers = section(http.take("headers"), &at, &names, &[], mistakes);
    let mut set = Vec::new();
    for (name, allowed) in HEADERS {
        let Some(value) = headers.text(name, mistakes) else {
            continue;
        };
        let is_plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if !is_plain {
            let expected = "printable ASCII in one line";
            mistakes.push(Mistake::new(headers.at(name), "other characters", expected));
        } else if !allowed.is_empty() && !allowed.contains(&value.as_str()) {
            let expected = allowed.join(" or ");
            mistakes.push(Mistake::new(headers.at(name), quoted(&value), expected));
        } else {
            set.push((name.to_owned(), value));
        }
    }
    set
}

const USERS: &str = "basic_auth_users";

fn of_users(value: Value, mistakes: &mut Vec<Mistake>) -> BTreeMap<String, Secret> {
    let mut users = BTreeMap::new();
    let map = match value {
        Value::Null => return users,
        Value::Mapping(map) => map,
        _ => {
            let expected = "users with the bcrypt hashes of their passwords";
            mistakes.push(Mistake::new(USERS, "something else", expected));
            return users;
        }
    };
    if map.len() > USERS_MAX {
        let found = format!("{} users", map.len());
        mistakes.push(Mistake::new(USERS, found, format!("at most {USERS_MAX}")));
    }
    for (index, (user, hash)) in map.into_iter().enumerate() {
        // What is not a plain name may be a hash or a password in the wrong place.
        let name = match user {
            Value::String(name) if is_name(&name) => name,
            _ => {
                let expected = "a user's name: at most 64 printable characters, no colon";
                let mistake = Mistake::new(format!("{USERS}[{index}]"), "no name", expected);
                mistakes.push(mistake.hint("alice: '$2y$10$…'"));
                continue;
            }
        };
        let found = match &hash {
            Value::String(hash) => bad_hash(hash),
            _ => Some("no text".to_owned()),
        };
        match (found, hash) {
            (None, Value::String(hash)) => {
                users.insert(name, Secret::new(hash));
            }
            (found, _) => {
                let found = found.unwrap_or_default();
                let expected = format!("a bcrypt hash of cost {COST_MIN} to {COST_MAX}");
                let mistake = Mistake::new(format!("{USERS}.{name}"), found, expected);
                mistakes.push(mistake.hint("htpasswd -nBC 10 USER makes one"));
            }
        }
    }
    users
}

/// RFC 7617: a user's name ends at the first colon.
fn is_name(name: &str) -> bool {
    let is_plain = name.chars().all(|c| !c.is_control() && c != ':');
    is_plain && !name.is_empty() && name.chars().count() <= 64 && !name.starts_with("$2")
}

/// What is wrong with a hash, without the hash: `$2y$10$`, then 22 letters of salt and 31
/// of hash.
fn bad_hash(hash: &str) -> Option<String> {
    const LETTERS: usize = 22 + 31;
    let parts: Vec<&str> = hash.split('$').collect();
    let ["", kind, cost, rest] = parts[..] else {
        return Some("something else".to_owned());
    };
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/');
    if !matches!(kind, "2a" | "2b" | "2x" | "2y") {
        return Some("a hash of another kind".to_owned());
    }
    if rest.len() != LETTERS || !rest.bytes().all(is_letter) {
        return Some("a hash that is cut or mistyped".to_owned());
    }
    match cost.parse::<u32>() {
        Ok(cost) if (COST_MIN..=COST_MAX).contains(&cost) => None,
        Ok(cost) => Some(format!("a cost of {cost}")),
        Err(_) => Some("a hash without a cost".to_owned()),
    }
}

#[cfg(test)]
mod tests;
