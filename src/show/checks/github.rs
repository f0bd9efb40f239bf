//! Findings as workflow commands, which GitHub shows beside the lines of a pull request.

use evenkeel_core::checks::Severity;

use super::{Report, fired, line, places};

/// One command a finding.
#[must_use]
pub fn github(report: &Report) -> String {
    let mut out = String::new();
    for live in &report.live {
        for (command, texts) in [("error", &live.troubles), ("notice", &live.notes)] {
            for text in texts {
                let group = property(&live.group);
                out.push_str(&format!(
                    "::{command} title=group {group}::{}\n",
                    data(text)
                ));
            }
        }
    }
    for finding in fired(report) {
        let command = match finding.check.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let mut properties = Vec::new();
        if let Some((file, line)) = places(report, finding).first() {
            properties.push(format!("file={}", property(file)));
            properties.extend(line.map(|line| format!("line={line}")));
        }
        properties.push(format!("title={}", property(finding.check.id)));
        out.push_str(&format!(
            "::{command} {}::{}\n",
            properties.join(","),
            data(&line(finding))
        ));
    }
    out
}

/// What would end the message, or be taken for an escape.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// As in messages, and what parts properties.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
