//! Whom the sample for Alertmanager keeps silent, and for whose sake.

use serde_yaml::Value;

use super::printed;

/// These speak of one sidecar, all others of a group.
const OF_ONE_SIDECAR: [&str; 2] = ["EvenkeelAgentBehind", "EvenkeelAgentBlind"];

fn texts(rule: &Value, key: &str) -> Vec<String> {
    let list = rule[key].as_sequence().unwrap().iter();
    list.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Of one sidecar that is blind for a week, another may be missing as long.
#[test]
fn what_one_sidecar_says_silences_nothing_but_its_own() {
    let routes: Value = serde_yaml::from_str(&printed(&["--format", "alertmanager"])).unwrap();
    let mut seen = 0;
    for rule in routes["inhibit_rules"].as_sequence().unwrap() {
        let sources = texts(rule, "source_matchers");
        let is_of_one = |source: &String| OF_ONE_SIDECAR.iter().any(|name| source.contains(name));
        if sources.iter().any(is_of_one) {
            seen += 1;
            let equal = texts(rule, "equal");
            assert!(equal.contains(&"instance".to_owned()), "{rule:?}");
        }
        // A matcher of all agents would be one of these, too.
        for target in texts(rule, "target_matchers") {
            let is_told = ["AgentMissing", "ReporterCount", "Agent.*", "Evenkeel.*"];
            assert!(
                !is_told.iter().any(|name| target.contains(name)),
                "{target}"
            );
        }
    }
    assert_eq!(seen, 1);
}
