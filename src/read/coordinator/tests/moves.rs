//! Which broker is asked: the coordinator alone, wherever it is.

use kafka_protocol::messages::ApiKey;

use super::fake::Fake;
use super::*;

fn asked(fake: &Fake, api: ApiKey) -> usize {
    let key = api as i16;
    fake.set(|says| says.asked.iter().filter(|(asked, _)| *asked == key).count())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_coordinator_is_asked_for_the_group() {
    let (first, coordinator) = (Fake::new(), Fake::new());
    let there = coordinator.listen().await;
    first.set(|says| says.coordinator = Some(there));
    let mut polls = poll(connection(first.listen().await, &[]));
    polls.until_described(PolledState::Stable).await;
    polls.until_listed(None).await;
    assert_eq!(asked(&first, ApiKey::DescribeGroups), 0);
    assert_eq!(asked(&first, ApiKey::ListGroups), 0);
    assert_eq!(first.set(|says| says.connections), 1);
    assert!(asked(&coordinator, ApiKey::DescribeGroups) >= 1);
    assert_eq!(coordinator.set(|says| says.connections), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_coordinator_that_moves_is_followed_before_its_lists_mislead() {
    let (old, new) = (Fake::new(), Fake::new());
    let there = new.listen().await;
    let mut polls = poll(connection(old.listen().await, &[]));
    polls.until_described(PolledState::Stable).await;
    // The old one still answers lists, without the group.
    old.set(|says| {
        says.coordinator = Some(there);
        says.is_other = true;
    });
    let began = Instant::now();
    while asked(&new, ApiKey::ListGroups) == 0 {
        polls.until_listed(None).await;
        assert!(began.elapsed() < Duration::from_secs(8), "not followed");
    }
    assert_eq!(polls.handle.counters().failures.get(), 0);
    let lists = asked(&old, ApiKey::ListGroups);
    polls.until_listed(None).await;
    polls.until_listed(None).await;
    assert_eq!(asked(&old, ApiKey::ListGroups), lists);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_coordinator_that_says_it_is_none_any_more_is_left_without_a_failure() {
    let (old, new) = (Fake::new(), Fake::new());
    let there = new.listen().await;
    let mut polls = poll(connection(old.listen().await, &[]));
    polls.handle.describe_every_turn(true);
    polls.until_described(PolledState::Stable).await;
    old.set(|says| {
        says.coordinator = Some(there);
        says.is_other = true;
    });
    while asked(&new, ApiKey::DescribeGroups) == 0 {
        polls.until_described(PolledState::Stable).await;
    }
    assert_eq!(polls.handle.counters().failures.get(), 0);
}

/// Releases by what they serve: before KIP-511, without a filter of states, without
/// several coordinators, and the newest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_are_the_highest_that_both_sides_know() {
    for (api_versions, find, describe, list, expects_list) in [
        (2, 2, 2, 2, false),
        (3, 3, 5, 4, true),
        (4, 4, 6, 5, true),
        (9, 9, 9, 9, true),
    ] {
        let fake = Fake::new();
        fake.set(|says| {
            says.versions = vec![
                (ApiKey::ApiVersions, 0, api_versions),
                (ApiKey::Metadata, 0, 12),
                (ApiKey::FindCoordinator, 0, find),
                (ApiKey::DescribeGroups, 0, describe),
                (ApiKey::ListGroups, 0, list),
            ];
        });
        let mut polls = poll(connection(fake.listen().await, &[]));
        polls.until_described(PolledState::Stable).await;
        if expects_list {
            polls.until_listed(None).await;
        } else {
            // The description is the only question, so it comes at each turn.
            polls.until_described(PolledState::Stable).await;
            assert_eq!(asked(&fake, ApiKey::ListGroups), 0);
        }
        let version = |api: ApiKey| {
            let key = api as i16;
            let used = fake.set(|says| says.asked.clone());
            used.iter().rev().find(|row| row.0 == key).map(|row| row.1)
        };
        assert_eq!(version(ApiKey::FindCoordinator), Some(find.min(4)));
        assert_eq!(version(ApiKey::DescribeGroups), Some(describe.min(6)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_that_no_version_of_is_known_is_said() {
    let fake = Fake::new();
    fake.set(|says| says.versions.retain(|row| row.0 != ApiKey::DescribeGroups));
    let mut polls = poll(connection(fake.listen().await, &[]));
    polls.until_failed(Trouble::Other).await;
}
