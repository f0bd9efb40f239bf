//! Scripts about what rebalances cost: tasks that do not stop or do not start, what people do
//! to connectors, upgrades, protocols that change, and groups that two clusters share.

use super::Scenario;

mod lifecycle;
mod neighbours;
mod protocols;
mod stops;
mod upgrades;

/// In the order in which they are recorded.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::recorded(
        "task_ignores_stop",
        "tasks go on stopping after their worker gave up: in a scale-out, and in their put",
        stops::task_ignores_stop,
        stops::two_impatient,
    ),
    Scenario::recorded(
        "task_fails_after_move",
        "tasks of a stopped worker fail where they are started next, and are restarted there",
        stops::task_fails_after_move,
        stops::three,
    ),
    Scenario::recorded(
        "connector_lifecycle",
        "a connector is paused, resumed and stopped; another is restarted in three ways",
        lifecycle::connector_lifecycle,
        stops::three,
    ),
    Scenario::recorded(
        "zombie_returns",
        "a worker thaws and goes on with what others run by now",
        stops::zombie_returns,
        stops::three,
    ),
    Scenario::recorded(
        "task_configs_same",
        "task configurations are asked for, and written, again and again, and stay the same",
        lifecycle::task_configs_same,
        stops::three,
    ),
    Scenario::recorded(
        "task_configs_changing",
        "a connector changes its task configurations on a timer",
        lifecycle::task_configs_changing,
        stops::three,
    ),
    Scenario::recorded(
        "flapping_worker",
        "a follower is killed and comes back within the delay, four times",
        super::departures::flapping,
        super::departures::returning_soon,
    ),
    Scenario::recorded(
        "rolling_upgrade",
        "six workers with thirty connectors are restarted back to back",
        upgrades::back_to_back,
        upgrades::six,
    ),
    Scenario::recorded(
        "rolling_upgrade_leader_last",
        "six workers are restarted back to back, the leader last",
        upgrades::leader_last,
        upgrades::six,
    ),
    Scenario::recorded(
        "rolling_upgrade_patient",
        "six workers are restarted, each when all is owned again, the leader last",
        upgrades::patient,
        upgrades::six,
    ),
    Scenario::recorded(
        "protocol_rolling",
        "worker by worker from eager to compatible to sessioned",
        protocols::rolling,
        protocols::eager,
    ),
    Scenario::recorded(
        "eager_latecomer",
        "an eager worker joins a cooperative group, and leaves it",
        protocols::eager_latecomer,
        stops::three,
    ),
    Scenario::recorded(
        "shared_group_two_clusters",
        "a worker with other topics joins the group of another cluster",
        neighbours::shared_group,
        neighbours::two,
    ),
    Scenario::recorded(
        "consecutive_revocations",
        "workers join one after the other while the ones before still get their share",
        upgrades::consecutive_revocations,
        upgrades::one,
    ),
];
