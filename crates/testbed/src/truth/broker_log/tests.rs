//! Lines that the captured runs do not hold, in the words of each coordinator.

use super::*;

#[track_caller]
fn check(message: &str, expected: Option<What>) {
    assert_eq!(what(message, "c"), expected, "{message}");
}

fn left(member_id: &str, reason: &str) -> Option<What> {
    Some(What::MemberLeft {
        member_id: member_id.to_owned(),
        reason: reason.to_owned(),
    })
}

#[test]
fn leaving_in_the_words_of_each_release() {
    check(
        "[GroupCoordinator 1]: Member[group.instance.id None, member.id m-1] in group c has left, removing it from the group",
        left("m-1", ""),
    );
    check(
        "[GroupCoordinator 1]: Member MemberMetadata(memberId=m-1, groupInstanceId=None) has left group c through explicit `LeaveGroup` request",
        left("m-1", ""),
    );
    check(
        "[GroupCoordinator 1]: Member MemberMetadata(memberId=m-1, groupInstanceId=None) has left group c through explicit `LeaveGroup`; client reason: the consumer is being closed",
        left("m-1", "the consumer is being closed"),
    );
    check(
        "[Group c] Dynamic Member m-1 has left group through explicit `LeaveGroup` request; client reason: not provided",
        left("m-1", "not provided"),
    );
    check(
        "[GroupCoordinator 1]: Pending member with memberId=m-1 has left group c through explicit `LeaveGroup` request",
        left("m-1", ""),
    );
}

#[test]
fn removed_by_the_rebalance_timeout() {
    check(
        "[GroupCoordinator 1]: Group c remove dynamic members who haven't joined: Set(m-1, m-2)",
        Some(What::NotRejoined {
            member_ids: "Set(m-1, m-2)".to_owned(),
        }),
    );
    check(
        "Group c removed members who haven't sent their sync requests: [m-1]",
        Some(What::NotSynced {
            member_ids: "[m-1]".to_owned(),
        }),
    );
    check(
        "Pending member m-1 in group c has been removed after session timeout expiration.",
        Some(What::PendingExpired {
            member_id: "m-1".to_owned(),
        }),
    );
}

#[test]
fn a_reason_may_hold_parentheses() {
    for end in [").", ")"] {
        check(
            &format!(
                "Preparing to rebalance group c in state PreparingRebalance with old generation 3 (reason: explicit `LeaveGroup` request for (m-1) members.{end}"
            ),
            Some(What::Preparing {
                old_generation: 3,
                reason: "explicit `LeaveGroup` request for (m-1) members.".to_owned(),
            }),
        );
    }
}

#[test]
fn the_life_of_the_group() {
    check(
        "[GroupCoordinator 1]: Loading group metadata for c with generation 3",
        Some(What::GroupLoaded),
    );
    check(
        "Loaded classic group c with 2 members.",
        Some(What::GroupLoaded),
    );
    check(
        "[GroupId=c] Unloading group metadata for generation 3.",
        Some(What::GroupUnloaded),
    );
    check(
        "[GroupMetadataManager brokerId=1] Group c transitioned to Dead in generation 3",
        Some(What::GroupRemoved),
    );
}

#[test]
fn a_group_whose_name_begins_alike_is_another() {
    check("Stabilized group c-src generation 1 with 1 members.", None);
    check("Stabilized group xc generation 1 with 1 members.", None);
}

#[test]
fn the_java_coordinator_deletes_a_group_without_its_name() {
    let line = |at: u32, class: &str, message: &str| {
        format!(
            "2026-11-30 02:21:{at},000 INFO org.apache.kafka.coordinator.group.{class} [thread] \
             [GroupCoordinator id=1 topic=__consumer_offsets partition={message}"
        )
    };
    let empty = "0] Group c with generation 8 is now empty.";
    let cleaned =
        "0] Generated 1 tombstone records while cleaning up group metadata in 2 milliseconds.";
    let elsewhere =
        "1] Generated 1 tombstone records while cleaning up group metadata in 2 milliseconds.";
    let joined = "0] Preparing to rebalance group c in state PreparingRebalance with old generation 8 \
                  (reason: Adding new member m).";
    let removed = |lines: &[(&str, &str)]| {
        let numbered = lines.iter().zip(10..);
        let log: Vec<String> = numbered
            .map(|((class, message), at)| line(at, class, message))
            .collect();
        let events = parse("b", &log.join("\n"), "c").into_iter();
        events
            .filter(|event| event.what == What::GroupRemoved)
            .count()
    };
    let (manager, shard) = ("GroupMetadataManager", "GroupCoordinatorShard");
    assert_eq!(
        removed(&[(manager, empty), (shard, cleaned), (shard, cleaned)]),
        1
    );
    assert_eq!(removed(&[(manager, empty), (shard, elsewhere)]), 0);
    assert_eq!(removed(&[(shard, cleaned)]), 0);
    assert_eq!(
        removed(&[(manager, empty), (manager, joined), (shard, cleaned)]),
        0
    );
}
