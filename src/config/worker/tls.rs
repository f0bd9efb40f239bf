//! TLS: whom to trust, who the agent is, and what is spoken.

use std::path::Path;

use openssl::ssl::cipher_name;

use super::properties_file;
use super::settings::{Found, Lookup, Settings};
use super::stores::{self, Identity, Kind, STORE_BYTES_MAX, StoreError};
use super::translate::{Over, Translated};

/// Properties that say whom to trust.
pub(super) const TRUST: [&str; 2] = ["ssl.ca.location", "ssl.ca.pem"];

/// Properties that say who the agent is.
const IDENTITY: [&str; 5] = [
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.key.location",
    "ssl.key.pem",
    "ssl.keystore.location",
];

/// What `ssl.engine.factory.class` is where nobody sets it.
pub(super) const ENGINE_DEFAULT: &str =
    "org.apache.kafka.common.security.ssl.DefaultSslEngineFactory";

const MOUNT: &str = "what the worker sees at this place, the agent must see there, too";

/// Translates all of it.
pub(super) fn translate(settings: &mut Settings<'_>, over: Over<'_>, out: &mut Translated) {
    spoken(settings, over, out);
    if !over.has_any(&TRUST) {
        trust(settings, out);
    }
    if !over.has_any(&IDENTITY) {
        identity(settings, out);
    }
}

fn spoken(settings: &mut Settings<'_>, over: Over<'_>, out: &mut Translated) {
    const HOST: &str = "ssl.endpoint.identification.algorithm";
    if let (false, Lookup::Found(found)) = (over.has_any(&[HOST]), settings.look(HOST)) {
        match found.text().to_lowercase().as_str() {
            "" => out.set(HOST, "none", &found.source),
            "https" => out.set(HOST, "https", &found.source),
            _ => settings.wrong(HOST, "another algorithm", "https, or nothing for none", ""),
        }
    }
    // What is spoken is settled with the broker; OpenSSL takes part from TLS 1.2 on.
    for name in ["ssl.enabled.protocols", "ssl.protocol"] {
        let Some(found) = settings.text(name) else {
            continue;
        };
        let known = ["TLSv1.2", "TLSv1.3", "TLS"];
        let spoken: Vec<&str> = found.text().split(',').map(str::trim).collect();
        if !spoken.iter().any(|protocol| known.contains(protocol)) {
            let hint = "the agent speaks no older TLS";
            settings.wrong(name, "neither of these", "TLSv1.2 or TLSv1.3", hint);
        } else if name == "ssl.enabled.protocols" {
            // One alone cannot be demanded: librdkafka has no property for it.
            let told = match (spoken.contains(&"TLSv1.2"), spoken.contains(&"TLSv1.3")) {
                (false, true) => "TLSv1.3 alone; the agent takes TLSv1.2, too",
                (true, false) => "TLSv1.2 alone; the agent takes TLSv1.3, too",
                _ => continue,
            };
            warn(settings, name, &found, told);
        }
    }
    const SUITES: &str = "ssl.cipher.suites";
    if let (false, Some(found)) = (over.has_any(&[SUITES]), settings.text(SUITES)) {
        ciphers(&found, settings, out);
    }
}

/// What the worker would not do, and the agent does where the broker asks for it.
fn warn(settings: &mut Settings<'_>, name: &str, found: &Found, told: &str) {
    let source = &found.source;
    settings.warnings.push(format!(
        "{source}: {name} says {told} where the broker asks for it"
    ));
}

/// Names of cipher suites as OpenSSL writes them. Those of TLS 1.3 have no property: all
/// of them are offered, and the broker chooses.
fn ciphers(found: &Found, settings: &mut Settings<'_>, out: &mut Translated) {
    const NAME: &str = "ssl.cipher.suites";
    openssl::init();
    let mut names = Vec::new();
    for suite in found.text().split(',').map(str::trim) {
        // A name with a NUL cannot become a C string.
        let name = if suite.contains('\0') {
            "(NONE)"
        } else {
            cipher_name(suite)
        };
        let is_newest = ["TLS_AES_", "TLS_CHACHA20_"]
            .iter()
            .any(|prefix| suite.starts_with(prefix));
        if name == "(NONE)" && suite != "TLS_EMPTY_RENEGOTIATION_INFO_SCSV" {
            let hint = "set kafka.properties.ssl.cipher.suites, in OpenSSL's spelling";
            settings.wrong(
                NAME,
                "a suite that OpenSSL does not have",
                "suites it has",
                hint,
            );
            return;
        }
        if !is_newest && name != "(NONE)" {
            names.push(name);
        }
    }
    if names.is_empty() {
        let told = "none of TLSv1.2; the agent takes it, with suites of its own choice";
        warn(settings, NAME, found, told);
    } else {
        out.set(NAME, names.join(":"), &found.source);
    }
}

fn trust(settings: &mut Settings<'_>, out: &mut Translated) {
    const INLINE: &str = "ssl.truststore.certificates";
    const LOCATION: &str = "ssl.truststore.location";
    let inline = settings.look(INLINE);
    let location = settings.look(LOCATION);
    let password = settings.look("ssl.truststore.password");
    match (inline, location) {
        (Lookup::Broken, _) | (_, Lookup::Broken) => {}
        (Lookup::Found(found), Lookup::Absent) if !found.text().is_empty() => {
            let read = stores::certificates(found.text());
            match read.and_then(|all| stores::to_pem(&all)) {
                Ok(pem) => out.set("ssl.ca.pem", pem, &found.source),
                Err(error) => store_wrong(settings, INLINE, "", error, "ssl.ca.location"),
            }
        }
        (Lookup::Found(found), Lookup::Found(other))
            if !found.text().is_empty() && !other.text().is_empty() =>
        {
            let hint = "the worker takes one of them only";
            settings.wrong(INLINE, "certificates and a location", "one of them", hint);
        }
        (_, Lookup::Found(found)) if !found.text().is_empty() => {
            let Some(bytes) = read_store(settings, LOCATION, &found) else {
                return;
            };
            let Some(password) = password_of(password) else {
                return;
            };
            trust_store(settings, &found, &bytes, &password, out);
        }
        // A worker trusts what came with its JVM; here it is what came with the system.
        _ => out.set("ssl.ca.location", "probe", "no trust store"),
    }
}

fn trust_store(
    settings: &mut Settings<'_>,
    found: &Found,
    bytes: &[u8],
    password: &str,
    out: &mut Translated,
) {
    let read = stores::trusted(bytes, password);
    let pem = read.and_then(|all| Ok((stores::to_pem(&all)?, all.len())));
    match pem {
        Ok((pem, count)) => {
            if is_plain_pem(bytes, count) {
                out.set("ssl.ca.location", found.text(), &found.source);
            } else {
                out.set("ssl.ca.pem", pem, &found.source);
            }
        }
        Err(error) => store_wrong(
            settings,
            "ssl.truststore.location",
            found.text(),
            error,
            "ssl.ca.location",
        ),
    }
}

/// Whether OpenSSL reads as much of a file as we do.
fn is_plain_pem(bytes: &[u8], count: usize) -> bool {
    let is_pem = stores::kind(bytes) == Ok(Kind::Pem);
    is_pem && openssl::x509::X509::stack_from_pem(bytes).is_ok_and(|all| all.len() == count)
}

fn identity(settings: &mut Settings<'_>, out: &mut Translated) {
    const CHAIN: &str = "ssl.keystore.certificate.chain";
    const KEY: &str = "ssl.keystore.key";
    const LOCATION: &str = "ssl.keystore.location";
    let lookups = [
        CHAIN,
        KEY,
        LOCATION,
        "ssl.keystore.password",
        "ssl.key.password",
    ];
    let [chain, key, location, password, key_password] = lookups.map(|name| settings.look(name));
    if [&chain, &key, &location].contains(&&Lookup::Broken) {
        return;
    }
    let given = |lookup: Lookup| lookup.found().filter(|found| !found.text().is_empty());
    let (chain, key, location) = (given(chain), given(key), given(location));
    if chain.is_none() && key.is_none() && location.is_none() {
        return;
    }
    // Where a password cannot be known, that is told already.
    let (Some(password), Some(key_password)) = (password_of(password), password_of(key_password))
    else {
        return;
    };
    let key_password = (!key_password.is_empty()).then_some(key_password.as_str());
    let (read, name, found) = match (chain, key, location) {
        (Some(chain), Some(key), None) => {
            let read = stores::identity_of(chain.text(), key.text(), key_password);
            let name = if matches!(read, Err(StoreError::NoKey | StoreError::KeyPassword)) {
                KEY
            } else {
                CHAIN
            };
            (read, name, chain)
        }
        (None, None, Some(found)) => {
            let Some(bytes) = read_store(settings, LOCATION, &found) else {
                return;
            };
            let read = stores::identity(&bytes, &password, key_password);
            (read, LOCATION, found)
        }
        (Some(_), Some(_), Some(_)) => {
            let hint = "the worker takes one of them only";
            settings.wrong(LOCATION, "a key and a location", "one of them", hint);
            return;
        }
        (Some(_), None, _) => {
            settings.wrong(CHAIN, "a chain without a key", "ssl.keystore.key, too", "");
            return;
        }
        (None, _, _) => {
            let expected = "ssl.keystore.certificate.chain, too";
            settings.wrong(KEY, "a key without its chain", expected, "");
            return;
        }
    };
    let place = if name == LOCATION { found.text() } else { "" };
    match read.and_then(|identity| texts(&identity)) {
        Ok((certificates, key)) => {
            out.set("ssl.certificate.pem", certificates, &found.source);
            out.set("ssl.key.pem", key, &found.source);
        }
        Err(error) => store_wrong(
            settings,
            name,
            place,
            error,
            "ssl.certificate.location and ssl.key.location",
        ),
    }
}

fn texts(identity: &Identity) -> Result<(String, String), StoreError> {
    let certificates = stores::to_pem(&identity.certificates)?;
    Ok((certificates, stores::key_to_pem(&identity.key)?))
}

/// A password; empty where there is none, `None` where it cannot be known.
fn password_of(lookup: Lookup) -> Option<String> {
    match lookup {
        Lookup::Absent => Some(String::new()),
        Lookup::Broken => None,
        Lookup::Found(found) => Some(found.text().to_owned()),
    }
}

fn read_store(settings: &mut Settings<'_>, name: &str, found: &Found) -> Option<Vec<u8>> {
    let path = Path::new(found.text());
    settings.files.insert(path.to_owned());
    match properties_file::bytes(path, STORE_BYTES_MAX) {
        Ok(bytes) => Some(bytes),
        Err(what) => {
            let told = format!("{}: {what}", path.display());
            settings.wrong(name, &told, "a store that can be read", MOUNT);
            None
        }
    }
}

/// Tells what is wrong with a store, and how to get around it.
fn store_wrong(
    settings: &mut Settings<'_>,
    name: &str,
    place: &str,
    error: StoreError,
    instead: &str,
) {
    let found = if place.is_empty() {
        error.to_string()
    } else {
        format!("{place}: {error}")
    };
    let converted = |kind: &str| {
        format!(
            "keytool -importkeystore -srckeystore {place}{kind} -destkeystore NEW.p12 -deststoretype PKCS12 \
             with a JDK from 16 on, and name that; or set {instead} in kafka.properties"
        )
    };
    let hint = match error {
        StoreError::Jks => converted(" -srcstoretype JKS"),
        StoreError::Jceks => converted(" -srcstoretype JCEKS"),
        StoreError::OldCipher => converted(""),
        StoreError::Password => "set the password that goes with it".to_owned(),
        StoreError::KeyPassword => {
            "set ssl.key.password; a key is PKCS8, or what OpenSSL reads".to_owned()
        }
        _ => format!("set {instead} in kafka.properties"),
    };
    settings.wrong(name, &found, "PEM or PKCS12", &hint);
}
