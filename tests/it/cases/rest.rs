//! More cases: what lies in the topics beside the group's own affairs, rights, sizes and names.

use super::Case;

/// Cases from number 48 on.
pub(super) const REST: &[Case] = &[
    (
        "o_48",
        &["case_o_48_transaction_markers_are_no_records"],
        "",
    ),
    (
        "o_49",
        &[
            "o_49_short_and_empty_member_bytes",
            "case_o_49_zero_bytes_null_lists_and_trailing_bytes",
            "case_o_49_zero_bytes_and_trailing_bytes_of_consumers",
        ],
        "",
    ),
    (
        "o_50",
        &[
            "o_50_group_expires",
            "case_o_50_an_emptied_group_and_a_first_generation",
            "o_50_emptied_and_formed_anew",
        ],
        "",
    ),
    (
        "o_51",
        &[
            "o_51_the_offsets_topic_is_hidden",
            "o_51_nothing_is_counted_twice_when_the_right_is_given",
            "o_51_no_right_on_the_offsets_topic",
            "o_51_no_episodes_without_records",
        ],
        "which partition of the offsets topic the right is needed for",
    ),
    (
        "o_52",
        &[
            "o_52_groups_of_every_type",
            "o_52_groups_of_every_type_beside_ours",
        ],
        "",
    ),
    (
        "o_53",
        &[
            "o_53_very_large_record",
            "case_o_53_a_claim_of_4200_tasks_is_read_whole",
            "case_o_53_a_record_of_one_megabyte_costs_what_it_holds",
            "o_53_rounds_whose_record_is_too_large",
        ],
        "the check of the broker's size limit",
    ),
    (
        "o_54",
        &["o_54_created_by_a_script", "o_54_a_script_is_no_storm"],
        "work that starts late after a restart",
    ),
    ("o_55", &["o_55_the_coordinator_restarts"], ""),
    (
        "o_56",
        &[
            "case_o_56_no_text_of_a_trace_survives",
            "case_o_56_dirty_traces_and_null_fields",
        ],
        "",
    ),
    (
        "o_57",
        &[
            "case_o_57_no_secret_of_the_config_topic_survives",
            "o_57_credentials_in_clear_text",
        ],
        "names of changed keys",
    ),
    (
        "o_58",
        &["o_58_deleted_connectors_leave_nothing"],
        "effective states, of which each piece has exactly one",
    ),
    ("o_59", &["case_o_59_topic_usage_shares_the_topic"], ""),
    (
        "o_60",
        &[
            "o_60_slash_in_a_name",
            "case_o_60_names_are_taken_as_they_are",
        ],
        "",
    ),
    (
        "o_61",
        &["o_61_no_status_right_after_creation"],
        "effective states, workers that answer requests and are not in the group",
    ),
];
