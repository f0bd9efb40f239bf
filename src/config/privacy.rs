//! The key that names are masked with, from its file.

use std::path::Path;

use super::file;
use super::mistake::{Mistake, quoted};
use super::secret::Secret;
use super::typed::PrivacyConfig;

/// 128 bits in hex are 32; a shorter key is a word that can be guessed.
const KEY_BYTES_MIN: usize = 16;

/// Longer is a mistaken path.
const KEY_BYTES_MAX: u64 = 4096;

const PATH: &str = "privacy.mask_key_file";

// === impl PrivacyConfig ===

impl PrivacyConfig {
    /// The key, where a file is named.
    ///
    /// # Errors
    /// A file that cannot be read, or that holds no key.
    pub fn mask_key(&self) -> Result<Option<Secret>, Mistake> {
        self.mask_key_file.as_deref().map(key).transpose()
    }
}

fn key(path: &str) -> Result<Secret, Mistake> {
    const HINT: &str = "openssl rand -hex 32 makes one; give the same file to all sidecars";
    let wrong = |what: &str| {
        let expected = format!("a file with a key of at least {KEY_BYTES_MIN} characters");
        Mistake::new(PATH, format!("{}: {what}", quoted(path)), expected).hint(HINT)
    };
    let bytes =
        file::bytes(Path::new(path), KEY_BYTES_MAX).map_err(|unread| wrong(&unread.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("no text"))?;
    // Editors and `echo` end the line; the key is the same without.
    let text = text.trim_end_matches(['\r', '\n']);
    match text.len() {
        0 => Err(wrong("empty")),
        len if len < KEY_BYTES_MIN => Err(wrong(&format!("{len} characters"))),
        _ => Ok(Secret::new(text)),
    }
}

#[cfg(test)]
mod tests;
