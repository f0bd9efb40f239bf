//! What ids depend on, and what they never are.

use super::{cut, hex, span_id, trace_id};

const CLUSTER: &str = "5L6g3nShT-eMCtK--X86sw";

#[test]
fn an_id_is_what_it_was_in_the_first_release() {
    // Computed apart with Python's hashlib; another value here would break links to traces
    // that were sent before.
    let trace = trace_id(CLUSTER, "connect", 42, 1_700_000_000_123);
    assert_eq!(hex(&trace), "7bfd3c5ad7e241ce658fbe1c3438eee9");
    assert_eq!(hex(&span_id(trace, "rebalance")), "7afef8d7ab27a2c6");
}

#[test]
fn each_part_makes_another_trace() {
    let all = [
        trace_id(CLUSTER, "connect", 42, 1),
        trace_id("other", "connect", 42, 1),
        trace_id(CLUSTER, "other", 42, 1),
        trace_id(CLUSTER, "connect", 43, 1),
        trace_id(CLUSTER, "connect", 42, 2),
        trace_id(CLUSTER, "connect", 42, -1),
        // Where one text ends and the next begins.
        trace_id("a", "bc", 42, 1),
        trace_id("ab", "c", 42, 1),
        trace_id("", "abc", 42, 1),
    ];
    for (place, id) in all.iter().enumerate() {
        assert_eq!(all.iter().position(|other| other == id), Some(place));
    }
}

#[test]
fn spans_differ_by_their_key_and_by_their_trace() {
    let (one, other) = (
        trace_id(CLUSTER, "connect", 1, 1),
        trace_id(CLUSTER, "connect", 2, 1),
    );
    assert_ne!(span_id(one, "round 1"), span_id(one, "round 2"));
    assert_ne!(span_id(one, "round 1"), span_id(other, "round 1"));
}

#[test]
fn no_id_is_all_zeros() {
    assert_eq!(cut::<8>(&[0; 32]), [0, 0, 0, 0, 0, 0, 0, 1]);
    let mut late = [0; 32];
    late[16] = 9;
    assert_ne!(cut::<16>(&late), [0; 16]);
}
