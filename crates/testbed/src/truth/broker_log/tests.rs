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
