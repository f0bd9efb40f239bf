//! The page at `/`: what this is, each group now, where to look further. One document
//! without scripts or anything from elsewhere, made anew for each request.

mod checks;
mod derived;
mod episodes;
mod group;
mod html;
mod time;
mod work;

use evenkeel_core::facts::time::ArrivalTime;

use crate::show::view::Published;
use html::{Html, text};

const STYLE: &str = include_str!("page/style.css");

/// Seconds after which a browser asks again: half of what a quick scrape takes.
const REFRESH_SECONDS: u32 = 5;

const LINKS: [(&str, &str); 5] = [
    ("/metrics", "metrics for Prometheus"),
    ("/api/v1/state", "everything that is known, as JSON"),
    ("/api/v1/checks", "whether the clocks agree, as JSON"),
    ("/readyz", "what the agent sees and what it is missing"),
    ("/livez", "whether the agent runs"),
];

/// The page.
pub(super) fn html(published: &Published, now: ArrivalTime) -> String {
    let mut out = Html::default();
    out.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    out.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    out.raw(&format!(
        "<meta http-equiv=\"refresh\" content=\"{REFRESH_SECONDS}\">"
    ));
    out.element("title", "", title(published));
    out.raw(&format!("<style>{STYLE}</style></head><body>"));
    head(&mut out, published);
    out.raw("<main>");
    if published.groups.is_empty() {
        out.element("p", "class=\"quiet\"", "No group is watched yet.");
    }
    for answers in &published.groups {
        group::write(&mut out, answers, &published.agent, now);
    }
    out.raw("</main>");
    foot(&mut out, published, now);
    out.raw("</body></html>\n");
    out.finish()
}

fn title(published: &Published) -> String {
    let names = published
        .groups
        .iter()
        .map(|answers| answers.settings.group.as_str());
    let names: Vec<_> = names.collect();
    format!("{} · evenkeel", names.join(", "))
}

fn head(out: &mut Html, published: &Published) {
    out.raw("<header>");
    out.element("h1", "", "evenkeel");
    out.element(
        "p",
        "",
        "Watches the rebalances of Kafka Connect by what the cluster writes down, and changes nothing.",
    );
    let version = format!("version {}", published.agent.build.version);
    out.element("span", "class=\"quiet\"", version);
    out.raw("</header>");
}

fn foot(out: &mut Html, published: &Published, now: ArrivalTime) {
    out.raw("<footer><nav>");
    for (path, what) in LINKS {
        out.raw(&format!(
            "<a href=\"{path}\"><b>{path}</b> {}</a>",
            text(what)
        ));
    }
    out.raw("</nav>");
    let started = published.agent.started.map(|started| {
        format!(
            ", the agent runs for {}",
            crate::show::spans::span(now.since_ms(started))
        )
    });
    let shown = format!(
        "As of {} UTC{}.",
        time::instant(now.0),
        started.unwrap_or_default()
    );
    out.element("p", "class=\"quiet\"", shown);
    out.raw("</footer>");
}

#[cfg(test)]
mod tests;
