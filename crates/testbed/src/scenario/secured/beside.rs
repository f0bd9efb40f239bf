//! Sidecars that know no more than the worker's own properties file.

use std::time::Duration;

use anyhow::{Context, ensure};

use super::super::stage::Stage;
use super::{quiet, seen};
use crate::security::{Access, Resource, Right, WORKER_USER};
use crate::spec::WorkerSpec;
use crate::truth::Comparison;
use crate::wait::wait_until;

const REFUSED_MAX: Duration = Duration::from_secs(10);
/// `EX_CONFIG`: the configuration is wrong.
const WRONG_CONFIGURATION: i32 = 78;

/// For each form of access a worker's file, and a sidecar that comes in with it. The workers
/// themselves need not run.
pub(super) fn worker_files(stage: &mut Stage, comparison: &mut Comparison) -> anyhow::Result<()> {
    let group_id = stage.group_id().to_owned();
    // The one topic that a worker itself has no use for.
    let topic = Resource::Topic("__consumer_offsets".to_owned());
    let right = [Right::of(WORKER_USER, "READ", topic)];
    stage.cluster.grant(&right)?;
    let secrets = [
        stage.cluster.user(WORKER_USER)?.password.clone(),
        stage.cluster.certificates()?.password().to_owned(),
        super::KEY_TEXT.to_owned(),
    ];
    let mut agents = Vec::new();
    let mut refused = None;
    for access in Access::ALL {
        let spec = WorkerSpec {
            access,
            ..WorkerSpec::default()
        };
        let worker = stage.cluster.add_worker(&group_id, &spec)?;
        let file = stage.cluster.worker(&worker)?.properties_file();
        let agent = stage.agent_beside(&format!("beside-{access}"), &file)?;
        if access == Access::Scram256 {
            refused = Some(agent);
        } else {
            agents.push(agent);
        }
    }
    for agent in agents {
        seen(&agent, agent.name())?;
        quiet(&agent, &secrets, comparison)?;
        agent.stop()?;
    }
    // A JKS store is Java's own; which property names it must be said.
    let mut refused = refused.context("started above")?;
    let name = refused.name().to_owned();
    let code = wait_until(&format!("{name} to end"), REFUSED_MAX, || refused.ended())?;
    comparison.equal(&format!("{name}: exit"), &Some(WRONG_CONFIGURATION), &code);
    let printed = refused.printed()?;
    let named = printed.contains("ssl.truststore.location");
    ensure!(named, "{name} names no property: {printed}");
    let leaked = secrets.iter().any(|secret| printed.contains(secret));
    comparison.equal(&format!("{name}: secret in log"), &false, &leaked);
    stage.cluster.revoke(&right)?;
    eprintln!("  the workers' own files are enough");
    Ok(())
}
