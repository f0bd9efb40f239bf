//! Credentials that are wrong and rights that are missing: evenkeel says which, stays up,
//! shows no secret, and sees again when they are put right, without a restart.

mod beside;

use std::time::Duration;

use anyhow::{Context, ensure};

use super::agent::{Agent, Reason};
use super::compare::Expected;
use super::stage::Stage;
use crate::format::random_id;
use crate::group::Group;
use crate::properties::{Properties, put};
use crate::security::{AGENT_USER, Access, Resource, Right, Security};
use crate::spec::{BrokerSpec, ClusterSpec, GroupSpec, WorkerSpec};
use crate::truth::Comparison;
use crate::wait::wait_until;

const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};

/// A client tries all brokers with a growing pause before it is sure.
const TOLD_MAX: Duration = Duration::from_secs(40);
/// Asking goes on every 10 s, reading begins again with a new client.
const SEEN_MAX: Duration = Duration::from_secs(60);

/// What must never leave evenkeel, beside passwords: how a private key begins.
pub(super) const KEY_TEXT: &str = "PRIVATE KEY-----";

pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let worker = WorkerSpec {
        access: Access::Scram512,
        ..WorkerSpec::default()
    };
    Ok(ClusterSpec {
        brokers: BrokerSpec {
            security: Some(Security::new()?),
            ..BrokerSpec::default()
        },
        groups: vec![GroupSpec::new("connect", vec![worker])],
        jmx: false,
    })
}

pub(super) fn secured(stage: &mut Stage) -> anyhow::Result<()> {
    stage.cluster.start_processes(&["worker-1"])?;
    stage.rest("a worker starts", NOTHING)?;
    let mut comparison = Comparison::new();
    credentials(stage, &mut comparison)?;
    if stage.whole {
        beside::worker_files(stage, &mut comparison)?;
    }
    let agent = rights(stage, &mut comparison)?;
    stage.count(comparison)?;
    stage.adopt(agent);
    stage.rest("all rights are there", NOTHING)?;
    Ok(())
}

/// Credentials that no broker takes, each with the file that has them.
fn credentials(stage: &mut Stage, comparison: &mut Comparison) -> anyhow::Result<()> {
    let certificates = stage.cluster.certificates()?;
    let canary = format!("canary-{}", random_id()?);
    let file = |name: &str| certificates.file(name).display().to_string();
    let certificate = |name: &str| {
        [
            ("ssl.certificate.location", file(&format!("{name}.pem"))),
            ("ssl.key.location", file(&format!("{name}.key"))),
        ]
    };
    let password = [("sasl.password", canary.clone())];
    let cases = [
        ("wrong-scram", Access::Scram512, password.to_vec()),
        ("wrong-plain", Access::Plain, password.to_vec()),
        (
            "expired",
            Access::MtlsPem,
            certificate("evenkeel-expired").to_vec(),
        ),
        (
            "stranger",
            Access::MtlsPem,
            certificate("evenkeel-stranger").to_vec(),
        ),
        (
            "wrong-authority",
            Access::Scram512,
            vec![("ssl.ca.location", file("other-ca.pem"))],
        ),
        (
            "wrong-authority-mtls",
            Access::Mtls,
            vec![("ssl.ca.location", file("other-ca.pem"))],
        ),
    ];
    let secrets = [
        canary.clone(),
        stage.cluster.user(AGENT_USER)?.password.clone(),
        certificates.password().to_owned(),
        KEY_TEXT.to_owned(),
    ];
    let agents = cases
        .into_iter()
        .map(|(name, access, settings)| {
            let mut properties = Properties::new();
            put(&mut properties, settings);
            let group_id = stage.group_id().to_owned();
            let file = stage
                .cluster
                .agent_file((name, &group_id), access, &properties)?;
            stage.agent_with_file(name, &file)
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    for agent in &agents {
        let name = agent.name();
        wait_until(&format!("{name} to be told apart"), TOLD_MAX, || {
            let reasons = agent.reasons()?;
            let told = reasons.iter().any(|r| r.reason == "unauthenticated");
            ensure!(told, "{reasons:?}");
            Ok(Some(()))
        })?;
        quiet(agent, &secrets, comparison)?;
    }
    eprintln!("  {} wrong credentials are named", agents.len());

    // What was wrong becomes right, as after a rotation that took its time: the broker takes
    // the password, and the certificate is renewed in its place.
    stage.cluster.set_password(AGENT_USER, &canary)?;
    certificates.replace("evenkeel-expired", "evenkeel-next")?;
    for name in ["wrong-scram", "expired"] {
        let agent = agents.iter().find(|agent| agent.name() == name);
        let agent = agent.context("started above")?;
        // It may not read anything yet, but it is let in.
        wait_until(&format!("{name} to be let in"), SEEN_MAX, || {
            let reasons = agent.reasons()?;
            let denied = reasons.iter().all(|reason| reason.reason == "denied");
            ensure!(denied && !reasons.is_empty(), "{reasons:?}");
            Ok(Some(()))
        })?;
    }
    eprintln!("  a password and a certificate were put right");
    let old = stage.cluster.user(AGENT_USER)?.password.clone();
    stage.cluster.set_password(AGENT_USER, &old)?;
    for agent in agents {
        agent.stop()?;
    }
    Ok(())
}

/// It lives, and no secret is in anything it shows.
pub(super) fn quiet(
    agent: &Agent,
    secrets: &[String],
    comparison: &mut Comparison,
) -> anyhow::Result<()> {
    let name = agent.name();
    comparison.equal(&format!("{name}: runs"), &true, &agent.runs());
    comparison.equal(&format!("{name}: lives"), &200, &agent.status("/livez")?);
    let mut shown = vec![("log".to_owned(), agent.printed()?)];
    for path in [
        "/metrics",
        "/readyz",
        "/",
        "/api/v1/state",
        "/api/v1/episodes",
        "/api/v1/checks",
    ] {
        shown.push((path.to_owned(), agent.get(path)?.body));
    }
    for (place, text) in shown {
        // Something was said, or its silence proves nothing.
        ensure!(!text.is_empty(), "{name}: {place} is empty");
        let leaked = secrets.iter().any(|secret| text.contains(secret));
        comparison.equal(&format!("{name}: secret in {place}"), &false, &leaked);
    }
    Ok(())
}

/// Exactly the rights that it asks for, then without each in turn.
fn rights(stage: &mut Stage, comparison: &mut Comparison) -> anyhow::Result<Agent> {
    let group_id = stage.group_id().to_owned();
    let group = stage.cluster.groups().iter();
    let group: Group = group
        .clone()
        .find(|group| group.group_id == group_id)
        .context("the group that is played")?
        .clone();
    let file = stage.cluster.agent_file(
        ("restricted", &group_id),
        Access::Scram512,
        &Properties::new(),
    )?;
    let agent = stage.agent_with_file("restricted", &file)?;
    let all = Right::of_observer(AGENT_USER, &group);
    let lost = |resource: &Resource| -> Vec<Right> {
        let of = |right: &&Right| right.resource == *resource;
        all.iter().filter(of).cloned().collect()
    };
    wait_until("nothing to be allowed", TOLD_MAX, || {
        let reasons = agent.reasons()?;
        let denied = reasons.iter().filter(|reason| reason.reason == "denied");
        ensure!(denied.count() >= 3, "{reasons:?}");
        Ok(Some(()))
    })?;
    stage.cluster.grant(&all)?;
    seen(&agent, "everything is granted")?;

    // What is lost, the words that name it, and what can still be seen without it.
    let both: &[&str] = &["READ", "DESCRIBE"];
    let topic = |name: &str| Resource::Topic(name.to_owned());
    let losses = [
        (topic("__consumer_offsets"), both, "no_offsets_topic"),
        (Resource::Group(group_id.clone()), &["DESCRIBE"], "no_polls"),
        (topic(&group.config_topic), both, "full"),
        (topic(&group.status_topic), both, "full"),
    ];
    // A short pass takes the two that everything is seen by.
    let tried = if stage.whole { losses.len() } else { 2 };
    for (resource, words, mode) in losses.into_iter().take(tried) {
        let (Resource::Topic(name) | Resource::Group(name)) = &resource else {
            continue;
        };
        stage.cluster.revoke(&lost(&resource))?;
        let reason = denied(&agent, name)?;
        for word in words.iter().chain(&[AGENT_USER]) {
            let what = format!("{name}: {word} named in {:?}", reason.text);
            comparison.equal(&what, &true, &reason.text.contains(word));
        }
        let told = wait_until(&format!("{name}: mode {mode}"), SEEN_MAX, || {
            let told = agent.mode()?;
            ensure!(told == mode, "{told}");
            Ok(Some(told))
        })?;
        comparison.equal(&format!("{name}: mode"), &mode.to_owned(), &told);
        comparison.equal(&format!("{name}: status"), &200, &agent.status("/readyz")?);
        stage.cluster.grant(&lost(&resource))?;
        seen(&agent, name)?;
        eprintln!("  {resource}: taken away, named, given back, seen");
    }
    Ok(agent)
}

/// Waits until the loss of a topic or group is named.
fn denied(agent: &Agent, name: &str) -> anyhow::Result<Reason> {
    wait_until(&format!("{name} to be denied"), SEEN_MAX, || {
        let reasons = agent.reasons()?;
        let found = reasons
            .iter()
            .find(|reason| reason.reason == "denied" && reason.text.contains(name));
        found
            .cloned()
            .map(Some)
            .with_context(|| format!("{reasons:?}"))
    })
}

/// Waits until nothing is wrong.
pub(super) fn seen(agent: &Agent, what: &str) -> anyhow::Result<()> {
    wait_until(&format!("{what}: nothing to be wrong"), SEEN_MAX, || {
        let (state, reasons) = (agent.state()?, agent.reasons()?);
        let well = state["current"] == true && reasons.is_empty();
        ensure!(well, "{reasons:?}");
        Ok(Some(()))
    })
}
