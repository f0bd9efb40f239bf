//! The part of a record key that names a connector, or a connector and a task.

/// Splits `<connector>-<task>` at the last dash: connector names may end in a
/// dash and a number themselves (`KafkaConfigBackingStore.parseTaskId`,
/// `KafkaStatusBackingStore.parseConnectorTaskId`).
pub(super) fn connector_and_task(text: &str) -> Option<(&str, i32)> {
    let (connector, task) = text.rsplit_once('-')?;
    // `parse` alone would also take a plus sign.
    let digits = task.bytes().all(|byte| byte.is_ascii_digit());
    let task = task.parse().ok().filter(|_| digits)?;
    (!connector.is_empty()).then_some((connector, task))
}

/// A name that is there: Connect refuses empty ones.
pub(super) fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
