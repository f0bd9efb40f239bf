//! A reader over untrusted bytes that cannot over-read, over-allocate or panic.
//!
//! A length is compared with what remains before it is used for anything, so an
//! input of n bytes never makes more than n bytes' worth of elements. Kafka's
//! two encodings differ only in how lengths are written (KIP-482): the cursor
//! knows which one it is in, so that one decoder reads all versions of a record.

use super::DecodeError;

/// A position in untrusted bytes.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    total: usize,
    /// Bytes before this input in the one that holds it, for positions in errors.
    base: usize,
    flexible: bool,
}

impl<'a> Cursor<'a> {
    /// Starts in the classic encoding (int16 and int32 lengths).
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self::nested(bytes, 0)
    }

    /// Starts on bytes that began `base` bytes into a larger input.
    #[inline]
    pub(crate) fn nested(bytes: &'a [u8], base: usize) -> Self {
        Self {
            rest: bytes,
            total: bytes.len(),
            base,
            flexible: false,
        }
    }

    /// From here on lengths are compact and structs end in tagged fields.
    pub(crate) fn set_flexible(&mut self) {
        self.flexible = true;
    }

    /// Bytes read so far, counted from the start of the outermost input.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.base
            .saturating_add(self.total.saturating_sub(self.rest.len()))
    }

    /// Whether nothing is left.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// What is left, for a reader that wants no positions.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes on behind what such a reader took; `rest` must be the end of
    /// [`Cursor::rest`].
    pub(crate) fn continue_at(&mut self, rest: &'a [u8]) {
        let ends = [self.rest, rest].map(|bytes| bytes.as_ptr_range().end);
        debug_assert!(ends[0] == ends[1], "not the end of what is left");
        self.rest = rest;
    }

    /// The next `len` bytes.
    #[inline]
    pub(crate) fn take(
        &mut self,
        len: usize,
        field: &'static str,
    ) -> Result<&'a [u8], DecodeError> {
        match self.rest.split_at_checked(len) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(self.truncated(len, field)),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => Err(self.truncated(N, field)),
        }
    }

    #[cold]
    #[inline(never)]
    fn truncated(&self, needed: usize, field: &'static str) -> DecodeError {
        DecodeError::Truncated {
            field,
            at: self.at(),
            needed,
            left: self.rest.len(),
        }
    }

    /// INT16.
    #[inline]
    pub(crate) fn i16(&mut self, field: &'static str) -> Result<i16, DecodeError> {
        self.array(field).map(i16::from_be_bytes)
    }

    /// INT32.
    #[inline]
    pub(crate) fn i32(&mut self, field: &'static str) -> Result<i32, DecodeError> {
        self.array(field).map(i32::from_be_bytes)
    }

    /// INT64.
    #[inline]
    pub(crate) fn i64(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        self.array(field).map(i64::from_be_bytes)
    }

    /// UNSIGNED_VARINT, at most five bytes (`ByteUtils.readUnsignedVarint`).
    pub(crate) fn uvarint(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        let at = self.at();
        let mut value: u64 = 0;
        for shift in [0_u32, 7, 14, 21, 28] {
            let [byte] = self.array(field)?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| DecodeError::BadVarint { field, at });
            }
        }
        Err(DecodeError::BadVarint { field, at })
    }

    /// STRING or COMPACT_STRING that may not be null.
    #[inline]
    pub(crate) fn string(&mut self, field: &'static str) -> Result<&'a str, DecodeError> {
        let at = self.at();
        self.nullable_string(field)?.ok_or(DecodeError::BadLength {
            field,
            at,
            length: -1,
        })
    }

    /// NULLABLE_STRING or COMPACT_NULLABLE_STRING.
    #[inline]
    pub(crate) fn nullable_string(
        &mut self,
        field: &'static str,
    ) -> Result<Option<&'a str>, DecodeError> {
        let at = self.at();
        let told = if self.flexible {
            self.compact_length(field)?
        } else {
            i64::from(self.i16(field)?)
        };
        let Some(len) = length(told, at, field)? else {
            return Ok(None);
        };
        let bytes = self.take(len, field)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(DecodeError::BadUtf8 { field, at }),
        }
    }

    /// BYTES or COMPACT_BYTES that may not be null.
    #[inline]
    pub(crate) fn bytes(&mut self, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let at = self.at();
        self.nullable_bytes(field)?.ok_or(DecodeError::BadLength {
            field,
            at,
            length: -1,
        })
    }

    /// NULLABLE_BYTES or COMPACT_NULLABLE_BYTES.
    #[inline]
    pub(crate) fn nullable_bytes(
        &mut self,
        field: &'static str,
    ) -> Result<Option<&'a [u8]>, DecodeError> {
        let at = self.at();
        let told = self.wide_length(field)?;
        match length(told, at, field)? {
            Some(len) => self.take(len, field).map(Some),
            None => Ok(None),
        }
    }

    /// The element count of an array that may not be null. `element_bytes_min`
    /// is the least an element takes: a count that cannot fit is refused here.
    #[inline]
    pub(crate) fn array_len(
        &mut self,
        field: &'static str,
        element_bytes_min: usize,
    ) -> Result<usize, DecodeError> {
        let at = self.at();
        self.nullable_array_len(field, element_bytes_min)?
            .ok_or(DecodeError::BadLength {
                field,
                at,
                length: -1,
            })
    }

    /// The element count of an array that may be null.
    #[inline]
    pub(crate) fn nullable_array_len(
        &mut self,
        field: &'static str,
        element_bytes_min: usize,
    ) -> Result<Option<usize>, DecodeError> {
        let at = self.at();
        let told = self.wide_length(field)?;
        let Some(count) = length(told, at, field)? else {
            return Ok(None);
        };
        let needed = count.saturating_mul(element_bytes_min);
        if needed > self.rest.len() {
            return Err(self.truncated(needed, field));
        }
        Ok(Some(count))
    }

    /// Skips the tagged fields that end a struct in the flexible encoding;
    /// there are none in the classic one.
    pub(crate) fn skip_tagged_fields(&mut self, field: &'static str) -> Result<(), DecodeError> {
        self.tagged_fields(field, |_, _| Ok(()))
    }

    /// Hands out the tagged fields that end a struct, each as tag and payload.
    pub(crate) fn tagged_fields(
        &mut self,
        field: &'static str,
        mut take: impl FnMut(u32, Cursor<'a>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        if !self.flexible {
            return Ok(());
        }
        // Each field takes at least two bytes, so the loop is bounded by the input.
        for _ in 0..self.uvarint(field)? {
            let tag = self.uvarint(field)?;
            let size = self.uvarint(field)?;
            let base = self.at();
            let payload = self.take(usize::try_from(size).unwrap_or(usize::MAX), field)?;
            let mut payload = Cursor::nested(payload, base);
            payload.flexible = true;
            take(tag, payload)?;
        }
        Ok(())
    }

    #[inline]
    fn wide_length(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        if self.flexible {
            self.compact_length(field)
        } else {
            self.i32(field).map(i64::from)
        }
    }

    #[inline]
    fn compact_length(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        Ok(i64::from(self.uvarint(field)?).saturating_sub(1))
    }
}

/// Null is -1 in both encodings once read; anything below it is no length.
#[inline]
fn length(told: i64, at: usize, field: &'static str) -> Result<Option<usize>, DecodeError> {
    match told {
        -1 => Ok(None),
        _ => match usize::try_from(told) {
            Ok(len) => Ok(Some(len)),
            Err(_) => Err(DecodeError::BadLength {
                field,
                at,
                length: told,
            }),
        },
    }
}

#[cfg(test)]
mod tests;
