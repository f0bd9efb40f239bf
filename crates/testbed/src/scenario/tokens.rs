//! A file with an unsecured OAUTHBEARER token, kept fresh as a node agent keeps the token of a
//! service account, until it is told to let it lapse.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use serde_json::json;

use crate::clock::now_ms;

/// RFC 4648, section 5.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Keeps a token in a file until dropped.
#[derive(Debug)]
pub(super) struct Tokens {
    renewing: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
    written: Arc<Mutex<Vec<String>>>,
}

impl Tokens {
    /// Writes a token of `user` now, and a new one each third of its life.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn keep(user: &str, file: &Path, life: Duration) -> anyhow::Result<Tokens> {
        let tokens = Tokens {
            renewing: Arc::new(AtomicBool::new(true)),
            ended: Arc::default(),
            written: Arc::default(),
        };
        let (user, file) = (user.to_owned(), file.to_owned());
        let written = Arc::clone(&tokens.written);
        let renew = move || write(&file, token(&user, life), &written);
        renew()?;
        let (renewing, ended) = (Arc::clone(&tokens.renewing), Arc::clone(&tokens.ended));
        thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                thread::sleep(life / 3);
                // What cannot be written is missed by who reads it.
                if renewing.load(Ordering::Relaxed) {
                    renew().ok();
                }
            }
        });
        Ok(tokens)
    }

    /// Whether new ones are written from now on.
    pub(super) fn renew(&self, on: bool) {
        self.renewing.store(on, Ordering::Relaxed);
    }

    /// The payloads of all that were written: none of them is for anybody's eyes.
    pub(super) fn written(&self) -> Vec<String> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written
            .iter()
            .filter_map(|token| token.split('.').nth(1).map(str::to_owned))
            .collect()
    }
}

impl Drop for Tokens {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

fn write(file: &Path, token: String, written: &Mutex<Vec<String>>) -> anyhow::Result<()> {
    let new: PathBuf = file.with_extension("new");
    fs::write(&new, &token).with_context(|| format!("write {}", new.display()))?;
    fs::rename(&new, file).with_context(|| format!("replace {}", file.display()))?;
    written
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(token);
    Ok(())
}

/// As the broker's unsecured validator takes it: no signature, seconds with a fraction.
fn token(user: &str, life: Duration) -> String {
    let now_s = now_ms() / 1_000;
    let life_s = i64::try_from(life.as_secs()).unwrap_or(i64::MAX);
    let claims = json!({ "sub": user, "iat": now_s, "exp": now_s.saturating_add(life_s) });
    let header = json!({ "alg": "none" });
    let [header, claims] = [header, claims].map(|part| base64url(part.to_string().as_bytes()));
    format!("{header}.{claims}.")
}

fn base64url(bytes: &[u8]) -> String {
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for letter in 0..=three.len() {
            let six = (bits >> (18 - 6 * letter)) & 63;
            text.push(char::from(LETTERS[six as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_rfc_4648() {
        for (bytes, text) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v")] {
            assert_eq!(base64url(bytes.as_bytes()), text);
        }
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
    }
}
