//! Writes `docs/rolling-upgrades.md` from the recorded upgrades, and holds it against them.

use std::fmt::Write as _;
use std::path::Path;

use super::*;

const HEAD: &str = include_str!("head.md");

fn recorded(name: &str) -> TruthLog {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let text = std::fs::read_to_string(folder.join(format!("{name}.truth.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn seconds(ms: i64) -> String {
    format!("{:.1}", ms as f64 / 1_000.0)
}

fn table(restarts: &[Restart]) -> String {
    let mut text = String::from(
        "| restarted | role | away (s) | generations | delay in each (s) | moved | returned | \
         extra | parked (s) | most unowned | tasks stopped | task-seconds still |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let numbers = |restart: &Restart| {
        let numbers: Vec<String> = restart
            .generations
            .iter()
            .map(|g| g.0.to_string())
            .collect();
        numbers.join(", ")
    };
    let delays = |restart: &Restart| {
        let delays: Vec<String> = restart.generations.iter().map(|g| seconds(g.1)).collect();
        delays.join(", ")
    };
    for restart in restarts {
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            restart.worker,
            if restart.led { "leader" } else { "follower" },
            seconds(restart.away_ms),
            numbers(restart),
            delays(restart),
            restart.moved,
            restart.returned,
            restart.extra,
            seconds(restart.parked_ms),
            restart.unowned_max,
            restart.stopped,
            restart.still_ms / 1_000,
        )
        .unwrap();
    }
    let sum = |of: &dyn Fn(&Restart) -> usize| restarts.iter().map(of).sum::<usize>();
    let sum_ms = |of: &dyn Fn(&Restart) -> i64| restarts.iter().map(of).sum::<i64>();
    writeln!(
        text,
        "| **all** | | | {} | | {} | {} | {} | {} | {} | {} | {} |",
        sum(&|r| r.generations.len()),
        sum(&|r| r.moved),
        sum(&|r| r.returned),
        sum(&|r| r.extra),
        seconds(sum_ms(&|r| r.parked_ms)),
        restarts.iter().map(|r| r.unowned_max).max().unwrap(),
        sum(&|r| r.stopped),
        sum_ms(&|r| r.still_ms) / 1_000,
    )
    .unwrap();
    text
}

#[test]
fn the_recorded_upgrades_cost_what_the_page_says() {
    let mut text = HEAD.to_owned();
    for (name, heading) in [
        ("rolling_upgrade", "## Back to back, by name"),
        (
            "rolling_upgrade_leader_last",
            "## Back to back, the leader last",
        ),
        (
            "rolling_upgrade_patient",
            "## One at a time, the leader last",
        ),
    ] {
        let restarts = restarts(&recorded(name));
        assert_eq!(restarts.len(), 6, "{name}");
        assert!(
            restarts.iter().any(|restart| restart.stopped >= 15),
            "{name}"
        );
        write!(text, "\n{heading}\n\n{}", table(&restarts)).unwrap();
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rolling-upgrades.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&page, &text).unwrap();
    }
    let found = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        found == text,
        "out of date: run the tests with UPDATE_GOLDEN=1"
    );
}

/// What the page says of the assignor, held against the recordings.
#[test]
fn the_page_is_true() {
    let back_to_back = restarts(&recorded("rolling_upgrade"));
    let patient = restarts(&recorded("rolling_upgrade_patient"));
    // The leader's own restart has no delay, and nothing is left unowned by it.
    for leader in back_to_back.iter().chain(&patient).filter(|r| r.led) {
        let first = leader.generations.first().unwrap();
        assert_eq!(first.1, 0, "{leader:?}");
    }
    assert!(patient.last().unwrap().led);
    // A follower's restart alone: the whole delay, and all comes back.
    for follower in patient.iter().filter(|restart| !restart.led) {
        assert_eq!(follower.moved, 0, "{follower:?}");
        assert!(follower.parked_ms > 25_000, "{follower:?}");
        assert_eq!(follower.unowned_max, 20, "{follower:?}");
    }
    // Whatever moved, a restart moved it: nobody was gone for long, and the split was even before.
    let leader_last = restarts(&recorded("rolling_upgrade_leader_last"));
    for all in [&back_to_back, &leader_last, &patient] {
        assert!(all.iter().all(|restart| restart.returned == restart.moved));
    }
    // By name it meets several leaders; the leader last, one.
    let led = |restarts: &[Restart]| restarts.iter().filter(|r| r.led).count();
    let leader_last = restarts(&recorded("rolling_upgrade_leader_last"));
    assert!(led(&back_to_back) > 1, "{}", led(&back_to_back));
    assert_eq!((led(&leader_last), led(&patient)), (1, 1));
    // A follower that leaves within a window gets what is left of it, and waits with the others.
    let within = leader_last.iter().any(|restart| {
        let first = restart.generations.first().map_or(0, |first| first.1);
        !restart.led && (1..29_000).contains(&first) && restart.unowned_max > 30
    });
    assert!(within, "{leader_last:?}");
}
