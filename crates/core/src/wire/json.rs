//! JSON documents of Connect's topics, read for named fields and nothing else.
//!
//! What is not asked for is skipped without being kept, and what serde_json says
//! about a bad document is reduced to its kind: its messages quote the input.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{DecodeError, JsonProblem};

/// Larger values are refused unread. Kafka's own default for a record is 1 MiB;
/// clusters that raised it for large task configs stay far below this.
pub const VALUE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A wanted field as found.
#[derive(Debug, Default)]
pub(super) enum Scalar<'de> {
    #[default]
    Absent,
    Null,
    Bool(bool),
    Int(i64),
    Text(Cow<'de, str>),
    /// An array, an object, or a number that is no int64.
    Other,
}

/// Takes the fields of an object as they come.
pub(super) trait Fields<'de> {
    /// Must take the value of `name` from `map`.
    fn field<A: MapAccess<'de>>(&mut self, name: &[u8], map: &mut A) -> Result<(), A::Error>;
}

/// Reads a document that must be one JSON object. If a converter with schemas
/// enabled wrote it (`{"schema":…,"payload":{…}}`), the fields are the payload's.
pub(super) fn read_object<'de>(
    document: &'de [u8],
    fields: &mut impl Fields<'de>,
) -> Result<(), JsonProblem> {
    if document.len() > VALUE_BYTES_MAX {
        return Err(JsonProblem::TooLarge);
    }
    let mut entered = false;
    let mut reader = serde_json::Deserializer::from_slice(document);
    let seed = Document {
        fields,
        entered: &mut entered,
    };
    let read = seed.deserialize(&mut reader).and_then(|()| reader.end());
    read.map_err(|error| {
        use serde_json::error::Category;
        match error.classify() {
            Category::Eof => JsonProblem::Truncated,
            Category::Data if entered => JsonProblem::WrongType,
            Category::Data => JsonProblem::NotAnObject,
            Category::Syntax | Category::Io if std::str::from_utf8(document).is_err() => {
                JsonProblem::BadUtf8
            }
            Category::Syntax | Category::Io => JsonProblem::Syntax,
        }
    })
}

/// The outermost object, or an envelope around the one that is meant.
struct Document<'a, F> {
    fields: &'a mut F,
    entered: &'a mut bool,
}

impl<'de, F: Fields<'de>> DeserializeSeed<'de> for Document<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de, F: Fields<'de>> Visitor<'de> for Document<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        *self.entered = true;
        while let Some(name) = map.next_key_seed(Bytes {
            keep_max: usize::MAX,
        })? {
            match name.as_deref().unwrap_or_default() {
                b"payload" => map.next_value_seed(Object(self.fields))?,
                name => self.fields.field(name, &mut map)?,
            }
        }
        Ok(())
    }
}

/// An object whose fields are taken; null is an object without fields.
pub(super) struct Object<'a, F>(pub(super) &'a mut F);

impl<'de, F: Fields<'de>> DeserializeSeed<'de> for Object<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_option(self)
    }
}

impl<'de, F: Fields<'de>> Visitor<'de> for Object<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or null")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key_seed(Bytes {
            keep_max: usize::MAX,
        })? {
            self.0
                .field(name.as_deref().unwrap_or_default(), &mut map)?;
        }
        Ok(())
    }
}

/// A string or null as bytes, cut to `keep_max`: neither UTF-8 nor paired
/// surrogates are asked for, since Connect copies foreign text into its records.
pub(super) struct Bytes {
    pub(super) keep_max: usize,
}

impl<'de> DeserializeSeed<'de> for Bytes {
    type Value = Option<Cow<'de, [u8]>>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Bytes {
    type Value = Option<Cow<'de, [u8]>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or null")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_bytes(self)
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(
            bytes.get(..self.keep_max).unwrap_or(bytes),
        )))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(
            bytes.get(..self.keep_max).unwrap_or(bytes).to_vec(),
        )))
    }
}

/// Any value, kept if it is a scalar.
pub(super) struct AnyScalar;

impl<'de> DeserializeSeed<'de> for AnyScalar {
    type Value = Scalar<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyScalar {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).map_or(Scalar::Other, Scalar::Int))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Other)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

/// Collects the fields of these names; of two with one name the last counts, as
/// in Jackson's maps.
pub(super) struct Wanted<'de, const N: usize> {
    names: [&'static str; N],
    pub(super) found: [Scalar<'de>; N],
}

impl<const N: usize> Wanted<'_, N> {
    pub(super) fn new(names: [&'static str; N]) -> Self {
        Self {
            names,
            found: std::array::from_fn(|_| Scalar::Absent),
        }
    }
}

impl<'de, const N: usize> Fields<'de> for Wanted<'de, N> {
    fn field<A: MapAccess<'de>>(&mut self, name: &[u8], map: &mut A) -> Result<(), A::Error> {
        let place = self
            .names
            .iter()
            .position(|wanted| wanted.as_bytes() == name);
        match place.and_then(|at| self.found.get_mut(at)) {
            Some(slot) => *slot = map.next_value_seed(AnyScalar)?,
            None => _ = map.next_value::<IgnoredAny>()?,
        }
        Ok(())
    }
}

/// Fields of an object that is itself a field of the document.
pub(super) struct Within<F> {
    pub(super) name: &'static str,
    pub(super) inner: F,
    pub(super) found: bool,
}

impl<'de, F: Fields<'de>> Fields<'de> for Within<F> {
    fn field<A: MapAccess<'de>>(&mut self, name: &[u8], map: &mut A) -> Result<(), A::Error> {
        if name == self.name.as_bytes() {
            self.found = true;
            map.next_value_seed(Object(&mut self.inner))
        } else {
            map.next_value::<IgnoredAny>().map(|_| ())
        }
    }
}

/// The wanted fields of a document.
pub(super) fn wanted<'de, const N: usize>(
    document: &'de [u8],
    names: [&'static str; N],
) -> Result<[Scalar<'de>; N], JsonProblem> {
    let mut fields = Wanted::new(names);
    read_object(document, &mut fields)?;
    Ok(fields.found)
}

impl Scalar<'_> {
    /// An int32 that is there.
    pub(super) fn i32(&self, field: &'static str) -> Result<i32, DecodeError> {
        let outside = JsonProblem::OutOfBounds.of(field);
        self.i64(field)
            .and_then(|value| i32::try_from(value).map_err(|_| outside))
    }

    /// An int64 that is there.
    pub(super) fn i64(&self, field: &'static str) -> Result<i64, DecodeError> {
        match self {
            Self::Int(value) => Ok(*value),
            other => Err(other.missing_or_wrong(field)),
        }
    }

    /// A text that is there and passes `allowed`.
    pub(super) fn text(
        &self,
        field: &'static str,
        allowed: fn(&str) -> bool,
    ) -> Result<&str, DecodeError> {
        match self {
            Self::Text(text) if allowed(text) => Ok(text),
            Self::Text(_) => Err(JsonProblem::OutOfBounds.of(field)),
            other => Err(other.missing_or_wrong(field)),
        }
    }

    /// Whether it is the boolean true.
    pub(super) fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    /// Whether there is no value.
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::Absent | Self::Null)
    }

    fn missing_or_wrong(&self, field: &'static str) -> DecodeError {
        match self.is_none() {
            true => JsonProblem::FieldMissing.of(field),
            false => JsonProblem::WrongType.of(field),
        }
    }
}

/// Words such as states, levels and versions: short, and nothing but `[A-Za-z0-9_.+-]`.
pub(super) fn is_word(text: &str) -> bool {
    const WORD_BYTES_MAX: usize = 64;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte);
    !text.is_empty() && text.len() <= WORD_BYTES_MAX && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests;
