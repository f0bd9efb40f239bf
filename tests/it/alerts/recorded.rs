//! Which recording raises which alert, which raises none that wakes anybody, and which alerts no
//! recording can raise.

/// The delay of the scenarios, in parts of the five minutes that people have.
const AS_THE_DELAY: &str = "0.066";

/// Rounds take as long in a scenario as anywhere else: what outlasts them is scaled less.
pub(super) const AS_THE_ROUNDS: &str = "0.2";

/// So short that everything that is ever so is told.
const AT_ONCE: &str = "0.0033";

/// What is done to healthy clusters every day.
pub(super) const EVERYDAY: [&str; 14] = [
    "rolling_upgrade",
    "rolling_upgrade_leader_last",
    "rolling_upgrade_patient",
    "rollout",
    "scale_out",
    "cold_start",
    "kill_back_inside",
    "kill_back_early",
    "kill_never",
    "stop_follower",
    "stop_leader",
    "connector_changes",
    "connector_lifecycle",
    "coordinator_moved",
];

/// An alert, a recording that raises it, with what arguments, and whether it is over when the
/// recording is.
pub(super) type Raised = (&'static str, &'static str, &'static [&'static str], bool);

pub(super) const RAISED: &[Raised] = &[
    // No leader that was recorded is late with it: the margin is taken away.
    (
        "EvenkeelWorkLost",
        "kill_never",
        &["--set", "lost_margin=0s"],
        true,
    ),
    (
        "EvenkeelWorkUnscheduled",
        "consecutive_revocations",
        &["--time-scale", AS_THE_DELAY],
        true,
    ),
    (
        "EvenkeelWorkNeverAssigned",
        "connector_changes-3.4.1-2.5.1",
        &["--time-scale", AT_ONCE],
        true,
    ),
    (
        "EvenkeelMostWorkUnassigned",
        "coordinator_away_follower",
        &["--time-scale", AS_THE_DELAY],
        true,
    ),
    (
        "EvenkeelGroupEmpty",
        "all_restarted",
        &["--time-scale", AS_THE_DELAY],
        true,
    ),
    (
        "EvenkeelGroupUnseen",
        "outage",
        &["--time-scale", AT_ONCE],
        true,
    ),
    (
        "EvenkeelRebalanceLong",
        "herder_blocked",
        &["--time-scale", AS_THE_DELAY],
        true,
    ),
    // Nobody records a restless hour: a minute has to do.
    (
        "EvenkeelRebalanceRateHigh",
        "flapping_worker",
        &["--set", "rate_for=1m"],
        false,
    ),
    (
        "EvenkeelRebalanceLoop",
        "config_mismatch",
        &["--time-scale", AS_THE_ROUNDS],
        true,
    ),
    (
        "EvenkeelRebalanceStorm",
        "task_configs_storm",
        &["--time-scale", AS_THE_ROUNDS],
        false,
    ),
    ("EvenkeelWorkerFlapping", "flapping_worker", &[], false),
    (
        "EvenkeelProtocolFallback",
        "eager_latecomer",
        &["--time-scale", AT_ONCE],
        true,
    ),
    (
        "EvenkeelAvailabilityBurn",
        "flapping_worker",
        &["--time-scale", AS_THE_DELAY],
        true,
    ),
    (
        "EvenkeelConnectorFailed",
        "membership-4.4.0-2.5.1",
        &["--time-scale", AS_THE_DELAY],
        false,
    ),
    (
        "EvenkeelTaskFailed",
        "eager_latecomer",
        &["--time-scale", AS_THE_DELAY],
        true,
    ),
    (
        "EvenkeelConnectorChurning",
        "task_configs_changing",
        &["--time-scale", AS_THE_DELAY],
        false,
    ),
    (
        "EvenkeelConnectorWithoutTasks",
        "group_expired",
        &["--time-scale", AT_ONCE],
        true,
    ),
    (
        "EvenkeelRestartingStuck",
        "restart_hangs",
        &["--time-scale", AS_THE_DELAY],
        true,
    ),
    (
        "EvenkeelOrphanedWork",
        "task_ignores_stop",
        &["--time-scale", AS_THE_DELAY],
        false,
    ),
    (
        "EvenkeelStatusDisagrees",
        "zombie_returns",
        &["--time-scale", AT_ONCE],
        true,
    ),
    (
        "EvenkeelDuplicateWork",
        "zombie_returns",
        &["--set", "duplicate_for=0s"],
        true,
    ),
    (
        "EvenkeelTimeoutsInconsistent",
        "herder_blocked",
        &["--time-scale", AT_ONCE],
        false,
    ),
    (
        "EvenkeelAssignmentImbalanced",
        "group_expired-3.4.1-2.5.1",
        &["--time-scale", AT_ONCE],
        true,
    ),
    (
        "EvenkeelNoHeadroom",
        "kill_two",
        &["--time-scale", AT_ONCE],
        false,
    ),
    // Whoever begins to watch is behind for a moment.
    (
        "EvenkeelAgentBehind",
        "group_expired",
        &["--time-scale", AT_ONCE],
        true,
    ),
    (
        "EvenkeelAgentBlind",
        "rollout",
        &["--time-scale", AS_THE_DELAY],
        true,
    ),
    (
        "EvenkeelGroupRecordNearLimit",
        "rolling_upgrade",
        &["--time-scale", AT_ONCE, "--set", "record_bytes=5000"],
        false,
    ),
];

/// Alerts that no recording can raise, and why.
pub(super) const UNRECORDED: &[(&str, &str)] = &[
    (
        "EvenkeelRebalanceNotConverging",
        "released leaders converge; the tests of patterns have such loops as data",
    ),
    (
        "EvenkeelLeaderFlapping",
        "Kafka's coordinator makes another member the leader only when the leader's member id is out of the group (static \
         members are the exception, and workers are none), and who is out of it has departed: each change of leader \
         in the recordings comes with a departure, and the alert is silent for ten minutes after one. Other brokers \
         that speak the protocol choose as they like",
    ),
    (
        "EvenkeelAgentMissing",
        "recordings are made beside no worker",
    ),
    (
        "EvenkeelReporterCount",
        "recordings are made beside no worker",
    ),
    (
        "EvenkeelCertificateExpiring",
        "a recording has no certificates",
    ),
    (
        "EvenkeelAgentCannotDecode",
        "released Kafka writes nothing that cannot be decoded",
    ),
];

/// Recordings with more than 20 generations in ten minutes, all of workers restarted in good
/// order; and whether they go on for long enough that only this keeps them silent.
pub(super) const NO_STORMS: [(&str, bool); 3] = [
    ("delays_differ", false),
    ("restart_outlives_delay", true),
    ("rolling_upgrade_patient", false),
];
