//! The file that the state of one group is kept in. Whatever happens while it is written,
//! the folder holds the state before or the state after, whole.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::form::BODY_BYTES_MAX;

/// Letters of the group id that a file's name holds: most file systems take 255 bytes.
const NAME_CHARS_MAX: usize = 100;

/// Names of connectors are in it: nobody else's business.
const MODE: u32 = 0o600;

/// The file of one group, and the right to write it.
#[derive(Debug)]
pub(super) struct StateFile {
    folder: PathBuf,
    path: PathBuf,
    unfinished: PathBuf,
    /// Held as long as this process lives; the system lets go of it, however that ends.
    _lock: File,
}

// === impl StateFile ===

impl StateFile {
    /// The file of a group in this folder; `None` where another process keeps it.
    pub(super) fn open(folder: &Path, group: &str) -> io::Result<Option<Self>> {
        let name = name(group);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(MODE)
            .open(folder.join(format!("{name}.lock")))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        Ok(Some(Self {
            path: folder.join(format!("{name}.state")),
            unfinished: folder.join(format!("{name}.new")),
            folder: folder.to_owned(),
            _lock: lock,
        }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is there; `None` where nothing was written yet.
    pub(super) fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let bytes_max = u64::try_from(BODY_BYTES_MAX).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        file.take(bytes_max.saturating_mul(2))
            .read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Writes another state in place of the one before.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.remove_unfinished()?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(MODE)
            .open(&self.unfinished)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        drop(file);
        if let Err(error) = written {
            // It takes the room that is lacking.
            return self.remove_unfinished().and(Err(error));
        }
        fs::rename(&self.unfinished, &self.path)?;
        self.sync_folder()
    }

    /// Nothing is restored from now on.
    pub(super) fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| self.sync_folder()),
        }
    }

    fn remove_unfinished(&self) -> io::Result<()> {
        match fs::remove_file(&self.unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// A name that is changed is on disk only when its folder is.
    fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}

/// The group id as the name of a file: different for each, and readable for most.
fn name(group: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let mut name = String::new();
    for byte in group.bytes() {
        let letter = char::from(byte);
        if is_plain(letter) {
            name.push(letter);
        } else {
            name.push_str(&format!("%{byte:02x}"));
        }
    }
    if name.len() > NAME_CHARS_MAX {
        use siphasher::sip128::{Hasher128 as _, SipHasher24};
        use std::hash::Hasher as _;
        let mut hasher = SipHasher24::new();
        hasher.write(group.as_bytes());
        let hash = hasher.finish128().as_u128();
        name.truncate(NAME_CHARS_MAX);
        name.push_str(&format!("%{hash:032x}"));
    }
    name
}

#[cfg(test)]
mod tests;
