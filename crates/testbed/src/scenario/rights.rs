//! The rights that the documentation names, given by the commands that it shows: all is seen.
//! Then each is taken away: what is lost is named, and seen again when it is given back.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::agent::Agent;
use super::checking::check_live;
use super::compare::Expected;
use super::membership::{connector, nothing_unassigned, owned};
use super::secured::seen;
use super::stage::Stage;
use crate::properties::Properties;
use crate::security::{AGENT_USER, Access, Resource, Right};
use crate::truth::Comparison;
use crate::wait::wait_until;

const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};

/// Where the commands stand.
const GUIDE: &str = include_str!("../../../../docs/security.md");
const SECTION: &str = "## Rights in Kafka";

const TRUST: &str = r#"evenkeel_trust{group="connect"}"#;
/// A client that was refused asks again every 10 s.
const TOLD_MAX: Duration = Duration::from_secs(60);
/// Two more attempts to read.
const STAYS: Duration = Duration::from_secs(22);

pub(super) fn rights(stage: &mut Stage) -> anyhow::Result<()> {
    stage.cluster.start_processes(&["worker-1"])?;
    connector(stage, "alpha", 2)?;
    stage.await_truth("a worker with a connector", NOTHING, |truth| {
        owned(truth) == 3 && nothing_unassigned(truth)
    })?;
    let group_id = stage.group_id().to_owned();
    let access = (Access::Scram512, Properties::new());
    let file = stage
        .cluster
        .agent_file(("restricted", &group_id), access.0, &access.1)?;
    let agent = stage.agent_with_file("restricted", &file)?;
    let mut comparison = Comparison::new();
    let what = "all that is denied";
    wait_until(what, TOLD_MAX, || {
        let reasons = agent.reasons()?;
        let denied = reasons.iter().filter(|reason| reason.reason == "denied");
        ensure!(denied.count() >= 3, "{reasons:?}");
        Ok(Some(()))
    })?;
    comparison.equal(
        "without any right: mode",
        &"blind".to_owned(),
        &agent.mode()?,
    );

    let commands = commands(GUIDE);
    comparison.equal("commands in the guide", &2, &commands.len());
    for command in &commands {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let words = words
            .strip_prefix(&["kafka-acls.sh"])
            .context("no kafka-acls.sh")?;
        stage.cluster.acls(words)?;
    }
    let user = format!("User:{AGENT_USER}");
    let list = [
        "--bootstrap-server",
        "BROKER:9092",
        "--list",
        "--principal",
        &user,
    ];
    let listed = stage.cluster.acls(&list)?;
    let granted = listed.matches(&format!("principal={user}")).count();
    comparison.equal(&format!("rights in {listed}"), &4, &granted);
    trusted(&agent, "the rights of the guide", &mut comparison)?;

    let groups = stage.cluster.groups();
    let group = groups.first().context("the group that is played")?.clone();
    let topic = |name: &str| Resource::Topic(name.to_owned());
    let right = |operation: &str, resource: Resource| Right::of(AGENT_USER, operation, resource);
    let offsets = right("READ", topic("__consumer_offsets"));
    let config = right("READ", topic(&group.config_topic));
    let status = right("READ", topic(&group.status_topic));
    let polls = right("DESCRIBE", Resource::Group(group_id));
    let all = [&offsets, &config, &status, &polls].map(Clone::clone);
    let cases: [(&[&Right], &str); 6] = [
        (&[&offsets], "no_offsets_topic"),
        (&[&polls], "no_polls"),
        (&[&config], "full"),
        (&[&status], "full"),
        (&[&offsets, &polls], "topics_only"),
        (&[&offsets, &polls, &config, &status], "blind"),
    ];
    checked(stage, &file, &group.config_topic, &mut comparison)?;
    for (lost, mode) in cases {
        let lost: Vec<Right> = lost.iter().map(|right| (*right).clone()).collect();
        stage.cluster.revoke(&lost)?;
        told(&agent, &lost, mode, &mut comparison)?;
        if lost == [config.clone()] {
            let (report, code) = check_live(stage, ["--config".as_ref(), file.as_os_str()])?;
            let troubles = report["live"][0]["troubles"].to_string();
            let is_named = troubles.contains(&format!("{AGENT_USER} needs READ"));
            comparison.equal(
                "check --live names the right and who lacks it",
                &true,
                &is_named,
            );
            comparison.equal("check --live: a right is missing", &Some(1), &code);
        }
        // What is left while a single topic is hidden, DESCRIBE does not make up for.
        if let ([only], true) = (lost.as_slice(), lost.first() != Some(&polls)) {
            let describe = [right("DESCRIBE", only.resource.clone())];
            stage.cluster.grant(&describe)?;
            stays(&agent, &lost, mode)?;
            told(&agent, &lost, mode, &mut comparison)?;
            stage.cluster.revoke(&describe)?;
        }
        stage.cluster.grant(&lost)?;
        let what = format!("{}: given back", names(&lost));
        trusted(&agent, &what, &mut comparison)?;
    }
    // Given twice is given once: nothing else was left behind.
    let listed = stage.cluster.acls(&list)?;
    let granted = listed.matches(&format!("principal={user}")).count();
    comparison.equal("rights in the end", &all.len(), &granted);
    comparison.equal("runs since the start", &true, &agent.runs());
    stage.count(comparison)?;
    stage.adopt(agent);
    stage.rest("all rights are there", NOTHING)?;
    Ok(())
}

/// `check --live` with the four rights: nothing that it needs is missing. How brokers and topics
/// are set takes another right, which it names; with that it says more.
fn checked(
    stage: &Stage,
    file: &Path,
    config_topic: &str,
    comparison: &mut Comparison,
) -> anyhow::Result<()> {
    let right = |resource: Resource| Right::of(AGENT_USER, "DESCRIBE_CONFIGS", resource);
    let group = stage
        .cluster
        .groups()
        .first()
        .context("the group that is played")?;
    let topics = [
        &group.config_topic,
        &group.status_topic,
        "__consumer_offsets",
    ];
    let topics = topics.map(|name| right(Resource::Topic(name.to_owned())));
    let more = [&topics[..], &[right(Resource::Cluster)]].concat();
    for (granted, outcome) in [(false, "undecided"), (true, "passed")] {
        if granted {
            stage.cluster.grant(&more)?;
        }
        let (report, code) = check_live(stage, ["--config".as_ref(), file.as_os_str()])?;
        let live = &report["live"][0];
        let what = |what: &str| format!("check --live, DESCRIBE_CONFIGS {granted}: {what}");
        let none = Value::Array(Vec::new());
        comparison.equal(&what("troubles"), &none, &live["troubles"]);
        comparison.equal(&what("exit code"), &Some(0), &code);
        let lacks = format!("{AGENT_USER} lacks DESCRIBE_CONFIGS");
        let is_named = live["notes"].to_string().contains(&lacks);
        comparison.equal(&what("named"), &!granted, &is_named);
        let findings = report["findings"].as_array().context("no findings")?;
        let mut findings = findings.iter();
        let compacted = findings.find(|finding| {
            finding["check"] == "internal_topic_not_compacted" && finding["subject"] == config_topic
        });
        let told = compacted.map(|finding| finding["outcome"].clone());
        comparison.equal(&what("the config topic"), &Some(outcome.into()), &told);
    }
    stage.cluster.revoke(&more)
}

/// The commands of the section, each in words; lines that end in a backslash go on.
fn commands(guide: &str) -> Vec<Vec<String>> {
    let section = guide.split_once(SECTION).map_or("", |(_, rest)| rest);
    let block = section.split("```").nth(1).unwrap_or_default();
    let block = block.trim_start_matches("sh").replace("\\\n", " ");
    let lines = block.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect()
}

fn names(rights: &[Right]) -> String {
    let names = rights
        .iter()
        .map(|right| format!("{} {}", right.operation, right.resource));
    names.collect::<Vec<_>>().join(", ")
}

/// How a reason that misses a right begins.
fn name(right: &Right) -> String {
    match &right.resource {
        Resource::Topic(name) => format!("{name} may not be read"),
        Resource::Group(name) => format!("group {name} may not be described"),
        Resource::Cluster => "cluster".to_owned(),
    }
}

/// Everything is seen, and trusted.
fn trusted(agent: &Agent, what: &str, comparison: &mut Comparison) -> anyhow::Result<()> {
    let began = Instant::now();
    seen(agent, what)?;
    let after = began.elapsed();
    // Whoever is trusted has all modes behind him: there is no moment between.
    comparison.equal(&format!("{what}: mode"), &"full".to_owned(), &agent.mode()?);
    comparison.equal(&format!("{what}: trust"), &Some(1.0), &agent.series(TRUST)?);
    eprintln!("  {what}: seen after {after:?}");
    Ok(())
}

/// Each loss is named with who needs which right, and nothing else is; the mode says what is
/// left.
fn told(
    agent: &Agent,
    lost: &[Right],
    mode: &str,
    comparison: &mut Comparison,
) -> anyhow::Result<()> {
    let what = names(lost);
    let denied = || -> anyhow::Result<Vec<String>> {
        let reasons = agent.reasons()?.into_iter();
        let denied = reasons.filter(|reason| reason.reason == "denied");
        Ok(denied.map(|reason| reason.text).collect())
    };
    let expected = lost.len();
    wait_until(&format!("{what} to be missed"), TOLD_MAX, || {
        let (denied, now) = (denied()?, agent.mode()?);
        ensure!(denied.len() == expected && now == mode, "{now}: {denied:?}");
        Ok(Some(()))
    })?;
    let denied = denied()?;
    let named = lost.iter().filter(|right| {
        let words = [name(right), right.operation.clone(), AGENT_USER.to_owned()];
        denied
            .iter()
            .any(|text| words.iter().all(|word| text.contains(word)))
    });
    let missed = format!("{what}: named in {denied:?}");
    comparison.equal(&missed, &expected, &named.count());
    comparison.equal(&format!("{what}: mode"), &mode.to_owned(), &agent.mode()?);
    comparison.equal(&format!("{what}: trust"), &Some(0.0), &agent.series(TRUST)?);
    comparison.equal(&format!("{what}: lives"), &200, &agent.status("/livez")?);
    eprintln!("  {what}: missed, {mode}");
    Ok(())
}

/// Nothing is taken for readable that is not.
fn stays(agent: &Agent, lost: &[Right], mode: &str) -> anyhow::Result<()> {
    let end = Instant::now() + STAYS;
    while Instant::now() < end {
        let trust = agent.series(TRUST)?;
        let now = agent.mode()?;
        ensure!(
            trust == Some(0.0) && now == mode,
            "{}: {now}, trust {trust:?}",
            names(lost)
        );
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_go_on_after_a_backslash() {
        let guide =
            "## Other\n```sh\nno\n```\n## Rights in Kafka\ntext\n\n```sh\na b \\\n  c\nd\n```\n";
        assert_eq!(commands(guide), [vec!["a", "b", "c"], vec!["d"]]);
    }

    #[test]
    fn the_guide_has_them() {
        let commands = commands(GUIDE);
        assert!(commands.iter().all(|command| command[0] == "kafka-acls.sh"));
        assert_eq!(commands.len(), 2);
    }
}
