//! The logging configuration of a broker or worker: one file a process, one line format.
//!
//! Kafka 4.x logs with log4j 2 (KIP-653), older releases with log4j 1 (reload4j). Both are
//! told the same: milliseconds in UTC (the JVM runs with `user.timezone=UTC`), level, logger,
//! message. The logger stands before the message so that a line can be taken apart without
//! guessing where the message ends.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::version::Version;

const PATTERN: &str = "%d{yyyy-MM-dd HH:mm:ss,SSS} %p %c [%t] %m%n";

/// Loggers whose lines are the truth, or would drown it. The root logs at INFO, which holds
/// the broker's group state machine and the workers' joins, assignments and starts.
const LEVELS: [(&str, &str); 11] = [
    // The assignment as it came (the delta) and as merged (the total); heartbeats.
    (
        "org.apache.kafka.connect.runtime.distributed.WorkerCoordinator",
        "DEBUG",
    ),
    // Before 2.7 the base class logged the joins; the prefix tells whose they are.
    (
        "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
        "DEBUG",
    ),
    // What the leader took for lost, deleted, duplicated and new.
    (
        "org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeAssignor",
        "DEBUG",
    ),
    // Members that joined and did not sync are removed at DEBUG (KAFKA-12890).
    ("kafka.coordinator.group.GroupCoordinator", "DEBUG"),
    (
        "org.apache.kafka.coordinator.group.GroupMetadataManager",
        "DEBUG",
    ),
    // That a task stopped in time is DEBUG, that it did not is ERROR.
    ("org.apache.kafka.connect.runtime.Worker", "DEBUG"),
    // A status that the worker reads back was in the log by then.
    (
        "org.apache.kafka.connect.storage.KafkaStatusBackingStore",
        "TRACE",
    ),
    // A broker that stops makes clients warn several times a second.
    ("org.apache.kafka.clients.NetworkClient", "ERROR"),
    // Each of these prints all settings of a client or connector at INFO.
    ("org.apache.kafka.common.config.AbstractConfig", "WARN"),
    ("org.eclipse.jetty", "WARN"),
    // Two lines for each class that a worker can load.
    (
        "org.apache.kafka.connect.runtime.isolation.DelegatingClassLoader",
        "WARN",
    ),
];

/// Writes the configuration into `folder` and gives the JVM options that select it.
pub(crate) fn configure(
    version: Version,
    name: &str,
    folder: &Path,
    log: &Path,
) -> anyhow::Result<Vec<String>> {
    let log = log.display().to_string();
    let (text, option) = if version.at_least(4, 0) {
        (log4j2(&log), "log4j2.configurationFile")
    } else {
        (log4j1(&log), "log4j.configuration")
    };
    let path: PathBuf = folder.join(format!("{name}-log4j.properties"));
    fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    Ok(vec![
        format!("-D{option}=file:{}", path.display()),
        "-Duser.timezone=UTC".to_owned(),
    ])
}

fn log4j2(log: &str) -> String {
    let mut text = format!(
        "status = error\n\
         appender.file.type = File\n\
         appender.file.name = file\n\
         appender.file.fileName = {log}\n\
         appender.file.append = true\n\
         appender.file.layout.type = PatternLayout\n\
         appender.file.layout.pattern = {PATTERN}\n\
         rootLogger.level = INFO\n\
         rootLogger.appenderRef.file.ref = file\n"
    );
    for (index, (logger, level)) in LEVELS.iter().enumerate() {
        // Writing to a String cannot fail.
        write!(
            text,
            "logger.l{index}.name = {logger}\nlogger.l{index}.level = {level}\n"
        )
        .ok();
    }
    text
}

fn log4j1(log: &str) -> String {
    let mut text = format!(
        "log4j.rootLogger=INFO, file\n\
         log4j.appender.file=org.apache.log4j.FileAppender\n\
         log4j.appender.file.File={log}\n\
         log4j.appender.file.Append=true\n\
         log4j.appender.file.layout=org.apache.log4j.PatternLayout\n\
         log4j.appender.file.layout.ConversionPattern={PATTERN}\n"
    );
    for (logger, level) in LEVELS {
        // Writing to a String cannot fail.
        writeln!(text, "log4j.logger.{logger}={level}").ok();
    }
    text
}
