//! The JSON endpoints.

use evenkeel_core::facts::input::Trouble;
use serde_json::Value;

use super::*;
use crate::show::sample::{NOW, calm, incident, member, published};
use crate::show::traces::ids;

fn ready_json(published: &Published, now: ArrivalTime) -> (bool, Value) {
    let (ready, body) = ready(published, now);
    let value: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(value["ready"], ready);
    (ready, value)
}

#[test]
fn ready_when_every_group_is_current() {
    let (is_ready, value) = ready_json(&published(vec![incident()]), NOW);
    assert!(is_ready);
    assert_eq!(value["groups"][0]["mode"], "full");
    assert_eq!(value["groups"][0]["trusted"], true);
    assert_eq!(value["groups"][0]["reasons"], serde_json::json!([]));

    let mut other = Answers::default();
    other.settings.group = "other".to_owned();
    let (is_ready, value) = ready_json(&published(vec![incident(), other]), NOW);
    assert!(!is_ready);
    assert_eq!(value["groups"][0]["current"], true);
    assert_eq!(value["groups"][1]["current"], false);
    assert!(
        !ready(&Published::default(), NOW).0,
        "without a group nothing is seen"
    );
}

#[test]
fn the_missing_right_and_the_principal_are_named() {
    let mut answers = incident();
    answers.inputs[0].trouble = Some(Trouble::Denied);
    let mut published = published(vec![answers]);
    let told = |published: &Published| {
        let (is_ready, value) = ready_json(published, NOW.plus_ms(60_000));
        assert!(!is_ready);
        let reason = &value["groups"][0]["reasons"][0];
        assert_eq!(reason["input"], "offsets");
        assert_eq!(reason["topic"], "__consumer_offsets");
        assert_eq!(reason["reason"], "denied");
        reason["text"].as_str().unwrap().to_owned()
    };
    let text = "__consumer_offsets may not be read: evenkeel needs READ and DESCRIBE on it";
    assert_eq!(told(&published), text);
    let answers = Arc::clone(&published.groups[0]);
    let later = NOW.plus_ms(60_000);
    assert_eq!(troubles(&answers, &published.agent, later), [text]);
    published.agent.principals.clear();
    assert!(told(&published).contains("the agent's principal needs READ"));
}

#[test]
fn polls_that_cannot_be_are_not_blamed_on_the_coordinator() {
    let mut answers = incident();
    answers.mode = Mode::NoPolls;
    (answers.polls.confirmed, answers.polls.trouble) = (None, Some(Trouble::Other));
    let mut published = published(vec![answers]);
    let told = |published: &Published| {
        let (_, value) = ready_json(published, NOW);
        let reason = &value["groups"][0]["reasons"][0];
        assert_eq!(reason["input"], "polls");
        reason["text"].as_str().unwrap().to_owned()
    };
    assert!(told(&published).contains("does not answer"));
    published.agent.polls[0].off = Some("sasl.mechanism: Kerberos".to_owned());
    assert!(told(&published).contains("is not asked (sasl.mechanism: Kerberos)"));
}

/// The agent refuses the broker, and not the other way round.
#[test]
fn what_stands_in_the_way_is_told_where_it_is_known() {
    let mut answers = incident();
    answers.inputs[1].trouble = Some(Trouble::Unauthenticated);
    (answers.polls.confirmed, answers.polls.trouble) = (None, Some(Trouble::Unauthenticated));
    let mut published = published(vec![answers]);
    let told = |published: &Published| {
        let (_, value) = ready_json(published, NOW);
        let reasons = value["groups"][0]["reasons"].as_array().unwrap().clone();
        let texts = reasons
            .iter()
            .map(|reason| reason["text"].as_str().unwrap());
        texts.map(str::to_owned).collect::<Vec<_>>()
    };
    let plain = told(&published);
    assert!(
        plain.iter().all(|text| text.contains("credentials")),
        "{plain:?}"
    );
    for topic in [Some(Topic::Config), None] {
        published.agent.hitches.push(crate::show::view::HitchStats {
            group: "connect-orders".into(),
            topic,
            text: "no trust",
        });
    }
    let known = told(&published);
    assert_eq!(known.len(), 2);
    assert!(
        known.iter().all(|text| text.contains("no trust")),
        "{known:?}"
    );
    assert!(
        !known.iter().any(|text| text.contains("credentials")),
        "{known:?}"
    );
}

#[test]
fn a_configuration_that_is_not_in_use_is_noted() {
    let mut published = published(vec![incident()]);
    published.agent.pending = vec!["group other is new".to_owned()];
    let (_, value) = ready_json(&published, NOW);
    let note = value["groups"][0]["note"].as_str().unwrap();
    assert!(
        note.contains("restart the agent: group other is new"),
        "{note}"
    );
}

#[test]
fn each_trouble_has_words_of_its_own() {
    let troubles = [
        Trouble::Denied,
        Trouble::Missing,
        Trouble::Unreachable,
        Trouble::Unauthenticated,
        Trouble::Other,
    ];
    let mut texts: Vec<String> = troubles
        .into_iter()
        .map(|trouble| {
            let mut answers = incident();
            answers.inputs[1].trouble = Some(trouble);
            let health = health(&answers, NOW);
            let told = reasons(&answers, &health, &AgentStats::default());
            assert_eq!((told.len(), told[0].reason), (1, trouble.label()));
            assert!(told[0].text.contains("connect-configs"), "{}", told[0].text);
            told[0].text.clone()
        })
        .collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), troubles.len());
}

#[test]
fn a_group_that_nobody_saw_is_hinted_at() {
    let mut answers = calm(vec![member("worker-a:8083", &[])]);
    answers.group = None;
    let (is_ready, value) = ready_json(&published(vec![answers]), NOW);
    assert!(is_ready);
    assert!(
        value["groups"][0]["note"]
            .as_str()
            .unwrap()
            .contains("group.id is another")
    );
}

#[test]
fn the_state_of_all_groups_or_of_one() {
    let mut other = incident();
    other.settings.group = "connect-b".to_owned();
    let published = published(vec![incident(), other]);
    let all: Value = serde_json::from_str(&state(&published, NOW, None).unwrap()).unwrap();
    assert_eq!(all["groups"].as_array().unwrap().len(), 2);
    assert_eq!(all["agent"]["version"], "0.1.0");
    let one: Value =
        serde_json::from_str(&state(&published, NOW, Some("connect-b")).unwrap()).unwrap();
    let groups = one["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 1);
    let group = &groups[0];
    assert_eq!(group["settings"]["group"], "connect-b");
    assert_eq!(
        (&group["current"], &group["trusted"]),
        (&Value::Bool(true), &Value::Bool(true))
    );
    assert_eq!(group["group"]["generation"], 8);
    assert_eq!(group["unassigned"][1]["connector"], "orders");
    assert_eq!(group["unassigned"][1]["task"], 2);
    assert_eq!(group["unassigned"][1]["reason"], "lost");
    assert_eq!(group["deadline"]["reason"], "lost");
    assert_eq!(group["reading"][0]["records_read"], 1200);
    // What the engine said stays beside what holds now.
    let late: Value =
        serde_json::from_str(&state(&published, NOW.plus_ms(60_000), None).unwrap()).unwrap();
    assert_eq!(
        (&late["groups"][0]["fresh"], &late["groups"][0]["current"]),
        (&Value::Bool(true), &Value::Bool(false))
    );
    assert_eq!(late["groups"][0]["reasons"].as_array().unwrap().len(), 4);

    let error: Value =
        serde_json::from_str(&state(&published, NOW, Some("x\"y")).unwrap_err()).unwrap();
    assert_eq!(error["error"], "no group x\"y is watched here");
    assert_eq!(
        error["groups"],
        serde_json::json!(["connect-orders", "connect-b"])
    );
}

#[test]
fn the_open_episode_names_its_trace() {
    let shown = |answers: Answers| -> Value {
        let published = published(vec![answers]);
        let state: Value = serde_json::from_str(&state(&published, NOW, None).unwrap()).unwrap();
        state["groups"][0]["episode"].clone()
    };
    let answers = incident();
    let open = answers.episodes.as_ref().unwrap().open.clone().unwrap();
    let (trace, _) = ids::of_episode(&answers.settings, &open).unwrap();
    let episode = shown(answers.clone());
    assert_eq!(episode["trace_id"], ids::hex(&trace));
    assert_eq!(episode["id"], *open.id);
    let mut nameless = answers;
    nameless.settings.cluster_id = None;
    let episode = shown(nameless);
    assert_eq!(
        (&episode["trace_id"], &episode["id"]),
        (&Value::Null, &Value::from(&*open.id))
    );
}

#[test]
fn a_search_says_how_far_it_is() {
    let mut answers = incident();
    answers.fresh = false;
    let first = &mut answers.inputs[0];
    (first.caught_up, first.records, first.confirmed) = (false, 0, None);
    let mut published = published(vec![answers]);
    let told = |published: &Published| {
        let (_, value) = ready_json(published, NOW);
        value["groups"][0]["reasons"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        told(&published),
        "nothing was heard of __consumer_offsets yet"
    );
    let start_up = published.agent.inputs[0].start_up.as_mut().unwrap();
    (start_up.done, start_up.total, start_up.rate) = (300, 1_200, Some(100.0));
    let text = "__consumer_offsets is searched for the group's records: 25 %, 9 s left";
    assert_eq!(told(&published), text);
    published.agent.inputs[0].start_up.as_mut().unwrap().rate = None;
    assert!(told(&published).ends_with("records: 25 %"));
}

/// Values with where each was read; what is missing; and null where nobody knows.
#[test]
fn checks_that_fire_and_what_is_missing() {
    let mut hidden = Answers::default();
    hidden.settings.group = "hidden".to_owned();
    let published = published(vec![incident(), hidden]);
    let value: Value = serde_json::from_str(&checks(&published, NOW, None).unwrap()).unwrap();
    let told = &value["groups"][0]["checks"];
    assert_eq!(value["groups"][0]["current"], true);
    assert_eq!(told["fired"][0]["own"], true);
    assert_eq!(told["fired"][1]["check"], "timeouts_differ");
    assert_eq!(told["fired"][1]["severity"], "warning");
    assert_eq!(told["fired"][1]["subject"], "connect-orders");
    assert_eq!(
        told["fired"][1]["values"][1],
        serde_json::json!({
            "worker": "worker-b:8083",
            "name": "session.timeout.ms",
            "value": "30000",
            "source": "record of worker-b:8083, generation 8",
        })
    );
    assert_eq!(told["undecided"][0]["subjects"], 3);
    assert_eq!(
        told["undecided"][0]["missing"],
        serde_json::json!(["group.min.session.timeout.ms"])
    );
    assert_eq!(value["groups"][1]["checks"], Value::Null);

    let one = checks(&published, NOW, Some("hidden")).unwrap();
    assert!(!one.contains("connect-orders"), "{one}");
    let none = checks(&published, NOW, Some("other")).unwrap_err();
    assert!(none.contains("no group other is watched here"), "{none}");
}
