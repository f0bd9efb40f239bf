//! The broker goes away and comes back, sidecars start in between, one watches a group
//! that does not exist: each says what it sees, none counts anything twice.

use std::time::Duration;

use anyhow::ensure;

use super::compare::Expected;
use super::stage::Stage;
use crate::spec::ClusterSpec;
use crate::truth::Comparison;
use crate::wait::wait_until;

const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};

/// Group series are withdrawn 30 s after an input stops being confirmed current; asking
/// goes on every 10 s.
const WITHDRAWN_MAX: Duration = Duration::from_secs(60);
/// A generation without any status is settled after two rebalance timeouts of 20 s.
const COUNTED_MAX: Duration = Duration::from_secs(80);
const BACK_MAX: Duration = Duration::from_secs(60);

const GENERATION: &str = r#"evenkeel_generation{group="connect"}"#;

/// One worker is enough. Its rebalance timeout is what the verdict on a quiet generation
/// waits for, twice.
pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = ClusterSpec::of(1);
    for worker in spec.groups.iter_mut().flat_map(|group| &mut group.workers) {
        let settings = &mut worker.settings;
        settings.insert("rebalance.timeout.ms".to_owned(), "20000".to_owned());
    }
    Ok(spec)
}

pub(super) fn outage(stage: &mut Stage) -> anyhow::Result<()> {
    stage.cluster.start_processes(&["worker-1"])?;
    stage.rest("a worker starts", NOTHING)?;
    stage.add_agent_of("wrong", "nobody")?;
    wait_until(
        "the sidecar of a group that does not exist",
        BACK_MAX,
        || {
            let state = stage.agent("wrong")?.state()?;
            ensure!(state["current"] == true, "not current");
            ensure!(state["group"].is_null(), "a group is told");
            ensure!(
                state.pointer("/configured/connectors").is_some(),
                "topics are not read"
            );
            Ok(Some(()))
        },
    )?;
    stage.remove_agent("wrong")?;

    stage.cluster.stop("broker-1")?;
    stage.add_agent("early")?;
    let mut comparison = Comparison::new();
    wait_until("group series to be withdrawn", WITHDRAWN_MAX, || {
        let agent = stage.agent("first")?;
        ensure!(
            agent.series(GENERATION)?.is_none(),
            "the generation is still shown"
        );
        Ok(Some(()))
    })?;
    for name in ["first", "early"] {
        let agent = stage.agent(name)?;
        let blind = agent.series(r#"evenkeel_trust{group="connect"}"#)?;
        comparison.equal(&format!("{name}: trust"), &Some(0.0), &blind);
        comparison.equal(&format!("{name}: lives"), &200, &agent.status("/livez")?);
        let generation = agent.series(GENERATION)?;
        comparison.equal(&format!("{name}: generation"), &None, &generation);
    }

    stage.cluster.start_process("broker-1")?;
    wait_until("group series to come back", BACK_MAX, || {
        for name in ["first", "early"] {
            ensure!(
                stage.agent(name)?.series(GENERATION)?.is_some(),
                "{name} is blind"
            );
        }
        Ok(Some(()))
    })?;
    let truth = stage.rest("the broker is back", NOTHING)?;
    let generations = truth.generations.len();
    // The newest is counted once it is settled, all others once each.
    let counted = wait_until("all generations to be counted", COUNTED_MAX, || {
        let text = stage.agent("first")?.metrics()?;
        let sum: f64 = text
            .lines()
            .filter(|line| line.starts_with("evenkeel_generations_total{"))
            .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
            .sum();
        ensure!(
            sum as usize >= generations,
            "{sum} counted, {generations} happened"
        );
        Ok(Some(sum as usize))
    })?;
    comparison.equal("generations counted", &generations, &counted);
    stage.count(comparison)
}
