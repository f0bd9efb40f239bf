//! A config topic that is not the group's: the barrier never waits for what never comes, and a
//! finding says why.

use evenkeel_core::engine::Engine;
use evenkeel_core::facts::input::{InputKind, Start, Topic};

use crate::barrier::{ends, feed, input};
use crate::dsl::{check, run};

/// Another cluster's config topic: the group names an offset that never comes.
#[test]
fn another_clusters_config_topic() {
    check(
        "0.0 config connector other
         0.1 ends
         1.0 group 4 sessioned a off=305 | a: claim=foo
         1.1 ends
         1.2 show",
        "incarnation 1 from generation 4
         stable 4 sessioned led by a
         a owns foo
         unassigned other new since 0 of -
         counted
         finding config_offset_beyond_end configs",
    );
}

/// Rounds that follow faster than the end of the topic is known say it together, also where the
/// group was read before the topic.
#[test]
fn another_clusters_config_topic_in_a_loop() {
    let mut engine = Engine::new();
    feed(
        &mut engine,
        "0.0 config connector other
         0.1 ends
         0.5 group 3 sessioned a off=1 | a: claim=foo
         1.0 group 4 sessioned a off=305 | a: claim=foo
         1.8 group 5 sessioned a off=305 | a: claim=foo",
    );
    let found = |engine: &Engine| {
        let findings = engine.answers().findings;
        (findings.iter()).any(|one| one.finding == "config_offset_beyond_end")
    };
    engine.apply(&ends(Topic::Config, 900, 1_850, &[(0, 1)]));
    assert!(!found(&engine), "asked before the first");
    engine.apply(&ends(Topic::Config, 1_200, 1_900, &[(0, 1)]));
    assert!(found(&engine));
}

/// The finding goes when the offset comes.
#[test]
fn config_offset_that_comes_later_is_no_finding() {
    let text = run("0.0 ends
         1.0 group 4 sessioned a off=2 | a: claim=none
         1.05 show
         1.1 config connector foo
         1.2 config commit foo 1
         1.3 ends
         1.4 show");
    assert!(!text.contains("config_offset_beyond_end"), "{text}");
}

/// Three partitions: the finding names the topic, and no verdict waits for ever.
#[test]
fn config_topic_with_three_partitions() {
    let mut engine = Engine::new();
    feed(&mut engine, "0.0 ends");
    let mut settings = engine.answers().settings;
    settings.config_partitions = 3;
    engine.apply(&input(10, InputKind::Settings(settings)));
    for partition in [1, 2] {
        let start = Start {
            topic: Topic::Config,
            partition,
            offset: 0,
            end: 0,
            anew: false,
        };
        engine.apply(&input(10, InputKind::Start(start)));
    }
    engine.apply(&ends(Topic::Config, 20, 30, &[(0, 0), (1, 0), (2, 0)]));
    let findings = engine.answers().findings;
    assert!(
        findings
            .iter()
            .any(|f| f.finding == "config_partitions" && f.subject == "configs")
    );
}
