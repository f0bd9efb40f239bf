//! What each path answers, as a function of a request and what was published last.
//! No network here, so every answer is tested without one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use evenkeel_core::facts::time::ArrivalTime;
use tokio::sync::watch;

pub use crate::config::Readiness;
use crate::show::exposition::{self, Format};
use crate::show::families::families;
use crate::show::process::ProcessReader;
use crate::show::view::{Published, Pulse, SeriesLimits, View};
use crate::show::{api, page};
use query::{group_in, pairs};

mod query;

/// The loop turns at least once a second; one that did not for this long is stuck.
pub const PULSE_AGE_MS_MAX: i64 = 10_000;

/// The agent's clock: `show` has none of its own.
pub type Now = Arc<dyn Fn() -> ArrivalTime + Send + Sync>;

/// Everything the endpoints answer from.
pub struct Site {
    published: watch::Receiver<Arc<Published>>,
    pulse: Arc<Pulse>,
    now: Now,
    readiness: Readiness,
    limits: SeriesLimits,
    process: ProcessReader,
    series_dropped: AtomicU64,
}

/// A request, as far as an answer depends on it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask<'a> {
    /// `GET`, `HEAD` or another.
    pub method: &'a str,
    /// The path.
    pub path: &'a str,
    /// What follows the question mark.
    pub query: &'a str,
    /// The `Accept` header.
    pub accept: &'a str,
    /// Whether a probe is told its status alone, since nobody knows who asks.
    pub brief: bool,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Content type.
    pub content_type: &'static str,
    /// Body; a `HEAD` request gets its length only.
    pub body: String,
}

const JSON: &str = "application/json; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// What there is, for those who asked for something else.
const PATHS: &str = "\
/              the group now, for people
/metrics       Prometheus text, or OpenMetrics if asked for
/livez         200 while the agent's loop turns; never depends on Kafka
/readyz        what the agent sees and what it is missing, as JSON
/api/v1/state  everything that is known, as JSON; ?group=NAME for one group
/api/v1/episodes  rebalances, newest first, as JSON; ?group=NAME&since=2h&until=MS&cause=CAUSE
               &worker=HOST:PORT&connector=NAME narrow it
/api/v1/checks  clocks that contradict each other, and what is missing to tell, as JSON;
               ?group=NAME for one group
";

// === impl Site ===

impl Site {
    /// A site that shows what is published on `published`.
    #[must_use]
    pub fn new(
        published: watch::Receiver<Arc<Published>>,
        pulse: Arc<Pulse>,
        now: Now,
        readiness: Readiness,
        limits: SeriesLimits,
    ) -> Self {
        Self {
            published,
            pulse,
            now,
            readiness,
            limits,
            process: ProcessReader::new(),
            series_dropped: AtomicU64::new(0),
        }
    }

    /// The answer to a request.
    #[must_use]
    pub fn answer(&self, ask: Ask<'_>) -> Reply {
        if !matches!(ask.method, "GET" | "HEAD") {
            let body = format!(
                "{} is not possible here: nothing can be changed, only read with GET or HEAD\n",
                ask.method
            );
            return Reply::plain(405, body);
        }
        match ask.path {
            "/" => self.page(),
            "/metrics" => self.metrics(ask.accept),
            "/livez" => self.live(),
            "/readyz" => self.ready(ask.brief),
            "/api/v1/state" => self.of_group(ask.query, api::state),
            "/api/v1/episodes" => self.episodes(ask.query),
            "/api/v1/checks" => self.of_group(ask.query, api::checks),
            path => Reply::plain(404, format!("no {path} here; there is\n\n{PATHS}")),
        }
    }

    fn published(&self) -> Arc<Published> {
        Arc::clone(&self.published.borrow())
    }

    fn metrics(&self, accept: &str) -> Reply {
        let published = self.published();
        let view = View {
            groups: published.groups.clone(),
            agent: published.agent.clone(),
            process: self.process.read(),
            limits: self.limits,
            series_dropped_before: self.series_dropped.load(Ordering::Relaxed),
            now: Some((self.now)()),
        };
        let snapshot = families(&view);
        self.series_dropped
            .fetch_add(snapshot.dropped, Ordering::Relaxed);
        let format = negotiate(accept);
        Reply {
            status: 200,
            content_type: format.content_type(),
            body: exposition::encode(&snapshot, format),
        }
    }

    fn live(&self) -> Reply {
        let age_ms = self.pulse.last().map(|last| (self.now)().since_ms(last));
        let (status, body) = match age_ms {
            None => (503, "the agent's loop has not turned yet\n".to_owned()),
            Some(age_ms) if age_ms > PULSE_AGE_MS_MAX => (
                503,
                format!("the agent's loop last turned {} s ago\n", age_ms / 1000),
            ),
            Some(_) => (200, "ok\n".to_owned()),
        };
        Reply::plain(status, body)
    }

    fn ready(&self, brief: bool) -> Reply {
        let (ready, whole) = api::ready(&self.published(), (self.now)());
        let body = match brief {
            true => format!("{{\"ready\":{ready}}}\n"),
            false => whole,
        };
        let status = match self.readiness {
            Readiness::Strict if !ready => 503,
            Readiness::Strict | Readiness::Lenient => 200,
        };
        Reply {
            status,
            content_type: JSON,
            body,
        }
    }

    fn of_group(
        &self,
        query: &str,
        say: fn(&Published, ArrivalTime, Option<&str>) -> Result<String, String>,
    ) -> Reply {
        let wanted = group_in(query);
        let (status, body) = match say(&self.published(), (self.now)(), wanted.as_deref()) {
            Ok(body) => (200, body),
            Err(body) => (404, body),
        };
        Reply {
            status,
            content_type: JSON,
            body,
        }
    }

    fn episodes(&self, query: &str) -> Reply {
        let (status, body) = api::episodes(&self.published(), (self.now)(), &pairs(query));
        Reply {
            status,
            content_type: JSON,
            body,
        }
    }

    fn page(&self) -> Reply {
        let body = page::html(&self.published(), (self.now)());
        Reply {
            status: 200,
            content_type: HTML,
            body,
        }
    }
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site")
            .field("readiness", &self.readiness)
            .finish_non_exhaustive()
    }
}

// === impl Reply ===

impl Reply {
    /// A text for people.
    #[must_use]
    pub fn plain(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            content_type: PLAIN,
            body: body.into(),
        }
    }

    /// The methods to name in an `Allow` header, where the method was the mistake.
    #[must_use]
    pub fn allow(&self) -> Option<&'static str> {
        (self.status == 405).then_some("GET, HEAD")
    }
}

/// The format that an `Accept` header asks for: OpenMetrics 1.x where it is wanted at
/// least as much as plain text, else text 0.0.4, which every scraper reads.
fn negotiate(accept: &str) -> Format {
    let mut open_metrics = 0.0f32;
    let mut text = 0.0f32;
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        let mut quality = 1.0f32;
        let mut version = None;
        for part in parts {
            match part.split_once('=') {
                Some(("q", value)) => quality = value.trim().parse().unwrap_or(0.0),
                Some(("version", value)) => version = Some(value.trim().trim_matches('"')),
                _ => {}
            }
        }
        match media.as_str() {
            // Version 0.0.1 is the draft, which Prometheus lists after 1.0.0.
            "application/openmetrics-text" if version.is_none_or(|v| v.starts_with("1.")) => {
                open_metrics = open_metrics.max(quality);
            }
            "text/plain" | "text/*" | "*/*" => text = text.max(quality),
            _ => {}
        }
    }
    if open_metrics > 0.0 && open_metrics >= text {
        Format::OpenMetrics
    } else {
        Format::Text
    }
}

#[cfg(test)]
mod tests;
