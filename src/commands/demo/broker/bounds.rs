//! Checks a request's lengths against the bytes that are really there, before it is decoded.
//!
//! `kafka-protocol` allocates an array by the length it is told, so a request of 30 bytes could ask for gigabytes.
//! Each API served here has its shape in `shapes`; the walk below follows it and refuses what does not fit.

use super::RequestError;

/// Items of one array in a request.
pub(super) const ITEMS_MAX: usize = 10_000;

/// One field of a request, from the first to the last version that has it.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) from: i16,
    pub(super) to: i16,
    pub(super) kind: Kind,
}

/// How a field lies on the wire.
#[derive(Debug)]
pub(super) enum Kind {
    /// A number, boolean or uuid of this many bytes.
    Fixed(usize),
    /// A string, null or not: length of two bytes, or a varint in flexible versions (KIP-482).
    Text,
    /// Bytes, null or not: length of four bytes, or a varint in flexible versions.
    Blob,
    /// An array of plain values.
    List(&'static Kind),
    /// An array of structures.
    Rows(&'static [Field]),
}

/// Walks `body` by its shape.
///
/// # Errors
/// If a length is negative, above [`ITEMS_MAX`] or larger than what remains.
pub(super) fn check(
    shape: &[Field],
    version: i16,
    flexible: bool,
    body: &[u8],
) -> Result<usize, RequestError> {
    let mut walk = Walk {
        rest: body,
        version,
        flexible,
    };
    walk.fields(shape)?;
    Ok(walk.rest.len())
}

struct Walk<'a> {
    rest: &'a [u8],
    version: i16,
    flexible: bool,
}

impl Walk<'_> {
    fn fields(&mut self, shape: &[Field]) -> Result<(), RequestError> {
        for field in shape {
            if (field.from..=field.to).contains(&self.version) {
                self.value(&field.kind)?;
            }
        }
        if self.flexible {
            self.tagged_fields()?;
        }
        Ok(())
    }

    fn value(&mut self, kind: &Kind) -> Result<(), RequestError> {
        match kind {
            Kind::Fixed(size) => self.skip(*size),
            Kind::Text => {
                let size = if self.flexible {
                    self.compact_length()?
                } else {
                    let [a, b] = self.take()?;
                    plain_length(i16::from_be_bytes([a, b]).into())?
                };
                self.skip(size.unwrap_or(0))
            }
            Kind::Blob => {
                let size = self.length()?;
                self.skip(size.unwrap_or(0))
            }
            Kind::List(item) => self.items(|walk| walk.value(item)),
            Kind::Rows(shape) => self.items(|walk| walk.fields(shape)),
        }
    }

    fn items(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), RequestError>,
    ) -> Result<(), RequestError> {
        let count = self.length()?.unwrap_or(0);
        if count > ITEMS_MAX || count > self.rest.len() {
            return Err(RequestError::Length);
        }
        for _ in 0..count {
            item(self)?;
        }
        Ok(())
    }

    /// Tag, size and bytes of each; no tagged field of a request served here holds an array.
    fn tagged_fields(&mut self) -> Result<(), RequestError> {
        let count = self.varint()?;
        for _ in 0..count {
            self.varint()?;
            let size = usize::try_from(self.varint()?).map_err(|_| RequestError::Length)?;
            self.skip(size)?;
        }
        Ok(())
    }

    /// Length of bytes or of an array; `None` is null.
    fn length(&mut self) -> Result<Option<usize>, RequestError> {
        if self.flexible {
            self.compact_length()
        } else {
            plain_length(i32::from_be_bytes(self.take()?))
        }
    }

    fn compact_length(&mut self) -> Result<Option<usize>, RequestError> {
        match self.varint()?.checked_sub(1) {
            None => Ok(None),
            Some(size) => usize::try_from(size)
                .map(Some)
                .map_err(|_| RequestError::Length),
        }
    }

    /// An unsigned varint of at most five bytes, read as `kafka-protocol` reads it.
    fn varint(&mut self) -> Result<u32, RequestError> {
        let mut value = 0u32;
        for shift in [0u32, 7, 14, 21, 28] {
            let [byte] = self.take()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Ok(value)
    }

    fn take<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], RequestError> {
        let (taken, rest) = self
            .rest
            .split_first_chunk::<SIZE>()
            .ok_or(RequestError::Length)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn skip(&mut self, size: usize) -> Result<(), RequestError> {
        self.rest = self.rest.get(size..).ok_or(RequestError::Length)?;
        Ok(())
    }
}

/// A signed length, where -1 is null.
fn plain_length(length: i32) -> Result<Option<usize>, RequestError> {
    match length {
        -1 => Ok(None),
        length => usize::try_from(length)
            .map(Some)
            .map_err(|_| RequestError::Length),
    }
}
