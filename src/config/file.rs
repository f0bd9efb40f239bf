//! A file that a person names, read whole. Only a regular one of a bounded size: a folder
//! holds nothing to read, and a pipe or a device may have no end, or never begin.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Why a file was not read. Repeats nothing of it, and not its name.
#[derive(Debug)]
pub enum Unread {
    /// What the system says.
    Io(io::Error),
    /// A folder.
    Folder,
    /// A pipe, a socket or a device.
    NotRegular,
    /// It holds more bytes than this.
    TooLarge(u64),
}

/// The bytes of a regular file of at most so many.
///
/// # Errors
/// Why there are none. What is no regular file is not opened.
pub fn bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Unread> {
    let about = fs::metadata(path).map_err(Unread::Io)?;
    if about.is_dir() {
        return Err(Unread::Folder);
    }
    if !about.is_file() {
        return Err(Unread::NotRegular);
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Unread::Io)?;
    // One byte more than is allowed tells that there is more.
    file.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(Unread::Io)?;
    if bytes.len() as u64 > bytes_max {
        return Err(Unread::TooLarge(bytes_max));
    }
    Ok(bytes)
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Folder => f.write_str("a folder"),
            Self::NotRegular => f.write_str("no regular file"),
            Self::TooLarge(max) if max % MIB == 0 => write!(f, "more than {} MiB", max / MIB),
            Self::TooLarge(max) if max % KIB == 0 => write!(f, "more than {} KiB", max / KIB),
            Self::TooLarge(max) => write!(f, "more than {max} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let told = |path: &Path, max| bytes(path, max).map_err(|unread| unread.to_string());
        assert!(
            matches!(bytes(&path, 9), Err(Unread::Io(error)) if error.kind() == io::ErrorKind::NotFound)
        );
        fs::write(&path, vec![b'x'; 1024]).unwrap();
        assert_eq!(told(&path, 1024).unwrap().len(), 1024);
        assert_eq!(told(&path, 1023), Err("more than 1023 bytes".to_owned()));
        fs::write(&path, vec![b'x'; 4097]).unwrap();
        assert_eq!(told(&path, 4096), Err("more than 4 KiB".to_owned()));
        assert_eq!(told(folder.path(), 9), Err("a folder".to_owned()));
        assert_eq!(
            told(Path::new("/dev/zero"), 9),
            Err("no regular file".to_owned())
        );
    }
}
