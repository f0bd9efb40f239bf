//! Current, trusted, and every reason, at its boundary.

use evenkeel_core::answers::FindingAnswer;

use super::*;
use crate::show::sample::{NOW, calm, member};

fn world() -> Answers {
    calm(vec![member("worker-a:8083", &[])])
}

fn reasons(
    answers: &Answers,
    now: ArrivalTime,
) -> (bool, bool, Vec<(Option<Topic>, &'static str)>) {
    let health = health(answers, now);
    let reasons = health.reasons.iter().map(|reason| match reason.about {
        About::Topic(topic) => (Some(topic), reason.why.label()),
        About::Polls | About::All => (None, reason.why.label()),
    });
    (health.current, health.trusted, reasons.collect())
}

#[test]
fn all_is_well() {
    assert_eq!(reasons(&world(), NOW), (true, true, vec![]));
}

#[test]
fn answers_age() {
    let answers = world();
    let confirmed = answers.inputs[0].confirmed.unwrap();
    assert!(health(&answers, confirmed.plus_ms(FRESH_MS_MAX)).current);
    let (current, trusted, reasons) = reasons(&answers, confirmed.plus_ms(FRESH_MS_MAX + 1));
    assert!(!current && !trusted);
    let stale = Topic::ALL.map(|topic| (Some(topic), "unconfirmed"));
    assert_eq!(reasons, stale);
    // A clock that stepped back is no reason to hide what was just confirmed.
    assert!(health(&answers, ArrivalTime(confirmed.0 - 60_000)).current);
}

#[test]
fn one_old_input_is_enough() {
    for topic in 0..3 {
        let mut answers = world();
        answers.inputs[topic].confirmed = Some(ArrivalTime(NOW.0 - FRESH_MS_MAX - 1));
        let told = reasons(&answers, NOW);
        assert_eq!(
            told,
            (false, false, vec![(Some(Topic::ALL[topic]), "unconfirmed")])
        );
    }
}

#[test]
fn a_topic_is_done_without_where_the_engine_says_so() {
    for trouble in [
        Trouble::Denied,
        Trouble::Missing,
        Trouble::Unreachable,
        Trouble::Other,
    ] {
        for topic in 0..3 {
            let mut answers = world();
            answers.inputs[topic].trouble = Some(trouble);
            answers.inputs[topic].confirmed = None;
            let stays = matches!(trouble, Trouble::Denied | Trouble::Missing);
            answers.inputs[topic].needed = !stays;
            let expected = vec![(Some(Topic::ALL[topic]), trouble.label())];
            assert_eq!(reasons(&answers, NOW), (stays, false, expected));
        }
    }
}

#[test]
fn the_coordinators_answers_are_missed_only_where_they_are_needed() {
    for (mode, needed) in [(Mode::NoPolls, false), (Mode::NoOffsetsTopic, true)] {
        let mut answers = world();
        (answers.mode, answers.polls.needed) = (mode, needed);
        answers.polls.confirmed = Some(ArrivalTime(NOW.0 - FRESH_MS_MAX - 1));
        let told = (!needed, false, vec![(None, "unconfirmed")]);
        assert_eq!(reasons(&answers, NOW), told);
        answers.polls.trouble = Some(Trouble::Denied);
        let told = (!needed, false, vec![(None, "denied")]);
        assert_eq!(reasons(&answers, NOW), told);
    }
    // In full sight they were heard of a moment ago: their end costs trust, not the series.
    let mut answers = world();
    answers.polls.confirmed = Some(ArrivalTime(NOW.0 - FRESH_MS_MAX - 1));
    assert_eq!(
        reasons(&answers, NOW),
        (true, false, vec![(None, "unconfirmed")])
    );
}

#[test]
fn a_short_trouble_costs_trust_at_once_and_the_series_later() {
    let mut answers = world();
    answers.inputs[2].trouble = Some(Trouble::Unreachable);
    assert_eq!(
        reasons(&answers, NOW),
        (true, false, vec![(Some(Topic::Status), "unreachable")])
    );
}

#[test]
fn the_start() {
    let all = |why| Topic::ALL.map(|topic| (Some(topic), why)).to_vec();
    assert_eq!(
        reasons(&Answers::default(), NOW),
        (false, false, all("not_started"))
    );

    let mut answers = world();
    answers.fresh = false;
    for input in &mut answers.inputs {
        (input.caught_up, input.lag_records, input.confirmed) = (false, 7, None);
    }
    assert_eq!(reasons(&answers, NOW), (false, false, all("catching_up")));
    for input in &mut answers.inputs {
        (input.records, input.lag_records) = (0, 0);
    }
    assert_eq!(reasons(&answers, NOW), (false, false, all("not_started")));
    for input in &mut answers.inputs {
        input.caught_up = true;
    }
    assert_eq!(reasons(&answers, NOW), (false, false, all("not_started")));
}

#[test]
fn the_engine_has_the_last_word() {
    let mut answers = world();
    answers.fresh = false;
    assert_eq!(
        reasons(&answers, NOW),
        (false, false, vec![(None, "settling")])
    );
}

/// For a moment after a right is given back: no input has anything wrong, and descriptions
/// still stand in for the records.
#[test]
fn nobody_is_trusted_who_has_not_read_the_records() {
    for mode in [Mode::NoOffsetsTopic, Mode::TopicsOnly] {
        let mut answers = world();
        answers.mode = mode;
        assert_eq!(
            reasons(&answers, NOW),
            (true, false, vec![(None, "settling")])
        );
    }
}

#[test]
fn a_hole_in_the_history_costs_trust_only() {
    let mut answers = world();
    answers.whole_since = None;
    assert_eq!(
        reasons(&answers, NOW),
        (true, false, vec![(None, "history_incomplete")])
    );
}

#[test]
fn records_that_are_left_out_cost_trust() {
    let mut answers = world();
    answers.mode = Mode::Sampled;
    let told = (true, false, vec![(Some(Topic::Offsets), "sampled")]);
    assert_eq!(reasons(&answers, NOW), told);
}

#[test]
fn o_20_an_id_that_another_group_has_costs_trust() {
    let mut answers = world();
    answers.findings.push(FindingAnswer {
        finding: "foreign_group",
        subject: answers.settings.group.clone(),
        text: String::new(),
        since: None,
    });
    let told = (true, false, vec![(Some(Topic::Offsets), "contradicted")]);
    assert_eq!(reasons(&answers, NOW), told);
}

#[test]
fn a_group_that_nobody_has_heard_of_contradicts_no_topic() {
    let mut answers = world();
    answers.findings.push(FindingAnswer {
        finding: "group_absent",
        subject: answers.settings.group.clone(),
        text: String::new(),
        since: None,
    });
    let told = (true, false, vec![(None, "group_absent")]);
    assert_eq!(reasons(&answers, NOW), told);
}

/// A principal without any right hears of each that is missing, of the group's, too.
#[test]
fn a_right_to_the_group_is_missed_while_nothing_can_be_read() {
    let mut answers = world();
    answers.mode = Mode::Blind;
    answers.fresh = false;
    for input in &mut answers.inputs {
        input.trouble = Some(Trouble::Denied);
    }
    answers.polls.trouble = Some(Trouble::Denied);
    let told = health(&answers, NOW).reasons;
    let polls = Reason {
        about: About::Polls,
        why: Why::Trouble(Trouble::Denied),
    };
    assert!(told.contains(&polls), "{told:?}");
    answers.polls.trouble = Some(Trouble::Unreachable);
    assert!(
        !health(&answers, NOW)
            .reasons
            .iter()
            .any(|reason| reason.about == About::Polls)
    );
}
