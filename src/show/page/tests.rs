//! The page says what the answers say, and nothing in them can break it.

use std::sync::Arc;

use evenkeel_core::answers::Answers;

use super::*;
use crate::show::sample::{NOW, calm, incident, member, published};

fn page(groups: Vec<Answers>) -> String {
    html(&published(groups), NOW)
}

#[test]
fn an_incident_on_the_page() {
    let page = page(vec![incident()]);
    for expected in [
        "<title>connect-orders · evenkeel</title>",
        "<h2>connect-orders</h2><span class=\"badge good\">stable</span><span class=\"badge warn\">flapping</span><span class=\"badge warn\">4 without an owner</span>",
        "<dt>generation</dt><dd>8</dd>",
        "<dt>last rebalance</dt><dd>9 s ago</dd>",
        "<dt>pattern</dt><dd>flapping</dd>",
        "<dt>clocks</dt><dd>2 warning</dd>",
        "connect-orders: session.timeout.ms differs from worker to worker. How soon a dead worker is missed depends on which one died.",
        "<dt>above the best split</dt><dd>0 connectors · 1 tasks</dd>",
        "Pattern flapping: worker-d:8083 left 3 times in the last 30 minutes: crashed, crashed, crashed.",
        "<dt>leader</dt><dd>worker-a:8083</dd>",
        "Without an owner: 4",
        "The scheduled delay ends in 4 min 50 s (2023-11-14 22:19:50 UTC). Reason: lost.",
        "<td>payments</td><td>connector, task 0</td><td>lost</td><td>9 s</td><td>worker-d:8083</td>",
        "<td>audit &quot;eu&quot;</td><td>task 0</td><td>new</td>",
        "worker-a:8083 <span class=\"badge\">leader</span></td><td>1</td><td>1</td><td>10 s</td><td>1 min</td><td>10.0.0.7</td><td>57</td>",
        "<td>open</td>",
        "<td>worker_lost worker-d:8083</td><td>it wrote nothing, and left 3 behind as running: it died, or nothing heeded its stop</td><td>8</td><td>at least 30 ms</td><td>9.8 s</td><td>worker-d:8083 crashed?</td><td>3: 3 without an owner</td><td>parked</td>",
        "connect-configs: a worker that starts now sees fewer tasks",
        "href=\"/metrics\"",
    ] {
        assert!(page.contains(expected), "{expected} is not in\n{page}");
    }
    assert!(
        !page.contains("reasons\""),
        "nothing is wrong with the inputs"
    );
    assert!(!page.contains("6c4c2b4e"), "member ids stay in the API");
}

#[test]
fn nothing_comes_from_elsewhere() {
    let page = page(vec![incident()]);
    for foreign in [
        "<script", "http://", "https://", "src=", "@import", "url(", "<link",
    ] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn names_are_shown_not_executed() {
    let mut answers = calm(vec![member("<script>alert(1)</script>", &[])]);
    answers.settings.group = "<b>\"'&".to_owned();
    answers.findings = incident().findings;
    answers.findings[0].text = "</ul><script>".to_owned();
    let page = page(vec![answers]);
    assert!(
        !page.contains("<script") && !page.contains("<b>\""),
        "{page}"
    );
    assert!(page.contains("&lt;b&gt;&quot;&#39;&amp;"));
}

#[test]
fn what_is_not_current_says_so_first() {
    let late = html(&published(vec![incident()]), NOW.plus_ms(60_000));
    assert!(
        late.contains("<span class=\"badge bad\">not current</span>"),
        "{late}"
    );
    assert!(
        late.contains("connect-status was last confirmed current 64 s ago"),
        "{late}"
    );
    assert!(
        late.contains("what is below was true when it was last read"),
        "{late}"
    );
    assert!(late.contains("<dt>generation</dt><dd>8</dd>"));
}

#[test]
fn before_anything_is_known() {
    let mut answers = Answers::default();
    answers.settings.group = "connect-orders".to_owned();
    let mut published = published(vec![answers]);
    published.agent.inputs[0].start_up.as_mut().unwrap().done = 300;
    published.agent.inputs[0].start_up.as_mut().unwrap().rate = Some(100.0);
    let page = html(&published, NOW);
    assert!(
        page.contains("<td>offsets</td><td>1200</td><td>25 %</td><td>9 s</td>"),
        "{page}"
    );
    assert!(html(&Published::default(), NOW).contains("No group is watched yet."));
}

#[test]
fn long_tables_are_cut() {
    let members = (0..150).map(|index| member(&format!("worker-{index:03}:8083"), &[]));
    let mut answers = calm(members.collect());
    answers.unassigned = Some(
        (0..30)
            .map(|task| {
                let mut each = incident().without_owner()[1].clone();
                each.item.task = Some(task);
                each.item.connector = Arc::from("wide");
                each
            })
            .collect(),
    );
    let page = page(vec![answers]);
    assert!(page.contains("worker-099:8083") && !page.contains("worker-100:8083"));
    assert!(page.contains("… and 50 more, all of them in /api/v1/state."));
    assert!(
        page.contains("tasks 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 18 more"),
        "{page}"
    );
}
