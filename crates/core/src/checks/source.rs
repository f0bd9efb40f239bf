//! Where a value was read: every value that is compared is shown with it.

use std::fmt;

use serde::Serialize;

use super::releases::Release;

/// Where a value was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Source {
    /// A file that a person named.
    File {
        /// As it was named.
        file: String,
        /// Counted from 1; none where it cannot be told.
        line: Option<usize>,
    },
    /// A variable of the environment.
    Variable {
        /// Its name.
        name: String,
    },
    /// What a worker told when it joined, or was told by its leader.
    Record {
        /// The worker.
        worker: String,
        /// The generation of the record.
        generation: i32,
    },
    /// What the records of the group say together.
    Counted {
        /// In how many generations.
        generations: u64,
    },
    /// What was watched.
    Measured {
        /// Out of how many.
        count: u64,
    },
    /// A broker's answer.
    Broker,
    /// A topic, as a broker has it.
    Topic {
        /// Its name.
        name: String,
    },
    /// Nobody set it: what this release takes then.
    Default {
        /// The release.
        release: Release,
    },
    /// Nobody set it: what the place that the worker runs in takes then.
    Platform {
        /// Docker Compose, Kubernetes, an image.
        name: &'static str,
    },
    /// A person said so on the command line.
    Said,
}

/// A value and where it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value<T> {
    /// The value.
    pub value: T,
    /// Where it was read.
    pub source: Source,
}

// === impl Value ===

impl<T> Value<T> {
    /// A value that was read there.
    pub fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }
}

// === impl Source ===

impl Source {
    /// Whether a person chose the value.
    #[must_use]
    pub fn is_set(&self) -> bool {
        !matches!(self, Self::Default { .. } | Self::Platform { .. })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File {
                file,
                line: Some(line),
            } => write!(f, "{file}:{line}"),
            Self::File { file, line: None } => f.write_str(file),
            Self::Variable { name } => f.write_str(name),
            Self::Record { worker, generation } => {
                write!(f, "record of {worker}, generation {generation}")
            }
            Self::Counted { generations: 1 } => f.write_str("record of the group"),
            Self::Counted { generations } => write!(f, "last {generations} generations"),
            Self::Measured { count: 1 } => f.write_str("measured once"),
            Self::Measured { count } => write!(f, "longest of {count} measured"),
            Self::Broker => f.write_str("the broker"),
            Self::Topic { name } => write!(f, "topic {name}"),
            Self::Default { release } => write!(f, "default of Kafka {release}"),
            Self::Platform { name } => write!(f, "default of {name}"),
            Self::Said => f.write_str("as was said"),
        }
    }
}
