//! SASL: the mechanism, and the login that `sasl.jaas.config` holds.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::jaas::{self, Login};
use super::properties_file::{self, FILE_BYTES_MAX};
use super::settings::{Found, Lookup, Settings};
use super::translate::{Over, Translated};
use crate::config::secret::Secret;

const PACKAGE: &str = "org.apache.kafka.common.security.";
const MECHANISM: &str = "sasl.mechanism";
const JAAS: &str = "sasl.jaas.config";
const LOGIN_HANDLER: &str = "sasl.login.callback.handler.class";
const TOKEN_URL: &str = "sasl.oauthbearer.token.endpoint.url";
const RETRIEVER: &str = "sasl.oauthbearer.jwt.retriever.class";

/// What a login needs if it is to be had in another way.
const INSTEAD: &str = "set sasl.mechanism, sasl.username and sasl.password in kafka.properties";
const TOKEN_INSTEAD: &str = "keep a fresh token in a file and name it in kafka.token_file, with kafka.properties.sasl.mechanism: OAUTHBEARER";

/// Translates the login.
pub(super) fn translate(settings: &mut Settings<'_>, over: Over<'_>, out: &mut Translated) {
    let Some((mechanism, source)) = mechanism(settings, over) else {
        return;
    };
    if !over.has_any(&["sasl.mechanism", "sasl.mechanisms"]) {
        out.set(MECHANISM, mechanism.as_str(), &source);
    }
    match mechanism.as_str() {
        "PLAIN" => password(settings, over, &["plain.PlainLoginModule"], out),
        "SCRAM-SHA-256" | "SCRAM-SHA-512" => {
            password(settings, over, &["scram.ScramLoginModule"], out);
        }
        _ => token(settings, over, out),
    }
}

fn mechanism(settings: &mut Settings<'_>, over: Over<'_>) -> Option<(String, String)> {
    let set = over.get("sasl.mechanism").or(over.get("sasl.mechanisms"));
    if let Some(mechanism) = set {
        // librdkafka judges it.
        return Some((mechanism.to_uppercase(), String::new()));
    }
    let found = match settings.look(MECHANISM) {
        Lookup::Broken => return None,
        Lookup::Absent => None,
        Lookup::Found(found) => Some(found),
    };
    let text = found.as_ref().map_or("GSSAPI", Found::text);
    let known = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"];
    if let (true, Some(found)) = (known.contains(&text), &found) {
        return Some((text.to_owned(), found.source.clone()));
    }
    let told = match (&found, text) {
        (None, _) => "nothing, which is GSSAPI",
        (_, "GSSAPI") => "GSSAPI",
        _ => "another mechanism",
    };
    let hint = format!("Kerberos and mechanisms of Java classes are not built in; {INSTEAD}");
    settings.wrong(MECHANISM, told, &known.join(", "), &hint);
    None
}

/// PLAIN and SCRAM: a name and a password.
fn password(settings: &mut Settings<'_>, over: Over<'_>, modules: &[&str], out: &mut Translated) {
    let names = [("sasl.username", "username"), ("sasl.password", "password")];
    if names.iter().all(|(name, _)| over.has_any(&[name])) {
        return;
    }
    if !has_default_classes(settings, &[]) {
        return;
    }
    let Some((login, source)) = login(settings, modules) else {
        return;
    };
    if login
        .options
        .get("tokenauth")
        .is_some_and(|value| value.expose() == "true")
    {
        let told = "a delegation token (tokenauth)";
        settings.wrong(JAAS, told, "a user's password", INSTEAD);
        return;
    }
    for (name, option) in names {
        match login.options.get(option) {
            Some(value) => {
                out.set(name, value.expose(), &source);
            }
            None if over.has_any(&[name]) => {}
            None => {
                let told = format!("a login module without {option}");
                settings.wrong(JAAS, &told, "username=\"…\" password=\"…\"", INSTEAD);
            }
        }
    }
}

/// Whether no class of the user's own takes part in the login; `known` are further ones
/// that are understood. Those that are not are told.
fn has_default_classes(settings: &mut Settings<'_>, known: &[&str]) -> bool {
    let defaults = [
        (
            "sasl.login.class",
            &[
                "authenticator.DefaultLogin",
                "oauthbearer.internals.OAuthBearerRefreshingLogin",
            ][..],
            &[][..],
        ),
        (
            "sasl.client.callback.handler.class",
            &[
                "authenticator.SaslClientCallbackHandler",
                "oauthbearer.internals.OAuthBearerSaslClientCallbackHandler",
            ],
            &[],
        ),
        (
            LOGIN_HANDLER,
            &["authenticator.AbstractLogin$DefaultLoginCallbackHandler"],
            known,
        ),
    ];
    let mut is_default = true;
    for (name, own, further) in defaults {
        let Some(found) = settings.text(name) else {
            is_default &= settings.look(name) != Lookup::Broken;
            continue;
        };
        let class = found.text().strip_prefix(PACKAGE);
        if class.is_some_and(|class| own.contains(&class) || further.contains(&class)) {
            continue;
        }
        is_default = false;
        let expected = "none, since it cannot be loaded here";
        let hint = format!("{INSTEAD}; or {TOKEN_INSTEAD}");
        settings.wrong(name, "a Java class", expected, &hint);
    }
    is_default
}

/// The login of `sasl.jaas.config`, by one of these modules.
fn login(settings: &mut Settings<'_>, modules: &[&str]) -> Option<(Login, String)> {
    let found = match settings.look(JAAS) {
        Lookup::Broken => return None,
        Lookup::Absent => {
            let hint = format!("a JAAS file of the JVM cannot be seen from here; {INSTEAD}");
            settings.wrong(JAAS, "nothing", "the login of the worker", &hint);
            return None;
        }
        Lookup::Found(found) => found,
    };
    let expected = modules
        .iter()
        .map(|module| format!("{PACKAGE}{module} required …;"))
        .collect::<Vec<_>>()
        .join(" or ");
    let login = match jaas::parse(found.text()) {
        Ok(login) => login,
        Err(error) => {
            settings.wrong(JAAS, &error.to_string(), &expected, "");
            return None;
        }
    };
    let module = login.module.strip_prefix(PACKAGE);
    if !module.is_some_and(|module| modules.contains(&module)) {
        settings.wrong(JAAS, "another login module", &expected, INSTEAD);
        return None;
    }
    Some((login, found.source))
}

/// OAUTHBEARER: a token that stands in a file, or an unsecured one made here.
fn token(settings: &mut Settings<'_>, over: Over<'_>, out: &mut Translated) {
    const OWN: [&str; 4] = [
        "enable.sasl.oauthbearer.unsecure.jwt",
        "sasl.oauthbearer.config",
        "sasl.oauthbearer.method",
        "sasl.oauthbearer.token.endpoint.url",
    ];
    if over.has_token_file || over.has_any(&OWN) {
        return;
    }
    const UNSECURED: &str =
        "oauthbearer.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler";
    const FROM_URL: [&str; 2] = [
        "oauthbearer.OAuthBearerLoginCallbackHandler",
        "oauthbearer.secured.OAuthBearerLoginCallbackHandler",
    ];
    if !has_default_classes(settings, &[UNSECURED, FROM_URL[0], FROM_URL[1]]) {
        return;
    }
    let Some((login, source)) = login(settings, &["oauthbearer.OAuthBearerLoginModule"]) else {
        return;
    };
    let handler = settings.text(LOGIN_HANDLER);
    let class = handler
        .as_ref()
        .and_then(|found| found.text().strip_prefix(PACKAGE));
    if class.is_some_and(|class| FROM_URL.contains(&class)) {
        token_file(settings, &login, out);
    } else {
        unsecured(settings, &login, &source, out);
    }
}

fn token_file(settings: &mut Settings<'_>, login: &Login, out: &mut Translated) {
    let kept = [
        "oauthbearer.DefaultJwtRetriever",
        "oauthbearer.FileJwtRetriever",
    ];
    match settings.look(RETRIEVER) {
        Lookup::Broken => return,
        Lookup::Found(found) if !found.text().is_empty() => {
            let class = found.text().strip_prefix(PACKAGE);
            if !class.is_some_and(|class| kept.contains(&class)) {
                let expected = "FileJwtRetriever or DefaultJwtRetriever";
                settings.wrong(RETRIEVER, "another class", expected, TOKEN_INSTEAD);
                return;
            }
        }
        Lookup::Absent | Lookup::Found(_) => {}
    }
    if login
        .options
        .keys()
        .any(|name| name.starts_with("extension_"))
    {
        let told = "extensions of the login";
        settings.wrong(JAAS, told, "none: a token from a file carries none", "");
        return;
    }
    let found = match settings.look(TOKEN_URL) {
        Lookup::Broken => return,
        Lookup::Absent => {
            settings.wrong(
                TOKEN_URL,
                "nothing",
                "file:/path/of/the/token",
                TOKEN_INSTEAD,
            );
            return;
        }
        Lookup::Found(found) => found,
    };
    let Some(path) = path_of(found.text()) else {
        let hint = format!("tokens are not fetched over HTTP; {TOKEN_INSTEAD}");
        settings.wrong(TOKEN_URL, "no file: URL", "file:/path/of/the/token", &hint);
        return;
    };
    settings.files.insert(path.clone());
    if let Err(what) = properties_file::bytes(&path, FILE_BYTES_MAX) {
        let told = format!("{}: {what}", path.display());
        let hint = "what the worker sees at this place, the agent must see there, too";
        settings.wrong(TOKEN_URL, &told, "a file with the token", hint);
    }
    out.token_file = Some((path, found.source));
}

/// The path of `file:/path`, `file:///path` or `file://localhost/path`.
fn path_of(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("file:")?;
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
    };
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Options of an unsecured login, for development: topics and polls make such a token
/// themselves, from properties that librdkafka has for it.
fn unsecured(settings: &mut Settings<'_>, login: &Login, source: &str, out: &mut Translated) {
    let options = &login.options;
    let get = |name: &str| options.get(name).map(Secret::expose);
    let principal_claim = get("unsecuredLoginPrincipalClaimName").unwrap_or("sub");
    let scope_claim = get("unsecuredLoginScopeClaimName").unwrap_or("scope");
    let of_principal = format!("unsecuredLoginStringClaim_{principal_claim}");
    let of_scope = format!("unsecuredLoginListClaim_{scope_claim}");
    let Some(principal) = get(&of_principal) else {
        let told = "a login module without a token";
        let expected = "unsecuredLoginStringClaim_sub=\"…\", or a login handler that reads a file";
        settings.wrong(JAAS, told, expected, TOKEN_INSTEAD);
        return;
    };
    let mut config = vec![
        ("principalClaimName".to_owned(), principal_claim.to_owned()),
        ("principal".to_owned(), principal.to_owned()),
    ];
    for (name, value) in options {
        let value = value.expose();
        match name.as_str() {
            "unsecuredLoginPrincipalClaimName" => {}
            "unsecuredLoginScopeClaimName" => {
                config.push(("scopeClaimName".to_owned(), value.to_owned()));
            }
            "unsecuredLoginLifetimeSeconds" => {
                // Java reads a long, and dies of anything else.
                if !value.parse::<i64>().is_ok_and(|seconds| seconds > 0) {
                    let told = "an unsecuredLoginLifetimeSeconds that is no whole number above 0";
                    settings.wrong(JAAS, told, "whole seconds, as Java takes them", "");
                    return;
                }
                config.push(("lifeSeconds".to_owned(), value.to_owned()));
            }
            name if *name == of_principal => {}
            // The first letter of a list parts its items.
            name if *name == of_scope => {
                let mut letters = value.chars();
                let parting = letters.next().unwrap_or(',');
                let items = letters.as_str().split(parting).collect::<Vec<_>>();
                config.push(("scope".to_owned(), items.join(",")));
            }
            other => match extension(other) {
                Some(extension) => {
                    config.push((format!("extension_{extension}"), value.to_owned()));
                }
                None => {
                    let told = "an option that librdkafka's tokens do not have";
                    let expected = "a principal, a scope, a lifetime, extensions";
                    settings.wrong(JAAS, told, expected, TOKEN_INSTEAD);
                    return;
                }
            },
        }
    }
    let is_plain = |text: &str| !text.is_empty() && !text.contains([' ', '"', '=']);
    if !config
        .iter()
        .all(|(name, value)| is_plain(name) && is_plain(value))
    {
        let told = "a value with a blank or a sign in it, or an empty one";
        settings.wrong(JAAS, told, "letters that need no quotes", TOKEN_INSTEAD);
        return;
    }
    let pairs: BTreeMap<String, String> = config.into_iter().collect();
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    out.set("enable.sasl.oauthbearer.unsecure.jwt", "true", source);
    out.set("sasl.oauthbearer.config", pairs.join(" "), source);
}

fn extension(option: &str) -> Option<&str> {
    option.strip_prefix("unsecuredLoginExtension_")
}
