//! What came of settings that changed while the agent runs: counts and expiries, told
//! beside the answers. Whoever reloads something holds one.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;

use crate::show::view::{CertificateUse, Published};

/// Tells what reloads came to.
#[derive(Debug, Clone)]
pub struct Reloads {
    publisher: Arc<watch::Sender<Arc<Published>>>,
}

// === impl Reloads ===

impl Reloads {
    /// Tells it where answers are published, too.
    #[must_use]
    pub fn new(publisher: Arc<watch::Sender<Arc<Published>>>) -> Self {
        Self { publisher }
    }

    /// Changed settings are in use.
    pub fn took(&self) {
        self.tell(|published| published.agent.reloads.ok += 1);
    }

    /// Changed settings were refused; those before them stay in use.
    pub fn refused(&self) {
        self.tell(|published| published.agent.reloads.failed += 1);
    }

    /// What only a restart takes up.
    pub fn pending(&self, changes: Vec<String>) {
        self.tell(|published| published.agent.pending = changes);
    }

    /// Whom the brokers see now, by group.
    pub fn principals(&self, principals: BTreeMap<String, String>) {
        self.tell(|published| published.agent.principals = principals);
    }

    /// A certificate in use expires then, in seconds since the epoch; `None` where there
    /// is none.
    pub fn expires(&self, usage: CertificateUse, at_seconds: Option<i64>) {
        self.tell(|published| {
            let expiries = &mut published.agent.expiries;
            match at_seconds {
                Some(at_seconds) => expiries.insert(usage, at_seconds),
                None => expiries.remove(&usage),
            };
        });
    }

    fn tell(&self, change: impl FnOnce(&mut Published)) {
        self.publisher
            .send_modify(|published| change(Arc::make_mut(published)));
    }
}
