//! The shape of the tree, for those who must know every key: the search for unknown
//! keys, environment variables, the sample file and the reference. It comes from the
//! same declaration as the structs, so it cannot be out of date.

use std::fmt::Display;

use serde::Serialize;

/// One key of a section.
#[derive(Debug, Clone)]
pub(super) struct Key {
    /// Its name.
    pub(super) name: &'static str,
    /// Its documentation, line by line.
    pub(super) doc: Vec<&'static str>,
    /// What it holds.
    pub(super) shape: Shape,
    /// Its default as YAML; `None` where it has to be set or is unset by default.
    pub(super) default: Option<String>,
    /// Whether it has to be set.
    pub(super) required: bool,
    /// A value as an example, as YAML.
    pub(super) example: &'static str,
}

/// What a key holds.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// Text.
    Text,
    /// A whole number.
    Number,
    /// Yes or no.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Keys that are not ours, with text.
    Map,
    /// Keys of ours.
    Section(Vec<Key>),
    /// A list of sections with these keys.
    List(Vec<Key>),
}

/// A type whose shape is known.
pub(super) trait Describe {
    /// The shape.
    fn shape() -> Shape;

    /// The value as YAML, if it is one that a person could have set.
    fn shown(&self) -> Option<String>;

    /// Whether this value means that the key has to be set.
    fn is_missing(&self) -> bool {
        false
    }
}

impl Describe for String {
    fn shape() -> Shape {
        Shape::Text
    }

    fn shown(&self) -> Option<String> {
        (!self.is_empty()).then(|| yaml(self))
    }

    fn is_missing(&self) -> bool {
        self.is_empty()
    }
}

impl Describe for usize {
    fn shape() -> Shape {
        Shape::Number
    }

    fn shown(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Describe for bool {
    fn shape() -> Shape {
        Shape::Switch
    }

    fn shown(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl<T: Describe> Describe for Option<T> {
    fn shape() -> Shape {
        T::shape()
    }

    fn shown(&self) -> Option<String> {
        self.as_ref().and_then(T::shown)
    }
}

impl<T: Describe> Describe for Vec<T> {
    fn shape() -> Shape {
        match T::shape() {
            Shape::Section(keys) => Shape::List(keys),
            other => other,
        }
    }

    fn shown(&self) -> Option<String> {
        None
    }
}

/// A scalar as YAML.
pub(super) fn yaml(value: &(impl Serialize + Display)) -> String {
    match serde_yaml::to_string(value) {
        Ok(text) => text.trim_end().to_owned(),
        Err(_) => value.to_string(),
    }
}

/// Declares a section: the struct, its defaults, and the description of its keys from
/// the very same lines. Each key is `name: Type = default => "example";`.
macro_rules! section {
    (
        $(#[doc = $about:literal])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $key:ident: $type:ty = $default:expr => $example:literal;
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[doc = $doc])*
                pub $key: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $key: $default, )* }
            }
        }

        impl $crate::config::describe::Describe for $name {
            fn shape() -> $crate::config::describe::Shape {
                use $crate::config::describe::{Describe, Key, Shape};
                let default = Self::default();
                Shape::Section(vec![
                    $(
                        Key {
                            name: stringify!($key),
                            doc: [$($doc),*].map(str::trim).to_vec(),
                            shape: <$type as Describe>::shape(),
                            default: default.$key.shown(),
                            required: default.$key.is_missing(),
                            example: $example,
                        },
                    )*
                ])
            }

            fn shown(&self) -> Option<String> {
                None
            }
        }
    };
}

/// Declares a closed set of words.
macro_rules! words {
    (
        $(#[doc = $about:literal])*
        pub enum $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $variant:ident = $word:literal,
            )*
        }
        default $default:ident
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $(
                $(#[doc = $doc])*
                #[serde(rename = $word)]
                $variant,
            )*
        }

        impl $name {
            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word for it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )*
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }

        impl $crate::config::describe::Describe for $name {
            fn shape() -> $crate::config::describe::Shape {
                $crate::config::describe::Shape::Word(Self::WORDS)
            }

            fn shown(&self) -> Option<String> {
                // A word such as 1 is not to be taken for a number.
                Some($crate::config::describe::yaml(&self.word()))
            }
        }
    };
}

pub(super) use {section, words};
