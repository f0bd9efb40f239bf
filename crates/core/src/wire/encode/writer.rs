//! Kafka's primitive types, written in the classic or the flexible encoding.

use super::EncodeError;

/// Bytes so far, and the first field that did not fit its length prefix.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    flexible: bool,
    too_long: Option<&'static str>,
}

impl Writer {
    pub(super) fn set_flexible(&mut self) {
        self.flexible = true;
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, EncodeError> {
        match self.too_long {
            Some(field) => Err(EncodeError { field }),
            None => Ok(self.bytes),
        }
    }

    pub(super) fn i16(&mut self, value: i16) {
        self.bytes.extend(value.to_be_bytes());
    }

    pub(super) fn i32(&mut self, value: i32) {
        self.bytes.extend(value.to_be_bytes());
    }

    pub(super) fn i64(&mut self, value: i64) {
        self.bytes.extend(value.to_be_bytes());
    }

    pub(super) fn string(&mut self, text: &str, field: &'static str) {
        self.nullable_string(Some(text), field);
    }

    pub(super) fn nullable_string(&mut self, text: Option<&str>, field: &'static str) {
        // The classic length is an int16, and Kafka holds compact strings to the same limit.
        let len = text.map(|text| i16::try_from(text.len()));
        match len {
            Some(Err(_)) => self.too_long = self.too_long.or(Some(field)),
            Some(Ok(len)) if self.flexible => self.compact_length(i64::from(len)),
            Some(Ok(len)) => self.i16(len),
            None if self.flexible => self.compact_length(-1),
            None => self.i16(-1),
        }
        self.bytes.extend(text.unwrap_or_default().as_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8], field: &'static str) {
        self.array_len(bytes.len(), field);
        self.bytes.extend(bytes);
    }

    pub(super) fn array_len(&mut self, len: usize, field: &'static str) {
        match i32::try_from(len) {
            Err(_) => self.too_long = self.too_long.or(Some(field)),
            Ok(len) if self.flexible => self.compact_length(i64::from(len)),
            Ok(len) => self.i32(len),
        }
    }

    pub(super) fn no_tagged_fields(&mut self) {
        if self.flexible {
            self.bytes.push(0);
        }
    }

    fn compact_length(&mut self, len: i64) {
        let mut rest = len.saturating_add(1).unsigned_abs();
        while rest > 0x7f {
            self.bytes.push(low_seven_bits(rest) | 0x80);
            rest = rest.checked_shr(7).unwrap_or(0);
        }
        self.bytes.push(low_seven_bits(rest));
    }
}

fn low_seven_bits(value: u64) -> u8 {
    u8::try_from(value & 0x7f).unwrap_or(0)
}
