//! The same work for everybody, a bound on it, and what is remembered.

use super::*;

fn hash(password: &str, cost: u32) -> String {
    let hash = bcrypt::hash_with_salt(password, cost, [9; 16]).unwrap();
    hash.format_for_version(bcrypt::Version::TwoB)
}

fn gate(users: &[(&str, String)], checks: &Arc<Checks>) -> Gate {
    let users = users
        .iter()
        .map(|(user, hash)| ((*user).to_owned(), Secret::new(hash.clone())));
    Gate::new(users.collect(), Arc::clone(checks))
}

fn header(said: &str) -> Vec<u8> {
    format!("Basic {}", STANDARD.encode(said)).into_bytes()
}

#[test]
fn every_check_takes_the_same_work() {
    for cost_max in [4, 5, 10, 16] {
        let rounds = |costs: &[u32]| costs.iter().map(|cost| 1u64 << cost).sum::<u64>();
        assert_eq!(rounds(&idle_costs(None, cost_max)), 1 << cost_max);
        for spent in 4..=cost_max {
            let idle = rounds(&idle_costs(Some(spent), cost_max));
            assert_eq!(
                (1u64 << spent) + idle,
                1 << cost_max,
                "{spent} of {cost_max}"
            );
        }
    }
    let gate = gate(&[("a", hash("x", 4)), ("b", hash("x", 6))], &Arc::default());
    assert_eq!(gate.cost_max, 6);
}

#[test]
fn passwords_as_long_as_they_come() {
    for length in [0, 1, 71, 72, 73, 200] {
        let password = "p".repeat(length);
        let hash = hash(&password, 4);
        assert!(is_true(password.as_bytes(), Some(&hash), 5), "{length}");
        assert!(!is_true(b"q", Some(&hash), 5), "{length}");
        assert!(!is_true(password.as_bytes(), None, 5), "{length}");
    }
    // A form that was refused before would let nobody in.
    assert!(!is_true(b"", Some("$2y$04$"), 4));
}

#[tokio::test]
async fn who_was_true_once_needs_no_further_check() {
    let checks = Arc::new(Checks::new());
    let users = [("alice", hash("right", 4))];
    let gate = gate(&users, &checks);
    assert_eq!(gate.judge(&[&header("alice:right")]).await, Verdict::Known);
    let all = Arc::clone(&checks.waiting).acquire_many_owned(WAITING_MAX as u32);
    let all = all.await.unwrap();
    // No place for a check is left, so what is answered now is remembered.
    assert_eq!(gate.judge(&[&header("alice:right")]).await, Verdict::Known);
    for other in ["alice:wrong", "bob:right", "alice:right "] {
        let verdict = gate.judge(&[&header(other)]).await;
        assert_eq!(verdict, Verdict::Busy, "{other}");
    }
    assert_eq!(gate.judge(&[b"Basic nonsense"]).await, Verdict::Unknown);
    // Another gate over the same memory: the same hash is known, a changed one is not.
    let same = super::tests::gate(&users, &checks);
    assert_eq!(same.judge(&[&header("alice:right")]).await, Verdict::Known);
    let changed = super::tests::gate(&[("alice", hash("right", 5))], &checks);
    assert_eq!(
        changed.judge(&[&header("alice:right")]).await,
        Verdict::Busy
    );
    drop(all);
    assert_eq!(
        changed.judge(&[&header("alice:right")]).await,
        Verdict::Known
    );
    assert_eq!(
        gate.judge(&[&header("alice:wrong")]).await,
        Verdict::Unknown
    );
}

#[tokio::test]
async fn checks_are_bounded() {
    let checks = Arc::new(Checks::new());
    let gate = Arc::new(gate(&[("alice", hash("right", 4))], &checks));
    // Somebody's check takes long.
    let turn = Arc::clone(&checks.turn).acquire_owned().await.unwrap();
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..WAITING_MAX {
        let gate = Arc::clone(&gate);
        waiting.spawn(async move { gate.judge(&[&header("alice:right")]).await });
    }
    while checks.waiting.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(gate.judge(&[&header("alice:right")]).await, Verdict::Busy);
    drop(turn);
    assert_eq!(waiting.join_all().await, [Verdict::Known; WAITING_MAX]);
    assert_eq!(
        checks.proven.lock().unwrap().len(),
        1,
        "checked once for all"
    );
    assert_eq!(checks.waiting.available_permits(), WAITING_MAX);
}

#[test]
fn memory_is_bounded_and_holds_no_password() {
    let checks = Checks::new();
    let said = |index: usize| Credentials {
        user: b"alice".to_vec(),
        password: format!("topsecret{index}").into_bytes(),
    };
    let print = |index| checks.fingerprint(&said(index), "hash").unwrap();
    for index in 0..=PROVEN_MAX {
        checks.remember(print(index));
    }
    assert_eq!(checks.proven.lock().unwrap().len(), PROVEN_MAX);
    assert!(!checks.is_proven(&print(0)), "the oldest went");
    assert!(checks.is_proven(&print(1)) && checks.is_proven(&print(PROVEN_MAX)));
    // Another process, another fingerprint; and no part passes for another.
    assert_ne!(Checks::new().fingerprint(&said(1), "hash"), Some(print(1)));
    let moved = Credentials {
        user: b"alicet".to_vec(),
        password: b"opsecret1".to_vec(),
    };
    assert_ne!(checks.fingerprint(&moved, "hash"), Some(print(1)));
}
