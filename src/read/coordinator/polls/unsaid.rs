//! What brokers do not say of how they and the topics are set, said once: checks that need it
//! stay undecided, and nothing else is lost.

use evenkeel_core::facts::cluster::Cluster;

use super::super::error::AskError;

/// What was said of it last.
#[derive(Debug, Default)]
pub(super) struct Unsaid {
    /// Rights that are missing: operation and resource.
    rights: Vec<(&'static str, String)>,
    error: Option<AskError>,
}

// === impl Unsaid ===

impl Unsaid {
    /// An answer came, perhaps without what may not be told.
    pub(super) fn answered(&mut self, group: &str, told: &Cluster) {
        self.error = None;
        let missing = told.rights_missing();
        if missing == self.rights {
            return;
        }
        if !missing.is_empty() {
            let rights = missing.iter().map(|(right, on)| format!("{right} on {on}"));
            let rights = rights.collect::<Vec<_>>().join(", ");
            tracing::info!(
                group,
                rights,
                "settings that may not be read; checks that need them stay undecided",
            );
        }
        self.rights = missing;
    }

    /// No answer came.
    pub(super) fn failed(&mut self, group: &str, error: AskError) {
        if self.error.as_ref() == Some(&error) {
            tracing::debug!(group, %error, "settings of brokers and topics are still not read");
            return;
        }
        tracing::info!(
            group,
            %error,
            "settings of brokers and topics are not read; checks that need them stay undecided",
        );
        self.error = Some(error);
    }
}
