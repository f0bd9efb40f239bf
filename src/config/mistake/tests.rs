//! Nearest words.

use super::*;

#[test]
fn near_words_are_found_and_far_ones_are_not() {
    let known = ["bootstrap", "properties", "group", "config_topic", "level"];
    let near = |word| nearest(word, known);
    assert_eq!(near("bootstrp"), Some("bootstrap"));
    assert_eq!(near("botstarp"), Some("bootstrap"));
    assert_eq!(near("lveel"), Some("level"));
    assert_eq!(near("config-topic"), Some("config_topic"));
    assert_eq!(near("Group"), Some("group"));
    // Two slips in a short word, three in a long one, no more.
    assert_eq!(near("levoo"), Some("level"));
    assert_eq!(near("lexoo"), None);
    assert_eq!(near("boxxxtrap"), Some("bootstrap"));
    assert_eq!(near("boxxxxrap"), None);
    assert_eq!(near(""), None);
    assert_eq!(nearest("x", []), None);
}

#[test]
fn long_values_are_cut() {
    assert_eq!(quoted("short"), "\"short\"");
    assert_eq!(quoted(&"é".repeat(60)), format!("{:?}", "é".repeat(60)));
    assert_eq!(quoted(&"é".repeat(61)), format!("{:?}…", "é".repeat(60)));
}
