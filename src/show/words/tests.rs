//! What is said, and said once.

use evenkeel_core::answers::FindingAnswer;

use super::*;
use crate::config::LogLevel;
use crate::show::log::REPEAT_MS_MIN;
use crate::show::log::tests::lines;
use crate::show::sample::{NOW, calm, incident};

/// The lines for these answers, one after the other, without who says them.
fn said(answers: &[Answers]) -> Vec<String> {
    let mut words = Words::default();
    let group: Arc<str> = Arc::from("connect-orders");
    let lines = lines(LogLevel::Info, || {
        for answers in answers {
            words.answers(&group, answers);
        }
    });
    let short = |line: &String| {
        line.replace("evenkeel::show::words: ", "")
            .replace(" group=connect-orders", "")
    };
    let of_the_group = |line: &&String| {
        [
            "words::group: ",
            "words::checks: ",
            "words::disagreements: ",
        ]
        .iter()
        .any(|told_by| line.contains(told_by))
    };
    lines
        .iter()
        .filter(|line| !of_the_group(line))
        .map(short)
        .collect()
}

/// The lines about what the group does.
#[test]
fn what_the_group_does_is_told_once() {
    let mut words = Words::default();
    let group: Arc<str> = Arc::from("connect-orders");
    let mut owned = incident();
    owned.unassigned = Some(Vec::new());
    owned.deadline = None;
    owned.pattern = calm(Vec::new()).pattern;
    let lines = lines(LogLevel::Info, || {
        for answers in [incident(), incident(), owned] {
            words.answers(&group, &answers);
        }
    });
    let told: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split_once("words::group: "))
        .map(|(_, told)| told)
        .collect();
    assert_eq!(
        told,
        [
            "generation group=connect-orders generation=8 state=\"stable\" members=3 leader=\"worker-a:8083\" protocol=\"sessioned\" assigned=0 revoked=0",
            "work without an owner group=connect-orders reason=\"lost\" count=3 delay_left_ms=290250",
            "pattern group=connect-orders pattern=\"flapping\" before=\"\" subject=\"worker-d:8083\" evidence=\"worker-d:8083 left 3 times in the last 30 minutes: crashed, crashed, crashed\"",
            "all work has an owner again, or is on its way to one group=connect-orders",
            "pattern group=connect-orders pattern=\"quiet\" before=\"flapping\" subject=\"\" evidence=\"\"",
        ]
    );
}

/// A line when a worker has some of a type, one when it has none any more, whatever number of
/// tasks it is.
#[test]
fn disagreements_come_and_go() {
    let mut words = Words::default();
    let group: Arc<str> = Arc::from("connect-orders");
    let mut more = incident();
    let told = more.disagreements.as_mut().unwrap();
    for count in told.counts.values_mut() {
        *count += 1;
    }
    let lines = lines(LogLevel::Info, || {
        for answers in [incident(), more, calm(Vec::new()), incident()] {
            words.answers(&group, &answers);
        }
    });
    let told: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split_once("words::disagreements: "))
        .map(|(_, told)| told)
        .collect();
    let one = "told to stop it by generation 5, it claims it no more, and did not write that it stopped group=connect-orders disagreement=\"abandoned_stop\" worker=worker-c:8083 count=1 connector=\"orders\" confidence=\"likely\"";
    let gone = "status topic and group agree again group=connect-orders disagreement=\"abandoned_stop\" worker=worker-c:8083";
    assert_eq!(told, [one, gone, one]);
}

#[test]
fn the_start_is_told_once() {
    let expected = [
        "WARN a worker that starts now sees fewer tasks finding=\"config_hazard\" subject=\"connect-configs\"",
        "INFO mode mode=\"full\"",
        "INFO answers are current",
    ];
    assert_eq!(said(&[incident()]), expected);
    assert_eq!(said(&[incident(), incident()]), expected);
}

#[test]
fn troubles_come_and_go() {
    let mut troubled = incident();
    troubled.inputs[1].trouble = Some(Trouble::Denied);
    let lines = said(&[incident(), troubled.clone(), troubled, incident()]);
    assert_eq!(
        lines[3..],
        [
            "WARN topic not readable topic=connect-configs trouble=\"denied\"",
            "INFO topic readable again topic=connect-configs",
        ]
    );
}

#[test]
fn findings_come_and_go() {
    let mut other = incident();
    other.findings = vec![FindingAnswer {
        finding: "shared_worker",
        subject: "worker-a:8083".to_owned(),
        text: "two members are worker-a:8083".to_owned(),
        since: None,
    }];
    assert_eq!(
        said(&[incident(), other])[3..],
        [
            "WARN two members are worker-a:8083 finding=\"shared_worker\" subject=\"worker-a:8083\"",
            "INFO no longer so finding=\"config_hazard\" subject=\"connect-configs\"",
        ]
    );
}

#[test]
fn going_blind_and_back_is_told() {
    let mut blind = incident();
    (blind.fresh, blind.mode) = (false, Mode::Blind);
    assert_eq!(
        said(&[incident(), blind, incident()])[3..],
        [
            "INFO mode mode=\"blind\"",
            "WARN answers are withdrawn: an input was not confirmed current",
            "INFO mode mode=\"full\"",
            "INFO answers are current",
        ]
    );
}

#[test]
fn undecoded_records_are_totals_now_and_then() {
    let at = |ms: i64, errors: u64| {
        let mut answers = incident();
        answers.arrived = Some(NOW.plus_ms(ms));
        answers.inputs[0]
            .decode_errors
            .insert("truncated".to_owned(), errors);
        answers.inputs[0]
            .unknown
            .insert("group_metadata 9".to_owned(), 1);
        answers
    };
    let lines = said(&[
        at(0, 1),
        at(1, 2),
        at(REPEAT_MS_MIN - 1, 500),
        at(REPEAT_MS_MIN, 501),
        at(2 * REPEAT_MS_MIN, 501),
    ]);
    assert_eq!(
        lines[..2],
        [
            "WARN records not decoded input=\"offsets\" error=truncated records=1",
            "INFO records of an unknown kind input=\"offsets\" version=group_metadata 9 records=1",
        ]
    );
    assert_eq!(
        lines[5..],
        ["WARN records not decoded input=\"offsets\" error=truncated records=501"]
    );
}

#[test]
fn a_generation_in_a_line() {
    let group: Arc<str> = Arc::from("g");
    let round = &incident().rounds[0];
    let told = lines(LogLevel::Info, || settled(&group, round, "open", 7));
    assert_eq!(
        told,
        [
            "INFO evenkeel::show::words: generation group=g generation=8 outcome=\"open\" rule=\"\" members=3 assigned=0 revoked=0 delay_ms=300000 left_out=7"
        ]
    );
    let mut completed = round.clone();
    completed.outcome = Some(Outcome::Completed);
    assert_eq!(
        lines(LogLevel::Info, || settled(
            &group,
            &completed,
            "completed",
            0
        ))
        .len(),
        0
    );
}

/// One line a check, however many workers it is about, and one when it is over.
#[test]
fn checks_come_and_go() {
    let mut words = Words::default();
    let group: Arc<str> = Arc::from("connect-orders");
    let lines = lines(LogLevel::Info, || {
        for answers in [incident(), incident(), calm(Vec::new())] {
            words.answers(&group, &answers);
        }
    });
    let told: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split_once("words::checks: "))
        .map(|(_, told)| told)
        .collect();
    assert_eq!(
        told,
        [
            "clocks contradict each other group=connect-orders check=\"heartbeats_sparse\" severity=\"warning\" subject=\"worker-a:8083\" subjects=1 said=\"a heartbeat every 5 s leaves less than three in a session of 10 s\" link=\"docs/checks.md#heartbeats_sparse\"",
            "clocks contradict each other group=connect-orders check=\"timeouts_differ\" severity=\"warning\" subject=\"connect-orders\" subjects=1 said=\"session.timeout.ms differs from worker to worker\" link=\"docs/checks.md#timeouts_differ\"",
            "the clocks agree again group=connect-orders check=\"heartbeats_sparse\"",
            "the clocks agree again group=connect-orders check=\"timeouts_differ\"",
        ]
    );
}
