//! What decoding can say besides the value: errors and unknowns, both countable.

use thiserror::Error;

/// Why bytes did not decode.
///
/// Holds positions and names from this crate only, never a byte of the input:
/// the input may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The input ends before the field does.
    #[error("{field} at byte {at} needs {needed} bytes, {left} are left")]
    Truncated {
        /// The field, in Kafka's spelling.
        field: &'static str,
        /// Bytes before the field.
        at: usize,
        /// Bytes the field needs at least.
        needed: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// A length or count that the field's type does not allow, such as null.
    #[error("{field} at byte {at} has length {length}")]
    BadLength {
        /// The field, in Kafka's spelling.
        field: &'static str,
        /// Bytes before the field.
        at: usize,
        /// The length as told; null is -1.
        length: i64,
    },
    /// A string that is not UTF-8.
    #[error("{field} at byte {at} is not utf-8")]
    BadUtf8 {
        /// The field, in Kafka's spelling.
        field: &'static str,
        /// Bytes before the field.
        at: usize,
    },
    /// An unsigned varint that does not fit 32 bits.
    #[error("{field} at byte {at} is not a 32-bit varint")]
    BadVarint {
        /// The field, in Kafka's spelling.
        field: &'static str,
        /// Bytes before the field.
        at: usize,
    },
    /// A version that no release can write: negative where versions start at 0.
    #[error("{field} is {version}")]
    BadVersion {
        /// The field, in Kafka's spelling.
        field: &'static str,
        /// The version as told.
        version: i16,
    },
    /// A key of the config or status topic that has a known prefix and is
    /// nevertheless none of Connect's, or is not UTF-8.
    #[error("{field} is not one that connect writes")]
    BadKey {
        /// Whose key.
        field: &'static str,
    },
    /// A JSON value that is not what Connect writes under its key.
    #[error("{field}: {problem}")]
    Json {
        /// The field, or `value` for the document as a whole.
        field: &'static str,
        /// What is wrong with it.
        problem: JsonProblem,
    },
}

/// What is wrong with a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JsonProblem {
    /// The document ends early.
    #[error("json ends early")]
    Truncated,
    /// The document is no JSON.
    #[error("no json")]
    Syntax,
    /// The document is no JSON because it is not UTF-8.
    #[error("not utf-8")]
    BadUtf8,
    /// The document is JSON, but no object.
    #[error("json, but no object")]
    NotAnObject,
    /// The document is larger than this crate reads.
    #[error("too large to be read")]
    TooLarge,
    /// The field is absent or null.
    #[error("field is missing")]
    FieldMissing,
    /// The field has another type.
    #[error("field has another type")]
    WrongType,
    /// The field is longer, larger or of other characters than Connect writes.
    #[error("field is out of bounds")]
    OutOfBounds,
    /// A value that may hold secrets and did not go through redaction.
    #[error("value was not redacted")]
    NotRedacted,
}

impl JsonProblem {
    pub(crate) const ALL: [Self; 9] = [
        Self::Truncated,
        Self::Syntax,
        Self::BadUtf8,
        Self::NotAnObject,
        Self::TooLarge,
        Self::FieldMissing,
        Self::WrongType,
        Self::OutOfBounds,
        Self::NotRedacted,
    ];

    /// The problem as a metric label.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Truncated => "json_truncated",
            Self::Syntax => "json_syntax",
            Self::BadUtf8 => "json_bad_utf8",
            Self::NotAnObject => "json_not_an_object",
            Self::TooLarge => "json_too_large",
            Self::FieldMissing => "json_field_missing",
            Self::WrongType => "json_wrong_type",
            Self::OutOfBounds => "json_out_of_bounds",
            Self::NotRedacted => "not_redacted",
        }
    }

    pub(crate) const fn of(self, field: &'static str) -> DecodeError {
        DecodeError::Json {
            field,
            problem: self,
        }
    }
}

impl DecodeError {
    /// Every label that bytes of the offsets topic can have.
    pub const BINARY_LABELS: [&str; 6] = [
        "truncated",
        "bad_length",
        "bad_utf8",
        "bad_varint",
        "bad_version",
        "bad_key",
    ];

    /// Every label that keys and documents of the config and status topics can have.
    pub const TEXT_LABELS: [&str; 10] = [
        "bad_key",
        "json_truncated",
        "json_syntax",
        "json_bad_utf8",
        "json_not_an_object",
        "json_too_large",
        "json_field_missing",
        "json_wrong_type",
        "json_out_of_bounds",
        "not_redacted",
    ];

    /// The kind as a metric label: a closed set, the same for every input.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "truncated",
            Self::BadLength { .. } => "bad_length",
            Self::BadUtf8 { .. } => "bad_utf8",
            Self::BadVarint { .. } => "bad_varint",
            Self::BadVersion { .. } => "bad_version",
            Self::BadKey { .. } => "bad_key",
            Self::Json { problem, .. } => problem.label(),
        }
    }

    /// The field that did not decode.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Truncated { field, .. }
            | Self::BadLength { field, .. }
            | Self::BadUtf8 { field, .. }
            | Self::BadVarint { field, .. }
            | Self::BadVersion { field, .. }
            | Self::BadKey { field }
            | Self::Json { field, .. } => field,
        }
    }
}

/// A decoded value, or the note that this build does not know its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoded<T> {
    /// The version is known and the value was read.
    Known(T),
    /// A version from a later release.
    Unknown(Unknown),
}

impl<T> Decoded<T> {
    /// The value, if the version was known.
    pub fn known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

/// A record type or version that this build does not know: to count and skip,
/// as Kafka's own readers do (`CoordinatorLoaderImpl`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unknown {
    /// What was being read.
    pub input: UnknownInput,
    /// The type or version as told.
    pub version: i16,
}

/// Where an unknown type or version stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnknownInput {
    /// The record type that starts a key of `__consumer_offsets`.
    OffsetsKey,
    /// The version that starts a GroupMetadata value.
    GroupMetadata,
    /// The version that starts an OffsetCommit value.
    OffsetCommit,
    /// The version that starts a ConsumerGroupMetadata value.
    ConsumerGroupMetadata,
}

impl UnknownInput {
    /// The input as a metric label.
    pub const fn label(self) -> &'static str {
        match self {
            Self::OffsetsKey => "offsets_key",
            Self::GroupMetadata => "group_metadata",
            Self::OffsetCommit => "offset_commit",
            Self::ConsumerGroupMetadata => "consumer_group_metadata",
        }
    }
}
