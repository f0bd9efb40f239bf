//! A sidecar that is killed in the middle of rebalances and started again: each trace comes as
//! another sidecar has it, or not at all.

use std::collections::BTreeMap;
use std::path::Path;

use evenkeel_testbed::scenario::{Agent, Demo};
use evenkeel_testbed::{Collector, Trace, wait_until};
use serde_json::json;

use super::beside::{
    ARRIVED_MAX, GENERATIONS, NEXT, PLAYED_MAX, TRACES, await_traces, sidecar_with,
};
use super::{capture, is_without_collector, program, text};

/// Generations after which it is killed: a member has left and its work is parked, and a member
/// has come.
const KILLED_AFTER: [i64; 2] = [2, 5];

#[test]
fn a_restart_in_the_middle_sends_the_same_trace_or_none() {
    if is_without_collector() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Demo::prepare().unwrap();
    let [whole, kept, bare] = [(); 3].map(|()| Collector::start().unwrap());
    let start = |demo: &Demo, name: &str, to: &Collector| -> Agent {
        let mut sections = json!({ "traces": { "endpoint": to.http_url(), "copies": "all" } });
        if name == "kept" {
            sections["state"] = json!({ "dir": state_of(folder.path()) });
        }
        sidecar_with(demo, folder.path(), (name, NEXT), &sections)
    };
    let unbroken = start(&demo, "unbroken", &whole);
    let mut killed = [("kept", &kept), ("bare", &bare)].map(|(name, to)| {
        let agent = start(&demo, name, to);
        (name, to, agent)
    });
    demo.play(&program(), &capture("kill_leader"), folder.path())
        .unwrap();
    for generation in KILLED_AFTER {
        demo.await_generation(generation, PLAYED_MAX).unwrap();
        killed = killed.map(|(name, to, agent)| {
            agent.kill().unwrap();
            (name, to, start(&demo, name, to))
        });
    }
    demo.await_generation(GENERATIONS, PLAYED_MAX).unwrap();
    let told: BTreeMap<String, Trace> = await_traces(&whole, TRACES)
        .into_iter()
        .map(|trace| (trace.id.clone(), trace))
        .collect();
    for (name, to, agent) in killed {
        // The last one comes from the third process.
        let traces = wait_until(&format!("the last trace of {name}"), ARRIVED_MAX, || {
            let traces = Trace::all(&Trace::once(&to.spans()?)?)?;
            let last = traces.last();
            let is_last = last.is_some_and(|of| text(&of.root, "evenkeel.cause") == "worker_lost");
            Ok(is_last.then_some(traces))
        })
        .unwrap();
        println!("{name}: {} of {TRACES} traces", traces.len());
        assert!(traces.len() >= 2, "{name}: {} traces", traces.len());
        for trace in traces {
            let same = told.get(&trace.id).unwrap_or_else(|| {
                panic!("{name} sent another trace:\n{}", trace.show());
            });
            assert_eq!(shape(&trace), shape(same), "{name}");
            assert_eq!(trace.root.end_ns, same.root.end_ns, "{name}");
        }
        agent.stop().unwrap();
    }
    unbroken.stop().unwrap();
}

fn state_of(folder: &Path) -> std::path::PathBuf {
    let state = folder.join("state");
    std::fs::create_dir_all(&state).unwrap();
    state
}

/// All but the instants that polls and arrivals narrow.
fn shape(trace: &Trace) -> Vec<(String, String, Option<String>)> {
    let spans = trace.spans();
    let mut shape: Vec<_> = spans
        .map(|span| (span.span_id.clone(), span.name.clone(), span.parent.clone()))
        .collect();
    shape.sort();
    shape
}
