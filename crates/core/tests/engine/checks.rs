//! Whether the clocks of a running group agree, by its records.

use crate::dsl::{run, told};

#[track_caller]
fn check(scenario: &str, expected: &str) {
    let told = told(&run(scenario), "checks");
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    assert_eq!(told, expected, "\n--- told:\n{}", told.join("\n"));
}

#[test]
fn workers_with_different_timeouts_until_that_is_mended() {
    check(
        "0.1 ends
         1.0 group 1 sessioned a join=0.9 | a: claim=none | b: host=192.0.2.2 session=30000 claim=none
         2.0 ends
         2.0 checks
         3.0 group 2 sessioned a join=2.9 | a: claim=- | b#2: host=192.0.2.2 claim=none
         4.0 ends
         4.0 checks",
        "",
    );
}
