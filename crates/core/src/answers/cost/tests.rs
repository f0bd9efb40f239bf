//! What is down, as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::DownReason;
use crate::answers::Answers;

#[test]
fn what_is_down_is_a_list() {
    let answers = Answers {
        unavailable: BTreeMap::from([((Arc::from("orders"), DownReason::Lost), 2)]),
        ..Answers::default()
    };
    let answers = serde_json::to_value(answers).unwrap();
    let down = json!([{"connector": "orders", "reason": "lost", "tasks": 2}]);
    assert_eq!(answers["unavailable"], down);
}
