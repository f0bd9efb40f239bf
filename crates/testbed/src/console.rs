//! Kafka's own programs: what the console consumer reads of a partition, and changes of
//! rights as `kafka-acls.sh` makes them.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::broker::jvm;
use crate::jars::{Artifact, JarCache};
use crate::process;
use crate::version::Version;

/// The program's class since it moved out of Kafka's core (KAFKA-14579).
const CLASS: &str = "org.apache.kafka.tools.consumer.ConsoleConsumer";

/// The first records of a partition with their keys, a line each; it waits for them for
/// `at_most`.
///
/// # Errors
/// When the program cannot be run or there are fewer.
pub fn consume(
    (topic, partition): (&str, i32),
    bootstrap: &str,
    records: usize,
    at_most: Duration,
) -> anyhow::Result<Vec<String>> {
    consume_as(None, (topic, partition), bootstrap, records, at_most)
}

/// As [`consume`], with the settings in a client's file.
///
/// # Errors
/// As [`consume`].
pub fn consume_as(
    client: Option<&Path>,
    (topic, partition): (&str, i32),
    bootstrap: &str,
    records: usize,
    at_most: Duration,
) -> anyhow::Result<Vec<String>> {
    let cache = JarCache::open()?;
    let class_path = cache.class_path(Artifact::Programs(Version::DEFAULT))?;
    let mut command = jvm(cache.tools(), 64);
    command
        .args(["-cp", &class_path, CLASS])
        .args(["--bootstrap-server", bootstrap, "--topic", topic])
        .args(["--partition", &partition.to_string()])
        .args(["--offset", "earliest"])
        .args(["--max-messages", &records.to_string()])
        .args(["--timeout-ms", &at_most.as_millis().to_string()])
        .args(["--formatter-property", "print.key=true"]);
    if let Some(file) = client {
        command.arg("--command-config").arg(file);
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = process::spawn(command)?
        .wait_with_output()
        .context("run the console consumer")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let talk = String::from_utf8_lossy(&output.stderr);
    // Refused by a broker it ends as if all were well, and its errors stand among the records.
    let read = talk
        .lines()
        .find_map(|line| {
            line.strip_prefix("Processed a total of ")?
                .split(' ')
                .next()
        })
        .and_then(|count| count.parse::<usize>().ok())
        .unwrap_or(0);
    ensure!(
        output.status.success() && read >= records,
        "the console consumer read {read} of {records} records of {topic} and ended with {}: \
         {talk}{text}",
        output.status,
    );
    Ok(text.lines().map(str::to_owned).collect())
}

/// What `kafka-acls.sh` runs since 4.0.
const ACLS_CLASS: &str = "org.apache.kafka.tools.AclCommand";

/// Runs it with these arguments; gives what it prints.
pub(crate) fn acls(cache: &JarCache, args: &[&str]) -> anyhow::Result<String> {
    let class_path = cache.class_path(Artifact::Programs(Version::DEFAULT))?;
    let mut command = jvm(cache.tools(), 64);
    command.args(["-cp", &class_path, ACLS_CLASS]).args(args);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = process::spawn(command)?
        .wait_with_output()
        .context("run kafka-acls.sh")?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    // It ends well whatever happens, and prints what went wrong.
    let well = output.status.success() && !printed.contains("Error while");
    ensure!(
        well,
        "kafka-acls.sh ended with {}: {printed}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(printed)
}
