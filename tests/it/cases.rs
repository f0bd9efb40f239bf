//! Which test answers which real incident, and what is not answered yet.
//!
//! The tests hold the incidents as data; their names are the numbers of the cases. The
//! list is complete in both directions: a test that it names exists, and a test that is
//! named after a case is in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

mod doubt;
mod later;
mod rest;

use doubt::IN_DOUBT;
use later::{AHEAD, UNHARMED};
use rest::REST;

/// One case: its number, the tests that answer it, and what is still missing.
type Case = (&'static str, &'static [&'static str], &'static str);

/// Cases that decoding, ownership, configured work, unassigned work, the protocol in force,
/// causes, departures, episodes, polls and what is shown have to answer.
const ANSWERED: &[Case] = &[
    (
        "o_01",
        &[
            "o_01_increment_is_not_ownership",
            "case_o_01_assigned_is_an_increment_beside_the_claim",
            "o_01_two_rounds_are_one_rebalance",
        ],
        "",
    ),
    (
        "o_02",
        &[
            "o_02_mismatch_loop",
            "case_o_02_config_mismatch_comes_with_an_empty_assignment",
            "o_02_one_episode_of_mismatches",
            "o_02_a_loop_of_mismatches",
        ],
        "the check of the topic's partitions",
    ),
    (
        "o_06",
        &[
            "case_o_06_unchanged_and_changed_contents_are_told_apart",
            "o_06_the_connector_itself_asks_for_it",
            "o_06_a_storm_that_a_connector_drives",
        ],
        "",
    ),
    (
        "o_07",
        &[
            "o_07_generations_without_records",
            "o_07_what_never_reached_the_log_is_told",
            "o_07_a_loop_that_leaves_no_records",
        ],
        "polls of the group's state",
    ),
    (
        "o_08",
        &[
            "o_08_replaced_in_good_order",
            "o_08_replaced_after_a_crash",
            "o_08_one_pod_replaced_is_quiet",
            "o_08_how_long_it_stood_still",
        ],
        "alerts, and that there is none for a storm",
    ),
    (
        "o_09",
        &[
            "o_09_deleted_while_a_worker_is_away",
            "o_09_the_delay_belongs_to_who_is_away",
        ],
        "",
    ),
    (
        "o_10",
        &[
            "o_10_names_that_end_in_a_number",
            "case_o_10_keys_split_at_the_last_dash",
            "case_o_10_task_keys_split_at_the_last_dash",
        ],
        "",
    ),
    (
        "o_11",
        &[
            "o_11_records_that_are_no_configuration",
            "case_o_11_records_that_are_no_configuration_are_told_apart",
            "o_11_the_worker_and_not_the_config_records",
        ],
        "",
    ),
    ("o_12", &["case_o_12_offset_commit_v4"], ""),
    (
        "o_13",
        &["case_o_13_connect_groups_are_read_like_any_other_in_every_version"],
        "",
    ),
    (
        "o_15",
        &[
            "o_15_thrown_out_and_back_every_two_minutes",
            "o_15_a_worker_flaps",
            "o_15_a_connector_blocks_longer_than_the_group_waits",
        ],
        "the period of the pattern, blocking times as they are measured",
    ),
    (
        "o_16",
        &[
            "o_16_back_when_the_delay_is_over",
            "o_16_suspected_when_the_delay_is_over",
            "o_16_two_defaults_collide_before_the_fix",
        ],
        "",
    ),
    (
        "o_17",
        &["o_17_settings_at_the_wrong_scope"],
        "the timeouts of sink groups beside those of the workers",
    ),
    ("o_18", &["o_18_settings_found_in_public"], ""),
    (
        "o_19",
        &[
            "o_19_two_deployments_are_one_group",
            "o_19_two_deployments_with_topics_of_their_own",
            "o_19_two_deployments_with_one_advertised_name",
        ],
        "expected workers and the finding about others; that a class is missing on one side only",
    ),
    (
        "o_20",
        &[
            "o_20_consumers_took_the_group_id",
            "o_20_consumers_took_the_group_id_by_polls",
            "o_20_a_sink_uses_the_group_id_of_the_workers",
            "o_20_an_id_that_another_group_has_costs_trust",
            "o_20_the_group_is_gone_for_connect",
        ],
        "sinks of another Connect cluster, whose config topic is not read; with masked names only overrides tell",
    ),
    (
        "o_22",
        &[
            "o_22_recreated_connector",
            "case_o_22_and_o_28_tombstones_commits_and_contents_of_a_reborn_connector",
            "o_22_deleted_and_created_again",
        ],
        "orphan task records as information",
    ),
    (
        "o_26",
        &[
            "o_26_names_and_workers_of_mirror_maker",
            "o_26_both_directions_of_mirror_maker",
        ],
        "statuses compared with members where all workers have one placeholder; names in traces",
    ),
    (
        "o_28",
        &[
            "o_28_markers_take_offsets",
            "case_o_22_and_o_28_tombstones_commits_and_contents_of_a_reborn_connector",
        ],
        "fencing as a part of an episode",
    ),
    (
        "o_29",
        &[
            "o_29_stopped_connector",
            "case_o_29_state_v2_is_read_first",
            "case_o_29_tombstones_say_destroyed",
            "o_29_stopped_and_resumed",
        ],
        "effective states",
    ),
    (
        "o_30",
        &[
            "o_30_a_restart_is_no_rebalance",
            "o_30_how_long_a_restart_took",
            "o_30_a_restart_that_is_stuck",
        ],
        "an alert where a restart is stuck",
    ),
    (
        "o_31",
        &[
            "o_31_nothing_is_scheduled",
            "o_31_no_delay_strands_work_before_the_fix",
        ],
        "the alert that nothing is scheduled; the episode of the departure closes settled",
    ),
    (
        "o_36",
        &[
            "o_36_rounds_until_the_share_is_taken",
            "o_36_how_far_from_the_best_split",
            "o_36_what_had_to_move",
            "o_36_all_that_was_lost_goes_to_one",
        ],
        "",
    ),
    (
        "o_37",
        &[
            "o_37_a_delay_in_which_nothing_is_lost",
            "o_37_revocations_that_converge",
        ],
        "",
    ),
    (
        "o_47",
        &[
            "o_47_worker_ids_are_opaque",
            "case_o_46_and_o_47_worker_ids_are_taken_whole",
        ],
        "",
    ),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The tests that are named after a case.
fn tests() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["crates/core/src", "crates/core/tests", "src", "tests/it"] {
        sources(&root.join(folder), &mut files);
    }
    let mut tests = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for pair in lines.windows(2) {
            let is_test = pair[0] == "#[test]" || pair[0].starts_with("#[tokio::test");
            let function = pair[1].strip_prefix("async ").unwrap_or(pair[1]);
            let name = function
                .strip_prefix("fn ")
                .and_then(|rest| rest.split_once('('));
            let Some((name, _)) = name.filter(|_| is_test) else {
                continue;
            };
            let number = name.strip_prefix("case_").unwrap_or(name);
            if number.starts_with("o_") {
                assert!(tests.insert(name.to_owned()), "{name} twice");
            }
        }
    }
    tests
}

#[test]
fn every_case_has_its_tests_and_every_test_its_case() {
    let cases = || {
        let answered = ANSWERED.iter().chain(IN_DOUBT).chain(REST);
        answered.chain(UNHARMED).chain(AHEAD)
    };
    let existing = tests();
    let mut listed = BTreeSet::new();
    for (case, tests, _) in cases() {
        assert!(!tests.is_empty(), "{case} is answered by no test");
        for test in *tests {
            assert!(existing.contains(*test), "{case}: no test {test}");
            assert!(test.contains(case), "{test} is not named after {case}");
            listed.insert((*test).to_owned());
        }
    }
    let unlisted: Vec<_> = existing.difference(&listed).collect();
    assert!(unlisted.is_empty(), "in no case: {unlisted:?}");
    let numbers: BTreeSet<_> = cases().map(|(case, ..)| case).collect();
    assert_eq!(numbers.len(), cases().count(), "a case comes once");
}
