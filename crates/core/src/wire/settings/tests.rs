//! What the whitelist keeps, and what it withholds.
#![allow(clippy::unwrap_used)]

use super::{SettingName, SettingValue, Settings};
use crate::wire::json::Scalar;

fn keep(name: SettingName, raw: &str) -> SettingValue {
    name.keep(Some(raw.as_bytes())).unwrap()
}

#[test]
fn values_are_kept_only_in_their_shape() {
    use SettingName::{ConnectorClass, ConsumerGroupId, ConsumerGroupProtocol, TasksMax, Topics};
    let text = |text: &str| SettingValue::Text(text.to_owned());
    let class = "org.apache.kafka.connect.file.FileStreamSinkConnector";
    assert_eq!(keep(ConnectorClass, class), text(class));
    assert_eq!(
        keep(ConnectorClass, "FileStreamSink"),
        text("FileStreamSink")
    );
    assert_eq!(keep(TasksMax, "8"), SettingValue::Integer(8));
    assert_eq!(keep(TasksMax, " 8 "), SettingValue::Integer(8));
    assert_eq!(keep(Topics, "secret-topic"), SettingValue::Present);
    assert_eq!(keep(Topics, ""), SettingValue::Present);
    assert_eq!(keep(ConsumerGroupId, "my-group_1.x"), text("my-group_1.x"));
    assert_eq!(keep(ConsumerGroupProtocol, "consumer"), text("consumer"));
    for (name, raw) in [
        (ConnectorClass, "${file:/run/s:class}"),
        (ConnectorClass, ""),
        (ConnectorClass, &"a".repeat(250)),
        (TasksMax, "${env:TASKS}"),
        (TasksMax, "eight"),
        (TasksMax, "9223372036854775808"),
        (ConsumerGroupId, "user:password@host"),
        (ConsumerGroupId, "two words"),
        (ConsumerGroupProtocol, "classic;x"),
    ] {
        assert_eq!(keep(name, raw), SettingValue::Withheld, "{raw:?}");
    }
    assert_eq!(TasksMax.keep(Some(b"\xff")), Some(SettingValue::Withheld));
    assert_eq!(
        keep(ConnectorClass, &"a".repeat(249)),
        text(&"a".repeat(249))
    );
    assert_eq!(TasksMax.keep(None), None);
}

#[test]
fn kept_values_are_held_to_their_shape_again() {
    use SettingName::{ConnectorClass, TasksMax, Topics};
    assert_eq!(
        Topics.keep_again(&Scalar::Bool(true)),
        Some(SettingValue::Present)
    );
    assert_eq!(
        TasksMax.keep_again(&Scalar::Int(3)),
        Some(SettingValue::Integer(3))
    );
    assert_eq!(TasksMax.keep_again(&Scalar::Absent), None);
    assert_eq!(
        TasksMax.keep_again(&Scalar::Null),
        Some(SettingValue::Withheld)
    );
    let forged = Scalar::Text("p w".into());
    for name in [ConnectorClass, TasksMax, Topics] {
        assert_eq!(name.keep_again(&forged), Some(SettingValue::Withheld));
    }
}

#[test]
fn names_are_those_of_the_whitelist() {
    for name in SettingName::ALL {
        assert_eq!(
            SettingName::from_bytes(name.as_str().as_bytes()),
            Some(name)
        );
        let json = serde_json::to_string(&name).unwrap();
        assert_eq!(json, format!("{:?}", name.as_str()));
    }
    for other in ["password", "tasks.max ", "Topics", ""] {
        assert_eq!(SettingName::from_bytes(other.as_bytes()), None);
    }
}

#[test]
fn settings_are_a_sorted_map() {
    let mut settings = Settings::default();
    settings.set(SettingName::Topics, Some(SettingValue::Present));
    settings.set(SettingName::TasksMax, Some(SettingValue::Integer(1)));
    settings.set(SettingName::TasksMax, Some(SettingValue::Integer(2)));
    settings.set(
        SettingName::ConnectorClass,
        Some(SettingValue::Text("A".to_owned())),
    );
    settings.set(SettingName::TopicsRegex, None);
    let names: Vec<_> = settings.iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            SettingName::ConnectorClass,
            SettingName::TasksMax,
            SettingName::Topics
        ]
    );
    assert_eq!(settings.integer(SettingName::TasksMax), Some(2));
    assert_eq!(settings.text(SettingName::ConnectorClass), Some("A"));
    assert_eq!(settings.text(SettingName::TasksMax), None);
    assert!(settings.is_sink());
    settings.set(SettingName::Topics, None);
    assert!(!settings.is_sink());
    let json = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
}
