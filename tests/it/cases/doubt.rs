//! Cases in which status topic and group say different things: states and disagreements answer
//! them.

use super::Case;

/// Zombies, stale statuses, orphans, stops that were given up.
pub(super) const IN_DOUBT: &[Case] = &[
    (
        "o_03",
        &[
            "o_03_thrown_out_and_still_running",
            "o_03_thrown_out_after_it_stopped",
            "o_03_a_second_copy_is_suspected",
            "o_03_a_stop_leaves_no_suspicion",
        ],
        "",
    ),
    (
        "o_05",
        &[
            "o_05_a_late_stop_is_no_new_unrest",
            "o_05_the_owners_word_counts",
        ],
        "that the stale status is counted",
    ),
    (
        "o_14",
        &[
            "o_14_one_eager_worker",
            "o_14_a_compatible_worker_among_sessioned_ones",
            "o_14_orphans_of_cooperative_workers",
            "o_14_what_one_eager_worker_stops",
        ],
        "",
    ),
    (
        "o_23",
        &[
            "o_23_statuses_of_gone_workers",
            "o_23_only_the_owners_count",
        ],
        "the age of stale statuses",
    ),
    (
        "o_24",
        &[
            "o_24_fewer_tasks",
            "o_24_fewer_tasks_are_no_loss",
            "o_24_statuses_of_removed_tasks",
        ],
        "",
    ),
    (
        "o_32",
        &[
            "o_32_both_copies_are_revoked",
            "o_32_a_duplicate_begins_and_ends",
            "o_32_what_two_copies_cost",
        ],
        "",
    ),
    (
        "o_33",
        &[
            "o_33_a_start_that_fails_is_an_answer",
            "o_33_failed_beside_an_old_instance",
        ],
        "",
    ),
    (
        "o_34",
        &[
            "o_34_a_stop_that_was_given_up_is_not_measured",
            "o_34_a_stop_is_abandoned",
            "o_34_a_hand_over_that_was_not_clean",
        ],
        "",
    ),
    (
        "o_35",
        &[
            "o_35_failed_work_writes_nothing",
            "o_35_a_copy_beside_a_failure",
        ],
        "",
    ),
    (
        "o_46",
        &[
            "o_46_one_worker_id_for_all",
            "case_o_46_and_o_47_worker_ids_are_taken_whole",
            "o_46_nothing_is_said_of_how",
            "o_46_what_moves_between_them",
            "o_46_nothing_is_said_of_workers_that_share_an_id",
        ],
        "the check that names the setting",
    ),
];
