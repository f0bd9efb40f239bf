//! The web configuration while the agent runs: reads it with the files it names, and
//! takes up changes for new connections. What does not hold is told once and not taken.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::config::file;
use crate::config::web::{Pem, WebConfig, WebTls};
use crate::config::{Mistake, Mistakes, Probes};
use crate::run::files::Watch;
use crate::run::reloads::Reloads;
use crate::run::shutdown::Ending;
use crate::run::{clock, expiry};
use crate::show::http::{Checks, Guard, Material, Tls, TlsError};
use crate::show::view::CertificateUse;

/// How often the files are looked at. A renewed certificate has days.
pub const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Such files are pages; more is a mistaken path.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A web configuration in use.
#[derive(Debug)]
pub struct Web {
    path: PathBuf,
    probes: Probes,
    checks: Arc<Checks>,
    files: Watch,
    guard: Arc<Guard>,
}

// === impl Web ===

impl Web {
    /// Reads the file and those it names.
    ///
    /// # Errors
    /// All mistakes in them.
    pub fn load(path: &Path, probes: Probes) -> Result<Self, Mistakes> {
        let checks = Arc::new(Checks::new());
        let mut files = Watch::new([path.to_owned()]);
        let guard = guard(path, probes, &checks, &mut files)?;
        Ok(Self {
            path: path.to_owned(),
            probes,
            checks,
            files,
            guard: Arc::new(guard),
        })
    }

    /// What stands before the endpoints.
    #[must_use]
    pub fn guard(&self) -> Arc<Guard> {
        Arc::clone(&self.guard)
    }

    /// What is to be said of a certificate that is over already.
    #[must_use]
    pub fn expired(&self) -> Option<String> {
        let at = self.guard.expires_seconds();
        expiry::told(CertificateUse::Server, at, clock::now())
    }

    /// What stands before them from now on, or why a change was not taken; nothing where
    /// nothing changed.
    pub fn reload(&mut self) -> Option<Result<Arc<Guard>, Mistakes>> {
        if !self.files.poll() {
            return None;
        }
        let loaded = guard(&self.path, self.probes, &self.checks, &mut self.files);
        let kept = loaded.and_then(|new| match lost(&self.guard, &new) {
            Some(lost) => Err(Mistakes(vec![self.mistaken(Mistake {
                hint: Some("the agent has to be restarted to serve without".to_owned()),
                ..mistake(lost, "nothing", "it to stay")
            })])),
            None => Ok(Arc::new(new)),
        });
        if let Ok(guard) = &kept {
            self.guard = Arc::clone(guard);
        }
        Some(kept)
    }

    fn mistaken(&self, mistake: Mistake) -> Mistake {
        named(&self.path, mistake)
    }
}

/// What protects now and would not any more: a file that is half written, or emptied by
/// accident, must not open the port.
fn lost(now: &Guard, new: &Guard) -> Option<&'static str> {
    match () {
        () if now.has_tls() && !new.has_tls() => Some("tls_server_config"),
        () if now.has_users() && !new.has_users() => Some("basic_auth_users"),
        () => None,
    }
}

/// Takes up changes until the end.
pub async fn follow(
    mut web: Web,
    every: Duration,
    guards: watch::Sender<Arc<Guard>>,
    reloads: Reloads,
    ending: Ending,
) {
    let mut tick = tokio::time::interval(every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ending = ending.wait();
    tokio::pin!(ending);
    reloads.expires(CertificateUse::Server, web.guard.expires_seconds());
    loop {
        tokio::select! {
            () = &mut ending => return,
            _ = tick.tick() => {}
        }
        // A file system that hangs must not hold up what else runs here.
        let looked = tokio::task::spawn_blocking(move || {
            let outcome = web.reload();
            (web, outcome)
        });
        let outcome = match looked.await {
            Ok((back, outcome)) => {
                web = back;
                outcome
            }
            Err(error) => {
                tracing::error!(%error, "web configuration no longer watched");
                return;
            }
        };
        let file = web.path.display();
        match outcome {
            None => {}
            Some(Ok(guard)) => {
                tracing::info!(%file, "changed web configuration in use");
                if let Some(said) = web.expired() {
                    tracing::warn!(%file, "{said}");
                }
                reloads.expires(CertificateUse::Server, guard.expires_seconds());
                guards.send_replace(guard);
                reloads.took();
            }
            Some(Err(mistakes)) => {
                tracing::warn!(%file, %mistakes, "changed web configuration not taken, the one before stays in use");
                reloads.refused();
            }
        }
    }
}

/// Reads everything; `files` follows what was read, also where it does not hold.
fn guard(
    path: &Path,
    probes: Probes,
    checks: &Arc<Checks>,
    files: &mut Watch,
) -> Result<Guard, Mistakes> {
    let told = |mistakes: Vec<Mistake>| {
        let named = mistakes.into_iter().map(|mistake| named(path, mistake));
        Mistakes(named.collect())
    };
    // The file itself is named by the configuration.
    let unread =
        |found: String| Mistakes(vec![mistake("http.web_config_file", &found, "a YAML file")]);
    let bytes = read(path).map_err(unread)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| told(vec![mistake("", "what is no UTF-8", "a YAML file")]))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (config, mut mistakes) = WebConfig::read(&text, folder);
    files.follow([path.to_owned()].into_iter().chain(config.files()));
    // What is wrong in the files is told with what is wrong in this one.
    let tls = match config.tls.as_ref().map(of_tls) {
        Some(Err(further)) => {
            let is_told = |at: &str| mistakes.iter().any(|mistake| mistake.path.starts_with(at));
            let new = further.into_iter().filter(|each| !is_told(&each.path));
            let new: Vec<_> = new.collect();
            mistakes.extend(new);
            None
        }
        Some(Ok(tls)) => Some(tls),
        None => None,
    };
    if !mistakes.is_empty() {
        return Err(told(mistakes));
    }
    let checks = Arc::clone(checks);
    Ok(Guard::new(
        tls,
        config.users,
        checks,
        probes,
        &config.headers,
    ))
}

fn of_tls(config: &WebTls) -> Result<Tls, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let mut get = |key: &str, place: &Pem| {
        content(place).unwrap_or_else(|found| {
            mistakes.push(mistake(&at(config, key), &found, "a PEM file"));
            Vec::new()
        })
    };
    let cert = get("cert", &config.cert);
    let mut key = get("key", &config.key);
    let client_ca = config.client_ca.as_ref().map(|ca| get("client_ca", ca));
    let tls = Tls::new(
        config,
        Material {
            cert: &cert,
            key: &key,
            client_ca: client_ca.as_deref(),
        },
    );
    key.fill(0);
    match tls {
        Ok(tls) if mistakes.is_empty() => Ok(tls),
        Ok(_) => Err(mistakes),
        Err(errors) => {
            // A file that could not be read has no PEM either; that is told once.
            for error in errors {
                let at = error
                    .key()
                    .map_or_else(|| "tls_server_config".to_owned(), |key| at(config, key));
                if !mistakes.iter().any(|told| told.path == at) {
                    mistakes.push(mistake(&at, &error.to_string(), expected(error)));
                }
            }
            Err(mistakes)
        }
    }
}

fn expected(error: TlsError) -> &'static str {
    match error {
        TlsError::Cert | TlsError::CertRefused(_) => "the server's certificate in PEM",
        TlsError::Key | TlsError::KeyEncrypted => "a private key in PEM, not encrypted",
        TlsError::KeyOther => "the key of the certificate",
        TlsError::ClientCa => "certificates in PEM",
        TlsError::Settings(_) => "settings that go together",
    }
}

/// The full name of the key under which something in PEM was given.
fn at(config: &WebTls, key: &str) -> String {
    let place = match key {
        "cert" => Some(&config.cert),
        "key" => Some(&config.key),
        _ => config.client_ca.as_ref(),
    };
    match place {
        Some(Pem::Text(_)) => format!("tls_server_config.{key}"),
        _ => format!("tls_server_config.{key}_file"),
    }
}

fn content(place: &Pem) -> Result<Vec<u8>, String> {
    match place {
        Pem::File(path) => read(path),
        Pem::Text(text) => Ok(text.expose().as_bytes().to_vec()),
    }
}

/// What a file holds, or what was found instead.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    file::bytes(path, FILE_BYTES_MAX).map_err(|unread| format!("{}: {unread}", path.display()))
}

fn mistake(path: &str, found: &str, expected: &str) -> Mistake {
    Mistake {
        path: path.to_owned(),
        found: found.to_owned(),
        expected: expected.to_owned(),
        hint: None,
        origin: None,
    }
}

/// Says in which file it is.
fn named(file: &Path, mistake: Mistake) -> Mistake {
    Mistake {
        origin: Some(file.display().to_string()),
        ..mistake
    }
}

#[cfg(test)]
mod tests;
