//! Alerts go in, a notification comes out; and what is no notification is told.

use serde_json::json;

use super::*;

const WAIT_MAX: Duration = Duration::from_secs(60);

fn config(webhook: &Webhook) -> String {
    json!({
        "route": { "receiver": "all", "group_by": ["group"], "group_wait": "100ms" },
        "receivers": [{ "name": "all", "webhook_configs": [{ "url": webhook.url("all") }] }],
    })
    .to_string()
}

#[test]
fn an_alert_is_notified_once_with_its_words() {
    if let Some(obstacle) = Alertmanager::obstacle() {
        println!("skipped: {obstacle}");
        return;
    }
    let webhook = Webhook::start().unwrap();
    let alertmanager = Alertmanager::start(&config(&webhook)).unwrap();
    let alert = json!([{
        "labels": { "alertname": "Down", "group": "connect" },
        "annotations": { "summary": "äh, down" },
    }]);
    // Prometheus repeats what fires; who is told is told once.
    for _ in 0..2 {
        let answer = rest::request(
            alertmanager.port.number(),
            "POST",
            "/api/v2/alerts",
            Some(&alert),
            ANSWER_MAX,
        );
        answer.unwrap().ok().unwrap();
    }
    let told = wait_until("the notification", WAIT_MAX, || {
        Ok(webhook.notifications()?.into_iter().next())
    });
    let told = told.unwrap();
    assert_eq!(told.receiver, "all");
    assert_eq!(told.status, "firing");
    assert_eq!(told.group_labels["group"], "connect");
    let [alert] = told.alerts.as_slice() else {
        panic!("{:?}", told.alerts);
    };
    assert_eq!(alert.name(), "Down");
    assert_eq!(alert.annotation("summary"), "äh, down");
    assert_eq!(alert.label("severity"), "");
    assert_eq!(webhook.notifications().unwrap().len(), 1);
    assert_eq!(alertmanager.alerts().unwrap().len(), 1);
    alertmanager.stop().unwrap();
}

#[test]
fn what_it_refuses_is_an_error() {
    if Alertmanager::obstacle().is_some() {
        return;
    }
    let error = Alertmanager::start("route: {receiver: nobody}").unwrap_err();
    assert!(format!("{error:#}").contains("nobody"), "{error:#}");
}

#[test]
fn what_is_no_notification_is_told() {
    let webhook = Webhook::start().unwrap();
    let send = |body: &Value| {
        let url = webhook.url("");
        let (_, port) = url.trim_end_matches('/').rsplit_once(':').unwrap();
        let port = port.parse().unwrap();
        rest::request(port, "POST", "/", Some(body), ANSWER_MAX)
            .unwrap()
            .status
    };
    let good = json!({ "receiver": "a", "status": "resolved", "groupLabels": {}, "alerts": [] });
    assert_eq!(send(&good), 200);
    assert_eq!(webhook.notifications().unwrap()[0].status, "resolved");
    assert_eq!(send(&json!({ "receiver": 1 })), 400);
    assert!(webhook.notifications().is_err());
}
