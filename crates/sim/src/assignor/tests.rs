//! Single rounds of the assignors, one rule each.

use std::collections::BTreeMap;

use super::{Handed, Incremental, Round, Rules, eager};
use crate::item::{Item, Work};

fn work(text: &str) -> Work {
    text.split_whitespace()
        .map(|item| match item.rsplit_once('-') {
            Some((name, task)) => Item::new(name, task.parse().unwrap()),
            None => Item::new(item, -1),
        })
        .collect()
}

fn claims(of: &[(&str, &str)]) -> BTreeMap<String, Work> {
    of.iter()
        .map(|(member, items)| ((*member).to_owned(), work(items)))
        .collect()
}

fn print(handed: &Handed) -> String {
    let list = |work: &Work| {
        work.iter()
            .map(Item::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    let members: Vec<String> = handed
        .deltas
        .iter()
        .map(|(m, d)| format!("{m} +[{}] -[{}]", list(&d.assigned), list(&d.revoked)))
        .collect();
    format!("{} delay={}", members.join(" "), handed.delay_ms)
}

struct Leader(Incremental, i32);

impl Leader {
    fn round(&mut self, now_ms: i64, configured: &str, of: &[(&str, &str)]) -> String {
        let (configured, claims) = (work(configured), claims(of));
        let handed = self.0.assign(&Round {
            generation: self.1 + 1,
            last_completed: self.1,
            now_ms,
            configured: &configured,
            claims: &claims,
        });
        self.1 += 1;
        print(&handed)
    }
}

fn leader(rules: Rules, max_delay_ms: i64) -> Leader {
    Leader(Incremental::new(rules, max_delay_ms), -1)
}

#[test]
fn a_departure_parks_work_until_the_delay_is_over() {
    let mut leader = leader(Rules::Since34, 300_000);
    let all = "c c-0 c-1 c-2";
    assert_eq!(
        leader.round(1, all, &[("a", ""), ("b", "")]),
        "a +[c,c-0,c-2] -[] b +[c-1] -[] delay=0"
    );
    assert_eq!(
        leader.round(2, all, &[("a", "c c-0 c-2")]),
        "a +[] -[] delay=300000"
    );
    // Back within the delay: a candidate, and nothing sooner for it.
    assert_eq!(
        leader.round(1_002, all, &[("a", "c c-0 c-2"), ("b2", "")]),
        "a +[] -[] b2 +[] -[] delay=299000"
    );
    assert_eq!(
        leader.round(300_002, all, &[("a", "c c-0 c-2"), ("b2", "")]),
        "a +[] -[] b2 +[c-1] -[] delay=0"
    );
}

#[test]
fn revoking_rounds_in_succession_back_off() {
    let mut leader = leader(Rules::Since34, 300_000);
    let all = "c c-0 c-1 c-2 c-3";
    leader.round(1, all, &[("a", "")]);
    assert_eq!(
        leader.round(2, all, &[("a", all), ("b", "")]),
        "a +[] -[c-0,c-1] b +[] -[] delay=0"
    );
    assert_eq!(
        leader.round(3, all, &[("a", "c c-2 c-3"), ("b", ""), ("d", "")]),
        "a +[] -[] b +[c-0] -[] d +[c-1] -[] delay=0"
    );
}

#[test]
fn duplicates_are_taken_from_all() {
    let mut leader = leader(Rules::Since34, 300_000);
    leader.round(1, "c c-0", &[("a", ""), ("b", "")]);
    assert_eq!(
        leader.round(2, "c c-0", &[("a", "c"), ("b", "c c-0")]),
        "a +[] -[c] b +[] -[c] delay=0"
    );
}

#[test]
fn another_leader_takes_lost_work_as_new() {
    let mut leader = Leader(Incremental::new(Rules::Since34, 300_000), 7);
    assert_eq!(
        leader.round(1, "c c-0 c-1", &[("b", "c-1")]),
        "b +[c,c-0] -[] delay=0"
    );
}

#[test]
fn the_older_rule_waits_for_an_idle_member() {
    let mut leader = leader(Rules::Before34, 300_000);
    let all = "c c-0 c-1 c-2 c-3 c-4";
    leader.round(1, all, &[("a", "")]);
    assert_eq!(
        leader.round(2, all, &[("a", all), ("b", "")]),
        "a +[] -[c-0,c-1] b +[] -[] delay=0"
    );
    // A third that comes while the second gets its work stays idle (KAFKA-12495).
    assert_eq!(
        leader.round(3, all, &[("a", "c c-2 c-3 c-4"), ("b", ""), ("d", "")]),
        "a +[] -[] b +[c-0] -[] d +[c-1] -[] delay=0"
    );
}

#[test]
fn eager_deals_all_anew() {
    let handed = eager(&work("c c-0 c-1 d"), &claims(&[("a", ""), ("b", "")]));
    assert_eq!(print(&handed), "a +[c,c-0] -[] b +[c-1,d] -[] delay=0");
}
