//! Java's `.properties` format, as `java.util.Properties` reads it: every entry with the
//! line that it begins in, and every file that is none told as a mistake.

use std::path::Path;

use crate::config::file;
use crate::config::mistake::Mistake;
use crate::config::secret::Secret;

/// A worker's file is pages; more is a mistaken path.
pub(super) const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A name with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its value; it may be a password.
    pub value: Secret,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// Whether it goes on in further lines.
    pub is_continued: bool,
}

/// An escape `\u` without four hexadecimal digits: Java reads nothing of such a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: \\u without four hexadecimal digits")]
pub struct Malformed {
    /// Where, from 1.
    pub line: usize,
}

/// How the bytes of a file become letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As `Properties.load(InputStream)`: a byte is a letter.
    Latin1,
    /// As `FileConfigProvider` opens its files.
    Utf8,
}

/// Reads a file, at most [`FILE_BYTES_MAX`] of it; `path` is what messages call it.
pub(super) fn read(file: &Path, path: &str, encoding: Encoding) -> Result<Vec<Entry>, Mistake> {
    let wrong = |found: &str| {
        let found = format!("{}: {found}", file.display());
        Mistake::new(path, found, "a Java properties file")
    };
    let bytes = bytes(file, FILE_BYTES_MAX).map_err(|found| wrong(&found))?;
    if bytes.contains(&0) {
        return Err(wrong("bytes that are no text"));
    }
    let text = match encoding {
        Encoding::Latin1 => bytes.iter().map(|byte| char::from(*byte)).collect(),
        Encoding::Utf8 => String::from_utf8(bytes).map_err(|_| wrong("bytes that are no UTF-8"))?,
    };
    parse(&text).map_err(|malformed| wrong(&malformed.to_string()))
}

/// The bytes of a regular file, or why there are none.
pub(super) fn bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    file::bytes(path, bytes_max).map_err(|unread| unread.to_string())
}

/// Whether a small file can be read, or why not.
pub(in crate::config) fn readable(file: &Path) -> Result<(), String> {
    bytes(file, FILE_BYTES_MAX).map(|_| ())
}

/// The entries in order, the later of two equal names after the earlier.
///
/// # Errors
///
/// The first malformed escape.
pub fn parse(text: &str) -> Result<Vec<Entry>, Malformed> {
    let mut lines = Lines {
        letters: text.chars().peekable(),
        line: 1,
        has_joined: false,
    };
    let mut entries = Vec::new();
    while let Some((line, letters)) = lines.logical() {
        let is_continued = lines.has_joined;
        let (name, value) = split(&letters);
        let malformed = Malformed { line };
        entries.push(Entry {
            name: unescaped(name).ok_or(malformed)?,
            value: Secret::new(unescaped(value).ok_or(malformed)?),
            line,
            is_continued,
        });
    }
    Ok(entries)
}

/// Text as logical lines: without comments and blank lines, continued lines joined.
struct Lines<'a> {
    letters: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    /// Whether the last logical line has letters of several lines.
    has_joined: bool,
}

impl Lines<'_> {
    /// The next letter. A carriage return with its line feed comes as `\r`, any other end
    /// of a line as `\n`.
    fn next(&mut self) -> Option<char> {
        let letter = self.letters.next()?;
        if !is_end(letter) {
            return Some(letter);
        }
        self.line += 1;
        let has_feed = letter == '\r' && self.letters.next_if_eq(&'\n').is_some();
        Some(if has_feed { '\r' } else { '\n' })
    }

    /// The next logical line and where it begins.
    fn logical(&mut self) -> Option<(usize, Vec<char>)> {
        let mut letters = Vec::new();
        let mut began = self.line;
        // Blanks before a natural line are not part of it, in a continued one neither.
        let mut at_start = true;
        let mut is_continued = false;
        let mut is_escaped = false;
        self.has_joined = false;
        loop {
            let here = self.line;
            let Some(letter) = self.next() else {
                // A backslash that ends the file continues nothing.
                if is_escaped {
                    letters.pop();
                    return Some((began, letters));
                }
                return (!letters.is_empty()).then_some((began, letters));
            };
            if at_start {
                if is_blank(letter) || (is_end(letter) && !is_continued) {
                    continue;
                }
                at_start = false;
                is_continued = false;
            }
            if letters.is_empty() {
                if matches!(letter, '#' | '!') {
                    while self.next().is_some_and(|letter| !is_end(letter)) {}
                    at_start = true;
                    continue;
                }
                began = here;
            }
            if !is_end(letter) {
                self.has_joined |= here != began;
                letters.push(letter);
                is_escaped = letter == '\\' && !is_escaped;
            } else if letters.is_empty() {
                at_start = true;
            } else if is_escaped {
                letters.pop();
                at_start = true;
                is_continued = true;
                is_escaped = false;
                // Java's reader sees the end of the file here only after a single letter.
                if letter == '\n' && self.letters.peek().is_none() {
                    return Some((began, letters));
                }
            } else {
                return Some((began, letters));
            }
        }
    }
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\u{c}')
}

fn is_end(letter: char) -> bool {
    matches!(letter, '\n' | '\r')
}

/// Name and value, escapes still in them: the first `=`, `:` or blank that is not escaped
/// parts them, with blanks and one sign around it.
fn split(line: &[char]) -> (&[char], &[char]) {
    let mut is_escaped = false;
    let is_parting = |letter: &char| {
        let parts = !is_escaped && (is_blank(*letter) || matches!(letter, '=' | ':'));
        is_escaped = *letter == '\\' && !is_escaped;
        parts
    };
    let name_len = line.iter().position(is_parting).unwrap_or(line.len());
    let (name, rest) = line.split_at(name_len);
    let rest = without_blanks(rest);
    let rest = match rest.split_first() {
        Some(('=' | ':', rest)) => without_blanks(rest),
        _ => rest,
    };
    (name, rest)
}

fn without_blanks(letters: &[char]) -> &[char] {
    let blanks = letters.iter().take_while(|letter| is_blank(**letter));
    letters.split_at(blanks.count()).1
}

/// The text that escapes stand for. Java's letters are UTF-16: two escapes may make one
/// letter; half a letter becomes the sign for an unknown one.
fn unescaped(letters: &[char]) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(letters.len());
    let mut letters = letters.iter().copied();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            '\\' => match letters.next()? {
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                'f' => '\u{c}',
                'u' => {
                    let mut unit = 0u16;
                    for _ in 0..4 {
                        let digit = letters.next()?.to_digit(16)?;
                        unit = (unit << 4) | u16::try_from(digit).ok()?;
                    }
                    units.push(unit);
                    continue;
                }
                other => other,
            },
            plain => plain,
        };
        units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
    }
    Some(String::from_utf16_lossy(&units))
}

#[cfg(test)]
mod tests;
