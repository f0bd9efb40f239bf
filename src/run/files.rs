//! Whether files have changed: configuration, certificates, tokens, passwords. What
//! counts is what they hold; times and sizes only save the reading. Paths are followed
//! anew each time, so that the swapped links of a Kubernetes volume are seen.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::hash::Hash;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use siphasher::sip128::{Hasher128, SipHasher13};

/// Bytes of a file that are looked at; beyond that its size is. Certificates and
/// passwords are pages.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Entries of a folder that are looked at.
const FOLDER_ENTRIES_MAX: usize = 10_000;
/// Files of a folder that are read, first by name; of those behind only the names count.
const FOLDER_FILES_MAX: usize = 256;

/// Watches some files, or folders of files.
#[derive(Debug, Default)]
pub struct Watch {
    seen: BTreeMap<PathBuf, Seen>,
}

/// What was seen of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    /// There is nothing, or a link to nothing.
    Missing,
    /// There is something that may not be read.
    Unreadable,
    /// A file, or a folder of them.
    There {
        stamps: Vec<Stamp>,
        /// A hash of the names, of those also that are not read.
        names: u128,
        content: u128,
    },
}

/// What tells without reading that a file is still the same.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
    modified_ns: (i64, i64),
    /// Moves also where a copy keeps the time of its original.
    changed_ns: (i64, i64),
}

// === impl Watch ===

impl Watch {
    /// Watches from what there is now.
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut watch = Self::default();
        watch.follow(paths);
        watch
    }

    /// Watches these paths from now on, and no others; what was seen of those that stay
    /// is kept. To be called before they are read, so that no change falls in between.
    pub fn follow(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let mut before = std::mem::take(&mut self.seen);
        for path in paths {
            let seen = before.remove(&path).unwrap_or_else(|| look(&path, None));
            self.seen.insert(path, seen);
        }
    }

    /// Whether something else is there than at the last call. It reads files, so not on
    /// a thread that others wait for.
    pub fn poll(&mut self) -> bool {
        let mut any = false;
        for (path, seen) in &mut self.seen {
            let now = look(path, Some(seen));
            any |= differs(seen, &now);
            *seen = now;
        }
        any
    }
}

/// Whether the content is another. A file that was only touched has not changed.
fn differs(before: &Seen, now: &Seen) -> bool {
    match (before, now) {
        (
            Seen::There { names, content, .. },
            Seen::There {
                names: other_names,
                content: other,
                ..
            },
        ) => names != other_names || content != other,
        _ => before != now,
    }
}

/// Looks at a path; reads only if it is not plainly what was seen `before`.
fn look(path: &Path, before: Option<&Seen>) -> Seen {
    let looked = stamps(path).and_then(|(stamps, names)| {
        let content = match before {
            Some(Seen::There {
                stamps: known,
                content,
                ..
            }) if *known == stamps => *content,
            _ => content(&stamps)?,
        };
        Ok(Seen::There {
            stamps,
            names,
            content,
        })
    });
    looked.unwrap_or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Seen::Missing,
        _ => Seen::Unreadable,
    })
}

/// The stamp of a file, or of the first files in a folder, and a hash of all their names.
fn stamps(path: &Path) -> io::Result<(Vec<Stamp>, u128)> {
    let metadata = fs::metadata(path)?;
    let mut hasher = SipHasher13::new();
    if !metadata.is_dir() && !metadata.is_file() {
        // A pipe or a device is not opened: it may have no end, or never begin.
        return Err(io::ErrorKind::InvalidInput.into());
    }
    if metadata.is_file() {
        let stamps = vec![Stamp::of(path, &metadata)];
        return Ok((stamps, hasher.finish128().as_u128()));
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)?.take(FOLDER_ENTRIES_MAX) {
        let entry = entry?.path();
        let name = entry.file_name().unwrap_or_default().as_bytes();
        // Kubernetes keeps the files themselves in ..data, and links to them beside it.
        if !name.starts_with(b"..") {
            entries.push(entry);
        }
    }
    // A folder lists its entries in an order of its own, which may change.
    entries.sort_unstable();
    let mut stamps = Vec::new();
    for entry in entries {
        match fs::metadata(&entry) {
            Ok(metadata) if metadata.is_file() => {
                entry.hash(&mut hasher);
                if stamps.len() < FOLDER_FILES_MAX {
                    stamps.push(Stamp::of(&entry, &metadata));
                }
            }
            // Folders in a folder, and what vanished meanwhile.
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok((stamps, hasher.finish128().as_u128()))
}

/// A hash of what the files hold: a password is not kept for being watched.
fn content(stamps: &[Stamp]) -> io::Result<u128> {
    let mut hasher = SipHasher13::new();
    let mut bytes = Vec::new();
    for stamp in stamps {
        bytes.clear();
        File::open(&stamp.path)?
            .take(FILE_BYTES_MAX)
            .read_to_end(&mut bytes)?;
        stamp.path.hash(&mut hasher);
        stamp.bytes.hash(&mut hasher);
        bytes.hash(&mut hasher);
    }
    bytes.fill(0);
    Ok(hasher.finish128().as_u128())
}

// === impl Stamp ===

impl Stamp {
    fn of(path: &Path, metadata: &Metadata) -> Self {
        Self {
            path: path.to_owned(),
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified_ns: (metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests;
