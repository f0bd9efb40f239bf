//! Cases whose turn has not come: read without harm, or answered in part.

use super::Case;

/// Cases of sink groups and newer protocols: decoded, or skipped without harm. What they
/// mean belongs to a layer of its own.
pub(super) const UNHARMED: &[Case] = &[
    (
        "o_38",
        &["case_o_38_poll_interval_exceeded"],
        "loops of sink groups",
    ),
    (
        "o_39",
        &["case_o_39_many_partitions_a_member"],
        "loops of sink groups",
    ),
    (
        "o_40",
        &["case_o_40_cooperative_sticky"],
        "rounds of sink groups that belong together",
    ),
    (
        "o_41",
        &[
            "case_o_41_static_membership",
            "o_41_static_membership_of_workers_and_of_all_sinks",
        ],
        "fencing loops of sink groups",
    ),
    (
        "o_42",
        &["case_o_42_the_epoch_stands_beside_tagged_fields"],
        "epochs as generations",
    ),
    (
        "o_43",
        &["case_o_43_classic_group_becomes_consumer_group"],
        "the change of protocol of a sink group",
    ),
    (
        "o_44",
        &[
            "case_o_44_streams_and_regex_record_types_are_skipped_by_name",
            "case_o_44_every_record_type_with_every_value_is_skipped_or_read",
        ],
        "epochs of Streams groups",
    ),
    (
        "o_45",
        &["case_o_45_running_without_a_consumer"],
        "running sink tasks compared with the members of their group",
    ),
];

/// Cases that are answered in part, ahead of their time.
pub(super) const AHEAD: &[Case] = &[
    (
        "o_04",
        &["o_04_order_hazard"],
        "failures right after a start",
    ),
    (
        "o_25",
        &["o_25_no_task_is_ever_committed"],
        "that no task was committed, after a grace period",
    ),
];
